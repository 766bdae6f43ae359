"""Least, greatest and middle elements in the windows of images of any rank, as `scipy.ndimage` has them.

Windows that are boxes are folded along one axis after the other, in as many steps as their extent has bits. Other ranks
are found by a network of comparisons of shifted images, Batcher's merge sort without what the rank does not need
(Knuth, The Art of Computer Programming 5.2.2, algorithm M): elementwise operations, which become one kernel.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.scipy.ndimage.correlation import extended, reach_of, result_dtype, spread
from numhlo.library.scipy.operands import traced
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError
from numhlo.tracer.building import convert, normalize_axes, runs_anywhere

__all__ = [
    "maximum_filter", "maximum_filter1d", "median_filter", "minimum_filter", "minimum_filter1d", "percentile_filter",
    "rank_filter",
]  # fmt: skip

_WINDOW = """
Parameters
----------
input : array_like
size, footprint, output, mode, cval, origin, axes : optional
    As those of `minimum_filter`.

Returns
-------
Array
    Of the shape of ``input``.

Raises
------
ArgumentError
    If there is neither a size nor a footprint.
DTypeError
    For complex numbers.
ShapeError
    If a footprint has other dimensions than there are axes.
"""

_LINE = """
Parameters
----------
input : array_like
size : int
axis : int, optional
output, mode, cval, origin : optional
    As those of `minimum_filter`.

Returns
-------
Array
    Of the shape of ``input``.

Raises
------
RuntimeError
    If the window has no elements.
"""

MOST_COMPARED = 32
"""Windows of more elements are sorted."""

Fold = Callable[[Any, Any], Any]


class Places(NamedTuple):
    """What is looked at around each element.

    Attributes
    ----------
    footprint : ndarray of bool
        One dimension for each of the axes.
    axes, origins, modes : sequence
        One for each dimension of the footprint.
    cval : scalar
    """

    footprint: np.ndarray
    axes: Sequence[int]
    origins: Sequence[int]
    modes: Sequence[str]
    cval: Any

    def shifted(self, x: Any) -> list[Any]:
        """Return an image shifted to each place of the footprint."""
        wide, shape = x, x.shape
        for axis, extent, origin, mode in zip(self.axes, self.footprint.shape, self.origins, self.modes, strict=True):
            wide = extended(wide, axis, reach_of(extent, origin), mode, self.cval)
        found = []
        for place in np.argwhere(self.footprint):
            cut = [slice(None)] * x.ndim
            for axis, k in zip(self.axes, place.tolist(), strict=True):
                cut[axis] = slice(k, k + shape[axis])
            found.append(wide[tuple(cut)])
        return found

    def folded(self, x: Any, fold: Fold) -> Any:
        """Return what a fold makes of each window."""
        if not self.footprint.all():
            return functools.reduce(fold, self.shifted(x))
        for axis, extent, origin, mode in zip(self.axes, self.footprint.shape, self.origins, self.modes, strict=True):
            x = _folded_along(extended(x, axis, reach_of(extent, origin), mode, self.cval), axis, extent, fold)
        return x


def _folded_along(x: Any, axis: int, extent: int, fold: Fold) -> Any:
    """Return the folds of all windows of an extent, whose parts are folds of half the extent, which may overlap."""
    done = 1
    while done < extent:
        step = min(done, extent - done)
        count = x.shape[axis] - step
        before, behind = (x[(*[slice(None)] * axis, slice(k, k + count))] for k in (0, step))
        x, done = fold(before, behind), done + step
    return x


def places_of(function: str, x: Any, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any, axes: Any) -> Places:
    """Return what a filter's options say of its windows."""
    if x.dtype.kind == "c":
        raise DTypeError(
            f"{function} of complex numbers", where=capture_location(), why="they have no order", fix="use abs(x)"
        )
    chosen = tuple(range(x.ndim)) if axes is None else normalize_axes(axes, x.ndim)
    if footprint is None:
        if size is None:
            raise ArgumentError(
                f"{function} without a window", where=capture_location(), fix="give size= or footprint="
            )
        shape = tuple(map(operator.index, spread(size, len(chosen))))
        window = np.ones(shape, bool)
    else:
        window = np.asarray(footprint, bool)
        if window.ndim == x.ndim and len(chosen) < x.ndim:
            raise RuntimeError(f"footprint.ndim ({window.ndim}) must match len(axes) ({len(chosen)})")
    if window.ndim != len(chosen):
        raise ShapeError(
            f"{function} by a footprint of {window.ndim} dimensions along {len(chosen)} axes",
            where=capture_location(),
            fix="give the footprint one dimension for each axis",
        )
    if not window.any():
        raise ValueError("All-zero footprint is not supported.")
    count = len(chosen)
    modes = [mode] * count if isinstance(mode, str) else spread(mode, count)
    return Places(window, chosen, spread(origin, count), modes, cval)


@runs_anywhere
@described(_WINDOW)
def minimum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the least element in the window around each one.

    Parameters
    ----------
    size : int or sequence of int, optional
        The window's extents.
    footprint : array_like of bool, optional
        The window itself, in place of its extents.
    output, mode, cval : optional
        As those of `correlate1d`; the mode may be one for each axis.
    origin : int or sequence of int, optional
        Where the window's middle is.
    axes : sequence of int, optional
        All by default.

    Examples
    --------
    >>> minimum_filter([3, 1, 4, 1, 5], 3)
    Array([1, 1, 1, 1, 1])
    """
    x = traced(input)
    places = places_of("minimum_filter", x, size, footprint, mode, cval, origin, axes)
    return convert(places.folded(x, np.minimum), result_dtype(x, output))


@runs_anywhere
@described(_LINE)
def minimum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Any:
    """Return the least element in the window along an axis around each one.

    Examples
    --------
    >>> minimum_filter1d([3, 1, 4, 1, 5], 3)
    Array([1, 1, 1, 1, 1])
    """
    if size < 1:
        raise RuntimeError("incorrect filter size")
    return minimum_filter(input, size, None, output, mode, cval, origin, axes=(axis,))


@runs_anywhere
@described(_WINDOW)
def maximum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the greatest element in the window around each one.

    Examples
    --------
    >>> maximum_filter([3, 1, 4, 1, 5], 3)
    Array([3, 4, 4, 5, 5])
    """
    x = traced(input)
    places = places_of("maximum_filter", x, size, footprint, mode, cval, origin, axes)
    return convert(places.folded(x, np.maximum), result_dtype(x, output))


@runs_anywhere
@described(_LINE)
def maximum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Any:
    """Return the greatest element in the window along an axis around each one.

    Examples
    --------
    >>> maximum_filter1d([3, 1, 4, 1, 5], 3)
    Array([3, 4, 4, 5, 5])
    """
    if size < 1:
        raise RuntimeError("incorrect filter size")
    return maximum_filter(input, size, None, output, mode, cval, origin, axes=(axis,))


def _network(count: int, rank: int) -> Iterator[tuple[int, int, bool, bool]]:
    """Return the comparisons that bring the element of a rank to its place: two places, and which of them is used."""
    top = 1 << max(count - 1, 1).bit_length() - 1
    pairs, p = [], top
    while p:
        q, r, d = top, 0, p
        while d:
            pairs += [(k, k + d) for k in range(count - d) if k & p == r]
            d, q, r = q - p, q // 2, p
        p //= 2
    wanted, kept = {rank}, []
    for low, high in reversed(pairs):
        if low in wanted or high in wanted:
            kept.append((low, high, low in wanted, high in wanted))
            wanted |= {low, high}
    return reversed(kept)


def _of_rank(items: list[Any], rank: int) -> Any:
    """Return the element of a rank among images, place by place."""
    if len(items) > MOST_COMPARED:
        return np.sort(np.stack(items, -1), -1)[..., rank]
    items = [*items]
    for low, high, uses_low, uses_high in _network(len(items), rank):
        one, other = items[low], items[high]
        if uses_low:
            items[low] = np.minimum(one, other)
        if uses_high:
            items[high] = np.maximum(one, other)
    return items[rank]


def _ranked(x: Any, places: Places, rank: int, output: Any) -> Any:
    count = int(places.footprint.sum())
    rank = rank + count if rank < 0 else rank
    if not 0 <= rank < count:
        raise RuntimeError("rank not within filter footprint size")
    dtype = result_dtype(x, output)
    if rank in (0, count - 1):
        return convert(places.folded(x, np.maximum if rank else np.minimum), dtype)
    return convert(traced(_of_rank(places.shifted(x), rank)), dtype)


@runs_anywhere
@described(_WINDOW)
def rank_filter(
    input: Any,
    rank: int,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the element of a rank in the window around each one.

    Parameters
    ----------
    rank : int
        0 is the least, -1 the greatest.

    Raises
    ------
    ArgumentError
        If there is neither a size nor a footprint.
    RuntimeError
        If the window has no such rank.

    Examples
    --------
    >>> rank_filter([3, 1, 4, 1, 5], 1, 3)
    Array([3, 3, 1, 4, 5])
    """
    x = traced(input)
    places = places_of("rank_filter", x, size, footprint, mode, cval, origin, axes)
    return _ranked(x, places, operator.index(rank), output)


@runs_anywhere
@described(_WINDOW)
def percentile_filter(
    input: Any,
    percentile: float,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the element at a percentile in the window around each one.

    Parameters
    ----------
    percentile : float
        From 0 to 100, or from the end, if it is negative.

    Raises
    ------
    ArgumentError
        If there is neither a size nor a footprint.
    RuntimeError
        If the percentile is not between 0 and 100.

    Examples
    --------
    >>> percentile_filter([3, 1, 4, 1, 5], 50, 3)
    Array([3, 3, 1, 4, 5])
    """
    x = traced(input)
    places = places_of("percentile_filter", x, size, footprint, mode, cval, origin, axes)
    count = int(places.footprint.sum())
    share = percentile + 100 if percentile < 0 else percentile
    if not 0 <= share <= 100:
        raise RuntimeError("invalid percentile")
    return _ranked(x, places, count - 1 if share == 100 else int(count * share / 100), output)


@runs_anywhere
@described(_WINDOW)
def median_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the median in the window around each element; of an even number, the upper one.

    Raises
    ------
    ArgumentError
        If there is neither a size nor a footprint.

    Examples
    --------
    >>> median_filter([3, 1, 4, 1, 5], 3)
    Array([3, 3, 1, 4, 5])
    """
    x = traced(input)
    places = places_of("median_filter", x, size, footprint, mode, cval, origin, axes)
    return _ranked(x, places, int(places.footprint.sum()) // 2, output)
