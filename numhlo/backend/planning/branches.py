"""Branches as step trees: all sides write into common buffers.

A result that is an array with some elements changed lies where the array lay, if nobody reads the array afterwards:
each side may write over it then, and one that leaves it alone does nothing. What a side can't make there, because it
still reads the array, is moved there at its end, as where two arrays change places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from numhlo.backend.emit.indexed_values import updated_array
from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.backend.planning.buffers import Context
from numhlo.backend.planning.control_flow import OwnBuffer
from numhlo.backend.planning.region import RegionPlanner
from numhlo.backend.planning.scalar_kernels import emit_scalar_kernel
from numhlo.backend.program import Branch, Step
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ops import control_flow as ops


class _SideTarget(OwnBuffer):
    """A result of one side: in its buffer, or beside it as long as the side reads the array that lies there.

    Parameters
    ----------
    context : Context
    number : int
        The result's buffer.
    type : TensorType
    array : Value or None
        What lies in that buffer when the side begins.
    """

    def __init__(self, context: Context, number: int, type: TensorType, array: Value | None) -> None:
        self.context, self.number, self.type, self.array = context, number, type, array
        self.beside: int | None = None

    def claim(self, overwritable: Callable[[Value], bool]) -> int:
        """Return the result's buffer if nothing reads the array in it any more, else a second one."""
        if self.array is None or overwritable(self.array):
            return self.number
        if self.beside is None:
            self.beside = self.context.memory.allocate(self.type)
        return self.beside


def emit_branches(op: Op, planner: RegionPlanner) -> None:
    """Append a branch on a boolean or an index: one kernel, or a tree of steps."""
    if not emit_scalar_kernel(op, planner):
        return
    planner.share_views(op)
    arrays = _place_results(op, planner)
    numbers = [planner.buffer(result) for result in op.results]
    index = planner.buffer(op.operands[0])
    regions = list(reversed(op.regions)) if op.definition is ops.IF else op.regions
    sides = [_plan_side(planner.context, region, numbers, arrays) for region in regions]
    planner.steps.append(Branch(index, sides, op))
    for result in op.results:
        planner.hand_over(result)


def _place_results(op: Op, planner: RegionPlanner) -> list[Value | None]:
    """Give the results of a branch their buffers; return which array, that dies here, lies in each of these."""
    changed = _changed_arrays(op, planner)
    found: dict[Value, Value] = {}
    for result, arrays in changed.items():
        for array in arrays:
            if array not in found.values() and planner.take_over(array, result) is not None:
                found[result] = array
                break
    for result, arrays in changed.items():
        if result not in found:
            free = [array for array in arrays if array not in found.values()]
            place = planner.output(result, free)
            found.update((result, array) for array in free if planner.buffer(array) == place)
    return [found.get(result) for result in op.results]


def _changed_arrays(op: Op, planner: RegionPlanner) -> dict[Value, list[Value]]:
    """Return the arrays from outside that each result may be with changes, those of most sides first.

    None of them is there under another name: the sides would not see that its buffer is still read.
    """
    assert planner.unit is not None
    root = planner.layout.root
    uses = Counter(map(root, planner.layout.loads[planner.unit]))
    found: dict[Value, list[Value]] = {}
    for number, result in enumerate(op.results):
        sides = Counter(updated_array(region.returns[number], region) for region in op.regions)
        found[result] = [v for v, _ in sides.most_common() if v is not None and uses[root(v)] == 1]
    return found


def _plan_side(context: Context, region: Region, numbers: Sequence[int], given: Sequence[Value | None]) -> list[Step]:
    """Return the steps of one side, which leave its results in buffers with some numbers."""
    targets = [
        _SideTarget(context, number, value.tensor, array)
        for number, value, array in zip(numbers, region.returns, given, strict=True)
    ]
    steps = _SidePlanner(context, region, targets, given=[v for v in given if v is not None]).run()
    for target in targets:
        if target.beside is not None:
            context.memory.release(target.beside)
    return steps


class _SidePlanner(RegionPlanner):
    """Plans one side, at whose end all results are moved to where they belong, as if at once."""

    targets: Sequence[_SideTarget]

    def _return(self) -> None:
        self.unit = None
        moves = []
        for number, (value, target) in enumerate(zip(self.region.returns, self.targets, strict=True)):
            root = self.layout.root(value)
            source = self.buffer_of[root] if self.claimed.get(number) is root else self.buffer(value)
            moves.append(_Move(value, source, target.number))
        self._move_all([move for move in moves if move.source != move.target])
        self.results += [move.target for move in moves]
        for value in self.region.returns:
            self.use(self.layout.root(value))

    def _move_all(self, waiting: list[_Move]) -> None:
        """Append copies that do what all moves together mean.

        A buffer is written when no move waits for what lies in it. Where each waits for another one, arrays change
        places in cycles: then no two of them have the same source, and what one is to move is saved, once a cycle.
        """
        assert len({move.target for move in waiting}) == len(waiting), "two results lie in one buffer"
        saved: list[int] = []
        while waiting:
            read = {move.source for move in waiting}
            move = next((move for move in waiting if move.target not in read), None)
            if move is None:
                first = waiting[0]
                saved.append(self.memory.allocate(first.value.tensor))
                self.copy(first.value, first.source, saved[-1])
                waiting[0] = first._replace(source=saved[-1])
                continue
            self.copy(*move)
            waiting.remove(move)
        for number in saved:
            self.memory.release(number)


class _Move(NamedTuple):
    """A copy of a value from one buffer to another."""

    value: Value
    source: int
    target: int


KERNELS.register(ops.IF, ops.CASE)(RootRule(emit_branches))
