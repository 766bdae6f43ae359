"""Patterns of contraction: dot is a dot_general, sums of nothing are zero, bytes are multiplied as bytes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ir.types import INTEGERS
from numhlo.lowering.ops import contraction, conversion, layout
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers
from numhlo.lowering.passes.rewriting import Rewriter, is_empty, pattern


def as_dot_general(op: Op) -> dict[str, Any]:
    """Return the attributes of the dot_general that a dot is."""
    last = op.operands[0].tensor.ndim - 1
    numbers = DotDimensionNumbers((), (), (last,), (0,))
    return {"dot_dimension_numbers": numbers, "precision_config": op.attributes["precision_config"]}


@pattern(contraction.DOT)
def _dot(rewriter: Rewriter, op: Op) -> Value:
    """dot(x, y) -> dot_general(x, y): x's last axis with y's first."""
    return rewriter.op(contraction.DOT_GENERAL, *op.operands, result=op.result.type, **as_dot_general(op))


@pattern(contraction.DOT_GENERAL)
def _sum_of_nothing(rewriter: Rewriter, op: Op) -> Value | None:
    """dot_general over no elements -> 0."""
    if not is_empty(op.operands[0]):
        return None
    zero = rewriter.constant(np.zeros((), op.result.tensor.dtype))
    return rewriter.op(layout.BROADCAST_IN_DIM, zero, result=op.result.type, broadcast_dimensions=())


@pattern(contraction.DOT_GENERAL)
def _widened_bytes(rewriter: Rewriter, op: Op) -> Value | None:
    """dot_general(convert(x), convert(y)) -> dot_general(x, y) of integers of at most 8 bits: what these are is known.

    Sums are in the result's type either way.
    """
    lhs, rhs = map(_before_widening, op.operands)
    if lhs is None or rhs is None or lhs.tensor.dtype != rhs.tensor.dtype:
        return None
    if op.result.tensor.dtype != op.operands[0].tensor.dtype:
        return None
    return rewriter.op(contraction.DOT_GENERAL, lhs, rhs, result=op.result.type, **op.attributes)


def _before_widening(value: Value) -> Value | None:
    """Return the integers of at most 8 bits of which a value holds the same numbers, if it does."""
    op = value.owner
    if not isinstance(op, Op) or op.definition is not conversion.CONVERT:
        return None
    before, after = op.operands[0].tensor.dtype, value.tensor.dtype
    if before not in INTEGERS or after not in INTEGERS:
        return None
    inner, outer = map(ml_dtypes.iinfo, (before, after))
    return op.operands[0] if inner.bits <= 8 and outer.min <= inner.min and inner.max <= outer.max else None
