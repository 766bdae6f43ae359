"""Differentiation of dot_general, which is linear in each operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import contraction, layout
from numhlo.lowering.ops.contraction import free_dimensions
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers
from numhlo.tracer.core.arrangement import contract
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.core.operands import convert
from numhlo.tracer.core.replay import replay_op
from numhlo.tracer.differentiation.table import JVP, TRANSPOSE, add_tangents, linear_operand


@JVP.register(contraction.DOT_GENERAL)
def jvp_bilinear(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """Apply the op to each operand's tangent beside the other operand."""
    (x, y), (dx, dy) = primals, tangents
    first = None if dx is None else replay_op(op, [dx, y], {})[0]
    return [add_tangents(first, None if dy is None else replay_op(op, [x, dy], {})[0])]


@TRANSPOSE.register(contraction.DOT_GENERAL)
def _transpose_dot(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    """Contract the cotangent with the known operand over its free axes, then put the axes in the operand's order."""
    place = linear_operand(op, operands)
    n: DotDimensionNumbers = op.attributes["dot_dimension_numbers"]
    batching = (n.lhs_batching_dimensions, n.rhs_batching_dimensions)
    contracting = (n.lhs_contracting_dimensions, n.rhs_contracting_dimensions)
    target, other = op.operands[place].tensor, op.operands[1 - place].tensor
    free = free_dimensions(target.ndim, batching[place], contracting[place])
    other_free = free_dimensions(other.ndim, batching[1 - place], contracting[1 - place])
    batch = len(batching[0])
    first = batch if place == 1 else batch + len(free)
    cotangent_free = range(first, first + len(other_free))
    known = operands[1 - place]
    c = convert(cotangents[0], known.dtype)
    pairs = dict(zip(contracting[1 - place], contracting[place], strict=True))
    remaining = [pairs[k] for k in sorted(contracting[1 - place])]
    axes, batches = (tuple(cotangent_free), tuple(other_free)), (tuple(range(batch)), batching[1 - place])
    if remaining < list(free):  # the operand's order, or nearer to it
        product, order = contract(known, c, axes[::-1], batches[::-1]), [*batching[place], *remaining, *free]
    else:
        product, order = contract(c, known, axes, batches), [*batching[place], *free, *remaining]
    if order != sorted(order):
        inverse = tuple(int(k) for k in np.argsort(order))
        product = bind1(layout.TRANSPOSE, product, attributes={"permutation": inverse})
    result = convert(product, target.dtype)
    return [result if k == place else None for k in (0, 1)]
