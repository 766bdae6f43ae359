"""Differentiation of reductions by a standard body, of sorts, and of cumulative composites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, TensorType
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import creation, reduction, sorting
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.bind import bind, bind1
from numhlo.tracer.differentiation.elementwise import mul, sum_to
from numhlo.tracer.differentiation.table import (
    JOINT,
    JVP,
    TRANSPOSE,
    Environment,
    Walker,
    is_differentiable,
)
from numhlo.tracer.namespace import reductions
from numhlo.tracer.namespace.advanced_indexing import along_axis_items, gather_points
from numhlo.tracer.namespace.core import broadcast_to_shape, convert, expand
from numhlo.tracer.namespace.elementwise_rules import compare, constant, select
from numhlo.tracer.namespace.index_items import as_traced
from numhlo.tracer.replay import replay_region


def body_op(op: Op) -> Any:
    """Return the primitive that a reduction's body consists of, or None where it is something else."""
    (region,) = op.regions
    if len(region.ops) != 1 or len(op.results) != 1 or region.returns != region.ops[0].results:
        return None
    (inner,) = region.ops
    return inner.definition if set(inner.operands) == set(region.arguments) else None


def _spread(x: Any, op: Op) -> Any:
    """Return a reduction's result broadcast back over the reduced axes."""
    axes = op.attributes["dimensions"]
    return broadcast_to_shape(expand(x, *axes) if axes else x, op.operands[0].tensor.shape)


@JVP.register(reduction.REDUCE)
def _jvp_reduce(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    kind = body_op(op)
    axes = op.attributes["dimensions"]
    dx = tangents[0]
    if kind is ops.ADD:
        return [sum_to(dx, axes) if tangents[1] is None else sum_to(dx, axes) + tangents[1]]
    if kind in (ops.MAXIMUM, ops.MINIMUM):
        chosen = convert(compare("EQ", primals[0], _spread(outputs[0], op)), dx.dtype)
        count = sum_to(chosen, axes)
        return [bind1(ops.DIVIDE, sum_to(mul(dx, chosen), axes), count)]
    if kind is ops.MULTIPLY:
        return [sum_to(mul(dx, _other_factors(as_traced(primals[0]), axes)), axes)]
    if len(op.results) == 2 and not is_differentiable(op.results[1].tensor.dtype) and len(axes) == 1:
        return _jvp_selected(op, dx, outputs)
    raise UnsupportedError(
        "the derivative of a reduction with this body",
        where=op.location,
        why="only sums, products, maxima, minima, argmax and argmin have one so far",
    )


def _jvp_selected(op: Op, dx: Any, outputs: list[Any]) -> Sequence[Any]:
    """Tangent of a (value, index) reduction such as argmax: the element that was chosen."""
    (axis,) = op.attributes["dimensions"]
    shape = op.operands[0].tensor.shape
    index = expand(convert(outputs[1], np.int64), axis)
    picked = gather_points(as_traced(dx), along_axis_items(shape, index, axis))
    return [sum_to(picked, (axis,)), None]


def _other_factors(x: Any, axes: tuple[int, ...]) -> Any:
    """Return, for each element, the product of all others along the axes; right with zeros among them."""
    zero, one = constant(0, x), constant(1, x)
    is_zero = compare("EQ", x, zero)
    safe = select(is_zero, one, x)
    zeros = broadcast_to_shape(expand(sum_to(convert(is_zero, x.dtype), axes), *axes), x.shape)
    product = broadcast_to_shape(expand(reductions.prod(safe, axes, x.dtype), *axes), x.shape)
    without_zeros = select(compare("EQ", zeros, zero), bind1(ops.DIVIDE, product, safe), zero)
    lone_zero = bind1(ops.AND, is_zero, compare("EQ", zeros, one))
    return select(lone_zero, product, without_zeros)


@TRANSPOSE.register(reduction.REDUCE)
def _transpose_reduce(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    """Transpose a sum: broadcast back."""
    if body_op(op) is not ops.ADD:
        raise UnsupportedError("the transpose of a reduction other than a sum", where=op.location)
    (c,) = cotangents
    back = _spread(c, op) if operands[0] is None else None
    return [back, c if operands[1] is None else None]


@JOINT.register(sorting.SORT)
def _joint_sort(
    walker: Walker, op: Op, primals: list[Any], tangents: list[Any], environment: Environment
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Sort an index along, and gather tangents in its order."""
    axis = op.attributes["dimension"] % op.operands[0].tensor.ndim
    shape = op.operands[0].tensor.shape
    with walker.in_primal():
        index_type = TensorType(shape, np.dtype(np.int64))
        index = bind1(creation.IOTA, attributes={"iota_dimension": axis}, results=[index_type])
        region = replay_region(op.regions[0], {})
        scalar = TensorType((), index_type.dtype)
        region.add_argument(scalar)
        region.add_argument(scalar)
        outputs = bind(sorting.SORT, *primals, index, attributes=op.attributes, regions=[region])
        items = along_axis_items(shape, outputs[-1], axis)
    moved = [None if t is None else gather_points(as_traced(t), items) for t in tangents]
    return outputs[:-1], moved
