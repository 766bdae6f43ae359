"""Arrays that nobody computes, and that a loop or a branch reads element by element: its own kernels make them up.

Passes that merge equal ops leave one ``broadcast_in_dim`` of a constant, or one ``iota``, outside a loop. What a loop
takes from outside lies in memory, though, and takes a load in every iteration; made inside, it is a number in the text.
So are masks of what lies between two numbers, which tell loops where to begin and to end (`emit.narrowing`).
"""

from __future__ import annotations

from collections.abc import Iterator

from numhlo.backend.emit.support import emits_element
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.comparison import COMPARE
from numhlo.lowering.ops.control_flow import CASE, IF, WHILE
from numhlo.lowering.ops.creation import CONSTANT, IOTA
from numhlo.lowering.ops.elementwise import AND
from numhlo.lowering.ops.layout import BROADCAST_IN_DIM
from numhlo.lowering.ops.reduction import REDUCE


def sunk_into(op: Op) -> list[Op]:
    """Return the ops outside a loop or branch whose results its regions had better make themselves.

    Parameters
    ----------
    op : Op
    """
    if op.definition not in (WHILE, IF, CASE):
        return []
    values = [value for value in free_values(op) if _is_made_up(value) or _is_mask(value)]
    if not values:
        return []
    whole = {value for region in op.regions for value in _used_otherwise(region)}
    found: dict[Op, None] = {}
    for value in values:
        if value not in whole:
            found.update(dict.fromkeys(_makers(value)))
    return list(found)


def _makers(value: Value) -> Iterator[Op]:
    """Yield the ops that make up a value, operands first."""
    op = value.owner
    assert isinstance(op, Op)
    for operand in op.operands if _is_mask(value) else ():
        if _is_mask(operand) or _is_made_up(operand) or _is_spread(operand):
            yield from _makers(operand)
    yield op


def _is_mask(value: Value) -> bool:
    """Return whether a value is true between bounds that are numbers."""
    op = value.owner
    if not isinstance(op, Op) or value.tensor.ndim != 1 or value.tensor.dtype.kind != "b":
        return False
    if op.definition is AND:
        return all(map(_is_mask, op.operands))
    if op.definition is not COMPARE:
        return False
    return any(_is_places(x) and (_is_spread(y) or _is_made_up(y)) for x, y in (op.operands, op.operands[::-1]))


def _is_places(value: Value) -> bool:
    return isinstance(value.owner, Op) and value.owner.definition is IOTA


def _is_spread(value: Value) -> bool:
    """Return whether all elements of a value are one number."""
    op = value.owner
    return isinstance(op, Op) and op.definition is BROADCAST_IN_DIM and op.operands[0].tensor.size == 1


def _is_made_up(value: Value) -> bool:
    """Return whether a value is known without reading any array."""
    op = value.owner
    if not isinstance(op, Op) or op.definition not in (IOTA, BROADCAST_IN_DIM):
        return False
    if value.tensor.size == 1:
        return False
    if op.definition is IOTA:
        return value.tensor.ndim == 1
    made = op.operands[0].owner if op.operands[0].tensor.size == 1 else None
    return isinstance(made, Op) and made.definition is CONSTANT


def _used_otherwise(region: Region) -> Iterator[Value]:
    """Yield the values that somebody needs in memory, or whose elements are looked for by their positions."""
    yield from region.returns
    for op in region.ops:
        if not (emits_element(op) or op.definition is REDUCE):
            yield from op.operands
        for inner in op.regions if op.definition is not REDUCE else ():
            yield from _used_otherwise(inner)
