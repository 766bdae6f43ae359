"""Random functions of elementwise ops, views, reductions, selections and updates, and data for them."""

from collections.abc import Callable

import ml_dtypes
import numpy as np

from numhlo.backend.emit.registers import REGISTERS
from numhlo.lowering.ir import Function, Region, TensorType, Value
from numhlo.lowering.ir.errors import UnsupportedError, VerificationError
from numhlo.lowering.ops import comparison, conversion, elementwise, indexing, layout, reduction
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.primitive import Primitive, make_op

SHAPES = [(4, 6), (6,), (2, 3, 4), (1, 6), (4, 1), (), (24,), (5,), (2, 12), (3, 20), (3, 1), (3,), (20,), (60,)]
SCALAR_INDEX = TensorType((), np.dtype(np.int32))
BINARY = [elementwise.ADD, elementwise.MULTIPLY, elementwise.MAXIMUM, elementwise.MINIMUM]
BINARY_OF_KIND: dict[str, list[Primitive]] = {
    "b": [elementwise.XOR, elementwise.AND],
    "f": [elementwise.SUBTRACT, elementwise.DIVIDE],
    "i": [elementwise.SUBTRACT, elementwise.DIVIDE, elementwise.REMAINDER, elementwise.SHIFT_LEFT, elementwise.OR],
    "u": [elementwise.SUBTRACT, elementwise.DIVIDE, elementwise.REMAINDER, elementwise.SHIFT_RIGHT_LOGICAL],
}
UNARY_OF_KIND: dict[str, list[Primitive]] = {
    "b": [elementwise.NOT],
    "f": [elementwise.NEGATE, elementwise.ABS, elementwise.FLOOR, elementwise.SIGN, elementwise.SQRT],
    "i": [elementwise.NEGATE, elementwise.ABS, elementwise.NOT, elementwise.SIGN, elementwise.POPCNT],
    "u": [elementwise.NEGATE, elementwise.NOT, elementwise.COUNT_LEADING_ZEROS],
}


def dtype_named(name: str) -> np.dtype:
    """Return a dtype of NumPy's or ml_dtypes'."""
    return np.dtype(getattr(ml_dtypes, name, name))


def reduction_body(definition: Primitive, dtype: np.dtype) -> Region:
    """Return a body of one op on two scalars."""
    scalar = TensorType((), dtype)
    region = Region([scalar, scalar])
    op = make_op(definition, region.arguments)
    region.ops.append(op)
    region.returns = [op.result]
    return region


class Generator:
    """Makes one random function."""

    def __init__(self, rng: np.random.Generator, dtypes: tuple[str, ...]) -> None:
        self.rng = rng
        self.dtypes = [dtype_named(name) for name in dtypes]
        types = [TensorType(self.pick(SHAPES), self.pick(self.dtypes)) for _ in range(self.below(1, 4))]
        self.builder = FunctionBuilder("random", types)
        self.values = list(self.builder.arguments)
        self.makers: list[Callable[[Value], Value | None]] = [
            self.binary, self.binary, self.binary, self.unary, self.transpose, self.slice, self.reverse, self.reshape,
            self.select, self.compare, self.reduce, self.reduce, self.concatenate, self.pad, self.dynamic_slice,
            self.update,
        ]  # fmt: skip

    def below(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high))

    def pick(self, things):
        return things[self.below(0, len(things))]

    def value(self) -> Value:
        return self.pick(self.values)

    def function(self, ops: int) -> Function:
        """Return a function of about ``ops`` ops that returns a few of their results."""
        for _ in range(ops):
            try:
                made = self.pick(self.makers)(self.value())
            except (VerificationError, UnsupportedError):
                continue
            if made is not None:
                self.values.append(made)
        last = len(self.values) - 1
        chosen = sorted({last, *(self.below(0, last + 1) for _ in range(self.below(1, 4)))})
        return self.builder.finish([self.values[k] for k in chosen])

    def fitted(self, value: Value, type: TensorType) -> Value | None:
        """Return ``value`` converted and brought to a shape, if there is an easy way."""
        b = self.builder
        if value.tensor.dtype != type.dtype:
            value = b.op(conversion.CONVERT, value, result=value.tensor.with_dtype(type.dtype))
        shape = value.tensor.shape
        if shape == type.shape:
            return value
        if value.tensor.size == type.size:
            return b.op(layout.RESHAPE, value, result=type)
        if value.tensor.size == 1:
            scalar = b.op(layout.RESHAPE, value, result=type.with_shape(()))
            return b.op(layout.BROADCAST_IN_DIM, scalar, result=type, broadcast_dimensions=())
        first = len(type.shape) - len(shape)
        if first >= 0 and all(a in (1, n) for a, n in zip(shape, type.shape[first:], strict=True)):
            dims = tuple(range(first, len(type.shape)))
            return b.op(layout.BROADCAST_IN_DIM, value, result=type, broadcast_dimensions=dims)
        if shape == type.shape[: len(shape)]:
            dims = tuple(range(len(shape)))
            return b.op(layout.BROADCAST_IN_DIM, value, result=type, broadcast_dimensions=dims)
        return None

    def binary(self, x: Value) -> Value | None:
        y = self.fitted(self.value(), x.tensor)
        kind = REGISTERS[x.tensor.dtype].kind
        return None if y is None else self.builder.op(self.pick(BINARY + BINARY_OF_KIND[kind]), x, y)

    def unary(self, x: Value) -> Value | None:
        return self.builder.op(self.pick(UNARY_OF_KIND[REGISTERS[x.tensor.dtype].kind]), x)

    def transpose(self, x: Value) -> Value | None:
        order = tuple(self.rng.permutation(x.tensor.ndim).tolist())
        return self.builder.op(layout.TRANSPOSE, x, permutation=order)

    def slice(self, x: Value) -> Value | None:
        starts = tuple(self.below(0, max(1, n)) for n in x.tensor.shape)
        steps = tuple(self.below(1, 3) for _ in starts)
        return self.builder.op(layout.SLICE, x, start_indices=starts, limit_indices=x.tensor.shape, strides=steps)

    def reverse(self, x: Value) -> Value | None:
        dims = tuple(d for d in range(x.tensor.ndim) if self.below(0, 2))
        return self.builder.op(layout.REVERSE, x, dimensions=dims)

    def reshape(self, x: Value) -> Value | None:
        shapes = [s for s in SHAPES if np.prod(s, dtype=int) == x.tensor.size]
        return self.builder.op(layout.RESHAPE, x, result=x.tensor.with_shape(self.pick(shapes))) if shapes else None

    def select(self, x: Value) -> Value | None:
        test = self.fitted(self.value(), x.tensor.with_dtype(np.dtype(bool)))
        y = self.fitted(self.value(), x.tensor)
        return None if test is None or y is None else self.builder.op(comparison.SELECT, test, x, y)

    def compare(self, x: Value) -> Value | None:
        y = self.fitted(self.value(), x.tensor)
        direction = self.pick(["LT", "LE", "GT", "GE", "EQ", "NE"])
        return None if y is None else self.builder.op(comparison.COMPARE, x, y, comparison_direction=direction)

    def reduce(self, x: Value) -> Value | None:
        axes = tuple(d for d in range(x.tensor.ndim) if self.below(0, 2))
        body = reduction_body(self.pick(BINARY), x.tensor.dtype)
        init = self.builder.constant(np.zeros((), x.tensor.dtype))
        return self.builder.ops(reduction.REDUCE, x, init, regions=[body], dimensions=axes)[0]

    def concatenate(self, x: Value) -> Value | None:
        return (
            self.builder.op(layout.CONCATENATE, x, x, dimension=self.below(0, x.tensor.ndim)) if x.tensor.ndim else None
        )

    def pad(self, x: Value) -> Value | None:
        low, high, interior = (tuple(self.below(a, b) for _ in x.tensor.shape) for a, b in ((-1, 2), (0, 3), (0, 2)))
        zero = self.builder.constant(np.zeros((), x.tensor.dtype))
        return self.builder.op(
            layout.PAD, x, zero, edge_padding_low=low, edge_padding_high=high, interior_padding=interior
        )

    def dynamic_slice(self, x: Value) -> Value | None:
        start = self.fitted(self.value(), SCALAR_INDEX)
        sizes = tuple(max(1, n // 2) for n in x.tensor.shape)
        if start is None:
            return None
        return self.builder.op(indexing.DYNAMIC_SLICE, x, *[start] * x.tensor.ndim, slice_sizes=sizes)

    def update(self, x: Value) -> Value | None:
        start = self.fitted(self.value(), SCALAR_INDEX)
        limits = tuple(max(1, n // 2) for n in x.tensor.shape)
        zeros, ones = (0,) * len(limits), (1,) * len(limits)
        part = self.builder.op(layout.SLICE, x, start_indices=zeros, limit_indices=limits, strides=ones)
        if start is None:
            return None
        return self.builder.op(indexing.DYNAMIC_UPDATE_SLICE, x, part, *[start] * x.tensor.ndim)


def random_function(rng: np.random.Generator, ops: int, dtypes: tuple[str, ...]) -> Function:
    """Return a random function of some element types."""
    return Generator(rng, dtypes).function(ops)


def random_array(rng: np.random.Generator, type: TensorType) -> np.ndarray:
    """Return an array of small numbers of both signs, where the type has them."""
    kind = REGISTERS[type.dtype].kind
    if kind == "b":
        return np.asarray(rng.random(type.shape) > 0.5)
    if kind in "iu":
        return np.asarray(rng.integers(-5 if kind == "i" else 0, 6, type.shape)).astype(type.dtype)
    return np.asarray(rng.standard_normal(type.shape) * 3).astype(type.dtype)
