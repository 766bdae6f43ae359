"""Positions in arrays that are expected to lie inside: kernels branch on that, so that nothing waits for the test.

NumPy counts from the end where an index is negative, and StableHLO clamps what lies outside. As arithmetic, both take
their time before each load, and a loop that follows indices from load to load waits for all of it. A branch that always
goes one way takes none. Knows which ops say so; `scalar_code` and `scalar_indexing` write it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from numhlo.backend.emit.intervals import Intervals, conjuncts
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import conversion, creation, elementwise, indexing, layout
from numhlo.lowering.ops.comparison import COMPARE, SELECT

_Bound = tuple[Value, str, int | None]
"""An index, the direction of a comparison with a number, and the number."""

_PASSED_ON = frozenset({layout.RESHAPE, layout.BROADCAST_IN_DIM, conversion.CONVERT})


def counted_positions(scope: Op) -> dict[Op, tuple[Value, Value]]:
    """Return the selects in an op's regions that count negative positions from the end, with index and extent."""
    region = Region()
    region.ops.append(scope)
    found: dict[Op, tuple[Value, Value]] = {}
    for op in region.walk():
        for value in _positions_of(op):
            select = _origin(value)
            counted = None if select is None or select in found else _counted(select)
            if select is not None and counted is not None:
                found[select] = counted
    return found


def _positions_of(op: Op) -> Iterator[Value]:
    """Yield what an op finds its places in arrays by; the parts of what is put together."""
    found: Sequence[Value] = ()
    if op.definition is indexing.DYNAMIC_SLICE:
        found = op.operands[1:]
    elif op.definition is indexing.DYNAMIC_UPDATE_SLICE:
        found = op.operands[2:]
    elif op.definition in (indexing.GATHER, indexing.SCATTER):
        found = op.operands[len(op.results) : len(op.results) + 1]
    for value in found:
        origin = _origin(value)
        joined = origin is not None and origin.definition is layout.CONCATENATE
        yield from origin.operands if origin is not None and joined else (value,)


def _origin(value: Value) -> Op | None:
    """Return the op that makes a value's elements, apart from their shape and type; None outside of all ops."""
    op = value.owner
    while isinstance(op, Op) and op.definition in _PASSED_ON:
        op = op.operands[0].owner
    return op if isinstance(op, Op) else None


def _counted(select: Op) -> tuple[Value, Value] | None:
    """Return index and extent of ``index < 0 ? index + extent : index``, None for any other op."""
    if select.definition is not SELECT:
        return None
    test, moved, index = *(value.owner for value in select.operands[:2]), select.operands[2]
    if not isinstance(test, Op) or not isinstance(moved, Op) or index.tensor.dtype != np.int64:
        return None
    if test.definition is not COMPARE or moved.definition is not elementwise.ADD:
        return None
    zero = _origin(test.operands[1])
    if zero is None or zero.definition is not creation.CONSTANT or np.any(zero.attributes["value"]):
        return None
    below = test.attributes["comparison_direction"] == "LT" and test.operands[0] is index
    return (index, moved.operands[1]) if below and moved.operands[0] is index else None


def tests_places(
    predicates: Iterable[Value], indices: Sequence[Value], limits: Sequence[int], intervals: Intervals
) -> bool:
    """Return whether truth values say that all indices are in ``[0, limit]``, and nothing else.

    Parameters
    ----------
    predicates : iterable of Value
        Of one element each.
    indices : sequence of Value
        Integers.
    limits : sequence of int
    intervals : Intervals
    """
    asked: list[_Bound] = []
    needed: list[_Bound] = []
    for index, limit in zip(indices, limits, strict=True):
        ends = (index, "GE", 0), (index, "LT", limit + 1)
        asked += ends
        interval = intervals.of(index)
        assert interval is not None, index
        needed += [
            end for end, holds in zip(ends, (interval.low >= 0, interval.high <= limit), strict=True) if not holds
        ]
    said = [_said(test, intervals) for predicate in predicates for test in conjuncts(predicate)]
    return all(bound in said for bound in needed) and all(bound in asked for bound in said)


def _said(test: Op, intervals: Intervals) -> _Bound:
    index, bound = test.operands
    number = intervals.of(bound)
    return index, test.attributes["comparison_direction"], None if number is None else number.only
