"""Interpolation between the points of a grid: at coordinates of an image's elements."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.scipy.ndimage.correlation import finished, result_dtype
from numhlo.library.scipy.operands import choice, floating, traced
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError, UnsupportedError
from numhlo.tracer.building import convert, runs_anywhere

__all__ = ["map_coordinates"]


def _mirrored(place: Any, extent: int) -> Any:
    period = max(2 * (extent - 1), 1)
    return extent - 1 - np.abs(place % period - (extent - 1))


def _reflected(place: Any, extent: int) -> Any:
    return _mirrored(2 * place + 1, 2 * extent + 1) // 2


PLACES: dict[str, Callable[[Any, int], Any]] = {
    "constant": lambda place, extent: np.clip(place, 0, extent - 1),
    "grid-constant": lambda place, extent: np.clip(place, 0, extent - 1),
    "nearest": lambda place, extent: np.clip(place, 0, extent - 1),
    "grid-wrap": lambda place, extent: place % extent,
    "mirror": _mirrored,
    "reflect": _reflected,
    "grid-mirror": _reflected,
}
"""Which element stands for one beyond the edges."""

REFLECTING = ("mirror", "reflect", "grid-mirror")


def _folded(place: Any, extent: int, mode: str) -> Any:
    """Return where SciPy reflects a coordinate to: halves are rounded there, up."""
    if mode == "mirror":
        period = max(2 * extent - 2, 1)
        within = np.abs(place) % period
        return np.where(within >= np.where(place < 0, extent - 1, extent), period - within, within)
    within = place % (2 * extent)
    return np.where(within >= extent, 2 * extent - 1 - within, within)


def _neighbours(place: Any, order: int, mode: str, extent: int) -> list[tuple[Any, Any]]:
    """Return which elements a coordinate is between, and their weights."""
    if order == 0:
        return [(np.floor((_folded(place, extent, mode) if mode in REFLECTING else place) + 0.5), 1.0)]
    below = np.floor(place)
    above = place - below
    return [(below, 1.0 - above), (below + 1.0, above)]


def interpolated(array: Any, coordinates: list[Any], order: int, mode: str, cval: Any) -> Any:
    """Return elements of an array between its own, as floats.

    Parameters
    ----------
    array : (n, ...) traced array
        Of float64 or complex128.
    coordinates : list of traced arrays
        One for each dimension; they broadcast.
    order : {0, 1}
    mode : str
        A key of `PLACES`. With "constant" all is ``cval`` beyond the outermost elements; with "grid-constant" it is
        interpolated towards ``cval``.
    cval : scalar
    """
    inside: Any = True
    each = []
    for place, extent in zip(coordinates, array.shape, strict=True):
        if mode == "constant":
            inside = inside & (place >= 0) & (place <= extent - 1)
        found = []
        for index, weight in _neighbours(place, order, mode, extent):
            is_there = (index >= 0) & (index <= extent - 1) if mode == "grid-constant" else True
            found.append((PLACES[mode](index.astype(np.int64), extent), is_there, weight))
        each.append(found)
    total: Any = 0.0
    for corner in itertools.product(*each):
        element = array[tuple(index for index, _, _ in corner)]
        if mode == "grid-constant":
            there: Any = True
            for _, is_there, _ in corner:
                there = there & is_there
            element = np.where(there, element, cval)
        for _, _, weight in corner:
            element = element * weight
        total = total + element
    return np.where(inside, total, cval) if mode == "constant" else total


def _rounded(x: Any, dtype: np.dtype) -> Any:
    """Return floats as integers, halves away from zero, within the dtype's bounds."""
    bounds = np.iinfo(dtype)
    whole = np.trunc(x + np.where(x > 0, 0.5, -0.5))
    return convert(np.clip(whole, float(bounds.min), float(bounds.max)), dtype)


@runs_anywhere
def map_coordinates(
    input: Any,
    coordinates: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
) -> Any:
    """Return an array's values at coordinates between its elements.

    Parameters
    ----------
    input : array_like
    coordinates : sequence of array_like
        One array for each dimension of ``input``; or stacked along the first axis.
    output : dtype, optional
        That of the result; by default that of ``input``.
    order : int, optional
        0 for the nearest element, 1 for linear interpolation; higher ones, the default among them, are refused.
    mode : str, optional
        What is beyond the edges: "constant" (``cval``, at once), "grid-constant" (``cval``, gradually), "nearest",
        "mirror", "reflect", "grid-mirror" or "grid-wrap".
    cval : scalar, optional
    prefilter : bool, optional
        Of splines; means nothing here.

    Returns
    -------
    Array
        Of the shape of the coordinates.

    Raises
    ------
    UnsupportedError
        For another order.
    ArgumentError
        If ``mode`` is another.
    ShapeError
        If there are fewer coordinates than dimensions, or more.

    Examples
    --------
    >>> map_coordinates([[0.0, 1.0], [2.0, 3.0]], [[0.5], [0.5]], order=1)
    Array([1.5])
    """
    del prefilter
    if order not in (0, 1):
        raise UnsupportedError(
            f"map_coordinates(order={order})",
            where=capture_location(),
            why="splines of higher orders are not there",
            fix="use order=1 or order=0",
        )
    choice("map_coordinates", "mode", mode, tuple(PLACES))
    array = traced(input)
    places = [
        floating(x) for x in (list(coordinates) if isinstance(coordinates, list | tuple) else traced(coordinates))
    ]
    if len(places) != array.ndim:
        raise ShapeError(
            f"map_coordinates of {array.ndim} dimensions at {len(places)} coordinates",
            where=capture_location(),
            fix="give one array of coordinates for each dimension",
        )
    wide = traced(convert(array, np.dtype(np.complex128 if array.dtype.kind == "c" else np.float64)))
    found = interpolated(wide, places, order, mode, cval)
    dtype = result_dtype(array, output)
    return _rounded(found, dtype) if dtype.kind in "iu" and found.dtype.kind == "f" else finished(found, dtype)
