"""Elements in another order, or several times: flip, rot90, roll, repeat, tile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.numpy.axis_order import swapaxes
from numhlo.library.numpy.cumulative import cumsum
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.indexing.index_items import Points, Range, basic_view, whole
from numhlo.library.numpy.searching import searchsorted
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building import (
    STATIC,
    Tracer,
    as_traced,
    asarray,
    bind1,
    broadcast_to_shape,
    concatenate_arrays,
    convert,
    expand,
    implements,
    known_numbers,
    naming,
    normalize_axes,
    normalize_axis,
    reshape_to,
    shape_of,
    unshared,
)
from numhlo.tracer.building import operations as b

__all__ = [
    "flip",
    "fliplr",
    "flipud",
    "repeat",
    "roll",
    "rot90",
    "tile",
]


@implements(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    """Return the order of elements reversed along axes.

    Parameters
    ----------
    m : array_like
    axis : int or sequence of int, optional
        All axes by default.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.

    Examples
    --------
    >>> flip(np.array([1, 2]))
    Array([2, 1])
    """
    array = as_traced(asarray(m))
    axes = normalize_axes(axis, array.ndim)
    items = [Range(n - 1, -1, -1) if k in axes else whole(n) for k, n in enumerate(array.shape)]
    return basic_view(array, list(items))


@implements(np.fliplr)
def fliplr(m: Any) -> Any:
    """Return columns in reverse order.

    Parameters
    ----------
    m : array_like

    Returns
    -------
    Array
        A view.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.

    Examples
    --------
    >>> fliplr([[1, 2], [3, 4]]).tolist()
    [[2, 1], [4, 3]]
    """
    return flip(m, 1)


@implements(np.flipud)
def flipud(m: Any) -> Any:
    """Return rows in reverse order.

    Parameters
    ----------
    m : array_like

    Returns
    -------
    Array
        A view.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.

    Examples
    --------
    >>> flipud([[1, 2], [3, 4]]).tolist()
    [[3, 4], [1, 2]]
    """
    return flip(m, 0)


@implements(np.rot90)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Return the array rotated by 90 degrees ``k`` times in a plane.

    Parameters
    ----------
    m : array_like
    k : int, optional
        Known while tracing; negative ones turn the other way.
    axes : (int, int), optional
        From the first towards the second.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    ValueError
        If the axes are one.

    Examples
    --------
    >>> rot90([[1, 2], [3, 4]]).tolist()
    [[2, 4], [1, 3]]
    """
    first, second = normalize_axes(tuple(axes), as_traced(asarray(m)).ndim)
    if k % 4 == 0:
        return as_traced(asarray(m))
    if k % 4 == 2:
        return flip(flip(m, first), second)
    return swapaxes(flip(m, second), first, second) if k % 4 == 1 else flip(swapaxes(m, first, second), second)


@implements(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Return elements shifted cyclically; the shift may be traced.

    Parameters
    ----------
    a : array_like
    shift : int or sequence of int
        Of any size; a sequence goes with ``axis`` one by one.
    axis : int or sequence of int, optional
        Without it, the flattened array is shifted.

    Returns
    -------
    Array
        Of the shape of ``a``.

    Raises
    ------
    ValueError
        If shifts and axes differ in number, and neither is one.

    Examples
    --------
    >>> roll(np.array([1, 2, 3]), 1)
    Array([3, 1, 2])
    """
    array = as_traced(asarray(a))
    if axis is None:
        return reshape_to(roll(reshape_to(array, (array.size,)), shift, 0), array.shape)
    axes = (axis,) if isinstance(axis, int | np.integer) else tuple(axis)
    listed = isinstance(shift, Sequence) or (isinstance(shift, np.ndarray | Tracer) and shift.ndim > 0)
    shifts = tuple(shift) if listed else (shift,) * len(axes)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) == 1:
        axes = axes * len(shifts)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    for one, place in zip(shifts, axes, strict=True):
        array = _roll_axis(array, one, normalize_axis(place, array.ndim))
    return unshared(array)


def _roll_axis(array: Tracer, shift: Any, axis: int) -> Tracer:
    if shape_of(shift):
        raise ValueError(f"'shift' and 'axis' should be scalars or 1D sequences, not of shape {shape_of(shift)}")
    extent = array.shape[axis]
    if extent == 0:
        return array
    if isinstance(shift, Tracer):
        line = b.iota(extent)
        moved = bind1(ops.SUBTRACT, line, broadcast_to_shape(convert(shift, np.int64), (extent,)))
        result: Tracer = advanced.take(array, moved, axis, "wrap")
        return result
    split = -int(shift) % extent
    items = [whole(n) for n in array.shape]
    parts = []
    for low, high in ((split, extent), (0, split)):
        items[axis] = Range(low, high, 1)
        parts.append(basic_view(array, list(items)))
    return concatenate_arrays(parts, axis) if split else array


def _eager_repeat(a: Any, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None) -> Any:
    found = np.repeat(a, repeats, axis)
    if total_repeat_length is None:
        return found
    array, place = (np.ravel(a), 0) if axis is None else (np.asarray(a), axis)
    ends = np.cumsum(np.broadcast_to(repeats, array.shape[place]))
    index = np.searchsorted(ends, np.arange(total_repeat_length), "right")
    return np.take(array, index, place, mode="clip")


@implements(np.repeat, eager=_eager_repeat)
def repeat(a: Any, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None) -> Any:
    """Return each element repeated as often as ``repeats`` says.

    Parameters
    ----------
    a : array_like
    repeats : int or array_like of int
        For all elements, or for each one.
    axis : int, optional
        Without it, the flattened array.
    total_repeat_length : int, optional
        Fixes the extent of the result, for counts that are traced: what is too much is dropped, what is missing is
        the array's last element.

    Returns
    -------
    Array

    Raises
    ------
    UnsupportedError
        If the counts are traced and ``total_repeat_length`` left out.
    ValueError
        If there is neither one count nor one for each element.

    Examples
    --------
    >>> repeat(np.array([1, 2]), 2)
    Array([1, 1, 2, 2])
    >>> repeat(np.array([5, 7]), [2, 1], total_repeat_length=4)
    Array([5, 5, 7, 7])
    """
    array = as_traced(asarray(a))
    if axis is None or (array.ndim == 0 and axis in (-1, 0)):
        array, axis = as_traced(asarray(reshape_to(array, (array.size,)))), 0
    axis = normalize_axis(axis, array.ndim)
    if total_repeat_length is not None:
        each = broadcast_to_shape(asarray(repeats), (array.shape[axis],))
        index = searchsorted(cumsum(each), np.arange(total_repeat_length), "right")
        return advanced.take(array, index, axis, "clip")
    counts = repeats.known() if isinstance(repeats, Tracer) else np.asarray(repeats)
    if counts is None:
        raise UnsupportedError(
            "repeat with traced counts",
            where=capture_location(),
            why="the extent of the result would depend on their values",
            fix=naming(f"{STATIC}, use a concrete array of counts, or give total_repeat_length", as_traced(repeats)),
        )
    if counts.size == 1:
        wide = expand(array, axis + 1)
        shape = (*array.shape[: axis + 1], int(counts.ravel()[0]), *array.shape[axis + 1 :])
        merged = (*array.shape[:axis], array.shape[axis] * shape[axis + 1], *array.shape[axis + 1 :])
        return reshape_to(broadcast_to_shape(wide, shape), merged)
    positions = np.repeat(np.arange(array.shape[axis]), counts)
    items: list[Any] = [whole(n) for n in array.shape]
    items[axis] = Points(positions)
    return advanced.gather_points(array, items)


@implements(np.tile)
def tile(A: Any, reps: Any) -> Any:
    """Return the array repeated ``reps`` times along each axis.

    Parameters
    ----------
    A : array_like
    reps : int or sequence of int
        Known while tracing; where there are fewer than axes, or more, ones come first.

    Returns
    -------
    Array

    Examples
    --------
    >>> tile(np.array([1, 2]), 2)
    Array([1, 2, 1, 2])
    """
    array, reps = as_traced(asarray(A)), known_numbers(reps)
    counts = (int(reps),) if isinstance(reps, int | np.integer) else tuple(int(r) for r in reps)
    ndim = max(array.ndim, len(counts))
    counts = (1,) * (ndim - len(counts)) + counts
    shape = (1,) * (ndim - array.ndim) + array.shape
    interleaved = tuple(n for extent in shape for n in (1, extent))
    wide = tuple(n for count, extent in zip(counts, shape, strict=True) for n in (count, extent))
    spread = broadcast_to_shape(reshape_to(array, interleaved), wide)
    return reshape_to(spread, tuple(c * n for c, n in zip(counts, shape, strict=True)))
