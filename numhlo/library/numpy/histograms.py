"""Counting: bincount, digitize, histogram and its bin edges, in one and more dimensions.

While tracing, the number of bins must be known; ``bincount`` takes ``length=`` for it.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import reductions
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.indexing.index_items import Points
from numhlo.library.numpy.indexing.selected import Uncounted
from numhlo.library.numpy.ranges import linspace
from numhlo.library.numpy.searching import searchsorted
from numhlo.library.numpy.ufunc_rules.greatest_values import greatest, note_greatest
from numhlo.lowering.ir import Location, capture_location
from numhlo.lowering.ir.errors import DataDependentShapeError
from numhlo.lowering.ops.indexing import BEYOND
from numhlo.tracer.building import (
    Tracer,
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    full_of,
    implements,
    new_array,
    reshape_to,
    result_dtype,
    shape_of,
)
from numhlo.tracer.building import operations as b

__all__ = ["bincount", "digitize", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]


def _eager_bincount(x: Any, /, weights: Any = None, minlength: int = 0, *, length: int | None = None) -> Any:
    if length is None:
        return np.bincount(x, weights, minlength)
    array = np.asarray(x)
    kept = array < length
    chosen = None if weights is None else np.asarray(weights)[kept]
    return np.bincount(array[kept], chosen, length)[:length]


class Counts(Uncounted):
    """Counts of a number that is not known; the first ones, which are asked for in any case, can be had.

    Parameters
    ----------
    first : Tracer
        So many of them as there are at least.
    shown : str
        What was counted.
    """

    def __init__(self, first: Any, shown: str) -> None:
        self._first, self._shown, self.location = first, shown, capture_location()

    def refuse(self, where: Location | None = None) -> NoReturn:
        """Raise the error for what needs their number."""
        raise DataDependentShapeError(
            f"bincount of a traced array {self._shown}",
            where=where or self.location,
            why="the number of counts would depend on the greatest value",
            fix="write numpy.bincount(x, minlength=n)[:n], or length=n in numhlo.numpy's, with the number of counts",
        )

    def __getitem__(self, index: Any) -> Any:
        bounds = (index.start or 0, index.stop) if isinstance(index, slice) else (index, index)
        if not all(isinstance(k, int | np.integer) for k in bounds):
            self.refuse()
        least = len(self._first) - (not isinstance(index, slice))
        return self._first[index] if min(bounds) >= 0 and max(bounds) <= least else self.refuse()


@implements(np.bincount, eager=_eager_bincount)
def bincount(x: Any, /, weights: Any = None, minlength: int = 0, *, length: int | None = None) -> Any:
    """Return how often each non-negative integer occurs, or the sum of its weights; larger ones are dropped.

    Parameters
    ----------
    x : array of int, 1-d
    weights : array, optional
    minlength : int, optional
    length : int, optional
        The number of counts; required while tracing, unless ``minlength`` is more than ``x`` can hold by its dtype or
        the program: results of `argmin`, `digitize`, `searchsorted`, ``y % 5``, `minimum` with a constant.

    Returns
    -------
    Array
        Of int64, or float64 with weights.

    Raises
    ------
    DataDependentShapeError
        If ``x`` is traced, ``length`` left out, and more asked for than the first ``minlength`` counts.
    ValueError
        If ``x`` is not one-dimensional; outside tracing also if an element is negative. A traced one is dropped.

    Examples
    --------
    >>> bincount(np.array([0, 1, 1]), length=3)
    Array([1, 2, 0])
    """
    array = as_traced(asarray(x))
    if array.ndim != 1:
        raise ValueError(
            "object of too small depth for desired array" if array.ndim == 0 else "object too deep for desired array"
        )
    if array.dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from {array.dtype!r} to dtype('int64') according to the rule 'safe'")
    if length is None:
        known = array.known()
        if known is None and (array.size == 0 or minlength > greatest(array)):
            return bincount(x, weights, length=minlength)  # no element can be greater
        if known is None:
            counts = Counts(bincount(x, weights, length=minlength), array.aval.short())
            return counts if minlength else counts.refuse()
        length = max(minlength, int(known.max(initial=-1)) + 1)
    is_count = weights is None or array.size == 0  # of no element, NumPy looks at no weights
    values = full_of(1, array.shape, np.int64) if is_count else convert(asarray(weights), np.float64)
    return _counted(array, values, length, length)


def _counted(places: Tracer, values: Any, length: int, instead: int = BEYOND) -> Any:
    """Return an array of ``length`` with ``values`` added at ``places``; places outside are dropped."""
    counts = new_array(full_of(0, (length,), values.dtype))
    inside = b.at_least(places, 0)
    index = b.select(inside, convert(places, np.int64), instead)
    advanced.scatter_points(counts, [Points(index, from_end=False)], values, "add")
    return counts


@implements(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Return the number of the bin that each value falls into; ``bins`` must be monotonic.

    Parameters
    ----------
    x : array_like
    bins : array_like
        Rising or falling edges, which may be traced; that they are monotonic is checked outside tracing only.
    right : bool, optional
        Whether bins contain their upper edge.

    Returns
    -------
    Array
        Of int64 and the shape of ``x``: 0 below the first edge, ``len(bins)`` above the last. NaN lies above.

    Examples
    --------
    >>> digitize([0.5, 2.5], [0, 1, 2])
    Array([1, 3])
    """
    edges = as_traced(asarray(bins))
    values = asarray(x)
    if values.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if edges.ndim != 1:
        raise ValueError(f"bins must be a vector of edges, not of shape {edges.shape}")
    size = edges.shape[0]
    known = edges.known()
    if known is not None and (known[:-1] > known[1:]).any() and (known[:-1] < known[1:]).any():
        raise ValueError("bins must be monotonically increasing or decreasing")
    if size == 0:
        return full_of(0, shape_of(values), np.int64)
    rising = searchsorted(edges, values, "left" if right else "right")
    falling = ufuncs.subtract(size, searchsorted(edges[::-1], values, "left" if right else "right"))  # type: ignore[index]
    rising = convert(rising, falling.dtype)
    down = b.greater(edges[0], edges[-1])  # type: ignore[index]
    return note_greatest(b.select(broadcast_to_shape(down, shape_of(rising)), falling, rising), size)


@implements(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """Return the edges of equal bins between the least and the greatest element, or the given edges.

    Parameters
    ----------
    a : array_like
    bins : int or array_like, optional
        A number of bins, known while tracing, or all edges.
    range : (scalar, scalar), optional
        Instead of least and greatest element; 0.5 to either side of them where they are equal.
    weights : optional
        NumPy's, and ignored as by NumPy.

    Returns
    -------
    Array

    Raises
    ------
    DataDependentShapeError
        If ``bins`` names one of NumPy's rules and ``a`` is traced.

    Examples
    --------
    >>> histogram_bin_edges([0.0, 4.0], 2)
    Array([0., 2., 4.])
    """
    if isinstance(bins, str):
        raise DataDependentShapeError(
            f"histogram bins={bins!r} of a traced array",
            where=capture_location(),
            why="the number of bins would depend on the values",
            fix="pass a number of bins, or the edges",
        )
    if np.ndim(bins) or isinstance(bins, Sequence) or (isinstance(bins, Tracer) and bins.ndim):
        return _given_edges(as_traced(asarray(bins)))
    try:
        bins = operator.index(bins)
    except TypeError:
        if isinstance(bins, Tracer):
            raise
        raise TypeError("`bins` must be an integer, a string, or an array") from None
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    array = as_traced(asarray(a))
    wanted = array.dtype if array.dtype.kind in "fc" else np.dtype(np.float64)
    between: np.dtype = np.dtype(np.float64)
    if range is None:
        between = np.dtype(np.complex128) if wanted.kind == "c" else wanted
    if range is not None:
        low, high = (convert(asarray(limit), np.float64) for limit in range)
        _check_limits(low, high)
    elif array.size == 0:
        low, high = np.zeros((), wanted), np.ones((), wanted)
    else:
        low, high = reductions.min(array), reductions.max(array)
    low, high = convert(low, between), convert(high, between)
    flat = b.equal(low, high)
    low, high = (b.select(flat, b.add(limit, shift), limit) for limit, shift in ((low, -0.5), (high, 0.5)))
    edges = linspace(low, high, bins + 1)
    if range is not None:
        wanted = result_dtype(*range, array)
        wanted = np.dtype(np.float64) if wanted.kind in "biu" else wanted
    return convert(edges, wanted)


def _check_limits(low: Any, high: Any) -> None:
    """Raise a `ValueError` about limits that are known and don't enclose numbers."""
    least, most = (as_traced(limit).known() for limit in (low, high))
    if least is None or most is None:
        return
    if least > most:
        raise ValueError("max must be larger than min in range parameter.")
    if not (np.isfinite(least) and np.isfinite(most)):
        raise ValueError(f"supplied range of [{least}, {most}] is not finite")


def _given_edges(edges: Tracer) -> Tracer:
    """Return edges of bins; known ones must rise."""
    if edges.ndim != 1:
        raise ValueError("`bins` must be 1d, when an array")
    known = edges.known()
    if known is not None and (known[:-1] > known[1:]).any():
        raise ValueError("`bins` must increase monotonically, when an array")
    return edges


@implements(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None) -> Any:
    """Return how many elements fall into each bin, and the bins' edges; the last bin contains its upper edge.

    Parameters
    ----------
    a : array_like
        Flattened; NaN and what lies outside is not counted.
    bins, range : optional
        As those of `histogram_bin_edges`.
    density : bool, optional
        Divide by the total and the widths, so that the integral is 1.
    weights : array_like, optional
        One for each element, instead of 1.

    Returns
    -------
    tuple of two Arrays
        Of int64, or the dtype of the weights, and the edges.

    Raises
    ------
    DataDependentShapeError
        If ``bins`` names one of NumPy's rules and ``a`` is traced.

    Examples
    --------
    >>> histogram([1, 2, 2, 4], bins=[1, 2, 3, 4])
    (Array([1, 2, 1]), Array([1, 2, 3, 4]))
    """
    array = as_traced(asarray(a))
    flat = as_traced(reshape_to(array, (array.size,)))
    edges = as_traced(histogram_bin_edges(flat, bins, range))
    count = edges.shape[0] - 1
    are_equal = isinstance(bins, int | np.integer) and edges.dtype.kind == "f"
    place = _equal_bin_of(flat, edges) if are_equal else _bin_of(flat, edges)
    if weights is None:
        values = full_of(1, flat.shape, np.int64)
    else:
        values = asarray(weights)
        values = reshape_to(values, (values.size,))
    counts = _counted(as_traced(place), values, count)
    if density:
        widths = ufuncs.subtract(edges[1:], edges[:-1])  # type: ignore[index]
        counts = ufuncs.divide(ufuncs.divide(counts, widths), reductions.sum(counts))
    return counts, edges


def _bin_of(x: Tracer, edges: Tracer) -> Any:
    """Return the number of the bin of each element; -1 outside all of them."""
    count = edges.shape[0] - 1
    place = b.subtract(searchsorted(edges, x, "right"), 1)
    last = ufuncs.equal(x, edges[-1])  # type: ignore[index]
    return _or_outside(b.select(last, count - 1, place), x, edges)


def _equal_bin_of(x: Tracer, edges: Tracer) -> Any:
    """Return the same where bins are equally wide: by a quotient, put right by one where that was rounded."""
    count = edges.shape[0] - 1
    first, last = (convert(edges[k], np.float64) for k in (0, -1))  # type: ignore[index]
    distance = ufuncs.subtract(convert(x, np.float64), first)
    guess = convert(ufuncs.multiply(distance, ufuncs.divide(count, ufuncs.subtract(last, first))), np.int64)
    place = ufuncs.maximum(ufuncs.minimum(guess, count - 1), 0)
    below = ufuncs.less(x, _clamped(edges, place))
    above = ufuncs.greater_equal(x, _clamped(edges, ufuncs.add(place, 1)))
    place = ufuncs.add(ufuncs.subtract(place, convert(below, np.int64)), convert(above, np.int64))
    return _or_outside(ufuncs.minimum(place, count - 1), x, edges)


def _clamped(edges: Tracer, places: Any) -> Any:
    """Return edges at places, which a gather clamps into their number."""
    return advanced.gather_points(edges, [Points(places, from_end=False)])


def _or_outside(place: Any, x: Tracer, edges: Tracer) -> Any:
    """Return bins, -1 for what is in none."""
    outside = b.either(ufuncs.less(x, edges[0]), ufuncs.logical_not(ufuncs.less_equal(x, edges[-1])))  # type: ignore[index]
    return b.select(outside, -1, place)


@implements(np.histogramdd)
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Any, list[Any]]:
    """Return a histogram of points in several dimensions, and the edges along each.

    Parameters
    ----------
    sample : array_like, or sequence of array_like
        Points in rows, or one vector for each dimension.
    bins, range : optional
        As those of `histogram_bin_edges`; or sequences of them, one for each dimension.
    density, weights : optional
        As those of `histogram`.

    Returns
    -------
    tuple of Array and list of Array
        The counts are of float64.

    Examples
    --------
    >>> histogramdd([[0.0, 0.0], [1.0, 1.0]], 2)[0].tolist()
    [[0.0, 0.0], [0.0, 2.0]]
    """
    if isinstance(sample, list | tuple):
        columns = [as_traced(asarray(c)) for c in sample]
    else:
        points = as_traced(asarray(sample))
        points = points if points.ndim == 2 else as_traced(reshape_to(points, (points.size, 1)))
        columns = [points[:, k] for k in builtin_range(points.shape[1])]  # type: ignore[index]
    size = len(columns)
    each = list(bins) if isinstance(bins, Sequence) else [bins] * size
    ranges = [None] * size if range is None else list(range)
    common = result_dtype(*columns)
    columns = [as_traced(convert(c, common)) for c in columns]
    edges = [_edges_along(c, e, r) for c, e, r in zip(columns, each, ranges, strict=True)]
    shape = tuple(e.shape[0] - 1 for e in edges)
    flat = full_of(0, columns[0].shape, np.int64)
    outside = full_of(False, columns[0].shape, np.bool_)
    for column, edge, extent in zip(columns, edges, shape, strict=True):
        place = _bin_of(column, edge)
        outside = b.either(outside, b.less(place, 0))
        flat = b.add(b.multiply(flat, extent), place)
    values = full_of(1.0, columns[0].shape, np.float64) if weights is None else convert(asarray(weights), np.float64)
    total = int(np.prod(shape, dtype=np.int64))
    counts = reshape_to(_counted(as_traced(b.select(outside, -1, flat)), values, total), shape)
    return (_density(counts, edges) if density else counts), list(edges)


def _edges_along(column: Tracer, bins: Any, limits: Any) -> Tracer:
    """Return a dimension's edges: those between numbers are of float64 there, whatever the points are."""
    if limits is not None and not shape_of(asarray(bins)):
        column = as_traced(convert(column, np.float64))
    return as_traced(histogram_bin_edges(column, bins, limits))


builtin_range = range


def _density(counts: Any, edges: list[Tracer]) -> Any:
    total = reductions.sum(counts)
    for axis, edge in enumerate(edges):
        widths = ufuncs.subtract(edge[1:], edge[:-1])  # type: ignore[index]
        shape = tuple(widths.size if k == axis else 1 for k in builtin_range(len(edges)))
        counts = ufuncs.divide(counts, reshape_to(widths, shape))
    return ufuncs.divide(counts, total)


@implements(np.histogram2d)
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Any, Any, Any]:
    """Return a histogram of points in the plane, and the edges along x and y.

    Parameters
    ----------
    x, y : array_like
        Vectors of one length.
    bins : int, array_like, or pair of them, optional
    range : pair of (scalar, scalar), optional
    density, weights : optional
        As those of `histogram`.

    Returns
    -------
    tuple of three Arrays
        The counts are of float64.

    Examples
    --------
    >>> histogram2d([0.0, 1.0], [0.0, 1.0], 2)[0].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if isinstance(bins, np.ndarray | Tracer) or (isinstance(bins, Sequence) and len(bins) not in (1, 2)):
        bins = [asarray(bins)] * 2
    if len(shape_of(asarray(x))) != 1 or shape_of(asarray(x)) != shape_of(asarray(y)):
        raise ValueError("x and y must have the same length.")
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
