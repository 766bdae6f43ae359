"""Patterns of contraction: dot is a dot_general, sums of nothing are zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import contraction, layout
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
