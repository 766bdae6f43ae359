"""``einsum`` and ``unary_einsum`` in plain ops: diagonals, sums over labels of one operand, then one dot_general."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops import comparison, contraction, conversion, creation, elementwise, layout, reduction
from numhlo.lowering.ops.contraction import accumulation_dtype
from numhlo.lowering.ops.deprecated import einsum_labels
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers
from numhlo.lowering.passes.legalizer import Builder, legalization


@legalization("stablehlo.einsum", "stablehlo.unary_einsum")
def legalize_einsum(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Sum in float32 where the element type is narrower, and round once."""
    labels = einsum_labels(op.attributes["einsum_config"], [x.tensor.ndim for x in operands])
    assert labels is not None  # the op's type rule has checked it
    parts, wanted = labels
    dtype = op.result.tensor.dtype
    wide = accumulation_dtype(dtype)
    factors = []
    for number, (x, part) in enumerate(zip(operands, parts, strict=True)):
        others = set(wanted).union(*[p for k, p in enumerate(parts) if k != number])
        factors.append(_reduced(b, _converted(b, x, wide), part, others))
    result, order = factors[0] if len(factors) == 1 else _product(b, factors, wanted)
    permutation = tuple([order.index(label) for label in wanted])
    if permutation != tuple(range(len(permutation))):
        result = b.op(layout.TRANSPOSE, result, permutation=permutation)
    return [_converted(b, result, dtype)]


def _converted(b: Builder, x: Value, dtype: np.dtype) -> Value:
    if x.tensor.dtype == dtype:
        return x
    return b.op(conversion.CONVERT, x, result=x.tensor.with_dtype(dtype))


def _reduced(b: Builder, x: Value, labels: str, others: set[str]) -> tuple[Value, str]:
    """Return a factor with each label once, and only those that the result or the other factor has."""
    while (twice := next((k for k, label in enumerate(labels) if label in labels[:k]), None)) is not None:
        x = _sum(b, _diagonal(b, x, labels.index(labels[twice]), twice), (twice,))
        labels = labels[:twice] + labels[twice + 1 :]
    lone = tuple([k for k, label in enumerate(labels) if label not in others])
    kept = "".join([label for label in labels if label in others])
    return (_sum(b, x, lone) if lone else x), kept


def _diagonal(b: Builder, x: Value, first: int, second: int) -> Value:
    """Return an array with zeros where its indices along two axes differ."""
    counter = TensorType(x.tensor.shape, np.dtype(np.int64))
    rows, columns = (b.op(creation.IOTA, result=counter, iota_dimension=axis) for axis in (first, second))
    same = b.op(comparison.COMPARE, rows, columns, comparison_direction="EQ", compare_type="SIGNED")
    zero = b.constant(np.zeros((), x.tensor.dtype))
    zeros = b.op(layout.BROADCAST_IN_DIM, zero, result=x.type, broadcast_dimensions=())
    return b.op(comparison.SELECT, same, x, zeros)


def _sum(b: Builder, x: Value, axes: tuple[int, ...]) -> Value:
    scalar = x.tensor.with_shape(())
    body = b.region([scalar, scalar], lambda y, z: [b.op(elementwise.ADD, y, z)])
    zero = b.constant(np.zeros((), scalar.dtype))
    return b.ops(reduction.REDUCE, x, zero, regions=[body], dimensions=axes)[0]


def _product(b: Builder, factors: Sequence[tuple[Value, str]], wanted: str) -> tuple[Value, str]:
    """Return the product of two factors and the labels of its dimensions."""
    (x, left), (y, right) = factors
    batch = [label for label in left if label in right and label in wanted]
    summed = [label for label in left if label in right and label not in wanted]
    numbers = DotDimensionNumbers(
        tuple([left.index(label) for label in batch]),
        tuple([right.index(label) for label in batch]),
        tuple([left.index(label) for label in summed]),
        tuple([right.index(label) for label in summed]),
    )
    rest = [label for part in (left, right) for label in part if label not in batch and label not in summed]
    order = "".join([*batch, *rest])
    extents = dict(zip(left + right, (*x.tensor.shape, *y.tensor.shape), strict=True))
    result = x.tensor.with_shape(tuple([extents[label] for label in order]))
    (product,) = b.ops(contraction.DOT_GENERAL, x, y, results=[result], dot_dimension_numbers=numbers)
    return product, order
