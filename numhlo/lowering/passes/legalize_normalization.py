"""Batch normalization in plain ops: the specification's formulas, in float32 where the element type is narrower."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops import conversion, elementwise, layout, reduction
from numhlo.lowering.ops.contraction import accumulation_dtype
from numhlo.lowering.passes.legalizer import Builder, legalization


class _Writer:
    """Writes arithmetic on an operand and on vectors that are spread over its shape."""

    def __init__(self, b: Builder, op: Op, operand: Value) -> None:
        self.b, self.dtype = b, operand.tensor.dtype
        self.wide = accumulation_dtype(self.dtype)
        self.operand = self.widen(operand)
        self.type: TensorType = self.operand.tensor
        self.feature: int = op.attributes["feature_index"]
        self.epsilon = np.float32(op.attributes["epsilon"])
        extent = self.type.shape[self.feature]
        self.count = self.fill(self.type.size // extent if extent else 0, self.type)
        self.mean_count = self.fill(self.type.size // extent if extent else 0, self.type.with_shape((extent,)))

    def widen(self, x: Value) -> Value:
        if x.tensor.dtype == self.wide:
            return x
        return self.b.op(conversion.CONVERT, x, result=x.tensor.with_dtype(self.wide))

    def finish(self, values: Sequence[Value]) -> list[Value]:
        if self.dtype == self.wide:
            return list(values)
        return [self.b.op(conversion.CONVERT, x, result=x.tensor.with_dtype(self.dtype)) for x in values]

    def fill(self, number: float | np.generic, type: TensorType) -> Value:
        scalar = self.b.constant(np.asarray(number).astype(self.wide))
        return self.b.op(layout.BROADCAST_IN_DIM, scalar, result=type, broadcast_dimensions=())

    def spread(self, vector: Value) -> Value:
        return self.b.op(layout.BROADCAST_IN_DIM, vector, result=self.type, broadcast_dimensions=(self.feature,))

    def add(self, x: Value, y: Value) -> Value:
        return self.b.op(elementwise.ADD, x, y)

    def subtract(self, x: Value, y: Value) -> Value:
        return self.b.op(elementwise.SUBTRACT, x, y)

    def multiply(self, x: Value, y: Value) -> Value:
        return self.b.op(elementwise.MULTIPLY, x, y)

    def divide(self, x: Value, y: Value) -> Value:
        return self.b.op(elementwise.DIVIDE, x, y)

    def sum(self, x: Value) -> Value:
        axes = tuple([axis for axis in range(self.type.ndim) if axis != self.feature])
        scalar = TensorType((), self.wide)
        body = self.b.region([scalar, scalar], lambda y, z: [self.add(y, z)])
        zero = self.b.constant(np.zeros((), self.wide))
        return self.b.ops(reduction.REDUCE, x, zero, regions=[body], dimensions=axes)[0]

    def shifted(self, variance: Value) -> Value:
        """Return variance + epsilon, for each feature."""
        return self.add(variance, self.fill(self.epsilon, variance.tensor))

    def deviation(self, variance: Value) -> Value:
        return self.b.op(elementwise.SQRT, self.shifted(variance))

    def normalize(self, scale: Value, offset: Value, mean: Value, variance: Value) -> Value:
        centered = self.subtract(self.operand, self.spread(mean))
        normalized = self.divide(centered, self.spread(self.deviation(variance)))
        return self.add(self.multiply(self.spread(scale), normalized), self.spread(offset))


@legalization("stablehlo.batch_norm_inference")
def legalize_inference(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Write ``scale * (x - mean) / sqrt(variance + epsilon) + offset``."""
    w = _Writer(b, op, operands[0])
    return w.finish([w.normalize(*map(w.widen, operands[1:]))])


@legalization("stablehlo.batch_norm_training")
def legalize_training(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Take mean and variance from the batch."""
    w = _Writer(b, op, operands[0])
    scale, offset = map(w.widen, operands[1:])
    mean = w.divide(w.sum(w.operand), w.mean_count)
    centered = w.subtract(w.operand, w.spread(mean))
    variance = w.divide(w.sum(w.multiply(centered, centered)), w.mean_count)
    return w.finish([w.normalize(scale, offset, mean, variance), mean, variance])


@legalization("stablehlo.batch_norm_grad")
def legalize_grad(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Follow the specification's formula, named as there."""
    w = _Writer(b, op, operands[0])
    scale, mean, variance, grad = map(w.widen, operands[1:])
    centered = w.subtract(w.operand, w.spread(mean))
    shifted, deviation = w.spread(w.shifted(variance)), w.spread(w.deviation(variance))
    grad_offset = w.sum(grad)
    grad_scale = w.sum(w.multiply(grad, w.divide(centered, deviation)))
    i1 = w.multiply(grad, w.count)
    i2 = w.spread(grad_offset)
    i4 = w.multiply(w.spread(w.sum(w.multiply(grad, centered))), centered)
    i6 = w.subtract(w.subtract(i1, i2), w.divide(i4, shifted))
    factor = w.divide(w.divide(w.spread(scale), deviation), w.count)
    return w.finish([w.multiply(factor, i6), grad_scale, grad_offset])
