"""Patterns of custom calls of users' native functions: layouts other than C's order become transpositions around them.

Then the arrays of a call are dense in C's order, as all of a compiled program's are, and what makes an operand or reads
a result does so in the order of the layout, where it can: nothing is copied for it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops.control_flow import CUSTOM_CALL
from numhlo.lowering.ops.custom_calls import target_of
from numhlo.lowering.ops.implementations import OPERAND_ORDERS, RESULT_ORDERS, layouts_of
from numhlo.lowering.ops.layout import TRANSPOSE
from numhlo.lowering.passes.rewriting import Rewriter, pattern


@pattern(CUSTOM_CALL)
def _lay_out(rewriter: Rewriter, op: Op) -> Sequence[Value] | None:
    """f(x), with layouts -> transpose(f(transpose(x)))."""
    target = target_of(op)
    if op.attributes["operand_layouts"] is None or target is None or target.native is None:
        return None
    types = [[v.type for v in values] for values in (op.operands, op.results)]
    orders = [
        [layout.major_to_minor for layout in layouts_of(op.attributes, name, group)]
        for name, group in zip(("operand_layouts", "result_layouts"), types, strict=True)
    ]
    operands = [_transposed(rewriter, x, order) for x, order in zip(op.operands, orders[0], strict=True)]
    results = [_permuted(v.tensor, order) for v, order in zip(op.results, orders[1], strict=True)]
    attributes = {**op.attributes, OPERAND_ORDERS: tuple(orders[0]), RESULT_ORDERS: tuple(orders[1])}
    attributes.update(operand_layouts=None, result_layouts=None)
    found = rewriter.emit(CUSTOM_CALL, operands, attributes, (), results)
    pairs = zip(found, orders[1], strict=True)
    return [_transposed(rewriter, x, tuple(np.argsort(order).tolist())) for x, order in pairs]


def _transposed(rewriter: Rewriter, x: Value, order: tuple[int, ...]) -> Value:
    return x if order == tuple(range(len(order))) else rewriter.op(TRANSPOSE, x, permutation=order)


def _permuted(type: TensorType, order: Sequence[int]) -> TensorType:
    return type.with_shape(tuple(type.shape[axis] for axis in order))
