"""Sums of products of weights with the windows of images of any rank, as `scipy.ndimage` has them.

Sums are made in float64 and then take the dtype of the input, cut towards zero for integers, as SciPy's. The weights
may be traced; how wide a window is can't be.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from numhlo.library.numpy import padding
from numhlo.library.scipy.operands import choice, converted, traced
from numhlo.library.scipy.signal import convolution as signals
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError, UnsupportedError
from numhlo.tracer.building import convert, normalize_axes, normalize_axis, runs_anywhere

__all__ = ["convolve", "convolve1d", "correlate", "correlate1d"]

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
    wide = extended(x, axis, reach_of(extent, origin), mode, cval)
    count = wide.shape[axis] - extent + 1
    if isinstance(weights, np.ndarray) and extent <= MOST_TERMS:
        return _terms(wide, weights, axis, count)
    line = np.moveaxis(wide, axis, -1)
    kernel = converted(traced(weights), line.dtype)
    rows = line.reshape((-1, line.shape[-1]))
    found = traced(signals.correlate(rows, kernel[None], "valid")).reshape((*line.shape[:-1], count))
    return np.moveaxis(found, -1, axis)


MOST_TERMS = 64
"""Lines of up to so many known weights are written out as products of shifted images: one kernel."""


def _terms(wide: Any, weights: np.ndarray, axis: int, count: int) -> Any:
    """Return the sum of shifted images, each times its weight; those of equal weights on both sides are added first."""
    extent = weights.shape[0]
    is_even = extent % 2 == 1 and np.array_equal(weights, weights[::-1])

    def shifted(k: int) -> Any:
        return wide[(*[slice(None)] * axis, slice(k, k + count))]

    total: Any = None
    for k in range((extent + 1) // 2 if is_even else extent):
        part = shifted(k)
        if is_even and k != extent // 2:
            part = part + shifted(extent - 1 - k)
        total = part * weights[k] if total is None else total + part * weights[k]
    return total


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


def _window(function: str, input: Any, weights: Any, axes: Any) -> tuple[Any, Any, tuple[int, ...], dict[int, int]]:
    """Return array and weights, the axes as they were given, and how many weights there are along each.

    The weights' dimensions are those of the array in its order, as in SciPy.
    """
    array, window = traced(input), traced(weights)
    places = tuple(normalize_axes(axes, array.ndim))
    if window.ndim != len(places):
        raise ShapeError(
            f"{function} of {array.ndim} dimensions with weights of {window.ndim}",
            where=capture_location(),
            why="there must be one extent of weights for each axis",
            fix="give weights of as many dimensions, weights[None], or axes=",
        )
    return array, window, places, dict(zip(sorted(places), window.shape, strict=True))


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
        Of the same rank; or ``weights`` has an extent for each of ``axes``, in the array's order of them.
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
    array, window, places, extents = _window("correlate", input, weights, axes)
    modes, origins = spread(mode, len(places)), spread(origin, len(places))
    wide = summable(array)
    for axis, one, shift in zip(places, modes, origins, strict=True):
        wide = extended(wide, axis, reach_of(extents[axis], shift), one, cval)
    kernel = converted(window.reshape([extents.get(axis, 1) for axis in range(array.ndim)]), wide.dtype)
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
    _, window, places, extents = _window("convolve", input, weights, axes)
    origins = [_turned(extents[axis], shift) for axis, shift in zip(places, spread(origin, len(places)), strict=True)]
    return correlate(input, np.flip(window), output, mode, cval, origins, axes=axes)
