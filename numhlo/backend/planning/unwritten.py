"""Arrays that a loop fills row by row, from the first to the last: what was in them before does not matter.

A scan's stacked results begin as zeros, and so do many arrays in loops. Where every row is written before anybody can
read it, the planner is given memory that nobody has written instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from numhlo.backend.emit.intervals import Intervals, whole_type
from numhlo.backend.emit.special import COMPOSITE_KERNELS
from numhlo.backend.emit.tables import RootRule
from numhlo.backend.planning.region import RegionPlanner
from numhlo.lowering.analysis.loops import count_of, trip_count
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Function, Op, TensorType, Type, Value
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.control_flow import COMPOSITE, WHILE
from numhlo.lowering.ops.conversion import CONVERT
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.elementwise import ADD, SUBTRACT
from numhlo.lowering.ops.indexing import DYNAMIC_UPDATE_SLICE
from numhlo.lowering.ops.layout import BROADCAST_IN_DIM, RESHAPE

UNWRITTEN = "numhlo.unwritten"


def filled_by(op: Op) -> list[int]:
    """Return the numbers of the operands of a while that it overwrites without reading them.

    Parameters
    ----------
    op : Op
    """
    if op.definition is not WHILE:
        return []
    counted, trips = count_of(op), trip_count(op)
    if counted is None or trips is None or not any(_writes_rows(op, k, trips) for k in range(len(op.operands))):
        return []
    intervals = Intervals()
    intervals.enter(op)
    body = op.regions[1]
    users: dict[Value, list[Op]] = {}
    for inner in intervals.needed_ops(body):
        for value in {*inner.operands, *_outside(inner)}:
            users.setdefault(value, []).append(inner)
    tested = {value for inner in op.regions[0].ops for value in inner.operands}
    counter = body.arguments[counted.position]
    found = []
    for number, argument in enumerate(body.arguments):
        if not _writes_rows(op, number, trips) or op.regions[0].arguments[number] in tested:
            continue
        update = body.returns[number].owner
        assert isinstance(update, Op)
        row, index = intervals.of(update.operands[2]), update.operands[2]
        each_once = row is not None and row.within(0, trips - 1) and _counts(index, counter, intervals)
        read = users[argument] != [update] or update.operands.count(argument) > 1 or argument in body.returns
        if each_once and not read:
            found.append(number)
    return found


def _writes_rows(op: Op, number: int, trips: int) -> bool:
    """Return whether every round of a loop replaces a row of an array that has as many."""
    body = op.regions[1]
    array, update = body.arguments[number], body.returns[number].owner
    if not isinstance(update, Op) or update.definition is not DYNAMIC_UPDATE_SLICE or update.operands[0] is not array:
        return False
    shape, window = array.tensor.shape, update.operands[1].tensor.shape
    return len(shape) > 0 and shape[0] == trips and window == (1, *shape[1:])


def _outside(op: Op) -> Sequence[Value]:
    return free_values(op) if op.regions else ()


def _counts(index: Value, counter: Value, intervals: Intervals) -> bool:
    """Return whether an index differs in every round: it is the counter, plus or minus a constant, or the reverse."""
    while index is not counter:
        op = index.owner
        if not isinstance(op, Op):
            return False
        chosen = intervals.chosen(op)
        moving = [v for v in op.operands if not _is_constant(v)] if chosen is None else [chosen]
        if len(moving) != 1 or (chosen is None and op.definition not in (ADD, SUBTRACT, CONVERT, RESHAPE)):
            return False
        before, after = intervals.of(moving[0]), whole_type(op.result.tensor.dtype)
        if before is None or after is None or not before.within(*after):  # a narrower type has fewer numbers
            return False
        (index,) = moving
    return True


def _is_constant(value: Value) -> bool:
    return isinstance(value.owner, Op) and value.owner.definition is CONSTANT


def unwritten(type: Type, append: Callable[[Op], None]) -> Value:
    """Append an op that gives memory as it is, and return its result."""
    assert isinstance(type, TensorType)
    op = Op(COMPOSITE, [], {"name": UNWRITTEN, "decomposition": _zeros(type)}, [], [type])
    append(op)
    return op.result


def is_unwritten(value: Value) -> bool:
    """Return whether a value is memory as it is."""
    op = value.owner
    return isinstance(op, Op) and op.definition is COMPOSITE and op.attributes["name"] == UNWRITTEN


@lru_cache(maxsize=256)
def _zeros(type: TensorType) -> Function:
    """Return what an interpreter takes for memory as it is."""
    b = FunctionBuilder("unwritten", [])
    zero = b.constant(np.zeros((), type.dtype))
    return b.finish([b.op(BROADCAST_IN_DIM, zero, result=type, broadcast_dimensions=())])


def _emit_unwritten(op: Op, planner: RegionPlanner) -> None:
    planner.output(op.result)


COMPOSITE_KERNELS[UNWRITTEN] = RootRule(_emit_unwritten)
