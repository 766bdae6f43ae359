"""Medians, percentiles and quantiles, over all lines of an array at once; what is not NaN of them, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.numpy import cumulative, moments, reductions, sorting
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy.axis_order import moveaxis
from numhlo.library.numpy.covariance import aligned_weights
from numhlo.library.numpy.indexing import brackets
from numhlo.library.numpy.joining import stack
from numhlo.library.numpy.out_arrays import store
from numhlo.library.numpy.reductions import NO_VALUE
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, InvalidIndexError, UnsupportedError
from numhlo.tracer.building import (
    Tracer,
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    expand,
    full_of,
    implements,
    is_weak,
    normalize_axes,
    reshape_to,
    shape_of,
)
from numhlo.tracer.building import operations as b

__all__ = ["median", "percentile", "quantile"]


def _flattened(array: Tracer, axis: Any) -> tuple[Tracer, tuple[int, ...]]:
    """Return the array with the reduced axes joined into a last one, and the reduced axes."""
    axes = normalize_axes(axis, array.ndim)
    kept = [k for k in range(array.ndim) if k not in axes]
    moved = moveaxis(array, axes, tuple(range(len(kept), array.ndim))) if axes else array
    size = int(np.prod([array.shape[k] for k in axes], dtype=np.int64))
    return as_traced(reshape_to(moved, (*[array.shape[k] for k in kept], size))), axes


def _restored(x: Any, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: Any, lead: int = 0) -> Any:
    if not keepdims or keepdims is NO_VALUE:
        return x
    return expand(x, *[k + lead for k in axes])


@implements(np.median)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """Return the middle value over axes, the mean of the two middle ones where their number is even; NaN wins.

    Parameters
    ----------
    a : array_like
    axis : int or sequence of int, optional
        All by default.
    out : Array, optional
        Where the result is written.
    overwrite_input : bool, optional
        NumPy's; without a meaning while tracing.
    keepdims : bool, optional
        Keep the axes, with extent 1.

    Returns
    -------
    Array
        Of floats; NaN for no elements.

    Examples
    --------
    >>> median([3.0, 1.0, 2.0])
    Array(2.)
    """
    array = as_traced(asarray(a))
    lines, axes = _flattened(array, axis)
    size = lines.shape[-1]
    wanted = lines.dtype if lines.dtype.kind in "fcV" else np.dtype(np.float64)
    if size == 0:
        result = full_of(np.nan, lines.shape[:-1], wanted)
        return store("median", _restored(result, array.shape, axes, keepdims), out, exact=True)
    picked = sorting.order_statistics(lines, np.unique([(size - 1) // 2, size // 2]))
    middle = moments.mean(picked, -1) if size % 2 == 0 else picked[..., 0]
    middle = _nan_wins(convert(middle, wanted), lines)
    return store("median", _restored(middle, array.shape, axes, keepdims), out, exact=True)


def _nan_wins(result: Any, lines: Tracer) -> Any:
    """Return a result of all lines, its last axes, with NaN for lines that hold one."""
    if lines.dtype.kind not in "fcV":
        return result
    anywhere = reductions.any(b.is_nan(lines), -1)
    return b.select(broadcast_to_shape(anywhere, shape_of(result)), np.nan, result)


def _spread(alpha: float, beta: float) -> Callable[[int, Any], Any]:
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


PLACES: dict[str, Callable[[int, Any], Any]] = {
    "linear": lambda n, q: (n - 1) * q,
    "midpoint": lambda n, q: 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q)),
    "averaged_inverted_cdf": lambda n, q: n * q - 1,
    "interpolated_inverted_cdf": _spread(0.0, 1.0),
    "hazen": _spread(0.5, 0.5),
    "weibull": _spread(0.0, 0.0),
    "median_unbiased": _spread(1 / 3, 1 / 3),
    "normal_unbiased": _spread(3 / 8, 3 / 8),
}
"""Where a quantile of n elements lies among them; by Hyndman and Fan (1996), most by two plotting parameters."""

WEIGHTS = {"midpoint": (0.0, 0.5), "averaged_inverted_cdf": (0.5, 1.0)}
"""What the element above weighs where a quantile lies on an element, and where it lies between two."""

POINTS: dict[str, Any] = {"lower": np.floor, "higher": np.ceil, "nearest": np.around}
STEPS = {"inverted_cdf": 1, "closest_observation": 1.5}
"""Methods whose quantiles are elements, and how far below ``n q`` these lie."""


def _neighbours(n: int, q: Any, method: str) -> tuple[Any, Any, Any]:
    """Return the places of the two order statistics around a quantile, and the weight of the second.

    ``q`` may be traced or not: NumPy's functions do for both.
    """
    if method in POINTS:
        place = POINTS[method]((n - 1) * q)
        return place, place, None
    if method in STEPS:
        place = _step(n, q, method)
        return place, place, None
    if method not in PLACES:
        known = ", ".join(sorted([*PLACES, *POINTS, *STEPS]))
        raise ArgumentError(f"quantile(method={method!r})", where=capture_location(), fix=f"use one of {known}")
    place = PLACES[method](n, q)
    below = np.floor(place)
    weight = place - below
    if method in WEIGHTS:
        on, between = WEIGHTS[method]
        weight = np.where(weight == 0, on, between).astype(weight.dtype)
    return np.clip(below, 0, n - 1), np.clip(below + 1, 0, n - 1), weight


def _step(n: int, q: Any, method: str) -> Any:
    index = n * q - STEPS[method]
    below = np.floor(index)
    exact = index == below
    if method == "closest_observation":  # the even one of two that are as near, counted from 1
        exact = exact & (below % 2 == 1)
    return np.maximum(np.where(exact, below, below + 1), 0)


def _interpolate(low: Any, high: Any, weight: Any) -> Any:
    """Return ``low + (high - low) * weight``, from whichever end is nearer, as NumPy's ``_lerp``."""
    distance = ufuncs.subtract(high, low)
    near = ufuncs.add(low, ufuncs.multiply(distance, weight))
    far = ufuncs.subtract(high, ufuncs.multiply(distance, ufuncs.subtract(1, weight)))
    upper = broadcast_to_shape(ufuncs.greater_equal(weight, 0.5), shape_of(near))
    return b.select(upper, convert(far, near.dtype), near)


@implements(np.quantile)
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    """Return the values below which given fractions of the elements lie.

    Parameters
    ----------
    a : array_like
        Real.
    q : array_like
        In [0, 1]; may be traced. Its axes come first in the result.
    axis, out, overwrite_input, keepdims : optional
        As those of `median`.
    method : str, optional
        One of Hyndman's and Fan's, or NumPy's others.
    weights : array_like, optional
        How often each element counts, for the method ``"inverted_cdf"``: of the shape of ``a``, or of its ``axis``.
        Traced ones that are negative, or no positive finite number together, make NaN where NumPy raises.

    Returns
    -------
    Array
        Of floats, but for the methods that pick an element; NaN wins.

    Raises
    ------
    ValueError
        If ``q`` is known and outside, or weights are known and not positive.
    InvalidIndexError
        If there are no elements.
    ArgumentError
        If there is no such method, or none with weights.
    UnsupportedError
        If there are traced weights of elements that are no floats, which can't be NaN.

    Notes
    -----
    Hyndman, Fan: Sample Quantiles in Statistical Packages (1996).

    Examples
    --------
    >>> quantile([1.0, 2.0, 4.0], [0.5, 0.75])
    Array([2., 3.])
    """
    array = as_traced(asarray(a))
    if array.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    _require_fractions(q)
    lines, axes = _flattened(array, axis)
    if lines.shape[-1] == 0:
        raise InvalidIndexError(
            f"quantile of no elements: {array.aval.short()}" + (f" along axis {axis}" if axis is not None else ""),
            where=capture_location(),
            why="there is none to pick",
            fix="write numpy.nanquantile, which gives NaN; or test x.size before",
        )
    if method == "linear" and {array.dtype.kind, asarray(q).dtype.kind} <= set("biu"):
        method = "lower"  # 0 and 1 as integers pick an element, and there is nothing between to interpolate
    if weights is None:
        result = _pick_quantiles(lines, q, method)
    else:
        heavy, _ = _flattened(_checked_weights(array, weights, axis, method), axis)
        result = _nan_wins(_weighted(lines, heavy, q), lines)
    return store("quantile", _restored(result, array.shape, axes, keepdims, len(shape_of(asarray(q)))), out)


def _pick_quantiles(lines: Tracer, q: Any, method: str) -> Any:
    fractions = q if isinstance(q, Tracer) else np.asarray(q, None if np.asarray(q).dtype.kind == "f" else np.float64)
    low, high, weight = _neighbours(lines.shape[-1], fractions, method)
    if weight is None:
        return _nan_wins(_picked(lines, low), lines)
    first, second = _picked(lines, stack([low, high], 0) if isinstance(low, Tracer) else np.stack([low, high]))
    own = first.dtype if first.dtype.kind in "fV" else np.dtype(np.float64)
    weight = convert(weight, own) if is_weak(q) else weight
    weight = reshape_to(asarray(weight), shape_of(fractions) + (1,) * (lines.ndim - 1))
    return _nan_wins(_interpolate(first, second, weight), lines)


def _checked_weights(array: Tracer, weights: Any, axis: Any, method: str) -> Any:
    """Return weights in the array's shape."""
    if method != "inverted_cdf":
        raise ArgumentError(
            f"quantile(method={method!r}, weights=...)",
            where=capture_location(),
            why="only the method 'inverted_cdf' has weights, as in NumPy",
            fix='write quantile(a, q, weights=weights, method="inverted_cdf")',
        )
    if isinstance(weights, Tracer):
        if array.dtype.kind in "bui":
            raise UnsupportedError(
                f"quantile(weights=) of {array.aval.short()} with traced weights",
                where=capture_location(),
                why="where weights turn out to be negative or all 0 the result is NaN, which an integer can't be",
                fix="write a.astype(float), and convert the result",
            )
    else:
        weights = np.asarray(weights)
        totals = weights.sum(axis if weights.shape == array.shape else None, dtype=np.float64)
        if np.any(weights < 0):
            raise ValueError("Weights must be non-negative.")
        if not np.all(np.isfinite(totals) & (totals > 0)):
            raise ValueError("Weights included NaN, inf or were all zero.")
    return as_traced(broadcast_to_shape(aligned_weights(array, asarray(weights), axis), array.shape))


def _weighted(lines: Tracer, weights: Tracer, q: Any) -> Any:
    """Return each line's first element, in order, whose share with all before it is at least ``q``; NaN is last."""
    ordered, heavy = sorting.sort_together([lines, weights], lines.ndim - 1)
    running = as_traced(cumulative.cumsum(heavy, -1, np.float64))
    total = running[..., -1:]  # type: ignore[index]
    share = ufuncs.divide(running, total)
    fractions = asarray(q)
    share = convert(share, fractions.dtype) if fractions.dtype.kind == "f" else share
    share = b.select(b.equal(share, 0), -1, share)  # elements without weight are not even the one for q = 0
    wanted = reshape_to(fractions, shape_of(fractions) + (1,) * lines.ndim)
    places = reductions.sum(ufuncs.less(share, wanted), -1, np.int64)
    result = _pick_along_last(as_traced(ordered), ufuncs.minimum(places, lines.shape[-1] - 1))
    if lines.dtype.kind in "bui":
        return result
    sound = ufuncs.logical_and(reductions.all(ufuncs.greater_equal(weights, 0), -1), ufuncs.isfinite(total[..., 0]))
    sound = ufuncs.logical_and(sound, ufuncs.greater(total[..., 0], 0))
    return b.select(broadcast_to_shape(sound, shape_of(result)), result, np.nan)


def _picked(lines: Tracer, places: Any) -> Any:
    """Return the elements of sorted lines at places; the axes of ``places`` come first."""
    if isinstance(places, Tracer):
        found = sorting.order_statistics(lines, reshape_to(convert(places, np.int64), (places.size,)))
    else:
        different, index = np.unique(places.astype(np.int64), return_inverse=True)
        found = sorting.order_statistics(lines, different)[..., index.reshape(-1)]
    return as_traced(reshape_to(moveaxis(found, -1, 0), (*shape_of(places), *lines.shape[:-1])))


@implements(np.percentile)
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """Return the values below which given percentages of the elements lie; see `quantile`.

    Parameters
    ----------
    a : array_like
    q : array_like
        In [0, 100]; may be traced.
    axis, out, overwrite_input, method, keepdims, weights : optional
        As those of `quantile`.

    Returns
    -------
    Array

    Raises
    ------
    ValueError, ArgumentError, UnsupportedError
        As of `quantile`.

    Examples
    --------
    >>> percentile([1.0, 2.0, 4.0], 50)
    Array(2.)
    """
    return quantile(a, fractions_of(q), axis, out, overwrite_input, method, keepdims, weights=weights)


def fractions_of(percentages: Any) -> Any:
    """Return percentages divided by 100, a Python number as one."""
    if isinstance(percentages, Tracer):
        return ufuncs.divide(percentages, 100)
    fractions = np.true_divide(percentages, 100)
    return float(fractions) if is_weak(percentages) else fractions


def _require_fractions(q: Any) -> None:
    if not isinstance(q, Tracer) and not np.all((np.asarray(q) >= 0) & (np.asarray(q) <= 1)):
        raise ValueError("Quantiles must be in the range [0, 1]")


def nan_quantiles(array: Tracer, q: Any, axis: Any, method: str, keepdims: Any, weights: Any = None) -> Any:
    """Return quantiles of what is not NaN: NaN sorts last, and each line knows how many elements come before."""
    _require_fractions(q)
    lines, axes = _nonempty_lines(array, axis)
    if array.size and weights is not None:
        heavy, _ = _flattened(_checked_weights(array, weights, axis, method), axis)
        found = _weighted(lines, as_traced(b.select(b.is_nan(lines), 0, heavy)), q)
        return _restored(found, array.shape, axes, keepdims, len(shape_of(asarray(q))))
    count = reductions.sum(b.equal(lines, lines), -1, np.int64)
    shape = shape_of(asarray(q))
    fractions = reshape_to(asarray(q), shape + (1,) * len(shape_of(count)))
    wide = np.dtype(np.float64) if is_weak(q) or fractions.dtype.kind != "f" else fractions.dtype
    low, high, weight = _neighbours(convert(count, wide), fractions, method)
    first, second = _pair_along_last(lines, low, high)
    result = first
    if weight is not None:
        result = _interpolate(first, second, convert(weight, array.dtype) if is_weak(q) else weight)
    present = broadcast_to_shape(b.greater(count, 0), shape_of(result))
    return _restored(b.select(present, result, np.nan), array.shape, axes, keepdims, len(shape))


def nan_median(array: Tracer, axis: Any, keepdims: Any) -> Any:
    """Return the middle of what is not NaN, or the mean of the two in the middle."""
    lines, axes = _nonempty_lines(array, axis)
    count = reductions.sum(b.equal(lines, lines), -1, np.int64)
    low, high = ufuncs.floor_divide(ufuncs.subtract(count, 1), 2), ufuncs.floor_divide(count, 2)
    first, second = _pair_along_last(lines, low, high)
    mean = moments.mean(stack([first, second], 0), 0)
    result = b.select(b.equal(low, high), first, mean)  # twice the one in the middle may be infinite
    return _restored(b.select(b.greater(count, 0), result, np.nan), array.shape, axes, keepdims)


def _nonempty_lines(array: Tracer, axis: Any) -> tuple[Tracer, tuple[int, ...]]:
    """Return what `_flattened` does; where there is nothing, let there be NaN."""
    lines, axes = _flattened(array, axis)
    if lines.shape[-1] == 0:
        lines = as_traced(full_of(np.nan, (*lines.shape[:-1], 1), lines.dtype))
    return lines, axes


def _pair_along_last(lines: Tracer, low: Any, high: Any) -> tuple[Any, Any]:
    """Return the elements at two places of the sorted last axis."""
    if lines.ndim == 1:
        first, second = _picked(lines, stack([low, high], 0))
        return first, second
    ordered = as_traced(sorting.sort(lines, -1))
    first, second = (_pick_along_last(ordered, np.clip(place, 0, None)) for place in (low, high))
    return first, second


def _pick_along_last(rows: Tracer, places: Any) -> Any:
    """Return elements of the last axis at places of shape ``(quantiles..., lines...)``."""
    index = expand(convert(places, np.int64), len(shape_of(places)))
    lead = len(shape_of(index)) - rows.ndim
    wide = broadcast_to_shape(rows, (*shape_of(index)[:lead], *rows.shape))
    return as_traced(brackets.take_along_axis(wide, index, -1))[..., 0]  # type: ignore[index]
