"""Elements put elsewhere or combined: axes moved, arrays joined, cut, gathered, contracted and summed, one op each.

Like `operations`, whose functions are elementwise, on operands of one dtype that need no promotion.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from numhlo.lowering.ir import Region, TensorType
from numhlo.lowering.ops import contraction, indexing, layout, reduction
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers, GatherDimensionNumbers
from numhlo.lowering.ops.primitive import Primitive
from numhlo.tracer.core import operations as b
from numhlo.tracer.core.aliasing.views import view_transpose
from numhlo.tracer.core.bind import bind1, trace_region
from numhlo.tracer.core.operands import as_traced, asarray, broadcast_to_shape, convert, expand, full_of, shape_of

COMBINERS: dict[str, Primitive] = {
    "add": ops.ADD,
    "multiply": ops.MULTIPLY,
    "minimum": ops.MINIMUM,
    "maximum": ops.MAXIMUM,
}


def move_axis(x: Any, source: int, destination: int) -> Any:
    """Return ``x`` with one axis moved to another place: a view."""
    array = as_traced(asarray(x))
    order = [k for k in range(array.ndim) if k != source % array.ndim]
    order.insert(destination % array.ndim, source % array.ndim)
    return view_transpose(array, tuple(order))


def concatenate_arrays(arrays: Sequence[Any], axis: int) -> Any:
    """Return arrays of one dtype joined along an axis."""
    if len(arrays) == 1:
        return arrays[0]
    return bind1(layout.CONCATENATE, *arrays, attributes={"dimension": axis})


def slice_axis(x: Any, start: int, limit: int, axis: int = 0) -> Any:
    """Return the elements from ``start`` to ``limit`` of an axis."""
    shape = shape_of(x)
    attributes = {
        "start_indices": tuple(start if k == axis else 0 for k in range(len(shape))),
        "limit_indices": tuple(limit if k == axis else n for k, n in enumerate(shape)),
        "strides": (1,) * len(shape),
    }
    return bind1(layout.SLICE, x, attributes=attributes)


def dynamic_row(x: Any, index: Any) -> Any:
    """Return ``x[index]`` for a traced index, clamped to the axis."""
    shape = shape_of(x)
    found = bind1(
        indexing.DYNAMIC_SLICE, x, *_row_start(index, len(shape)), attributes={"slice_sizes": (1, *shape[1:])}
    )
    return bind1(layout.RESHAPE, found, results=[TensorType(shape[1:], found.dtype)])


def with_dynamic_row(x: Any, row: Any, index: Any) -> Any:
    """Return ``x`` with ``x[index]`` replaced by ``row``, for a traced index, clamped to the axis."""
    return bind1(indexing.DYNAMIC_UPDATE_SLICE, x, expand(row, 0), *_row_start(index, len(shape_of(x))))


def _row_start(index: Any, ndim: int) -> list[Any]:
    first = convert(asarray(index), np.int64)
    return [first, *[np.zeros((), np.int64)] * (ndim - 1)]


def gather_flat(x: Any, indices: Any) -> Any:
    """Return the elements of a vector at non-negative indices of any shape, clamped to the vector."""
    numbers = GatherDimensionNumbers(
        offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=len(shape_of(indices))
    )
    attributes = {"dimension_numbers": numbers, "slice_sizes": (1,), "indices_are_sorted": False}
    return bind1(indexing.GATHER, x, expand(indices, len(shape_of(indices))), attributes=attributes)


def gather_along_axis(x: Any, indices: Any, axis: int) -> Any:
    """Return elements along an axis at non-negative indices, which have the extents of ``x`` along all other axes."""
    ndim = len(shape_of(x))
    axis %= ndim
    if 0 in shape_of(indices):
        return full_of(0, shape_of(indices), x.dtype)
    others = tuple(k for k in range(ndim) if k != axis)
    numbers = GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(axis,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
        start_index_map=(axis,),
        index_vector_dim=ndim,
    )
    attributes = {"dimension_numbers": numbers, "slice_sizes": (1,) * ndim, "indices_are_sorted": False}
    return bind1(indexing.GATHER, x, expand(indices, ndim), attributes=attributes)


def take_rows(x: Any, rows: np.ndarray) -> Any:
    """Return the rows of ``x`` at known indices, which are not negative."""
    shape = shape_of(x)
    numbers = GatherDimensionNumbers(
        offset_dims=tuple(range(1, len(shape))), collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=1
    )
    attributes = {"dimension_numbers": numbers, "slice_sizes": (1, *shape[1:]), "indices_are_sorted": False}
    return bind1(indexing.GATHER, x, expand(rows, 1), attributes=attributes)


def combiner_region(kind: str, dtype: np.dtype) -> Region:
    """Return the update body of a scatter: ``set`` keeps the new value."""
    scalar = TensorType((), dtype)
    if kind == "set":
        return trace_region(lambda old, new: [new], [scalar, scalar])
    op = COMBINERS[kind]
    return trace_region(lambda old, new: [bind1(op, old, new)], [scalar, scalar])


def reduce_with(op: Primitive, x: Any, initial: Any, axes: tuple[int, ...]) -> Any:
    """Return ``x`` reduced over axes by a binary op; ``initial`` is a scalar array of its dtype."""
    if not axes:
        return bind1(op, broadcast_to_shape(initial, shape_of(x)), x)
    scalar = TensorType((), x.dtype)
    body = trace_region(lambda x, y: [bind1(op, x, y)], [scalar, scalar])
    return bind1(reduction.REDUCE, x, initial, attributes={"dimensions": axes}, regions=[body])


def sum_over(x: Any, axes: tuple[int, ...]) -> Any:
    """Return the sums over axes, which are not negative, in the dtype of ``x``."""
    return reduce_with(ops.ADD, x, np.zeros((), x.dtype), axes)


def contract(
    x: Any,
    y: Any,
    contracting: tuple[Sequence[int], Sequence[int]],
    batching: tuple[Sequence[int], Sequence[int]] = ((), ()),
) -> Any:
    """Return the dot_general of two arrays of one dtype: batch axes, then ``x``'s free axes, then ``y``'s."""
    numbers = _dot_numbers(*map(tuple, (*batching, *contracting)))
    attributes = {"dot_dimension_numbers": numbers, "precision_config": ("DEFAULT", "DEFAULT")}
    if x.dtype.kind == "b":
        x, y = convert(x, np.int32), convert(y, np.int32)
        return b.unequal(bind1(contraction.DOT_GENERAL, x, y, attributes=attributes), 0)
    return bind1(contraction.DOT_GENERAL, x, y, attributes=attributes)


_dot_numbers = lru_cache(maxsize=1024)(DotDimensionNumbers)
