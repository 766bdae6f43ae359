"""Sums of two to four elements that are computed of much smaller arrays, as plain additions: they need no memory.

Squared distances between all pairs of points are such sums, along the axis of coordinates. A reduction stores its
result; written out, it is an elementwise value, which is computed where it is needed. The order of additions is that of
`numhlo.lowering.ops.reduction_order`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops import elementwise, layout
from numhlo.lowering.ops.primitive import Primitive, make_op
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


class _Writer:
    """Writes the terms of a sum.

    Parameters
    ----------
    values : callable
        What takes the place of a value.
    append : callable
    """

    def __init__(self, op: Op, values: Callable[[Value], Value], append: Callable[[Op], None]) -> None:
        self.location, self.values, self.append = op.location, values, append
        self.terms: dict[tuple[Value, int], Value] = {}

    def bind(
        self, definition: Primitive, *operands: Value, type: TensorType | None = None, **attributes: object
    ) -> Value:
        """Append an op and return its result."""
        op = make_op(definition, operands, attributes, (), None if type is None else [type], self.location)
        self.append(op)
        return op.result

    def term(self, value: Value, axis: int, index: int) -> Value:
        """Return the elements of a value at an index of an axis, which is left out."""
        known = self.terms.get((value, index))
        if known is None:
            made = value.owner
            assert isinstance(made, Op)
            if made.definition is layout.BROADCAST_IN_DIM:
                known = self._broadcast(made, axis, index)
            else:
                known = self.bind(made.definition, *[self.term(v, axis, index) for v in made.operands])
            self.terms[value, index] = known
        return known

    def _broadcast(self, op: Op, axis: int, index: int) -> Value:
        """Return the elements of a broadcast at an index of an axis: the broadcast of elements of its operand."""
        operand, dims = self.values(op.operands[0]), op.attributes["broadcast_dimensions"]
        shape = op.result.tensor.shape
        if axis in dims:
            operand = self._element(operand, dims.index(axis), index)
        type = operand.tensor.with_shape(shape[:axis] + shape[axis + 1 :])
        kept = tuple(d - (d > axis) for d in dims if d != axis)
        return self.bind(layout.BROADCAST_IN_DIM, operand, type=type, broadcast_dimensions=kept)

    def _element(self, value: Value, axis: int, index: int) -> Value:
        """Return a value without an axis, at an index of it."""
        shape = value.tensor.shape
        start = tuple(min(index, shape[axis] - 1) if d == axis else 0 for d in range(len(shape)))
        limit = tuple(start[axis] + 1 if d == axis else extent for d, extent in enumerate(shape))
        strides = (1,) * len(shape)
        part = self.bind(layout.SLICE, value, start_indices=start, limit_indices=limit, strides=strides)
        return self.bind(layout.RESHAPE, part, type=value.tensor.with_shape(shape[:axis] + shape[axis + 1 :]))


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
    writer = _Writer(op, values, append)
    (axis,) = op.attributes["dimensions"]
    lanes = [writer.term(op.operands[0], axis, k) for k in range(op.operands[0].tensor.shape[axis])]
    half = 1 << (math.ceil(math.log2(len(lanes))) - 1)
    while half:
        pairs = [writer.bind(elementwise.ADD, *pair) for pair in zip(lanes[:half], lanes[half:], strict=False)]
        lanes = pairs + lanes[len(pairs) : half]
        half //= 2
    initial = writer.bind(
        layout.BROADCAST_IN_DIM, values(op.operands[1]), type=op.result.tensor, broadcast_dimensions=()
    )
    return [writer.bind(elementwise.ADD, initial, lanes[0])]
