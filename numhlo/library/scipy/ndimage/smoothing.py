"""Filters of images of any rank, as `scipy.ndimage` has them: smoothing, edges and second differences.

They are sums of products of known weights (`image_windows`), along one axis after the other.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.scipy.ndimage.correlation import (
    correlate1d,
    extended,
    finished,
    reach_of,
    result_dtype,
    spread,
    summable,
)
from numhlo.library.scipy.operands import converted, traced
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.building import normalize_axes, normalize_axis, runs_anywhere, unshared

__all__ = [
    "gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude", "gaussian_laplace", "laplace", "prewitt",
    "sobel", "uniform_filter", "uniform_filter1d",
]  # fmt: skip

_SMOOTHED = """
Parameters
----------
input : array_like
axis : int, optional
axes : sequence of int, optional
    All by default.

Returns
-------
Array
    Of the shape of ``input``.
"""

_DERIVATIVE = """
Parameters
----------
input, axis, output, mode, cval : optional
    As those of `correlate1d`.

Returns
-------
Array
    Of the shape of ``input``.
"""

_GAUSSIAN = """
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
"""


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
@described(_SMOOTHED, _DERIVATIVE)
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
    sigma : float
        Its standard deviation; a known number.
    order : int, optional
        The order of the derivative.
    truncate : float, optional
        Where it is cut off, in standard deviations.
    radius : int, optional
        Where it is cut off, in elements.

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
@described(_SMOOTHED)
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
    sigma, order, mode, radius : optional
        As those of `gaussian_filter1d`, one for all axes, or for each.
    output, cval, truncate : optional
        As those of `gaussian_filter1d`.

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
@described(_SMOOTHED)
def uniform_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Any:
    """Return means of windows along an axis.

    Parameters
    ----------
    size : int
    axis, output, mode, cval, origin : optional
        As those of `correlate1d`.

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
@described(_GAUSSIAN)
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
@described(_DERIVATIVE)
def sobel(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: float = 0.0) -> Any:
    """Return differences along an axis, smoothed along the others, by Sobel's weights.

    Examples
    --------
    >>> sobel([[0, 0, 1], [0, 0, 1], [0, 0, 1]])
    Array([[0, 4, 4],
           [0, 4, 4],
           [0, 4, 4]])
    """
    return _edges(input, axis, (1, 2, 1), output, mode, cval)


@runs_anywhere
@described(_DERIVATIVE)
def prewitt(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: float = 0.0) -> Any:
    """Return differences along an axis, smoothed along the others, by Prewitt's weights.

    Examples
    --------
    >>> prewitt([[0, 0, 1], [0, 0, 1], [0, 0, 1]])
    Array([[0, 3, 3],
           [0, 3, 3],
           [0, 3, 3]])
    """
    return _edges(input, axis, (1, 1, 1), output, mode, cval)


@runs_anywhere
@described(_GAUSSIAN)
def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: float = 0.0, *, axes: Any = None) -> Any:
    """Return the sum of second differences along axes.

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
    return sum(parts[1:], start=parts[0]) if parts else _unfiltered(array, output)


@runs_anywhere
@described(_GAUSSIAN)
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

    Examples
    --------
    >>> gaussian_laplace([0.0, 0.0, 1.0, 0.0, 0.0], 1.0).round(4)
    Array([ 0.1974,  0.002 , -0.3989,  0.002 ,  0.1974])
    """
    parts = _derivatives(input, sigma, 2, output, mode, cval, axes, kwargs)
    return sum(parts[1:], start=parts[0]) if parts else _unfiltered(input, output)


@runs_anywhere
@described(_GAUSSIAN)
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

    Examples
    --------
    >>> gaussian_gradient_magnitude([0.0, 0.0, 1.0, 0.0, 0.0], 1.0).round(4)
    Array([0.0947, 0.2414, 0.    , 0.2414, 0.0947])
    """
    parts = _derivatives(input, sigma, 1, output, mode, cval, axes, kwargs)
    if not parts:
        return _unfiltered(input, output)
    squares = [part * part for part in parts]
    return finished(np.sqrt(sum(squares[1:], start=squares[0])), parts[0].dtype)


def _unfiltered(input: Any, output: Any) -> Any:
    """Return an array without axes to filter, in the dtype of the result."""
    array = traced(input)
    return unshared(converted(array, result_dtype(array, output)))


def _derivatives(
    input: Any, sigma: Any, order: int, output: Any, mode: Any, cval: float, axes: Any, rest: Any
) -> list[Any]:
    array = traced(input)
    places = tuple(normalize_axes(axes, array.ndim))
    orders = order * np.eye(len(places), dtype=int)
    return [
        traced(gaussian_filter(array, sigma, each.tolist(), output, mode, cval, axes=places, **rest)) for each in orders
    ]
