"""How much the loops of a program compute, at most: whether it ends before somebody who presses Ctrl-C would mind.

Such loops may write into the caller's arrays at once, and never look whether they are to stop. Next: `loop_rounds`.
"""

from __future__ import annotations

import math

import numpy as np

from numhlo.backend.emit.intervals import Intervals
from numhlo.backend.emit.support import emits_element
from numhlo.backend.emit.tables import VIEW
from numhlo.lowering.ir import Op, Region
from numhlo.lowering.ops import comparison, conversion, creation, elementwise, indexing
from numhlo.lowering.ops.control_flow import CASE, IF, WHILE

SOON = 20_000_000
"""Elements that loops compute within some 20 ms, as long as a large launch without loops goes without a look."""

DEAR = 16
"""How many sums take the time of a division or a sine."""

_CHEAP = frozenset(
    {elementwise.ADD, elementwise.SUBTRACT, elementwise.MULTIPLY, elementwise.NEGATE, elementwise.ABS}
    | {elementwise.MINIMUM, elementwise.MAXIMUM, elementwise.AND, elementwise.OR, elementwise.XOR, elementwise.NOT}
    | {comparison.COMPARE, comparison.SELECT, comparison.CLAMP, conversion.CONVERT}
)
_READS = frozenset({creation.CONSTANT, creation.IOTA, indexing.DYNAMIC_SLICE})


def end_soon(region: Region, intervals: Intervals) -> bool:
    """Return whether the loops of a region end soon.

    Parameters
    ----------
    region : Region
    intervals : Intervals
        Which enter the loops.
    """
    loops = [op for op in region.ops if op.definition is WHILE]
    branches = [inner for op in region.ops if op.definition is not WHILE for inner in op.regions]
    return sum(_work(op, intervals) for op in loops) <= SOON and all(end_soon(b, intervals) for b in branches)


def _work(op: Op, intervals: Intervals) -> float:
    """Return how many elements an op computes, those that take long counted several times; infinity if unknown."""
    if op.definition is WHILE:
        intervals.enter(op)
        condition, body = op.regions
        return intervals.rounds_of(op) * (1 + _total(condition, intervals) + _total(body, intervals))
    if op.definition in (IF, CASE):
        return sum(_total(region, intervals) for region in op.regions)
    if op.definition is indexing.DYNAMIC_UPDATE_SLICE:
        return op.operands[1].tensor.size
    size = float(np.prod(op.result.tensor.shape, dtype=float)) if len(op.results) == 1 else math.inf
    if op.definition in _CHEAP or op.definition in _READS or VIEW.find(op.definition) is not None:
        return size
    return size * DEAR if emits_element(op) else math.inf


def _total(region: Region, intervals: Intervals) -> float:
    return sum(_work(op, intervals) for op in region.ops)
