"""What rewrites of the graph append ops with: the ops that most of them need, in the place of another op."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import UNKNOWN, Location, Region, TensorType, Value
from numhlo.lowering.ops import conversion, elementwise, layout, reduction
from numhlo.lowering.ops.builder import OpWriter


class Writer(OpWriter):
    """Appends ops, and leaves out those that would change nothing."""

    def number(self, value: object, dtype: np.dtype) -> Value:
        """Append a constant of one element."""
        return self.constant(np.asarray(value).astype(dtype))

    def spread(self, x: Value, shape: Sequence[int], dims: Sequence[int] = ()) -> Value:
        """Append a broadcast."""
        type = x.tensor.with_shape(tuple(shape))
        return self.op(layout.BROADCAST_IN_DIM, x, result=type, broadcast_dimensions=tuple(dims))

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """Append a reshape to another shape."""
        shape = tuple(shape)
        return x if x.tensor.shape == shape else self.op(layout.RESHAPE, x, result=x.tensor.with_shape(shape))

    def convert(self, x: Value, dtype: np.dtype) -> Value:
        """Append a conversion to another element type."""
        return x if x.tensor.dtype == dtype else self.op(conversion.CONVERT, x, result=x.tensor.with_dtype(dtype))

    def part(self, x: Value, axis: int, start: int, stop: int) -> Value:
        """Append a slice along one axis."""
        shape = x.tensor.shape
        bounds = [(start, stop) if k == axis else (0, extent) for k, extent in enumerate(shape)]
        first, last = zip(*bounds, strict=True)
        return self.op(layout.SLICE, x, start_indices=first, limit_indices=last, strides=(1,) * len(shape))

    def sum(self, x: Value, zero: Value, axes: Sequence[int]) -> Value:
        """Append the sum over some axes, to which ``zero`` is added."""
        body = addition(zero.tensor, self.location)
        return self.ops(reduction.REDUCE, x, zero, regions=[body], dimensions=tuple(axes))[0]


def addition(type: TensorType, location: Location = UNKNOWN) -> Region:
    """Return the body of a sum."""
    body = Region([type, type])
    body.returns = [OpWriter(body.ops.append, location).op(elementwise.ADD, *body.arguments)]
    return body
