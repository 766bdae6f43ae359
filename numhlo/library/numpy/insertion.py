"""Elements put in and taken out: insert, delete, resize, trim_zeros. What writes into its argument is in `writing`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.numpy.axis_order import moveaxis
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.indexing.found_values import trimmed
from numhlo.library.numpy.indexing.index_items import strip_leading
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DataDependentShapeError
from numhlo.tracer.building import (
    Tracer,
    are_arrays_immutable,
    as_traced,
    asarray,
    broadcast_to_shape,
    concatenate_arrays,
    convert,
    implements,
    new_array,
    normalize_axis,
    require_size,
    reshape_to,
    shape_of,
    slice_axis,
    stored,
    unshared,
)
from numhlo.tracer.building import operations as b

__all__ = ["delete", "insert", "resize", "trim_zeros"]


MOST_RUNS = 8
"""Runs of neighbours up to which they are copied as such, rather than gathered one by one."""


def _flat_or_axis(arr: Any, axis: int | None) -> tuple[Tracer, int]:
    array = as_traced(asarray(arr))
    if axis is None:
        return as_traced(reshape_to(array, (array.size,))), 0
    return array, normalize_axis(axis, array.ndim)


def _known_positions(obj: Any, extent: int, what: str) -> np.ndarray:
    if isinstance(obj, slice):
        return np.arange(extent)[obj]
    if isinstance(obj, list | tuple) and not obj:
        return np.zeros(0, np.int64)
    known = obj.known() if isinstance(obj, Tracer) else np.asarray(obj)
    if known is None:
        raise DataDependentShapeError(
            f"{what} at traced positions",
            where=capture_location(),
            why="which elements move where would depend on values that are not known while tracing",
            fix="use concrete positions, a single traced one, or where with a mask",
        )
    return known


@implements(np.delete)
def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """Return the array without the elements at ``obj`` along an axis; one traced index works too.

    Parameters
    ----------
    arr : array_like
    obj : int, slice, or array_like of int or bool
        Known while tracing, but for a single index; negative ones count from the end.
    axis : int, optional
        Without it, the flattened array.

    Returns
    -------
    Array

    Raises
    ------
    DataDependentShapeError
        If several positions are traced.
    IndexError
        If one that is known is out of bounds; a traced one then removes nothing but the last element.

    Examples
    --------
    >>> delete([1, 2, 3], 1)
    Array([1, 3])
    """
    array, place = _flat_or_axis(arr, axis)
    extent = array.shape[place]
    if isinstance(obj, Tracer) and obj.concrete is None and obj.size == 1 and obj.dtype.kind in "iu":
        obj, line = as_traced(reshape_to(obj, ())), b.iota(extent - 1)
        skipped = b.at_least(line, broadcast_to_shape(advanced.wrap_negative(obj, extent), line.shape))
        return advanced.take(array, b.add(line, convert(skipped, np.int64)), place, "clip")
    found = _known_positions(obj, extent, "delete")
    kept = np.delete(np.arange(extent), found)
    return _take_known([array], kept, place)


@implements(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Return the array with values put before positions along an axis; one traced position works too.

    Parameters
    ----------
    arr : array_like
    obj : int, slice, or array_like of int or bool
        Known while tracing, but for a single index, before which any number of values goes.
    values : array_like
        They broadcast, and are converted to the dtype of ``arr``.
    axis : int, optional
        Without it, the flattened array.

    Returns
    -------
    Array

    Raises
    ------
    DataDependentShapeError
        If several positions are traced.
    IndexError
        If one that is known is out of bounds.

    Examples
    --------
    >>> insert([1, 2], 1, 9)
    Array([1, 9, 2])
    """
    array, place = _flat_or_axis(arr, axis)
    extent = array.shape[place]
    new = stored(values, array.dtype)
    if isinstance(obj, Tracer) and obj.concrete is None and obj.size == 1 and obj.dtype.kind in "iu":
        return _insert_at(array, obj, new, place)
    positions = _known_positions(obj, extent, "insert")
    if positions.dtype.kind == "b":
        positions = np.flatnonzero(positions)
    outside = (positions < -extent) | (positions > extent)
    if outside.any():
        raise IndexError(f"index {positions[outside].ravel()[0]} is out of bounds for axis {place} with size {extent}")
    if positions.size == 1:  # as many values as there are go before it
        new = _raised(new, array.ndim)
        new = moveaxis(new, 0, place) if positions.ndim == 0 else new
        positions = np.full(shape_of(new)[place], int(positions.item()))
    shape = (*array.shape[:place], len(positions), *array.shape[place + 1 :])
    new = broadcast_to_shape(strip_leading(new, array.ndim), shape)
    wrapped = np.where(positions < 0, positions + extent, positions)
    order = np.argsort(np.concatenate([np.arange(extent) + 0.5, wrapped.astype(float)]), kind="stable")
    return _take_known([array, as_traced(new)], order, place)


def _take_known(arrays: list[Any], order: np.ndarray, place: int) -> Any:
    """Return elements at known places of arrays that lie one behind the other along an axis; few runs are slices."""
    bounds = np.cumsum([0, *[array.shape[place] for array in arrays]])
    breaks = np.flatnonzero((np.diff(order) != 1) | np.isin(order[1:], bounds)) + 1
    if not order.size or breaks.size >= MOST_RUNS:
        return advanced.take(as_traced(concatenate_arrays(arrays, place)), order, place, "raise")
    pieces = []
    for run in np.split(order, breaks):
        number = int(np.searchsorted(bounds, run[0], "right")) - 1
        first = int(run[0] - bounds[number])
        pieces.append(slice_axis(arrays[number], first, first + run.size, place))
    return as_traced(concatenate_arrays(pieces, place))


def _raised(x: Any, ndim: int) -> Any:
    shape = shape_of(x)
    return reshape_to(x, (1,) * (ndim - len(shape)) + shape)


def _insert_at(array: Tracer, position: Tracer, new: Any, place: int) -> Any:
    """Return the array with values put before one traced position: as many as there are along the axis."""
    extent = array.shape[place]
    new = _raised(new, array.ndim)
    new = moveaxis(new, 0, place) if position.ndim == 0 else new
    count = shape_of(new)[place]
    shape = (*array.shape[:place], count, *array.shape[place + 1 :])
    both = as_traced(concatenate_arrays([array, broadcast_to_shape(strip_leading(new, array.ndim), shape)], place))
    line = b.iota(extent + count)
    at = broadcast_to_shape(advanced.wrap_negative(as_traced(reshape_to(position, ())), extent), line.shape)
    from_new = b.add(b.subtract(line, at), extent)
    behind = b.select(b.less(line, b.add(at, count)), from_new, b.subtract(line, count))
    return advanced.take(both, b.select(b.less(line, at), line, behind), place, "clip")


@implements(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    """Return the flattened elements, repeated as often as needed, under another shape.

    Parameters
    ----------
    a : array_like
    new_shape : int or sequence of int
        Known while tracing.

    Returns
    -------
    Array
        Zeros where ``a`` is empty.

    Examples
    --------
    >>> resize([1, 2, 3], (2, 2)).tolist()
    [[1, 2], [3, 1]]
    """
    array, _ = _flat_or_axis(a, None)
    shape = shape_tuple(new_shape)
    if any(extent < 0 for extent in shape):
        raise ValueError(f"all elements of `new_shape` must be non-negative: {shape}")
    size = require_size(math.prod(shape))
    if array.size == 0 or size == 0:
        return new_array(np.zeros(shape, array.dtype))
    copies = -(-size // array.size)
    repeated = reshape_to(broadcast_to_shape(array, (copies, array.size)), (copies * array.size,))
    return unshared(reshape_to(as_traced(repeated)[:size], shape))  # type: ignore[index]


@implements(np.trim_zeros)
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """Return the array without zeros at its ends; of a traced line, elements as those of ``x[mask]``.

    Parameters
    ----------
    filt : array_like
    trim : "fb", "f" or "b", optional
        At the front, the back or both.
    axis : int or sequence of int, optional

    Returns
    -------
    Array

    Raises
    ------
    DataDependentShapeError
        If ``filt`` is traced and no line.

    Examples
    --------
    >>> trim_zeros([0, 1, 0])
    [1]
    """
    is_line = isinstance(filt, Tracer) and filt.known() is None and filt.ndim == 1 and axis is None
    if is_line and not are_arrays_immutable():
        return trimmed(filt, trim)
    return new_array(np.trim_zeros(_known_positions(filt, 0, "trim_zeros"), trim, axis))  # type: ignore[arg-type]
