"""Sums of two to four elements that are computed of much smaller arrays, as plain additions: they need no memory.

Squared distances between all pairs of points are such sums, along the axis of coordinates. A reduction stores its
result; written out, it is an elementwise value, which is computed where it is needed. The order of additions is that of
`numhlo.lowering.ops.reduction_order`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from numhlo.backend.planning.writing import Writer
from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops import elementwise, layout
from numhlo.lowering.ops.region_function import single_op

MOST_TERMS = 4
LEAST_SIZE = 4096
"""Elements of a result below which it is stored: that is no memory to speak of."""
SPREAD = 16
"""Times that the summed array has the elements of those that it is computed of, at least."""
MOST_OPS = 6
"""Of each element: they are computed again for every use of the sum."""
CHEAP = frozenset({elementwise.ADD, elementwise.SUBTRACT, elementwise.MULTIPLY, elementwise.NEGATE, elementwise.ABS})
FLOATS = frozenset(map(np.dtype, ("f4", "f8")))


def is_short_sum(op: Op) -> bool:
    """Return whether a reduce op adds a few elements that cost little to compute, and read little."""
    if len(op.results) != 1 or len(op.attributes["dimensions"]) != 1 or not isinstance(op.results[0].type, TensorType):
        return False
    summed, (axis,) = op.operands[0], op.attributes["dimensions"]
    added = single_op(op.regions[0])
    if added is None or added.definition is not elementwise.ADD or summed.tensor.dtype not in FLOATS:
        return False
    if not summed.tensor.is_static or op.operands[0].tensor.dtype != op.result.tensor.dtype:
        return False
    few = 2 <= summed.tensor.shape[axis] <= MOST_TERMS and op.result.tensor.size >= LEAST_SIZE
    return few and _is_made_of_little(summed)


def _is_made_of_little(summed: Value) -> bool:
    """Return whether an array is a few cheap ops of arrays that are broadcast."""
    ops: dict[Op, None] = {}
    waiting = [summed]
    read = 0
    while waiting:
        made = waiting.pop().owner
        if not isinstance(made, Op):
            return False
        if made.definition is layout.BROADCAST_IN_DIM:
            read += made.operands[0].tensor.size
        elif made.definition in CHEAP:
            ops.setdefault(made)
            waiting += [v for v in made.operands if v.owner not in ops]
        else:
            return False
        if len(ops) > MOST_OPS:
            return False
    return read * SPREAD <= summed.tensor.size


class _Terms(Writer):
    """Writes the terms of a sum.

    Parameters
    ----------
    values : callable
        What takes the place of a value.
    append : callable
    """

    def __init__(self, op: Op, values: Callable[[Value], Value], append: Callable[[Op], None]) -> None:
        super().__init__(append, op.location)
        self.values = values
        self.terms: dict[tuple[Value, int], Value] = {}

    def term(self, value: Value, axis: int, index: int) -> Value:
        """Return the elements of a value at an index of an axis, which is left out."""
        known = self.terms.get((value, index))
        if known is None:
            made = value.owner
            assert isinstance(made, Op)
            if made.definition is layout.BROADCAST_IN_DIM:
                known = self._broadcast(made, axis, index)
            else:
                known = self.op(made.definition, *[self.term(v, axis, index) for v in made.operands])
            self.terms[value, index] = known
        return known

    def _broadcast(self, op: Op, axis: int, index: int) -> Value:
        """Return the elements of a broadcast at an index of an axis: the broadcast of elements of its operand."""
        operand, dims = self.values(op.operands[0]), op.attributes["broadcast_dimensions"]
        shape = op.result.tensor.shape
        if axis in dims:
            operand = self._element(operand, dims.index(axis), index)
        kept = [d - (d > axis) for d in dims if d != axis]
        return self.spread(operand, shape[:axis] + shape[axis + 1 :], kept)

    def _element(self, value: Value, axis: int, index: int) -> Value:
        """Return a value without an axis, at an index of it."""
        shape = value.tensor.shape
        start = min(index, shape[axis] - 1)
        return self.reshape(self.part(value, axis, start, start + 1), shape[:axis] + shape[axis + 1 :])


def expand_short_sum(op: Op, values: Callable[[Value], Value], append: Callable[[Op], None]) -> list[Value]:
    """Append the additions and return the sum.

    Parameters
    ----------
    op : Op
        One that `is_short_sum` accepts.
    values : callable
        Gives what takes the place of a value.
    append : callable
    """
    writer = _Terms(op, values, append)
    (axis,) = op.attributes["dimensions"]
    lanes = [writer.term(op.operands[0], axis, k) for k in range(op.operands[0].tensor.shape[axis])]
    half = 1 << (math.ceil(math.log2(len(lanes))) - 1)
    while half:
        pairs = [writer.op(elementwise.ADD, *pair) for pair in zip(lanes[:half], lanes[half:], strict=False)]
        lanes = pairs + lanes[len(pairs) : half]
        half //= 2
    initial = writer.spread(values(op.operands[1]), op.result.tensor.shape)
    return [writer.op(elementwise.ADD, initial, lanes[0])]
