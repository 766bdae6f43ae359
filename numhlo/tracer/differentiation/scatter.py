"""Differentiation of scatter: by how its body combines what is there with an update.

Replacing and adding are linear. Extremes share a tangent between all elements that are the result, as JAX does.
Products are differentiated as running products over updates sorted by place, without division, so that zeros and higher
derivatives are right. Any other body is differentiated where indices are promised to be unique: each element is updated
at most once then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, TensorType
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops import indexing, layout, sorting
from numhlo.lowering.ops.dimension_numbers import ScatterDimensionNumbers
from numhlo.lowering.ops.scatter import update_positions
from numhlo.tracer.core import operations as b
from numhlo.tracer.core.arrangement import combiner_region, concatenate_arrays
from numhlo.tracer.core.bind import bind, bind1, trace_region
from numhlo.tracer.core.operands import convert, full_of, known_value, reshape_to, shape_of
from numhlo.tracer.core.replay import replay_op
from numhlo.tracer.differentiation.elementwise import mul
from numhlo.tracer.differentiation.indexing import patch_cleared
from numhlo.tracer.differentiation.scalar_bodies import Combine, body_op, part, tangents_through
from numhlo.tracer.differentiation.table import JOINT, TRANSPOSE, Environment, Walker, instantiate

INDEX = np.dtype(np.int64)


def _combiner(op: Op) -> Any:
    """Return what a scatter's body does: ``"set"``, a commutative primitive, or None for anything else."""
    (region,) = op.regions
    if not region.ops and region.returns == [region.arguments[1]]:
        return "set"
    return body_op(op)


@JOINT.register(indexing.SCATTER)
def _joint_scatter(
    walker: Walker, op: Op, primals: list[Any], tangents: list[Any], environment: Environment
) -> tuple[Sequence[Any], Sequence[Any]]:
    with walker.in_primal():
        outputs = replay_op(op, primals, {v: environment[v].primal for v in free_values(op)})
    kind = _combiner(op)
    if kind in ("set", ops.ADD):  # where indices repeat under "set", which one wins is the same
        base, _, update = (instantiate(t, v) for t, v in zip(tangents, op.operands, strict=True))
        return outputs, replay_op(op, [base, primals[1], update], {})
    if op.attributes.get("unique_indices"):
        return outputs, tangents_through(walker, op, primals, tangents, environment, lambda x, c: _one_by_one(op, x, c))
    if kind is ops.MULTIPLY:
        return outputs, tangents_through(walker, op, primals, tangents, environment, lambda x, _: [_product(op, *x)])
    if kind in (ops.MAXIMUM, ops.MINIMUM):
        return outputs, [_tangent_of_extreme(walker, op, primals, tangents, outputs[0])]
    raise UnsupportedError(
        "the derivative of a scatter with this body at indices that may repeat",
        where=op.location,
        why="elements may be updated several times, and only sets, sums, products and extremes have a rule for that",
        fix="pass unique_indices=True if no element is updated twice",
    )


def _one_by_one(op: Op, operands: Sequence[Any], combine: Combine) -> list[Any]:
    """Read, combine, and write back: the same where no element is updated twice."""
    count = len(op.results)
    arrays, starts, updates = operands[:count], operands[count], operands[count + 1 :]
    new = combine([_read(op, x, starts) for x in arrays], updates)
    return [_write(op, x, starts, y, "set") for x, y in zip(arrays, new, strict=True)]


def _sorted_by_place(places: Any, values: Any) -> list[Any]:
    types = [TensorType((), x.dtype) for x in (places, places, values, values)]
    body = trace_region(lambda x, y, *_: [b.less(x, y)], types)
    return bind(sorting.SORT, places, values, attributes={"dimension": 0, "is_stable": True}, regions=[body])


def _product(op: Op, x: Any, starts: Any, updates: Any) -> Any:
    """Multiply by the products of all updates of each place: running products over updates sorted by place."""
    shape = shape_of(x)
    size, count = int(np.prod(shape, dtype=np.int64)), int(np.prod(shape_of(updates), dtype=np.int64))
    if not size or not count:
        return x
    places, values = _sorted_by_place(_element_numbers(op, starts), reshape_to(updates, (count,)))
    reach = 1
    while reach < count:
        same = b.equal(part(places, 0, reach, count), part(places, 0, 0, count - reach))
        later, earlier = part(values, 0, reach, count), part(values, 0, 0, count - reach)
        products = b.select(same, mul(later, earlier), later)
        values = concatenate_arrays([part(values, 0, 0, reach), products], 0)
        reach *= 2
    following = concatenate_arrays([part(places, 0, 1, count), full_of(size, (1,), INDEX)], 0)
    ends = b.select(b.unequal(places, following), places, size)
    numbers = ScatterDimensionNumbers((), (0,), (), (), (0,), 1)
    attributes = {"scatter_dimension_numbers": numbers, "unique_indices": True}
    ones = full_of(1, (size,), x.dtype)
    region = combiner_region("set", x.dtype)
    index = reshape_to(ends, (count, 1))
    totals = bind1(indexing.SCATTER, ones, index, values, attributes=attributes, regions=[region])
    return mul(x, reshape_to(totals, shape))


def _tangent_of_extreme(walker: Walker, op: Op, primals: list[Any], tangents: list[Any], output: Any) -> Any:
    """Return the mean of the tangents of all that equals the result: what was there, and updates."""
    x, starts, updates = primals
    with walker.in_primal():
        kept = convert(b.equal(x, output), output.dtype)
        won = convert(b.equal(updates, _read(op, output, starts)), output.dtype)
        count = _write(op, kept, starts, won, "add")
    base, _, update = (instantiate(t, v) for t, v in zip(tangents, op.operands, strict=True))
    return b.divide(_write(op, mul(base, kept), starts, mul(update, won), "add"), count)


@TRANSPOSE.register(indexing.SCATTER)
def _transpose_scatter(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    """Gather the cotangents where updates went; those that were dropped, or overwritten later, have none."""
    (c,) = cotangents
    starts, update = operands[1], op.operands[2].tensor
    replaces = _combiner(op) == "set"
    given = _given_back(op, c, starts, replaces) if operands[2] is None else None
    if operands[0] is not None:
        return [None, None, given]
    if not replaces:
        return [c, None, given]
    hole = full_of(0, update.shape, update.dtype)
    return [patch_cleared(lambda: _write(op, c, starts, hole, "set")), None, given]


def _given_back(op: Op, c: Any, starts: Any, replaces: bool) -> Any:
    """Return the cotangents of the updates."""
    update = op.operands[2].tensor
    given = _read(op, c, starts)
    inside, unique = _settled(op, starts)
    unique = unique or bool(op.attributes.get("unique_indices")) or math.prod(update.shape) == math.prod(_window(op))
    if replaces and not unique:
        count = int(np.prod(update.shape, dtype=np.int64))
        numbers = reshape_to(b.iota(count), update.shape)
        seen = _write(op, full_of(-1, shape_of(c), INDEX), starts, numbers, "set")
        given = b.select(b.equal(_read(op, seen, starts), numbers), given, 0)
    elif not inside:
        given = b.select(_is_inside(op, starts), given, 0)
    return given


def _settled(op: Op, starts: Any) -> tuple[bool, bool]:
    """Return whether all windows are known to be inside, and whether no element is known to be updated twice."""
    known = known_value(starts)
    if known is None:
        return False, False
    shape, update = op.operands[0].tensor.shape, op.operands[2].tensor.shape
    positions, kept, _ = update_positions(shape, known, update, op.attributes["scatter_dimension_numbers"])
    written = positions[kept]
    return bool(kept.all()), np.unique(written).size == written.size


def _write(op: Op, x: Any, starts: Any, updates: Any, kind: str) -> Any:
    """Scatter by another body."""
    region = combiner_region(kind, x.dtype)
    return bind1(indexing.SCATTER, x, starts, updates, attributes=op.attributes, regions=[region])


def _read(op: Op, x: Any, starts: Any) -> Any:
    """Return the elements of an array where updates go; those of the nearest window, for one that is dropped."""
    s: ScatterDimensionNumbers = op.attributes["scatter_dimension_numbers"]
    attributes = {"dimension_numbers": s.as_gather(), "slice_sizes": _window(op), "indices_are_sorted": False}
    return bind1(indexing.GATHER, x, starts, attributes=attributes)


def _window(op: Op) -> tuple[int, ...]:
    s: ScatterDimensionNumbers = op.attributes["scatter_dimension_numbers"]
    return s.window(op.operands[0].tensor.ndim, op.operands[-1].tensor.shape)


def _is_inside(op: Op, starts: Any) -> Any:
    """Return, for each element of the updates, whether its window is inside."""
    s: ScatterDimensionNumbers = op.attributes["scatter_dimension_numbers"]
    shape, window, update = op.operands[0].tensor.shape, _window(op), op.operands[-1].tensor.shape
    extents, axis = shape_of(starts), s.index_vector_dim
    starts = convert(starts, INDEX)  # narrow indices can't be compared with the ends of long axes
    if axis == len(extents):
        starts, extents = reshape_to(starts, (*extents, 1)), (*extents, 1)
    batch = tuple(n for k, n in enumerate(extents) if k != axis)
    inside = full_of(True, batch, np.bool_)
    for k, d in enumerate(s.scatter_dims_to_operand_dims):
        column = reshape_to(part(starts, axis, k, k + 1), batch)
        fits = b.both(b.at_least(column, 0), b.at_most(column, shape[d] - window[d]))
        inside = b.both(inside, fits)
    dims = tuple(k for k in range(len(update)) if k not in s.update_window_dims)
    wide = op.operands[-1].tensor.with_dtype(np.dtype(np.bool_))
    return bind1(layout.BROADCAST_IN_DIM, inside, attributes={"broadcast_dimensions": dims}, results=[wide])


def _element_numbers(op: Op, starts: Any) -> Any:
    """Return, for each element of the updates, the number of the element that it goes to; beyond them if dropped."""
    shape, update = op.operands[0].tensor.shape, op.operands[-1].tensor.shape
    size = int(np.prod(shape, dtype=np.int64))
    places = _read(op, reshape_to(b.iota(size), shape), starts)
    if not _settled(op, starts)[0]:
        places = b.select(_is_inside(op, starts), places, size)
    return reshape_to(places, (int(np.prod(update, dtype=np.int64)),))
