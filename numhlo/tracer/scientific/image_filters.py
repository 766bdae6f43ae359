"""Filters of images of any rank, as `scipy.ndimage` has them: sums of products along axes and over windows.

Sums are made in float64 and then take the dtype of the input, cut towards zero for integers, as SciPy's. The weights
may be traced; how wide a window is can't be.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError
from numhlo.tracer.namespace import padding, signals
from numhlo.tracer.namespace.core import convert, normalize_axes, normalize_axis
from numhlo.tracer.namespace.eager import runs_anywhere
from numhlo.tracer.scientific.operands import choice, converted, traced

__all__ = [
    "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d",
    "gaussian_gradient_magnitude", "gaussian_laplace", "laplace", "prewitt", "sobel", "uniform_filter",
    "uniform_filter1d",
]  # fmt: skip

BEYOND = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap",
    "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip
"""What an image is taken to be beyond its edges, and the mode of `numpy.pad` for it."""


def extended(x: Any, axis: int, reach: tuple[int, int], mode: str, cval: Any) -> Any:
    """Return an array that goes on beyond its ends along an axis."""
    choice("scipy.ndimage", "mode", mode, tuple(BEYOND))
    widths = [reach if k == axis else (0, 0) for k in range(x.ndim)]
    if not any(reach):
        return x
    if x.shape[axis] == 0:
        raise ShapeError("a filter along an axis of no elements", where=capture_location(), fix="give at least one")
    options = {"constant_values": cval} if BEYOND[mode] == "constant" else {}
    return padding.pad(x, widths, BEYOND[mode], **options)


def reach_of(extent: int, origin: int) -> tuple[int, int]:
    """Return how far a window reaches before and behind an element.

    Raises
    ------
    ValueError
        If the origin is outside of the window.
    """
    before = extent // 2 + operator.index(origin)
    if not 0 <= before < extent:
        raise ValueError("invalid origin")
    return before, extent - 1 - before


def result_dtype(input: Any, output: Any) -> np.dtype:
    """Return the dtype of what a filter gives.

    Raises
    ------
    UnsupportedError
        If it is to be written into an array.
    """
    if output is not None and not isinstance(output, type | str | np.dtype):
        raise UnsupportedError(
            "scipy.ndimage with an output array", where=capture_location(), fix="take the result: out[...] = filter(x)"
        )
    dtype: np.dtype = np.dtype(input.dtype if output is None else output)
    return dtype


def summable(x: Any) -> Any:
    """Return an array in the dtype that sums are made in."""
    wanted = np.dtype(np.complex128 if x.dtype.kind == "c" else np.float64)
    return converted(x, wanted)


def finished(x: Any, dtype: np.dtype) -> Any:
    """Return sums in the dtype of the result; what narrow integers can't hold wraps around, as in C."""
    is_narrow = dtype.kind in "iu" and dtype.itemsize < 8 and x.dtype.kind == "f"
    return convert(convert(x, np.dtype(np.int64)) if is_narrow else x, dtype)


def _line(function: str, weights: Any) -> Any:
    line = weights if isinstance(weights, np.ndarray) else traced(weights)
    if line.ndim != 1 or not line.shape[0]:
        raise ShapeError(
            f"{function} with weights of shape {line.shape}", where=capture_location(), fix="give a line of weights"
        )
    return line


def _along(x: Any, weights: Any, axis: int, mode: str, cval: Any, origin: int) -> Any:
    """Return sums of products of weights with the windows along an axis, in float64."""
    extent = weights.shape[0]
    line = np.moveaxis(extended(x, axis, reach_of(extent, origin), mode, cval), axis, -1)
    count = line.shape[-1] - extent + 1
    known = weights if isinstance(weights, np.ndarray) else None
    if known is not None and extent <= MOST_TERMS:
        found = _terms(line, known, count)
    else:
        kernel = converted(traced(weights), line.dtype)
        rows = line.reshape((-1, line.shape[-1]))
        found = traced(signals.correlate(rows, kernel[None], "valid")).reshape((*line.shape[:-1], count))
    return np.moveaxis(found, -1, axis)


MOST_TERMS = 64
"""Lines of up to so many known weights are written out as products of shifted images: one kernel."""


def _terms(line: Any, weights: np.ndarray, count: int) -> Any:
    extent = weights.shape[0]
    is_even = extent % 2 == 1 and np.array_equal(weights, weights[::-1])
    total: Any = None
    for k in range((extent + 1) // 2 if is_even else extent):
        weight = weights[k]
        if weight == 0 and np.isfinite(weight):
            continue
        part = line[..., k : k + count]
        if is_even and k != extent // 2:
            part = part + line[..., extent - 1 - k : extent - 1 - k + count]
        total = part * weight if total is None else total + part * weight
    return np.zeros_like(line[..., :count]) if total is None else total


@runs_anywhere
def correlate1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: int = 0,
) -> Any:
    """Return sums of products of a line of weights with the windows along an axis.

    Parameters
    ----------
    input : array_like
    weights : (k,) array_like
    axis : int, optional
    output : dtype, optional
        That of the result; by default that of ``input``.
    mode : {"reflect", "constant", "nearest", "mirror", "wrap"}, optional
        What is beyond the edges: the mirror image with or without the last element, ``cval``, the last element, or the
        other end.
    cval : scalar, optional
    origin : int, optional
        By how much the window is shifted.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Raises
    ------
    ShapeError
        If the weights are no line.
    ArgumentError
        If ``mode`` is another.
    ValueError
        If ``origin`` is outside of the window.
    UnsupportedError
        If ``output`` is an array.

    Examples
    --------
    >>> correlate1d([2, 8, 0, 4, 1, 9, 9, 0], [1, 3])
    Array([ 8, 26,  8, 12,  7, 28, 36,  9])
    """
    array = traced(input)
    line, place = _line("correlate1d", weights), normalize_axis(axis, array.ndim)
    return finished(_along(summable(array), _doubles(line), place, mode, cval, origin), result_dtype(array, output))


def _doubles(weights: Any) -> Any:
    return weights.astype(np.complex128 if weights.dtype.kind == "c" else np.float64)


def _turned(extent: int, origin: int) -> int:
    """Return the origin of a window that is reversed."""
    return -operator.index(origin) - (1 - extent % 2)


@runs_anywhere
def convolve1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: int = 0,
) -> Any:
    """Return the convolution with a line of weights along an axis.

    Parameters
    ----------
    input, weights, axis, output, mode, cval, origin : optional
        As those of `correlate1d`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> convolve1d([2, 8, 0, 4, 1, 9, 9, 0], [1, 3])
    Array([14, 24,  4, 13, 12, 36, 27,  0])
    """
    line = _line("convolve1d", weights)
    return correlate1d(input, line[::-1], axis, output, mode, cval, _turned(line.shape[0], origin))


def _window(function: str, input: Any, weights: Any, axes: Any) -> tuple[Any, Any, tuple[int, ...]]:
    array, window = traced(input), traced(weights)
    places = tuple(normalize_axes(axes, array.ndim))
    if window.ndim != len(places):
        raise ShapeError(
            f"{function} of {array.ndim} dimensions with weights of {window.ndim}",
            where=capture_location(),
            why="there must be one extent of weights for each axis",
            fix="give weights of as many dimensions, weights[None], or axes=",
        )
    return array, window, places


def spread(value: Any, count: int) -> list[Any]:
    """Return one value for each axis."""
    given = [value] * count if np.ndim(value) == 0 else list(value)
    if len(given) != count:
        raise ValueError("sequence argument must have length equal to the number of axes")
    return given


@runs_anywhere
def correlate(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return sums of products of weights with the windows of an array.

    Parameters
    ----------
    input, weights : array_like
        Of the same rank; or ``weights`` has an extent for each of ``axes``.
    output, mode, cval, origin : optional
        As those of `correlate1d`; modes and origins one for all axes, or for each.
    axes : sequence of int, optional
        Along which the window extends; all by default.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Raises
    ------
    ShapeError
        If the ranks differ.

    Examples
    --------
    >>> correlate([[1, 2], [3, 4]], [[0, 1, 0], [1, 1, 0], [0, 0, 0]])
    Array([[3, 5],
           [7, 9]])
    """
    array, window, places = _window("correlate", input, weights, axes)
    modes, origins = spread(mode, len(places)), spread(origin, len(places))
    wide = summable(array)
    for axis, extent, one, shift in zip(places, window.shape, modes, origins, strict=True):
        wide = extended(wide, axis, reach_of(extent, shift), one, cval)
    extents = [1] * array.ndim
    for axis, extent in zip(places, window.shape, strict=True):
        extents[axis] = extent
    order = np.argsort(np.argsort(places)) if len(places) > 1 else [0]
    kernel = converted(np.transpose(window, np.argsort(order)).reshape(extents), wide.dtype)
    return finished(signals.correlate(wide, kernel.conj(), "valid"), result_dtype(array, output))


@runs_anywhere
def convolve(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the convolution of an array with weights.

    Parameters
    ----------
    input, weights, output, mode, cval, origin, axes : optional
        As those of `correlate`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> convolve([[1, 2], [3, 4]], [[0, 1, 0], [1, 1, 0], [0, 0, 0]], mode="constant")
    Array([[6, 6],
           [7, 4]])
    """
    _, window, places = _window("convolve", input, weights, axes)
    origins = [_turned(n, shift) for n, shift in zip(window.shape, spread(origin, len(places)), strict=True)]
    return correlate(input, np.flip(window), output, mode, cval, origins, axes=axes)


def _gaussian(sigma: float, order: int, radius: int) -> np.ndarray:
    """Return a sampled Gaussian function, or its derivative of an order, from one end to the other."""
    places = np.arange(-radius, radius + 1)
    bell = np.exp(-0.5 / sigma**2 * places**2)
    bell = bell / bell.sum()
    factor = np.polynomial.Polynomial([1.0])
    for _ in range(order):  # (p exp(-x**2 / 2 s**2))' = (p' - p x / s**2) exp(-x**2 / 2 s**2)
        factor = factor.deriv() - factor * np.polynomial.Polynomial([0, 1 / sigma**2])
    return np.asarray(factor(places) * bell)


def _known(function: str, option: str, value: Any) -> float:
    try:
        return float(value)
    except TypeError as error:
        raise ArgumentError(
            f"{function} with a traced {option}",
            where=capture_location(),
            why="the width of the window follows from it",
            fix="give a number, or make it static, or use weights of your own: correlate1d(x, weights)",
        ) from error


@runs_anywhere
def gaussian_filter1d(
    input: Any,
    sigma: float,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> Any:
    """Return an array smoothed along an axis by a Gaussian function, or by a derivative of it.

    Parameters
    ----------
    input : array_like
    sigma : float
        Its standard deviation; a known number.
    axis : int, optional
    order : int, optional
        The order of the derivative.
    output, mode, cval : optional
        As those of `correlate1d`.
    truncate : float, optional
        Where it is cut off, in standard deviations.
    radius : int, optional
        Where it is cut off, in elements.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Raises
    ------
    ArgumentError
        If ``sigma`` is traced.
    ValueError
        If ``order`` or ``radius`` is negative.

    Examples
    --------
    >>> gaussian_filter1d([0.0, 0.0, 1.0, 0.0, 0.0], 0.5).round(2)
    Array([0.  , 0.11, 0.79, 0.11, 0.  ])
    """
    width = _known("gaussian_filter1d", "sigma", sigma)
    reach = int(truncate * width + 0.5) if radius is None else operator.index(radius)
    if order < 0:
        raise ValueError("order must be non-negative")
    if reach < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    weights = _gaussian(width, order, reach)[::-1]
    return correlate1d(input, np.ascontiguousarray(weights), axis, output, mode, cval)


@runs_anywhere
def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> Any:
    """Return an array smoothed by a Gaussian function, or by a derivative of it, along one axis after the other.

    Parameters
    ----------
    input : array_like
    sigma, order, mode, radius : optional
        As those of `gaussian_filter1d`, one for all axes, or for each.
    output, cval, truncate : optional
        As those of `gaussian_filter1d`.
    axes : sequence of int, optional
        All by default.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Raises
    ------
    ArgumentError
        If ``sigma`` is traced.

    Examples
    --------
    >>> gaussian_filter(np.eye(3), 0.5).round(3)
    Array([[0.809, 0.179, 0.012],
           [0.179, 0.641, 0.179],
           [0.012, 0.179, 0.809]])
    """
    array = traced(input)
    places = tuple(normalize_axes(axes, array.ndim))
    each = [spread(option, len(places)) for option in (sigma, order, mode, radius)]
    dtype = result_dtype(array, output)
    for axis, width, derivative, one, reach in zip(places, *each, strict=True):
        if _known("gaussian_filter", "sigma", width) > 1e-15:
            array = traced(gaussian_filter1d(array, width, axis, derivative, dtype, one, cval, truncate, radius=reach))
    return finished(array, dtype)


@runs_anywhere
def uniform_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Any:
    """Return means of windows along an axis.

    Parameters
    ----------
    input : array_like
    size : int
    axis, output, mode, cval, origin : optional
        As those of `correlate1d`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Raises
    ------
    ValueError
        If the size is not positive.

    Examples
    --------
    >>> uniform_filter1d([2.0, 8.0, 0.0, 4.0], 2)
    Array([2., 5., 4., 2.])
    """
    extent = operator.index(size)
    if extent < 1:
        raise ValueError("incorrect filter size")
    array = traced(input)
    place = normalize_axis(axis, array.ndim)
    wide = extended(summable(array), place, reach_of(extent, origin), mode, cval)
    windows = np.lib.stride_tricks.sliding_window_view(wide, extent, place)
    return finished(windows.sum(-1) / extent, result_dtype(array, output))


@runs_anywhere
def uniform_filter(
    input: Any,
    size: Any = 3,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return means of windows of an array, along one axis after the other.

    Parameters
    ----------
    input : array_like
    size, mode, origin : optional
        As those of `uniform_filter1d`, one for all axes, or for each.
    output, cval, axes : optional
        As those of `gaussian_filter`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> uniform_filter(np.eye(3) * 9)
    Array([[5., 3., 1.],
           [3., 3., 3.],
           [1., 3., 5.]])
    """
    array = traced(input)
    places = tuple(normalize_axes(axes, array.ndim))
    each = [spread(option, len(places)) for option in (size, mode, origin)]
    dtype = result_dtype(array, output)
    for axis, extent, one, shift in zip(places, *each, strict=True):
        if extent > 1:
            array = traced(uniform_filter1d(array, extent, axis, dtype, one, cval, shift))
    return finished(array, dtype)


def _edges(input: Any, axis: int, smooth: Sequence[int], output: Any, mode: Any, cval: float) -> Any:
    array = traced(input)
    place, modes = normalize_axis(axis, array.ndim), spread(mode, array.ndim)
    dtype = result_dtype(array, output)
    found = correlate1d(array, np.array([-1.0, 0.0, 1.0]), place, dtype, modes[place], cval)
    for other in range(array.ndim):
        if other != place:
            found = correlate1d(found, np.array(smooth, np.float64), other, dtype, modes[other], cval)
    return found


@runs_anywhere
def sobel(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: float = 0.0) -> Any:
    """Return differences along an axis, smoothed along the others, by Sobel's weights.

    Parameters
    ----------
    input, axis, output, mode, cval : optional
        As those of `correlate1d`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> sobel([[0, 0, 1], [0, 0, 1], [0, 0, 1]])
    Array([[0, 4, 4],
           [0, 4, 4],
           [0, 4, 4]])
    """
    return _edges(input, axis, (1, 2, 1), output, mode, cval)


@runs_anywhere
def prewitt(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: float = 0.0) -> Any:
    """Return differences along an axis, smoothed along the others, by Prewitt's weights.

    Parameters
    ----------
    input, axis, output, mode, cval : optional
        As those of `correlate1d`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> prewitt([[0, 0, 1], [0, 0, 1], [0, 0, 1]])
    Array([[0, 3, 3],
           [0, 3, 3],
           [0, 3, 3]])
    """
    return _edges(input, axis, (1, 1, 1), output, mode, cval)


@runs_anywhere
def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: float = 0.0, *, axes: Any = None) -> Any:
    """Return the sum of second differences along axes.

    Parameters
    ----------
    input, output, mode, cval, axes : optional
        As those of `gaussian_filter`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> laplace([0, 0, 1, 0, 0])
    Array([ 0,  1, -2,  1,  0])
    """
    array = traced(input)
    places = tuple(normalize_axes(axes, array.ndim))
    dtype = result_dtype(array, output)
    weights = np.array([1.0, -2.0, 1.0])
    parts = [
        traced(correlate1d(array, weights, axis, dtype, one, cval))
        for axis, one in zip(places, spread(mode, len(places)), strict=True)
    ]
    return sum(parts[1:], start=parts[0])


@runs_anywhere
def gaussian_laplace(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> Any:
    """Return the sum of second derivatives of an array that is smoothed by a Gaussian function.

    Parameters
    ----------
    input, sigma, output, mode, cval, axes : optional
        As those of `gaussian_filter`.
    **kwargs
        What else `gaussian_filter` takes.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> gaussian_laplace([0.0, 0.0, 1.0, 0.0, 0.0], 1.0).round(4)
    Array([ 0.1974,  0.002 , -0.3989,  0.002 ,  0.1974])
    """
    parts = _derivatives(input, sigma, 2, output, mode, cval, axes, kwargs)
    return sum(parts[1:], start=parts[0])


@runs_anywhere
def gaussian_gradient_magnitude(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> Any:
    """Return the length of the gradient of an array that is smoothed by a Gaussian function.

    Parameters
    ----------
    input, sigma, output, mode, cval, axes : optional
        As those of `gaussian_filter`.
    **kwargs
        What else `gaussian_filter` takes.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> gaussian_gradient_magnitude([0.0, 0.0, 1.0, 0.0, 0.0], 1.0).round(4)
    Array([0.0947, 0.2414, 0.    , 0.2414, 0.0947])
    """
    parts = _derivatives(input, sigma, 1, output, mode, cval, axes, kwargs)
    squares = [part * part for part in parts]
    return finished(np.sqrt(sum(squares[1:], start=squares[0])), parts[0].dtype)


def _derivatives(
    input: Any, sigma: Any, order: int, output: Any, mode: Any, cval: float, axes: Any, rest: Any
) -> list[Any]:
    array = traced(input)
    places = tuple(normalize_axes(axes, array.ndim))
    orders = order * np.eye(len(places), dtype=int)
    return [
        traced(gaussian_filter(array, sigma, each.tolist(), output, mode, cval, axes=places, **rest)) for each in orders
    ]
