"""Copies that a loop makes in every round and needs only once: of arrays of which each round renews the same window.

Such an array lies in two buffers that are exchanged after each round. Outside the window neither ever changes, so they
agree there for good once the loop begins with a copy: a round need write the window only. Stencils are of this kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numhlo.backend.planning.region import RegionPlanner
from numhlo.backend.program import Branch, Communicate, Evaluate, Exchange, Launch, Loop, Step
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.indexing import DYNAMIC_UPDATE_SLICE


def hoist_window_copies(body: Region, planner: RegionPlanner, state: Sequence[int]) -> list[tuple[Value, int, int]]:
    """Remove copies from a loop's body; return what must be copied before the loop: value, source and target buffer.

    Parameters
    ----------
    body : Region
    planner : RegionPlanner
        Has planned the body; its steps are changed.
    state : sequence of int
        The buffers of the loop's state.
    """
    exchanged = [step.pairs for step in planner.steps if isinstance(step, Exchange)]
    found = []
    for argument, returned, own, other in zip(body.arguments, body.returns, state, planner.results, strict=True):
        launch = planner.copies.get(returned)
        if launch is None or launch not in planner.steps or not _renews_window(argument, returned):
            continue
        if own in planner.lent or other in planner.lent:  # others write there, too
            continue
        pairs = [pair for each in exchanged for pair in each if own in pair or other in pair]
        writers = [value for value, buffer in _written(planner.steps) if buffer in (own, other)]
        if launch.buffers == (other, own) and pairs in ([(own, other)], [(other, own)]) and writers == [returned]:
            _remove(planner.steps, launch)
            found.append((argument, own, other))
    return found


def _renews_window(argument: Value, returned: Value) -> bool:
    """Return whether a value is an argument with a window at a fixed place replaced."""
    op = returned.owner
    if not isinstance(op, Op) or op.definition is not DYNAMIC_UPDATE_SLICE or op.operands[0] is not argument:
        return False
    return all(isinstance(v.owner, Op) and v.owner.definition is creation.CONSTANT for v in op.operands[2:])


def _written(steps: Iterable[Step]) -> Iterable[tuple[Value, int]]:
    for step in steps:
        if isinstance(step, Launch | Evaluate | Communicate):
            yield from step.outputs
        elif isinstance(step, Loop):
            yield from _written([*step.condition, *step.body])
        elif isinstance(step, Branch):
            yield from _written([inner for branch in step.branches for inner in branch])


def _remove(steps: list[Step], launch: Launch) -> None:
    """Remove a launch from its unit; the next one of the unit takes over what the first lists for all of them."""
    position = steps.index(launch)
    del steps[position]
    if not launch.follows:
        rest = steps[position]
        assert isinstance(rest, Launch)
        assert rest.follows
        rest.ops, rest.inputs, rest.outputs, rest.follows = launch.ops, launch.inputs, launch.outputs, False
