"""Erosion and dilation of grey images, and what is made of them, as `scipy.ndimage` has them.

Where the structure is flat, they are the least and the greatest element of a window; one that is not is subtracted
before, or added, in float64.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numhlo.library.documentation import named
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

_WINDOWED = """
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

Raises
------
ArgumentError
    If there is no window.
DTypeError
    For complex numbers.
ShapeError
    If the window has other dimensions than there are axes, or the structure another shape.
"""

_AS_EROSION = """
Parameters
----------
input, size, footprint, structure, output, mode, cval, origin, axes : optional
    As those of `grey_erosion`.
"""

_SAME_SHAPE = """
Returns
-------
Array
    Of the shape of ``input``.
"""


class Window(NamedTuple):
    """What an image's elements are compared within, as users give it."""

    size: Any
    footprint: Any
    structure: Any
    mode: Any
    cval: float
    origin: Any
    axes: Any


def _found(function: str, x: Any, window: Window, output: Any, *, dilates: bool) -> Any:
    """Return the least or greatest element of each window, turned for a dilation."""
    size, footprint, structure, mode, cval, origin, axes = window
    if size is None and footprint is None and structure is None:
        raise ArgumentError(
            f"{function} without a window", where=capture_location(), fix="give size=, footprint= or structure="
        )
    heights = None if structure is None else np.asarray(structure, float)
    if heights is not None and footprint is None:
        footprint = np.ones(heights.shape, bool)
    places = places_of(function, x, size, footprint, mode, cval, origin, axes)
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


def _eroded(x: Any, window: Window, output: Any = None) -> Any:
    return _found("grey_erosion", x, window, output, dilates=False)


def _dilated(x: Any, window: Window, output: Any = None) -> Any:
    return _found("grey_dilation", x, window, output, dilates=True)


def _opened(x: Any, window: Window, output: Any = None) -> Any:
    return _dilated(_eroded(x, window), window, output)


def _closed(x: Any, window: Window, output: Any = None) -> Any:
    return _eroded(_dilated(x, window), window, output)


def _gradient(x: Any, window: Window, output: Any = None) -> Any:
    return _dilated(x, window, output) - _eroded(x, window, output)


def _laplace(x: Any, window: Window, output: Any = None) -> Any:
    dilated = _dilated(x, window, output)
    return dilated + _eroded(x, window, output) - 2 * convert(x, dilated.dtype)


def _difference(left: Any, right: Any) -> Any:
    """Return a difference; of truth values, where they differ."""
    return np.logical_xor(left, right) if left.dtype == right.dtype == bool else left - right


def _operation(
    name: str, compute: Callable[[Any, Window, Any], Any], summary: str, example: str, *families: str
) -> Callable[..., Any]:
    def operation(
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
        window = Window(size, footprint, structure, mode, cval, origin, axes)
        return compute(traced(input), window, output)

    return runs_anywhere(named(operation, name, summary, example, *families, _AS_EROSION, _SAME_SHAPE))


grey_erosion = _operation(
    "grey_erosion",
    _eroded,
    "Return the least element around each one, less what a structure says.",
    ">>> grey_erosion([3, 1, 4, 1, 5, 9], 3)\nArray([1, 1, 1, 1, 1, 5])",
    _WINDOWED,
)
grey_dilation = _operation(
    "grey_dilation",
    _dilated,
    "Return the greatest element around each one, and what a structure adds.",
    ">>> grey_dilation([3, 1, 4, 1, 5, 9], 3)\nArray([3, 4, 4, 5, 9, 9])",
)
grey_opening = _operation(
    "grey_opening",
    _opened,
    "Return the dilation of the erosion: peaks that are narrower than the window are gone.",
    ">>> grey_opening([1, 1, 7, 1, 5, 5, 5], 3)\nArray([1, 1, 1, 1, 5, 5, 5])",
)
grey_closing = _operation(
    "grey_closing",
    _closed,
    "Return the erosion of the dilation: valleys that are narrower than the window are filled.",
    ">>> grey_closing([5, 5, 1, 5, 2, 2, 2], 3)\nArray([5, 5, 5, 5, 2, 2, 2])",
)
morphological_gradient = _operation(
    "morphological_gradient",
    _gradient,
    "Return the dilation minus the erosion, which is large at edges.",
    ">>> morphological_gradient([1, 1, 1, 5, 5, 5], 3)\nArray([0, 0, 4, 4, 0, 0])",
)
morphological_laplace = _operation(
    "morphological_laplace",
    _laplace,
    "Return the dilation plus the erosion, minus twice the image.",
    ">>> morphological_laplace([1, 1, 1, 5, 5, 5], 3)\nArray([ 0,  0,  4, -4,  0,  0])",
)
white_tophat = _operation(
    "white_tophat",
    lambda x, window, output: _difference(x, _opened(x, window, output)),
    "Return the image minus its opening: peaks that are narrower than the window.",
    ">>> white_tophat([1, 1, 7, 1, 5, 5, 5], 3)\nArray([0, 0, 6, 0, 0, 0, 0])",
)
black_tophat = _operation(
    "black_tophat",
    lambda x, window, output: _difference(_closed(x, window, output), x),
    "Return the closing minus the image: valleys that are narrower than the window.",
    ">>> black_tophat([5, 5, 1, 5, 2, 2, 2], 3)\nArray([0, 0, 4, 0, 0, 0, 0])",
)
