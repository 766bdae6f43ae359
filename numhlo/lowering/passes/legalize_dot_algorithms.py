"""``dot_general`` by an algorithm: operands rounded, split into components and multiplied as it says, in plain ops.

What follows sees products without algorithms. `numhlo.lowering.ops.dot_algorithms` knows what they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import comparison, contraction, conversion, elementwise, layout, reduction
from numhlo.lowering.ops.contraction import free_dimensions
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers
from numhlo.lowering.ops.dot_algorithms import ProductByAlgorithm
from numhlo.lowering.passes.legalizer import Builder, legalization


@legalization("stablehlo.dot_general", when=lambda op: op.attributes["algorithm"] is not None)
def legalize_dot_algorithm(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Write the algorithm as ops, or refuse it."""
    lhs, rhs = operands
    algorithm = ProductByAlgorithm(op.attributes["algorithm"], _Ops(b, op), op.location)
    return [algorithm.write((lhs, rhs), (lhs.tensor.dtype, rhs.tensor.dtype), op.result.tensor.dtype)]


class _Ops:
    """Writes an algorithm as ops of a function under construction."""

    def __init__(self, builder: Builder, op: Op) -> None:
        self.b, self.shape = builder, op.result.tensor.shape
        self.numbers: DotDimensionNumbers = op.attributes["dot_dimension_numbers"]

    def convert(self, x: Value, dtype: np.dtype) -> Value:
        return self.b.op(conversion.CONVERT, x, result=x.tensor.with_dtype(dtype))

    def reduce_precision(self, x: Value, exponent_bits: int, mantissa_bits: int) -> Value:
        return self.b.op(conversion.REDUCE_PRECISION, x, exponent_bits=exponent_bits, mantissa_bits=mantissa_bits)

    def subtract(self, x: Value, y: Value) -> Value:
        return self.b.op(elementwise.SUBTRACT, x, y)

    def add(self, x: Value, y: Value) -> Value:
        return self.b.op(elementwise.ADD, x, y)

    def without_nan(self, x: Value) -> Value:
        is_number = self.b.op(comparison.COMPARE, x, x, comparison_direction="EQ", compare_type="FLOAT")
        zero = self.b.constant(np.zeros((), x.tensor.dtype))
        zeros = self.b.op(layout.BROADCAST_IN_DIM, zero, result=x.type, broadcast_dimensions=())
        return self.b.op(comparison.SELECT, is_number, x, zeros)

    def product(self, lhs: Value, rhs: Value) -> Value:
        result = lhs.tensor.with_shape(self.shape)
        return self.b.op(contraction.DOT_GENERAL, lhs, rhs, result=result, dot_dimension_numbers=self.numbers)

    def rounded_product(self, lhs: Value, rhs: Value, narrow: np.dtype) -> Value:
        numbers, rank = self.numbers, len(self.shape)
        batching = numbers.lhs_batching_dimensions
        summed = tuple([lhs.tensor.shape[d] for d in numbers.lhs_contracting_dimensions])
        terms = lhs.tensor.with_shape((*self.shape, *summed))
        lhs_free = free_dimensions(lhs.tensor.ndim, batching, numbers.lhs_contracting_dimensions)
        rhs_free = free_dimensions(rhs.tensor.ndim, numbers.rhs_batching_dimensions, numbers.rhs_contracting_dimensions)
        first = len(batching) + len(lhs_free)
        ends = range(rank, rank + len(summed))
        places = [*batching, *lhs_free, *numbers.lhs_contracting_dimensions]
        left = self._spread(lhs, places, [*range(first), *ends], terms.shape)
        places = [*numbers.rhs_batching_dimensions, *rhs_free, *numbers.rhs_contracting_dimensions]
        right = self._spread(rhs, places, [*range(len(batching)), *range(first, rank), *ends], terms.shape)
        return self._rounded_sum(self.b.op(elementwise.MULTIPLY, left, right), tuple(ends), narrow)

    def _spread(self, x: Value, own: Sequence[int], target: Sequence[int], shape: tuple[int, ...]) -> Value:
        """Return an operand with its dimensions ``own`` where ``target`` says, the same along all others."""
        dimensions = dict(zip(own, target, strict=True))
        places = tuple([dimensions[d] for d in range(x.tensor.ndim)])
        return self.b.op(layout.BROADCAST_IN_DIM, x, result=x.tensor.with_shape(shape), broadcast_dimensions=places)

    def _rounded_sum(self, x: Value, axes: tuple[int, ...], narrow: np.dtype) -> Value:
        scalar = x.tensor.with_shape(())

        def write(y: Value, z: Value) -> list[Value]:
            return [self.convert(self.convert(self.add(y, z), narrow), scalar.dtype)]

        body = self.b.region([scalar, scalar], write)
        zero = self.b.constant(np.zeros((), scalar.dtype))
        return self.b.ops(reduction.REDUCE, x, zero, regions=[body], dimensions=axes)[0]
