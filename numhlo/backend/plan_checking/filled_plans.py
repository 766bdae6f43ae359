"""Plans that were kept for other shapes and filled in with numbers: they must be what planning makes for these.

They have no ops. What their launches compute is what those of the plan that was made for these shapes do, if both are
the same step by step; the proof is of the filled plan's own buffers and numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from numhlo.backend.plan_checking.check_plan import check_plan
from numhlo.backend.plan_checking.listing import Finding, step_in_words
from numhlo.backend.program import Branch, Launch, Loop, Program, Step
from numhlo.lowering.ir import Function

OF_THE_GRAPH = frozenset({"ops", "inputs", "outputs", "loop", "parts"})
"""Fields of launches that plans without ops lack."""


def check_filled(program: Program, planned: Program, function: Function, donated: frozenset[int] = frozenset()) -> None:
    """Prove that a plan without ops is right.

    Parameters
    ----------
    program : Program
        Without ops.
    planned : Program
        The plan of the same function, made for its shapes.
    function, donated
        As for `check_plan`.

    Raises
    ------
    InternalError
        If the plan is wrong, or the two differ.
    """
    steps = _with_ops(program.steps, planned.steps, Finding(planned))
    check_plan(replace(program, steps=steps, body=planned.body, has_ops=True), function, donated)


def _with_ops(steps: Sequence[Step], planned: Sequence[Step], finding: Finding) -> list[Step]:
    if len(steps) != len(planned):
        raise finding.error(f"it was filled in for other shapes and has {len(steps)} steps of {len(planned)}", None)
    return [_step_with_ops(one, other, finding) for one, other in zip(steps, planned, strict=True)]


def _step_with_ops(step: Step, planned: Step, finding: Finding) -> Step:
    """Return a step with the ops of another one, from which it may differ in nothing else."""
    match step, planned:
        case Launch(), Launch():
            own = {field.name: getattr(step, field.name) for field in fields(step) if field.name not in OF_THE_GRAPH}
            differing = [name for name, value in own.items() if getattr(planned, name) != value]
            if not differing:
                return replace(planned, **own)
        case Loop(), Loop():
            condition = _with_ops(step.condition, planned.condition, finding)
            body = _with_ops(step.body, planned.body, finding)
            return replace(planned, condition=condition, body=body, predicate=step.predicate, counting=step.counting)
        case Branch(), Branch() if len(step.branches) == len(planned.branches):
            sides = zip(step.branches, planned.branches, strict=True)
            return replace(planned, index=step.index, branches=[_with_ops(a, b, finding) for a, b in sides])
        case _ if type(step) is type(planned):
            return step
    what = f"it was filled in for other shapes, where {step_in_words(step)} is not {step_in_words(planned)}"
    raise finding.error(what, planned)
