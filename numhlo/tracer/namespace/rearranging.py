"""Elements in another order, or several times: flip, rot90, roll, repeat, tile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.bind import bind1
from numhlo.tracer.namespace import advanced_indexing as advanced
from numhlo.tracer.namespace.core import (
    asarray,
    broadcast_to_shape,
    convert,
    expand,
    implements,
    normalize_axes,
    normalize_axis,
    reshape_to,
)
from numhlo.tracer.namespace.index_items import Points, Range, as_traced, basic_view, whole
from numhlo.tracer.namespace.joining import concatenate_arrays
from numhlo.tracer.namespace.manipulation import swapaxes
from numhlo.tracer.trace import Tracer

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

    Examples
    --------
    >>> fliplr([[1, 2], [3, 4]]).tolist()
    [[2, 1], [4, 3]]
    """
    return flip(m, 1)


@implements(np.flipud)
def flipud(m: Any) -> Any:
    """Return rows in reverse order.

    Examples
    --------
    >>> flipud([[1, 2], [3, 4]]).tolist()
    [[3, 4], [1, 2]]
    """
    return flip(m, 0)


@implements(np.rot90)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Return the array rotated by 90 degrees ``k`` times in a plane.

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

    Examples
    --------
    >>> roll(np.array([1, 2, 3]), 1)
    Array([3, 1, 2])
    """
    array = as_traced(asarray(a))
    if axis is None:
        return reshape_to(roll(reshape_to(array, (array.size,)), shift, 0), array.shape)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    listed = isinstance(shift, Sequence) or (isinstance(shift, np.ndarray | Tracer) and shift.ndim > 0)
    shifts = tuple(shift) if listed else (shift,) * len(axes)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) == 1:
        axes = axes * len(shifts)
    for one, place in zip(shifts, axes, strict=True):
        array = _roll_axis(array, one, normalize_axis(place, array.ndim))
    return array


def _roll_axis(array: Tracer, shift: Any, axis: int) -> Tracer:
    extent = array.shape[axis]
    if extent == 0:
        return array
    if isinstance(shift, Tracer):
        line = asarray(np.arange(extent, dtype=np.int64))
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


@implements(np.repeat)
def repeat(a: Any, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None) -> Any:
    """Return each element repeated; ``repeats`` is an int or a concrete array.

    Examples
    --------
    >>> repeat(np.array([1, 2]), 2)
    Array([1, 1, 2, 2])
    """
    array = as_traced(asarray(a))
    if axis is None or (array.ndim == 0 and axis in (-1, 0)):
        array, axis = as_traced(asarray(reshape_to(array, (array.size,)))), 0
    axis = normalize_axis(axis, array.ndim)
    counts = repeats.known() if isinstance(repeats, Tracer) else np.asarray(repeats)
    if counts is None:
        raise UnsupportedError(
            "repeat with traced counts",
            where=capture_location(),
            why="the extent of the result would depend on their values",
            fix="use a Python integer or a concrete array of counts",
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

    Examples
    --------
    >>> tile(np.array([1, 2]), 2)
    Array([1, 2, 1, 2])
    """
    array = as_traced(asarray(A))
    counts = (int(reps),) if isinstance(reps, int | np.integer) else tuple(int(r) for r in reps)
    ndim = max(array.ndim, len(counts))
    counts = (1,) * (ndim - len(counts)) + counts
    shape = (1,) * (ndim - array.ndim) + array.shape
    interleaved = tuple(n for extent in shape for n in (1, extent))
    wide = tuple(n for count, extent in zip(counts, shape, strict=True) for n in (count, extent))
    spread = broadcast_to_shape(reshape_to(array, interleaved), wide)
    return reshape_to(spread, tuple(c * n for c, n in zip(counts, shape, strict=True)))
