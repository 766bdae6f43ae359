"""What must hold of a plan's communication, whatever the other processes are.

Every op between processes is one step, in the program's order: a process that leaves one out, or that does two of them
the other way round, lets others wait for ever. No buffer that a step writes shares memory with one that it reads: other
processes may still be reading there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numhlo.backend.plan_checking.contents import Places
from numhlo.backend.plan_checking.listing import Finding, step_in_words
from numhlo.backend.program import Branch, Call, Communicate, Launch, Loop, Program, Step
from numhlo.lowering.ir import Function, Op, Region
from numhlo.lowering.ops.communication import Communication
from numhlo.lowering.ops.control_flow import IF


def require_communications(program: Program, places: Places, finding: Finding) -> None:
    """Raise if a plan leaves out, reorders or repeats communication, or gives the transport overlapping buffers."""
    assert program.body is not None
    _require_order(program.body, program.steps, finding)
    for subroutine in program.subroutines:
        if subroutine.body is not None:
            _require_order(subroutine.body, subroutine.steps, finding)
    for steps in (program.steps, *[subroutine.steps for subroutine in program.subroutines]):
        for step in _communications(steps):
            _require_apart(step, places, finding)


def _require_order(region: Region, steps: Sequence[Step], finding: Finding) -> None:
    wanted = [op for op in region.ops if _communicates(op)]
    found = [step for step in steps if _is_communication(step)]
    for op, step in zip(wanted, found, strict=False):
        if _op_of(step) is not op:
            what = f"{step_in_words(step)} comes where the program has {op.definition.name}"
            raise finding.error(what, step)
        _require_order_inside(op, step, finding)
    if len(found) != len(wanted):
        what = f"{len(wanted)} ops of a region communicate with other processes, and {len(found)} of its steps"
        raise finding.error(what, found[-1] if found else None)


def _require_order_inside(op: Op, step: Step, finding: Finding) -> None:
    match step:
        case Loop():
            for region, steps in zip(op.regions, (step.condition, step.body), strict=True):
                _require_order(region, steps, finding)
        case Branch():
            regions = list(reversed(op.regions)) if op.definition is IF else list(op.regions)
            for region, side in zip(regions, step.branches, strict=True):
                _require_order(region, side, finding)
        case _:
            pass


def _communicates(op: Op) -> bool:
    """Return whether an op is between processes, or has one inside."""
    waiting, seen = [op], set[Region]()
    for one in waiting:
        if isinstance(one.definition, Communication):
            return True
        callees = [a.body for a in one.attributes.values() if isinstance(a, Function)]
        for region in (*one.regions, *callees):
            if region not in seen:
                seen.add(region)
                waiting += region.ops
    return False


def _op_of(step: Step) -> Op:
    if isinstance(step, Launch):
        return step.ops[-1]
    assert isinstance(step, Communicate | Loop | Branch | Call)
    return step.op


def _is_communication(step: Step) -> bool:
    match step:
        case Communicate():
            return isinstance(step.op.definition, Communication)
        case Loop() | Branch() | Call():
            return _communicates(step.op)
        case Launch():
            return any(map(_communicates, step.ops))
        case _:
            return False


def _communications(steps: Sequence[Step]) -> Iterator[Communicate]:
    for step in steps:
        match step:
            case Communicate():
                yield step
            case Loop():
                yield from _communications([*step.condition, *step.body])
            case Branch():
                yield from _communications([inner for side in step.branches for inner in side])
            case _:
                pass


def _require_apart(step: Communicate, places: Places, finding: Finding) -> None:
    written = {number for _, number in step.outputs}
    if len(written) < len(step.outputs):
        raise finding.error(f"{step_in_words(step)} writes two results into one buffer", step)
    for first, second in places.overlapping(dict.fromkeys([*[n for _, n in step.inputs], *written])):
        if first in written or second in written:
            shown = f"{finding.buffer(first)} and {finding.buffer(second)}"
            raise finding.error(f"{step_in_words(step)} writes memory that is read or written with it: {shown}", step)
    for value, number in step.inputs:
        if number in written:
            raise finding.error(
                f"{step_in_words(step)} writes over {finding.value(value)}, which it reads", step, value
            )
