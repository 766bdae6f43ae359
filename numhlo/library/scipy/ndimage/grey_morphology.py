"""Erosion and dilation of grey images, and what is made of them, as `scipy.ndimage` has them.

Where the structure is flat, they are the least and the greatest element of a window; one that is not is subtracted
before, or added, in float64.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from numhlo.library.scipy.ndimage.binary_morphology import turned
from numhlo.library.scipy.ndimage.correlation import result_dtype
from numhlo.library.scipy.ndimage.rank_filters import Places, places_of
from numhlo.library.scipy.operands import traced
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.building import convert, runs_anywhere

__all__ = [
    "black_tophat", "grey_closing", "grey_dilation", "grey_erosion", "grey_opening", "morphological_gradient",
    "morphological_laplace", "white_tophat",
]  # fmt: skip


def _found(function: str, options: tuple[Any, ...], *, dilates: bool) -> Any:
    """Return the least or greatest element of each window, turned for a dilation."""
    input, size, footprint, structure, output, mode, cval, origin, axes = options
    x = traced(input)
    if size is None and footprint is None and structure is None:
        raise ArgumentError(
            f"{function} without a window", where=capture_location(), fix="give size=, footprint= or structure="
        )
    heights = None if structure is None else np.asarray(structure, float)
    window = footprint
    if heights is not None and footprint is None:
        window = np.ones(heights.shape, bool)
    places = places_of(function, x, size, window, mode, cval, origin, axes)
    if heights is not None and heights.shape != places.footprint.shape:
        raise ShapeError(
            f"{function}: a structure {heights.shape} and a footprint {places.footprint.shape}",
            where=capture_location(),
            fix="give both the same shape",
        )
    if dilates:
        footprint, origins = turned(places.footprint, [*map(operator.index, places.origins)])
        places = places._replace(footprint=footprint, origins=origins)
        heights = None if heights is None else heights[(slice(None, None, -1),) * heights.ndim]
    fold = np.maximum if dilates else np.minimum
    return convert(_folded(x, places, heights, fold, dilates), result_dtype(x, output))


def _folded(x: Any, places: Places, heights: Any, fold: Any, dilates: bool) -> Any:
    if heights is None:
        return places.folded(x, fold)
    shifts = heights[places.footprint].tolist()
    parts = zip(places.shifted(convert(x, np.dtype(np.float64))), shifts, strict=True)
    return functools.reduce(fold, [part + height if dilates else part - height for part, height in parts])


@runs_anywhere
def grey_erosion(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the least element around each one, less what a structure says.

    Parameters
    ----------
    input : array_like
        Real numbers.
    size : int or sequence of int, optional
        The window's extents.
    footprint : array_like of bool, optional
        The window itself, in place of its extents.
    structure : array_like, optional
        What is subtracted at each place of the window; without a footprint, the window has its shape.
    output : dtype_like, optional
        By default that of ``input``.
    mode, cval : optional
        As those of `correlate1d`; the mode may be one for each axis.
    origin : int or sequence of int, optional
        Where the window's middle is.
    axes : sequence of int, optional
        All by default.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Raises
    ------
    ArgumentError
        If there is no window.
    DTypeError
        For complex numbers.
    ShapeError
        If the window has other dimensions than there are axes, or the structure another shape.

    Examples
    --------
    >>> grey_erosion([3, 1, 4, 1, 5, 9], 3)
    Array([1, 1, 1, 1, 1, 5])
    """
    options = (input, size, footprint, structure, output, mode, cval, origin, axes)
    return _found("grey_erosion", options, dilates=False)


@runs_anywhere
def grey_dilation(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the greatest element around each one, and what a structure adds.

    Parameters
    ----------
    input, size, footprint, structure, output, mode, cval, origin, axes : optional
        As those of `grey_erosion`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> grey_dilation([3, 1, 4, 1, 5, 9], 3)
    Array([3, 4, 4, 5, 9, 9])
    """
    options = (input, size, footprint, structure, output, mode, cval, origin, axes)
    return _found("grey_dilation", options, dilates=True)


@runs_anywhere
def grey_opening(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the dilation of the erosion: peaks that are narrower than the window are gone.

    Parameters
    ----------
    input, size, footprint, structure, output, mode, cval, origin, axes : optional
        As those of `grey_erosion`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> grey_opening([1, 1, 7, 1, 5, 5, 5], 3)
    Array([1, 1, 1, 1, 5, 5, 5])
    """
    eroded = grey_erosion(input, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return grey_dilation(eroded, size, footprint, structure, output, mode, cval, origin, axes=axes)


@runs_anywhere
def grey_closing(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the erosion of the dilation: valleys that are narrower than the window are filled.

    Parameters
    ----------
    input, size, footprint, structure, output, mode, cval, origin, axes : optional
        As those of `grey_erosion`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> grey_closing([5, 5, 1, 5, 2, 2, 2], 3)
    Array([5, 5, 5, 5, 2, 2, 2])
    """
    dilated = grey_dilation(input, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return grey_erosion(dilated, size, footprint, structure, output, mode, cval, origin, axes=axes)


@runs_anywhere
def morphological_gradient(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the dilation minus the erosion, which is large at edges.

    Parameters
    ----------
    input, size, footprint, structure, output, mode, cval, origin, axes : optional
        As those of `grey_erosion`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> morphological_gradient([1, 1, 1, 5, 5, 5], 3)
    Array([0, 0, 4, 4, 0, 0])
    """
    dilated = grey_dilation(input, size, footprint, structure, output, mode, cval, origin, axes=axes)
    return dilated - grey_erosion(input, size, footprint, structure, output, mode, cval, origin, axes=axes)


@runs_anywhere
def morphological_laplace(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the dilation plus the erosion, minus twice the image.

    Parameters
    ----------
    input, size, footprint, structure, output, mode, cval, origin, axes : optional
        As those of `grey_erosion`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> morphological_laplace([1, 1, 1, 5, 5, 5], 3)
    Array([ 0,  0,  4, -4,  0,  0])
    """
    dilated = grey_dilation(input, size, footprint, structure, output, mode, cval, origin, axes=axes)
    eroded = grey_erosion(input, size, footprint, structure, output, mode, cval, origin, axes=axes)
    return dilated + eroded - 2 * convert(traced(input), dilated.dtype)


@runs_anywhere
def white_tophat(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the image minus its opening: peaks that are narrower than the window.

    Parameters
    ----------
    input, size, footprint, structure, output, mode, cval, origin, axes : optional
        As those of `grey_erosion`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> white_tophat([1, 1, 7, 1, 5, 5, 5], 3)
    Array([0, 0, 6, 0, 0, 0, 0])
    """
    opened = grey_opening(input, size, footprint, structure, output, mode, cval, origin, axes=axes)
    return _difference(traced(input), opened)


@runs_anywhere
def black_tophat(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the closing minus the image: valleys that are narrower than the window.

    Parameters
    ----------
    input, size, footprint, structure, output, mode, cval, origin, axes : optional
        As those of `grey_erosion`.

    Returns
    -------
    Array
        Of the shape of ``input``.

    Examples
    --------
    >>> black_tophat([5, 5, 1, 5, 2, 2, 2], 3)
    Array([0, 0, 4, 0, 0, 0, 0])
    """
    closed = grey_closing(input, size, footprint, structure, output, mode, cval, origin, axes=axes)
    return _difference(closed, traced(input))


def _difference(left: Any, right: Any) -> Any:
    """Return a difference; of truth values, where they differ."""
    return np.logical_xor(left, right) if left.dtype == right.dtype == bool else left - right
