"""Differentiation of slices with traced starts, and of gather; scatter has a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops import indexing
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers
from numhlo.tracer.core.arrangement import combiner_region
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.core.operands import asarray, broadcast_to_shape, convert, full_of, shape_of
from numhlo.tracer.core.replay import replay_op
from numhlo.tracer.differentiation.table import JVP, TILING, TRANSPOSE, Patch, instantiate, zeros_of
from numhlo.tracer.differentiation.tiles import Tiles, tile_at, tiles_of


@JVP.register(indexing.DYNAMIC_SLICE, indexing.GATHER)
def _jvp_read(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    return replay_op(op, [tangents[0], *primals[1:]], {})


@JVP.register(indexing.DYNAMIC_UPDATE_SLICE)
def _jvp_write(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    pair = [instantiate(t, v) for t, v in zip(tangents[:2], op.operands[:2], strict=True)]
    return replay_op(op, [*pair, *primals[2:]], {})


@TRANSPOSE.register(indexing.DYNAMIC_SLICE)
def _transpose_slice(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    return [patch_window(op.operands[0], operands[1:], cotangents[0]), *[None] * len(operands[1:])]


def patch_window(value: Value, starts: Sequence[Any], part: Any) -> Tiles | Patch:
    """Return the cotangent of a value of which a window has been read."""
    sizes = shape_of(part)
    place = tile_at(value.tensor, sizes, starts)
    if place is not None:
        tiles = Tiles(value.tensor, sizes)
        tiles.add(place, part)
        return tiles

    def alone() -> Any:
        return bind1(indexing.DYNAMIC_UPDATE_SLICE, zeros_of(value), part, *starts)

    def onto(total: Any) -> Any:
        there = bind1(indexing.DYNAMIC_SLICE, total, *starts, attributes={"slice_sizes": shape_of(part)})
        return bind1(indexing.DYNAMIC_UPDATE_SLICE, total, bind1(ops.ADD, there, part), *starts)

    return Patch(alone, [onto])


def patch_cleared(cleared: Callable[[], Any]) -> Patch:
    """Return the cotangent of an array that was written into: that of the result, cleared where it was."""
    return Patch(cleared, [lambda total: bind1(ops.ADD, total, cleared())], everywhere=True)


@TILING.register(indexing.DYNAMIC_UPDATE_SLICE)
def _take_out(op: Op, operands: list[Any], cotangent: Any) -> Sequence[Any] | None:
    """Take what was written out of a cotangent in tiles, and leave zeros there."""
    array, update = (v.tensor for v in op.operands[:2])
    place = tile_at(array, update.shape, operands[2:])
    if place is None or isinstance(cotangent, Patch):
        return None
    tiles = tiles_of(array, update.shape, cotangent)
    part = tiles.read(place) if operands[1] is None else None
    tiles.clear(place)
    rest = None if operands[0] is not None or tiles.is_zero() else tiles
    return [rest, part, *[None] * len(place)]


@TRANSPOSE.register(indexing.DYNAMIC_UPDATE_SLICE)
def _transpose_update(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    """Read what was written, and clear it only when all that follows from it is known: then the array is free."""
    starts = operands[2:]
    (c,) = cotangents
    update = op.operands[1].tensor
    part = base = None
    if operands[1] is None:
        part = bind1(indexing.DYNAMIC_SLICE, c, *starts, attributes={"slice_sizes": update.shape})
    if operands[0] is None:
        hole = full_of(0, update.shape, update.dtype)
        base = patch_cleared(lambda: bind1(indexing.DYNAMIC_UPDATE_SLICE, c, hole, *starts))
    return [base, part, *[None] * len(starts)]


@TRANSPOSE.register(indexing.GATHER)
def _transpose_gather(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    """Scatter-add the cotangents where they were read; clamped starts read a whole window, so must be in bounds."""
    n: GatherDimensionNumbers = op.attributes["dimension_numbers"]
    starts = _clamped_starts(op, operands[1], n)

    def onto(total: Any) -> Any:
        return bind1(
            indexing.SCATTER,
            total,
            starts,
            cotangents[0],
            attributes={"scatter_dimension_numbers": n.as_scatter()},
            regions=[combiner_region("add", op.operands[0].tensor.dtype)],
        )

    return [Patch(lambda: onto(zeros_of(op.operands[0])), [onto]), None]


def _clamped_starts(op: Op, starts: Any, numbers: GatherDimensionNumbers) -> Any:
    """Return start indices clamped as gather clamps them, since scatter would drop what lies outside."""
    shape, sizes = op.operands[0].tensor.shape, op.attributes["slice_sizes"]
    largest = np.iinfo(starts.dtype).max  # narrow indices don't reach the end of long axes
    limits = np.array([min(shape[d] - sizes[d], largest) for d in numbers.start_index_map], starts.dtype)
    extents = shape_of(starts)
    axis = numbers.index_vector_dim
    if axis == len(extents):
        limit = full_of(limits[0], extents, starts.dtype)
    else:
        row = limits.reshape([-1 if k == axis else 1 for k in range(len(extents))])
        limit = broadcast_to_shape(convert(asarray(row), starts.dtype), extents)
    low = full_of(0, extents, starts.dtype)
    return bind1(ops.MINIMUM, bind1(ops.MAXIMUM, starts, low), limit)
