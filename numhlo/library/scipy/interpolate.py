"""Functions known at the points of a grid whose lines need not be equally far apart, between these points.

Source: SciPy's documentation of `RegularGridInterpolator`, whose values these are.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from numhlo.library.scipy.operands import choice, floating
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError, UnsupportedError
from numhlo.tracer.building import runs_anywhere

__all__ = ["RegularGridInterpolator"]

METHODS = ("linear", "nearest")


class RegularGridInterpolator:
    """A function that is known at the points of a grid, interpolated between them.

    Parameters
    ----------
    points : sequence of (m,), (n,), ... array_like
        The grid's lines along each dimension, in ascending order.
    values : (m, n, ..., ...) array_like
        The function at its points; further axes are those of its results.
    method : {"linear", "nearest"}, optional
    bounds_error : {False}, optional
        Values out of bounds can't raise.
    fill_value : scalar or None, optional
        The result out of bounds, NaN by default; with None the function goes on beyond the grid.

    Raises
    ------
    ShapeError
        If points and values don't fit, or a line has a single point.
    ArgumentError
        If ``method`` is another.
    UnsupportedError
        If ``bounds_error`` is true.

    Examples
    --------
    >>> table = RegularGridInterpolator((np.array([0.0, 1.0, 3.0]),), np.array([0.0, 10.0, 20.0]))
    >>> table(np.array([[0.5], [2.0], [4.0]]))
    Array([ 5., 15., nan])
    """

    def __init__(
        self,
        points: Any,
        values: Any,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: Any = np.nan,
    ) -> None:
        if bounds_error:
            raise UnsupportedError(
                "RegularGridInterpolator(bounds_error=True)",
                where=capture_location(),
                why="out-of-bounds can't raise from compiled code",
                fix="leave it out; out of bounds is fill_value",
            )
        self.method = choice("RegularGridInterpolator", "method", method, METHODS)
        self.grid, self.values, self.fill_value = tuple(points), values, fill_value
        extents = [np.shape(line) for line in self.grid]
        shape = np.shape(values)
        if [(n,) for n in shape[: len(extents)]] != extents or any(n < 2 for (n,) in extents):
            raise ShapeError(
                f"RegularGridInterpolator of values of shape {shape} at lines of shapes {extents}",
                where=capture_location(),
                why="there must be a line of two or more points for each of the first dimensions of the values",
                fix="give values[i, j, ...] at points[0][i], points[1][j], ...",
            )

    def __call__(self, xi: Any, method: str | None = None) -> Any:
        """Return the function's values at points.

        Parameters
        ----------
        xi : (..., d) array_like, or tuple of d array_like
            A line of numbers has the points one after the other; arrays of coordinates in a tuple broadcast.
        method : {"linear", "nearest"}, optional
            Another than the one given before.

        Returns
        -------
        Array
            Of the shape of ``xi`` without its last axis, and then that of a value.

        Raises
        ------
        ShapeError
            If points have another number of coordinates.
        """
        chosen = choice("RegularGridInterpolator", "method", self.method if method is None else method, METHODS)
        return _at_points(self.grid, self.values, xi, chosen, self.fill_value)


@runs_anywhere
def _at_points(grid: Any, values: Any, xi: Any, method: str, fill_value: Any) -> Any:
    table, count = floating(values), len(grid)
    places = _points(xi, count)
    if places.ndim == 0 or places.shape[-1] != count:
        raise ShapeError(
            f"a RegularGridInterpolator of {count} dimensions at points of shape {places.shape}",
            where=capture_location(),
            fix="give as many coordinates along the last axis",
        )
    below, shares = [], []
    outside: Any = False
    for k, line in enumerate(map(floating, grid)):
        place = places[..., k]
        index = np.clip(np.searchsorted(line, place, "right") - 1, 0, line.shape[0] - 2)
        below.append(index)
        shares.append((place - line[index]) / (line[index + 1] - line[index]))
        outside = outside | (place < line[0]) | (place > line[-1])
    rest = (1,) * (table.ndim - count)
    if method == "nearest":
        found = table[tuple(i + (share > 0.5) for i, share in zip(below, shares, strict=True))]
    else:
        found = _between(table, below, [share.reshape((*share.shape, *rest)) for share in shares])
    if fill_value is None:
        return found
    return np.where(outside.reshape((*outside.shape, *rest)), fill_value, found)


def _points(xi: Any, count: int) -> Any:
    """Return points with their coordinates along the last axis; a tuple has arrays of each, which broadcast."""
    if isinstance(xi, tuple):
        return np.stack(np.broadcast_arrays(*map(floating, xi[0] if len(xi) == 1 and type(xi[0]) is tuple else xi)), -1)
    places = floating(xi)
    is_line = places.ndim == 1 and places.shape[0] % count == 0
    return places.reshape(-1, count) if is_line else places


def _between(table: Any, below: list[Any], shares: list[Any]) -> Any:
    total: Any = 0.0
    for corner in itertools.product((0, 1), repeat=len(below)):
        part = table[tuple(i + step for i, step in zip(below, corner, strict=True))]
        for share, step in zip(shares, corner, strict=True):
            part = part * (share if step else 1 - share)
        total = total + part
    return total
