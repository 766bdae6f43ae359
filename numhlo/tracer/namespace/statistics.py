"""average, median, quantiles, covariance and correlation."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError
from numhlo.tracer.namespace import advanced_indexing as advanced
from numhlo.tracer.namespace import axis_order, indexing, manipulation, matrix_products, moments, reductions, sorting
from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace import elementwise as ufuncs
from numhlo.tracer.namespace.axis_order import moveaxis
from numhlo.tracer.namespace.core import (
    asarray,
    broadcast_to_shape,
    convert,
    expand,
    full_of,
    implements,
    is_weak,
    normalize_axes,
    reshape_to,
    result_dtype,
    shape_of,
)
from numhlo.tracer.namespace.elementwise import store
from numhlo.tracer.namespace.index_items import as_traced
from numhlo.tracer.namespace.joining import concatenate, stack
from numhlo.tracer.namespace.reductions import NO_VALUE
from numhlo.tracer.trace import Tracer

__all__ = ["average", "corrcoef", "cov", "median", "percentile", "quantile"]


@implements(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NO_VALUE) -> Any:
    """Return the weighted mean over axes; with ``returned`` also the sum of weights.

    Parameters
    ----------
    a : array_like
    axis : int or sequence of int, optional
        All by default.
    weights : array_like, optional
        Of the shape of ``a``, or of its axes.
    returned : bool, optional
    keepdims : bool, optional
        Keep the axes, with extent 1.

    Returns
    -------
    Array, or tuple of two Arrays
        Of floats. Weights that add up to 0 give NaN or infinity while tracing, an error outside.

    Raises
    ------
    TypeError, ValueError
        If the weights have another shape.

    Examples
    --------
    >>> average([1.0, 2.0, 6.0], weights=[1, 1, 2])
    Array(3.75)
    """
    array = as_traced(asarray(a))
    if weights is None:
        result = moments.mean(array, axis, keepdims=keepdims)
        count = array.size / max(result.size, 1)
        total = full_of(count, result.shape, result.dtype)
    else:
        scale = _aligned_weights(array, asarray(weights), axis)
        wanted = result_dtype(array, scale)
        wanted = np.promote_types(wanted, np.float64) if array.dtype.kind in "biu" else wanted
        total = reductions.sum(convert(scale, wanted), axis, keepdims=keepdims)
        result = ufuncs.divide(
            reductions.sum(ufuncs.multiply(convert(array, wanted), convert(scale, wanted)), axis, keepdims=keepdims),
            total,
        )
    return (result, total) if returned else result


def _aligned_weights(array: Tracer, weights: Any, axis: Any) -> Any:
    """Return weights in the array's shape."""
    own = shape_of(weights)
    if own == array.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = normalize_axes(axis, array.ndim)
    if own != tuple(array.shape[k] for k in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    order = tuple(sorted(range(len(axes)), key=lambda k: axes[k]))
    turned = axis_order.transpose(weights, order)
    shape = tuple(n if k in axes else 1 for k, n in enumerate(array.shape))
    return broadcast_to_shape(reshape_to(turned, shape), array.shape)


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
        return store("median", _restored(result, array.shape, axes, keepdims), out)
    ordered = as_traced(sorting.sort(lines, -1))
    low, high = (ordered[..., k] for k in ((size - 1) // 2, size // 2))  # type: ignore[index]
    middle = moments.mean(stack([low, high], -1), -1) if size % 2 == 0 else convert(low, wanted)
    if lines.dtype.kind in "fcV":
        last = ordered[..., -1]  # type: ignore[index]
        middle = b.select(b.is_nan(last), last, convert(middle, wanted))
    return store("median", _restored(middle, array.shape, axes, keepdims), out)


SPREADS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
"""Continuous methods of Hyndman and Fan (1996), by their two plotting parameters."""

POINTS: dict[str, Any] = {"lower": np.floor, "higher": np.ceil, "nearest": np.around}


def _neighbours(n: int, q: Any, method: str) -> tuple[Any, Any, Any]:
    """Return the places of the two order statistics around a quantile, and the weight of the second.

    ``q`` may be traced or not: NumPy's functions do for both.
    """
    if method in POINTS:
        place = POINTS[method]((n - 1) * q)
        return place, place, None
    if method in ("inverted_cdf", "closest_observation"):
        index = n * q - (1 if method == "inverted_cdf" else 1.5)
        below = np.floor(index)
        exact = index == below
        if method == "closest_observation":
            exact = exact & (below % 2 == 1)
        place = np.maximum(np.where(exact, below, below + 1), 0)
        return place, place, None
    if method == "linear":
        index = (n - 1) * q
    elif method == "midpoint":
        index = 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
    elif method == "averaged_inverted_cdf":
        index = n * q - 1
    elif method in SPREADS:
        alpha, beta = SPREADS[method]
        index = n * q + (alpha + q * (1 - alpha - beta)) - 1
    else:
        known = sorted(
            ["averaged_inverted_cdf", "closest_observation", "inverted_cdf", "linear", "midpoint", *POINTS, *SPREADS]
        )
        raise ArgumentError(
            f"quantile(method={method!r})", where=capture_location(), fix=f"use one of {', '.join(known)}"
        )
    below = np.floor(index)
    weight = index - below
    if method == "midpoint":
        weight = np.where(weight == 0, 0.0, 0.5)
    if method == "averaged_inverted_cdf":
        weight = np.where(weight == 0, 0.5, 1.0)
    return np.clip(below, 0, n - 1), np.clip(below + 1, 0, n - 1), weight


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
    weights : optional
        Only None while tracing.

    Returns
    -------
    Array
        Of floats, but for the methods that pick an element; NaN wins.

    Raises
    ------
    ValueError
        If ``q`` is known and outside.
    ArgumentError
        If there is no such method.
    UnsupportedError
        If there are weights, while tracing.

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
    if weights is not None:
        raise UnsupportedError("quantile(weights=) of a traced array", where=capture_location())
    if not isinstance(q, Tracer) and not np.all((np.asarray(q) >= 0) & (np.asarray(q) <= 1)):
        raise ValueError("Quantiles must be in the range [0, 1]")
    lines, axes = _flattened(array, axis)
    rows = as_traced(moveaxis(sorting.sort(lines, -1), -1, 0))
    result = _pick_quantiles(rows, q, method)
    return store("quantile", _restored(result, array.shape, axes, keepdims, len(shape_of(asarray(q)))), out)


def _pick_quantiles(rows: Tracer, q: Any, method: str) -> Any:
    weak = is_weak(q)
    fractions = q if isinstance(q, Tracer) else np.asarray(q, None if np.asarray(q).dtype.kind == "f" else np.float64)
    shape = shape_of(fractions)
    low, high, weight = _neighbours(rows.shape[0], fractions, method)
    first = advanced.take(rows, convert(low, np.int64), 0, "raise")
    result = first
    if weight is not None:
        second = advanced.take(rows, convert(high, np.int64), 0, "raise")
        own = rows.dtype if rows.dtype.kind in "fV" else np.dtype(np.float64)
        weight = convert(weight, own) if weak else weight
        weight = reshape_to(asarray(weight), shape + (1,) * (rows.ndim - 1))
        result = _interpolate(first, second, weight)
    if rows.dtype.kind in "fV":
        last = broadcast_to_shape(convert(rows[-1], result.dtype), shape_of(result))  # type: ignore[index]
        result = b.select(b.is_nan(last), last, result)
    return result


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


def nan_quantiles(array: Tracer, q: Any, axis: Any, method: str, keepdims: Any) -> Any:
    """Return quantiles of what is not NaN: NaN sorts last, and each line knows how many elements come before."""
    lines, axes = _flattened(array, axis)
    if lines.shape[-1] == 0:  # there is nothing, so let there be NaN
        lines = as_traced(full_of(np.nan, (*lines.shape[:-1], 1), lines.dtype))
    ordered = as_traced(sorting.sort(lines, -1))
    count = reductions.sum(b.equal(lines, lines), -1, np.int64)
    shape = shape_of(asarray(q))
    fractions = reshape_to(asarray(q), shape + (1,) * len(shape_of(count)))
    low, high, weight = _neighbours(convert(count, np.float64), fractions, method)
    picked = [_pick_along_last(ordered, np.clip(place, 0, None)) for place in (low, high)]
    if weight is None:
        result = picked[0]
    else:
        result = _interpolate(picked[0], picked[1], convert(weight, array.dtype) if is_weak(q) else weight)
    present = broadcast_to_shape(b.greater(count, 0), shape_of(result))
    return _restored(b.select(present, result, np.nan), array.shape, axes, keepdims, len(shape))


def _pick_along_last(rows: Tracer, places: Any) -> Any:
    """Return elements of the last axis at places of shape ``(quantiles..., lines...)``."""
    index = expand(convert(places, np.int64), len(shape_of(places)))
    lead = len(shape_of(index)) - rows.ndim
    wide = broadcast_to_shape(rows, (*shape_of(index)[:lead], *rows.shape))
    return as_traced(indexing.take_along_axis(wide, index, -1))[..., 0]  # type: ignore[index]


@implements(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Return the covariance matrix of variables, one a row unless ``rowvar`` is false.

    Parameters
    ----------
    m : array_like
        At most two dimensions; a vector is one variable.
    y : array_like, optional
        More variables.
    rowvar : bool, optional
    bias : bool, optional
        Divide by N, not N - 1.
    ddof : int, optional
        Divide by N - ddof.
    fweights, aweights : array_like, optional
        How often each observation counts, and how much.
    dtype : dtype, optional
        At least float64 by default.

    Returns
    -------
    Array
        A scalar for one variable.

    Raises
    ------
    ValueError
        If ``m`` has more than two dimensions.

    Examples
    --------
    >>> cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    Array([[ 1., -1.], [-1.,  1.]])
    """
    first = asarray(m)
    wanted = (
        result_dtype(first, *([] if y is None else [asarray(y)]), np.float64(0)) if dtype is None else np.dtype(dtype)
    )
    x = _rows(first, rowvar, wanted)
    if y is not None:
        x = concatenate([x, _rows(asarray(y), rowvar, wanted)], 0)
    weights = _weights(fweights, aweights, wanted)
    mean, total = average(x, 1, weights, returned=True)
    scale = _degrees(x.shape[1], total, bias, ddof, weights, aweights)
    centred = ufuncs.subtract(x, expand(mean, 1))
    weighted = centred if weights is None else ufuncs.multiply(centred, weights)
    product = matrix_products.matmul(centred, ufuncs.conjugate(axis_order.transpose(weighted)))
    result = ufuncs.divide(product, scale)
    return reshape_to(result, ()) if result.shape == (1, 1) else result


def _rows(x: Any, rowvar: bool, dtype: np.dtype) -> Tracer:
    shape = shape_of(x)
    if len(shape) > 2:
        raise ValueError("m has more than 2 dimensions")
    x = convert(x, dtype)
    if len(shape) < 2:
        return as_traced(reshape_to(x, (1, int(np.prod(shape, dtype=np.int64)))))
    return as_traced(x if rowvar or shape[0] == 1 else axis_order.transpose(x))


def _weights(fweights: Any, aweights: Any, dtype: np.dtype) -> Any:
    given = [convert(asarray(w), np.dtype(np.float64)) for w in (fweights, aweights) if w is not None]
    if not given:
        return None
    return given[0] if len(given) == 1 else ufuncs.multiply(*given)


def _degrees(count: int, total: Any, bias: bool, ddof: int | None, weights: Any, aweights: Any) -> Any:
    less = (0 if bias else 1) if ddof is None else ddof
    if weights is None:
        return max(count - less, 0) or 0.0
    total = as_traced(total)[0]  # type: ignore[index]
    if aweights is None or less == 0:
        return ufuncs.subtract(total, less)
    spread = reductions.sum(ufuncs.multiply(weights, asarray(aweights)))
    return ufuncs.subtract(total, ufuncs.divide(ufuncs.multiply(less, spread), total))


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """Return the matrix of correlation coefficients.

    Parameters
    ----------
    x, y, rowvar, dtype : optional
        As those of `cov`.

    Returns
    -------
    Array
        In [-1, 1]; NaN for variables that do not vary. A scalar for one variable.

    Examples
    --------
    >>> corrcoef([1.0, 2.0], [3.0, 1.0]).tolist()
    [[0.9999999999999999, -0.9999999999999999], [-0.9999999999999999, 0.9999999999999999]]
    """
    covariance = cov(x, y, rowvar, dtype=dtype)
    if shape_of(covariance) == ():
        return ufuncs.divide(covariance, covariance)
    spread = ufuncs.sqrt(b.real(manipulation.diagonal(covariance)))
    result = ufuncs.divide(ufuncs.divide(covariance, expand(spread, 1)), expand(spread, 0))
    if result.dtype.kind == "c":
        parts = [ufuncs.minimum(ufuncs.maximum(part, -1), 1) for part in (b.real(result), b.imag(result))]
        return b.as_complex(*parts)
    return ufuncs.minimum(ufuncs.maximum(result, -1), 1)
