"""Arrays that nobody computes, and that a loop or a branch reads element by element: its own kernels make them up.

Passes that merge equal ops leave one ``broadcast_in_dim`` of a constant, or one ``iota``, outside a loop. What a loop
takes from outside lies in memory, though, and takes a load in every round; made inside, it is a number in the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from numhlo.backend.emit.support import emits_element
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.control_flow import CASE, IF, WHILE
from numhlo.lowering.ops.creation import CONSTANT, IOTA
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
    values = [value for value in free_values(op) if _is_made_up(value)]
    if not values:
        return []
    whole = {value for region in op.regions for value in _used_otherwise(region)}
    return [value.owner for value in values if isinstance(value.owner, Op) and value not in whole]


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
