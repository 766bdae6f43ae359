"""Updates of an element that may keep what is there: a store behind a branch, or a store of the choice.

A store that is skipped keeps nobody who reads the array next waiting. Where the same round stores into the array in
any case, it saves nothing, and a branch that is guessed wrong costs more than the store: sorting by ``min`` and ``max``
of neighbours. `scalar_indexing` writes the stores.
"""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.backend.emit.intervals import Intervals
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import layout
from numhlo.lowering.ops.comparison import SELECT
from numhlo.lowering.ops.indexing import DYNAMIC_SLICE, DYNAMIC_UPDATE_SLICE


def kept_unless(op: Op, intervals: Intervals | None = None) -> tuple[list[Value], Value]:
    """Return the truth values that decide whether an element is replaced or stays as it is, and the new one.

    Parameters
    ----------
    op : Op
        A dynamic_update_slice.
    intervals : Intervals, optional
        Tell which choices are none.
    """
    operand, update, *indices = op.operands
    predicates: list[Value] = []
    new = update
    while update.tensor.size == 1:
        choice = _unshaped(new)
        if not isinstance(choice, Op) or choice.definition is not SELECT:
            break
        if intervals is not None and intervals.chosen(choice) is not None:
            break
        predicate, replaced, old = choice.operands
        read = _unshaped(old)
        if not isinstance(read, Op) or read.definition is not DYNAMIC_SLICE or not _same(read, operand, indices):
            break
        predicates.append(predicate)
        new = replaced
    return predicates, new


def beside_certain_stores(region: Region) -> set[Op]:
    """Return the updates that may keep an element of an array into which the same round stores in any case."""
    chains: dict[Value, list[Op]] = {}
    for op in region.ops:
        if op.definition is DYNAMIC_UPDATE_SLICE:
            chain = chains.pop(op.operands[0], [])
            chains[op.result] = [*chain, op]
    found: set[Op] = set()
    for chain in chains.values():
        choosing = [op for op in chain if kept_unless(op)[0]]
        if len(choosing) < len(chain):
            found.update(choosing)
    return found


def _same(read: Op, operand: Value, indices: Sequence[Value]) -> bool:
    return all(a is b for a, b in zip(read.operands, (operand, *indices), strict=True))


def _unshaped(value: Value) -> Op | Region:
    """Return what makes a value, apart from its shape."""
    while isinstance(value.owner, Op) and value.owner.definition is layout.RESHAPE:
        (value,) = value.owner.operands
    return value.owner
