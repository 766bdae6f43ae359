"""Advanced indexing as gather and scatter: integer arrays read, written, accumulated; masks filled in order.

Integers beside index arrays are index arrays themselves, as in NumPy. The result's broadcast axes stand where the
index arrays stood if those were adjacent, else in front. Sources: NumPy, "Combining advanced and basic indexing";
StableHLO specification, "gather" and "scatter".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.numpy.indexing import index_items as items_of
from numhlo.library.numpy.ufunc_rules.elementwise import compare, constant, select
from numhlo.lowering.ir import Region, TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError, AxisOutOfBoundsError, ShapeError
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops import indexing as indexing_ops
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers, ScatterDimensionNumbers
from numhlo.tracer.building import (
    Gathered,
    Tracer,
    as_traced,
    asarray,
    bind1,
    broadcast_shapes,
    broadcast_to_shape,
    combiner_region,
    concatenate_arrays,
    convert,
    expand,
    full_of,
    is_plain,
    normalize_axis,
    reshape_to,
    shape_of,
    stored,
    trace_region,
    unshared,
)


def wrap_negative(index: Any, extent: int) -> Any:
    """Return int64 indices with negative ones counted from the end."""
    index = convert(index, np.int64)
    if isinstance(index, np.ndarray):
        return np.where(index < 0, index + extent, index)
    negative = compare("LT", index, constant(0, index))
    return select(negative, bind1(ops.ADD, index, constant(extent, index)), index)


def places_of(item: Any, extent: int) -> Any:
    """Return an item's places as int64: those of single integers are counted from the end already."""
    array = items_of.point_array(item)
    from_end = isinstance(item, items_of.Points) and item.from_end
    return wrap_negative(array, extent) if from_end else convert(array, np.int64)


class PointPlan:
    """How one advanced index maps to gather and scatter.

    Attributes
    ----------
    base : Tracer
        The view that the ranges of the index show; index arrays address its `axes`.
    starts : array, shape (batch..., len(axes)), int64
    place : int
        How many sliced axes stand before the broadcast axes in the result.
    result_shape : tuple of int
        The indexed shape without newaxis.
    final_shape : tuple of int
        The indexed shape.
    """

    def __init__(self, x: Tracer, items: Sequence[Any]) -> None:
        axes_items = [i for i in items if not isinstance(i, items_of.NewAxis)]
        ranges = [items_of.whole(n) if items_of.is_point(i) else i for i, n in zip(axes_items, x.shape, strict=True)]
        self.base = items_of.basic_view(x, ranges)
        self.axes = tuple(k for k, i in enumerate(axes_items) if items_of.is_point(i))
        arrays = [places_of(axes_items[k], x.shape[k]) for k in self.axes]
        self.batch = _index_shape(*[shape_of(a) for a in arrays])
        columns = [expand(broadcast_to_shape(a, self.batch), len(self.batch)) for a in arrays]
        self.starts = concatenate_arrays(columns, len(self.batch))
        self.place = place = _batch_place(items)
        self.offset_dims = _offset_dims(place, self.base.ndim - len(self.axes), len(self.batch))
        kept = [n for k, n in enumerate(self.base.shape) if k not in self.axes]
        self.result_shape = (*kept[:place], *self.batch, *kept[place:])
        self.final_shape = _insert_newaxes(items, kept, self.batch)


def _index_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return broadcast_shapes(*shapes)
    except ShapeError:
        shown = " ".join(map(str, shapes))
        raise AxisOutOfBoundsError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {shown}",
            where=capture_location(),
            fix="use numpy.ix_ to select every combination of rows and columns",
        ) from None


def _batch_place(items: Sequence[Any]) -> int:
    """Return how many sliced axes stand before the broadcast axes in the result."""
    points = [k for k, i in enumerate(items) if items_of.is_point(i)]
    if points != list(range(points[0], points[-1] + 1)):
        return 0
    return sum(not isinstance(i, items_of.NewAxis) for i in items[: points[0]])


def _offset_dims(place: int, kept: int, batch: int) -> tuple[int, ...]:
    return (*range(place), *range(place + batch, kept + batch))


def _insert_newaxes(items: Sequence[Any], kept: Sequence[int], batch: tuple[int, ...]) -> tuple[int, ...]:
    points = [k for k, i in enumerate(items) if items_of.is_point(i)]
    adjacent = points == list(range(points[0], points[-1] + 1))
    extents = iter(kept)
    shape: list[int] = [] if adjacent else list(batch)
    for k, item in enumerate(items):
        if isinstance(item, items_of.NewAxis):
            shape += [] if isinstance(item, items_of.Gap) else [1]
        elif not items_of.is_point(item):
            shape.append(next(extents))
        elif adjacent and k == points[0]:
            shape.extend(batch)
    return tuple(shape)


def gather_points(x: Tracer, items: Sequence[Any]) -> Any:
    """Return ``x`` at an advanced index; traced positions out of bounds are clamped."""
    plan = PointPlan(x, items)
    return reshape_to(_gather(plan), plan.final_shape)


def gather_in_order(x: Tracer, items: Sequence[Any]) -> Any:
    """Return ``x`` at an advanced index in brackets, which says how the result lies in memory, too."""
    plan = PointPlan(x, items)
    found = reshape_to(_gather(plan), plan.final_shape)
    if isinstance(found, Tracer) and found.ndim > 1 and not (plan.place == 0 and is_plain(plan.base)):
        found = unshared(found)
        found.cell.order = Gathered(plan.base, plan.axes, plan.place, len(plan.batch), plan.result_shape)
    return found


def _gather(plan: PointPlan) -> Any:
    sizes = tuple(1 if k in plan.axes else n for k, n in enumerate(plan.base.shape))
    if 0 in plan.result_shape:
        return full_of(0, plan.result_shape, plan.base.dtype)
    numbers = GatherDimensionNumbers(
        offset_dims=plan.offset_dims,
        collapsed_slice_dims=plan.axes,
        start_index_map=plan.axes,
        index_vector_dim=len(plan.batch),
    )
    attributes = {"dimension_numbers": numbers, "slice_sizes": sizes, "indices_are_sorted": False}
    return bind1(indexing_ops.GATHER, plan.base, plan.starts, attributes=attributes)


def gather_along(x: Tracer, items: Sequence[Any], axis: int) -> Any:
    """Return ``x`` at the items that `along_axis_items` gives, matched along the other axes."""
    index = items_of.point_array(items[axis])
    others = tuple(k for k in range(x.ndim) if k != axis)
    shape = shape_of(index)
    if 0 in shape or any(shape[k] != x.shape[k] for k in others):
        return gather_points(x, items)
    numbers = GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(axis,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
        start_index_map=(axis,),
        index_vector_dim=x.ndim,
    )
    attributes = {"dimension_numbers": numbers, "slice_sizes": (1,) * x.ndim, "indices_are_sorted": False}
    starts = expand(wrap_negative(index, x.shape[axis]), x.ndim)
    return bind1(
        indexing_ops.GATHER, items_of.basic_view(x, [items_of.whole(n) for n in x.shape]), starts, attributes=attributes
    )


def scatter_points(x: Tracer, items: Sequence[Any], value: Any, kind: str) -> None:
    """Write (or accumulate) at an advanced index; traced positions out of bounds are dropped."""
    plan = PointPlan(x, items)
    updates = stored(value, x.dtype) if kind == "set" else convert(asarray(value), x.dtype)
    updates = broadcast_to_shape(items_of.strip_leading(updates, len(plan.final_shape)), plan.final_shape)
    _scatter(plan, reshape_to(updates, plan.result_shape), combiner_region(kind, x.dtype))


def scatter_function(x: Tracer, items: Sequence[Any], function: Callable[[Any], Any]) -> None:
    """Replace the elements at an advanced index by a function of them, once for each repetition of the index."""
    plan = PointPlan(x, items)
    scalar = TensorType((), x.dtype)
    body = trace_region(lambda old, _: [convert(asarray(function(old)), x.dtype)], [scalar, scalar])
    _scatter(plan, full_of(0, plan.result_shape, x.dtype), body)


def _scatter(plan: PointPlan, updates: Any, body: Region) -> None:
    if 0 in plan.result_shape:
        return
    numbers = ScatterDimensionNumbers(
        update_window_dims=plan.offset_dims,
        inserted_window_dims=plan.axes,
        scatter_dims_to_operand_dims=plan.axes,
        index_vector_dim=len(plan.batch),
    )
    result = bind1(
        indexing_ops.SCATTER,
        plan.base,
        plan.starts,
        updates,
        attributes={"scatter_dimension_numbers": numbers},
        regions=[body],
    )
    plan.base.assign(result)


def in_bounds(items: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Return the mask of an advanced index's positions that lie inside, of the broadcast axes' shape."""
    axes_items = [i for i in items if not isinstance(i, items_of.NewAxis)]
    masks = []
    for item, extent in zip(axes_items, shape, strict=True):
        if items_of.is_point(item):
            index = asarray(places_of(item, extent))
            above = compare("GE", index, constant(0, index))
            masks.append(bind1(ops.AND, above, compare("LT", index, constant(extent, index))))
    batch = _index_shape(*[shape_of(m) for m in masks])
    result = broadcast_to_shape(masks[0], batch)
    for mask in masks[1:]:
        result = bind1(ops.AND, result, broadcast_to_shape(mask, batch))
    return result


def take(a: Any, indices: Any, axis: int | None, mode: str) -> Any:
    """Return elements along an axis, or of the flattened array."""
    if mode not in ("raise", "clip", "wrap"):
        raise ArgumentError(f"take(mode={mode!r})", where=capture_location(), fix="use raise, clip or wrap")
    if axis is None or (a.ndim == 0 and axis in (-1, 0)):
        a, axis = reshape_to(a, (a.size,)), 0
    axis = normalize_axis(axis, a.ndim)
    index = asarray(indices)
    if index.dtype.kind not in "biu" and index.size:
        raise TypeError(f"Cannot cast array data from {index.dtype!r} to dtype('int64') according to the rule 'safe'")
    extent = a.shape[axis]
    if extent == 0 and index.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    index = convert(index, np.int64)
    if mode != "raise":
        index = bound(index, extent, mode)
    else:
        index = _checked_where_known(index, extent, axis)
    items: list[Any] = [items_of.whole(n) for n in a.shape]
    items[axis] = items_of.Points(index, from_end=mode == "raise")
    return gather_points(as_traced(a), items)


def _checked_where_known(index: Any, extent: int, axis: int) -> Any:
    """Return an index, a constant one with negatives counted from the end; `IndexError` where that lies outside."""
    if isinstance(index, np.ndarray):
        return items_of.checked_array(index, extent, axis)
    if index.concrete is not None:
        items_of.checked_array(index.concrete, extent, axis)
    return index


def bound(index: Any, extent: int, mode: str) -> Any:
    """Return indices clipped or wrapped into ``[0, extent)``."""
    index = as_traced(index)
    if mode == "clip":
        low = bind1(ops.MAXIMUM, index, constant(0, index))
        return bind1(ops.MINIMUM, low, constant(extent - 1, index))
    rest = bind1(ops.REMAINDER, index, constant(extent, index))
    return wrap_negative(rest, extent)


def along_axis_items(shape: tuple[int, ...], indices: Any, axis: int) -> list[Any]:
    """Return the advanced index that `take_along_axis` means: ``indices`` on one axis, an iota on every other."""
    if indices.ndim != len(shape):
        raise ShapeError(
            f"take_along_axis: indices have {indices.ndim} dimensions and the array {len(shape)}",
            where=capture_location(),
            fix="give indices as many dimensions as the array",
        )
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    indices = _checked_where_known(indices, shape[axis], axis)
    batch = tuple(max(n, m) if k != axis else m for k, (n, m) in enumerate(zip(shape, shape_of(indices), strict=True)))
    items: list[Any] = []
    for k, extent in enumerate(shape):
        if k == axis:
            items.append(items_of.Points(indices))
            continue
        line = np.arange(batch[k]) if extent != 1 else np.zeros(batch[k], np.int64)
        items.append(items_of.Points(line.reshape([-1 if j == k else 1 for j in range(len(shape))])))
    return items


def in_order(mask: Any, values: Any, tail: tuple[int, ...], cumsum: Callable[..., Any]) -> Any:
    """Return an array of shape ``mask.shape + tail`` with ``values[k]`` at the k-th true element of ``mask``."""
    flat = reshape_to(mask, (mask.size,))
    order = cumsum(convert(flat, np.int64))
    rank = bind1(ops.SUBTRACT, order, constant(1, order))
    chosen = take(values, rank, 0, "clip")
    rows = broadcast_to_shape(chosen, (mask.size, *tail))
    return reshape_to(rows, (*shape_of(mask), *tail))
