"""Differentiation of reductions by any body, and of sorts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import comparison, creation, reduction, sorting
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.core.arrangement import gather_along_axis
from numhlo.tracer.core.bind import bind, bind1
from numhlo.tracer.core.operands import broadcast_to_shape, convert, expand, reshape_to, shape_of
from numhlo.tracer.core.operations import compare
from numhlo.tracer.core.replay import replay_op, replay_region
from numhlo.tracer.differentiation.elementwise import mul, sum_to
from numhlo.tracer.differentiation.scalar_bodies import Combine, body_op, reduce_axis, tangents_through, with_initial
from numhlo.tracer.differentiation.table import JOINT, TRANSPOSE, Environment, Walker


def _spread(x: Any, op: Op) -> Any:
    """Return a reduction's result broadcast back over the reduced axes."""
    axes = op.attributes["dimensions"]
    return broadcast_to_shape(expand(x, *axes) if axes else x, op.operands[0].tensor.shape)


@JOINT.register(reduction.REDUCE)
def _joint_reduce(
    walker: Walker, op: Op, primals: list[Any], tangents: list[Any], environment: Environment
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Sums are linear, extremes what they choose; any other body is differentiated as a tree of its applications."""
    with walker.in_primal():
        outputs = replay_op(op, primals, {v: environment[v].primal for v in free_values(op)})
    kind, (dx, *_) = body_op(op), tangents
    axes = op.attributes["dimensions"]
    if kind is ops.ADD:
        if dx is None:
            return outputs, [broadcast_to_shape(tangents[1], shape_of(outputs[0]))]
        return outputs, [sum_to(dx, axes) if tangents[1] is None else sum_to(dx, axes) + tangents[1]]
    if kind in (ops.MAXIMUM, ops.MINIMUM) and tangents[1] is None:
        return outputs, [_tangent_of_extreme(op, primals[0], dx, outputs[0])]
    if dx is not None and _chooses_by_index(op) and not any(t is not None for t in tangents[1:]):
        return outputs, _tangents_of_selected(op, dx, outputs)
    return outputs, tangents_through(walker, op, primals, tangents, environment, lambda x, c: _as_tree(op, x, c))


def _as_tree(op: Op, operands: Sequence[Any], combine: Combine) -> list[Any]:
    count = len(op.results)
    arrays, inits = operands[:count], operands[count:]
    axes = op.attributes["dimensions"]
    shape = op.results[0].tensor.shape
    if any(shape_of(arrays[0])[axis] == 0 for axis in axes):
        return [broadcast_to_shape(x, shape) for x in inits]
    rows = list(arrays)
    for axis in sorted(axes, reverse=True):
        rows = reduce_axis(rows, axis, combine)
    return with_initial(inits, [reshape_to(x, shape) for x in rows], combine)


def _tangent_of_extreme(op: Op, x: Any, dx: Any, output: Any) -> Any:
    """Return the mean of the tangents of all elements that are the extreme."""
    axes = op.attributes["dimensions"]
    chosen = convert(compare("EQ", x, _spread(output, op)), dx.dtype)
    return bind1(ops.DIVIDE, sum_to(mul(dx, chosen), axes), sum_to(chosen, axes))


def _chooses_by_index(op: Op) -> bool:
    """Return whether a reduction of values and their indices along one axis returns one pair, as argmax does."""
    axes = op.attributes["dimensions"]
    if len(op.results) != 2 or len(axes) != 1:
        return False
    index = op.operands[1].owner
    if not isinstance(index, Op) or index.definition is not creation.IOTA:
        return False
    (region,) = op.regions
    x, i, y, j = region.arguments
    return (
        index.attributes["iota_dimension"] == axes[0]
        and _is_one_of(region.returns[0], {x, y})
        and _is_one_of(region.returns[1], {i, j})
    )


def _is_one_of(value: Value, candidates: set[Value]) -> bool:
    """Return whether a value is made by choosing between candidates alone."""
    owner = value.owner
    if value in candidates:
        return True
    if not isinstance(owner, Op) or owner.definition not in (comparison.SELECT, ops.MAXIMUM, ops.MINIMUM):
        return False
    branches = owner.operands[1:] if owner.definition is comparison.SELECT else owner.operands
    return all(_is_one_of(v, candidates) for v in branches)


def _tangents_of_selected(op: Op, dx: Any, outputs: list[Any]) -> Sequence[Any]:
    """Return the tangents of a (value, index) reduction such as argmax: of the element that was chosen."""
    (axis,) = op.attributes["dimensions"]
    index = expand(convert(outputs[1], np.int64), axis)
    picked = gather_along_axis(dx, index, axis)
    return [sum_to(picked, (axis,)), None]


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
        region = replay_region(op.regions[0], {v: environment[v].primal for v in free_values(op)})
        scalar = TensorType((), index_type.dtype)
        region.add_argument(scalar)
        region.add_argument(scalar)
        outputs = bind(sorting.SORT, *primals, index, attributes=op.attributes, regions=[region])
    moved = [None if t is None else gather_along_axis(t, outputs[-1], axis) for t in tangents]
    return outputs[:-1], moved
