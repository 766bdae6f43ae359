"""Erosion and dilation of truth values, and what is made of them, as `scipy.ndimage` has them.

A structure is known while tracing; it says which places around an element are looked at. What is repeated until nothing
changes is a loop of the graph.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.scipy.ndimage.correlation import result_dtype, spread
from numhlo.library.scipy.ndimage.rank_filters import Places
from numhlo.library.scipy.operands import traced
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError, ShapeError
from numhlo.tracer.building import fori_loop, normalize_axes, runs_anywhere, while_loop

__all__ = [
    "binary_closing", "binary_dilation", "binary_erosion", "binary_fill_holes", "binary_hit_or_miss", "binary_opening",
    "binary_propagation", "generate_binary_structure",
]  # fmt: skip

_AS_EROSION = """
Parameters
----------
input, structure, iterations, output, origin, mask, border_value, brute_force, axes : optional
    As those of `binary_erosion`.

Returns
-------
Array
    Of the shape of ``input``.
"""

MOST_UNROLLED = 4
"""Of more repetitions a loop is made."""


def generate_binary_structure(rank: int, connectivity: int) -> np.ndarray:
    """Return the structure of the neighbours that differ in so many coordinates.

    Parameters
    ----------
    rank : int
        The number of dimensions.
    connectivity : int
        In how many coordinates neighbours differ, from 1 to ``rank``.

    Returns
    -------
    ndarray of bool
        Of extent 3 along each axis.

    Examples
    --------
    >>> generate_binary_structure(2, 1).astype(int)
    array([[0, 1, 0],
           [1, 1, 1],
           [0, 1, 0]])
    """
    if rank < 1:
        return np.array(True)
    distances = np.abs(np.indices([3] * rank) - 1).sum(axis=0)
    return np.asarray(distances <= max(connectivity, 1))


def turned(window: np.ndarray, origins: list[int]) -> tuple[np.ndarray, list[int]]:
    """Return a window turned round its middle."""
    shifted = [-origin - (extent % 2 == 0) for origin, extent in zip(origins, window.shape, strict=True)]
    return window[(slice(None, None, -1),) * window.ndim], shifted


class _Structure:
    """What is looked at around each element of an image, along some axes."""

    def __init__(self, function: str, x: Any, structure: Any, origin: Any, axes: Any) -> None:
        if x.dtype.kind == "c":
            raise DTypeError(f"{function} of complex numbers", where=capture_location(), fix="use x != 0")
        self.axes = tuple(range(x.ndim)) if axes is None else normalize_axes(axes, x.ndim)
        count = len(self.axes)
        window = generate_binary_structure(count, 1) if structure is None else np.asarray(structure, bool)
        if window.ndim != count:
            raise ShapeError(
                f"{function} by a structure of {window.ndim} dimensions along {count} axes",
                where=capture_location(),
                fix="give the structure one dimension for each axis",
            )
        if not window.size:
            raise RuntimeError("structure must not be empty")
        self.window, self.origins = window, [operator.index(o) for o in spread(origin, count)]

    def _places(self, border: Any, *, turn: bool) -> Places:
        window, origins = turned(self.window, self.origins) if turn else (self.window, self.origins)
        return Places(window, self.axes, origins, ["constant"] * len(self.axes), bool(border))

    def eroded(self, x: Any, border: Any) -> Any:
        """Return whether all places of each window are true."""
        if not self.window.any():
            return np.ones_like(x)
        return self._places(border, turn=False).folded(x, np.logical_and)

    def dilated(self, x: Any, border: Any, *, turn: bool = True) -> Any:
        """Return whether any place of each window, turned, is true."""
        if not self.window.any():
            return np.zeros_like(x)
        return self._places(border, turn=turn).folded(x, np.logical_or)


def _repeated(step: Any, x: Any, iterations: Any, mask: Any) -> Any:
    """Return what so many steps make of truth values; with less than one, until nothing changes."""
    count = operator.index(iterations)
    kept = None if mask is None else traced(mask).astype(bool)
    if kept is not None and kept.shape != x.shape:
        raise ShapeError(
            f"a mask {kept.shape} for an image {x.shape}", where=capture_location(), fix="give it the image's shape"
        )

    def once(y: Any) -> Any:
        return step(y) if kept is None else np.where(kept, step(y), y)

    if count < 1:
        return while_loop(lambda pair: np.any(pair[0] != pair[1]), lambda pair: (once(pair[0]), pair[0]), (once(x), x))[
            0
        ]
    if count > MOST_UNROLLED:
        return fori_loop(0, count, lambda _, y: once(y), x)
    for _ in range(count):
        x = once(x)
    return x


def _as_truth(found: Any, output: Any) -> Any:
    """Return truth values, whatever dtype was asked for; an array to write into is refused."""
    result_dtype(found, output)
    return found


@runs_anywhere
@described(_AS_EROSION)
def binary_erosion(
    input: Any,
    structure: Any = None,
    iterations: int = 1,
    mask: Any = None,
    output: Any = None,
    border_value: int = 0,
    origin: Any = 0,
    brute_force: bool = False,
    *,
    axes: Any = None,
) -> Any:
    """Return where all places around an element are true.

    Parameters
    ----------
    input : array_like
        Truth values, or numbers that are none or not.
    structure : array_like of bool, optional
        Which places are looked at; by default the element and its nearest neighbours.
    iterations : int, optional
        How often to do it; until nothing changes if less than one.
    mask : array_like of bool, optional
        Where elements may change.
    output : dtype_like, optional
        Accepted: the result is bool, as SciPy's.
    border_value : int, optional
        What is beyond the edges.
    origin : int or sequence of int, optional
        Where the structure's middle is.
    brute_force : bool, optional
        Accepted, there is one way.
    axes : sequence of int, optional
        All by default.

    Raises
    ------
    DTypeError
        For complex numbers.
    ShapeError
        If the structure has other dimensions than there are axes, or the mask another shape.

    Examples
    --------
    >>> binary_erosion([1, 1, 1, 0, 1]).astype(int)
    Array([0, 1, 0, 0, 0])
    """
    x = traced(input)
    around = _Structure("binary_erosion", x, structure, origin, axes)
    found = _repeated(lambda y: around.eroded(y, border_value), x.astype(bool), iterations, mask)
    return _as_truth(found, output)


@runs_anywhere
@described(_AS_EROSION)
def binary_dilation(
    input: Any,
    structure: Any = None,
    iterations: int = 1,
    mask: Any = None,
    output: Any = None,
    border_value: int = 0,
    origin: Any = 0,
    brute_force: bool = False,
    *,
    axes: Any = None,
) -> Any:
    """Return where any place around an element is true.

    Examples
    --------
    >>> binary_dilation([0, 0, 1, 0, 0]).astype(int)
    Array([0, 1, 1, 1, 0])
    """
    x = traced(input)
    around = _Structure("binary_dilation", x, structure, origin, axes)
    found = _repeated(lambda y: around.dilated(y, border_value), x.astype(bool), iterations, mask)
    return _as_truth(found, output)


@runs_anywhere
@described(_AS_EROSION)
def binary_opening(
    input: Any,
    structure: Any = None,
    iterations: int = 1,
    output: Any = None,
    origin: Any = 0,
    mask: Any = None,
    border_value: int = 0,
    brute_force: bool = False,
    *,
    axes: Any = None,
) -> Any:
    """Return the dilation of the erosion: what is smaller than the structure is gone.

    Examples
    --------
    >>> binary_opening([0, 1, 1, 1, 0, 1, 0]).astype(int)
    Array([0, 1, 1, 1, 0, 0, 0])
    """
    eroded = binary_erosion(input, structure, iterations, mask, None, border_value, origin, axes=axes)
    return binary_dilation(eroded, structure, iterations, mask, output, border_value, origin, axes=axes)


@runs_anywhere
@described(_AS_EROSION)
def binary_closing(
    input: Any,
    structure: Any = None,
    iterations: int = 1,
    output: Any = None,
    origin: Any = 0,
    mask: Any = None,
    border_value: int = 0,
    brute_force: bool = False,
    *,
    axes: Any = None,
) -> Any:
    """Return the erosion of the dilation: gaps that are smaller than the structure are closed.

    Examples
    --------
    >>> binary_closing([0, 1, 1, 0, 1, 1, 0]).astype(int)
    Array([0, 1, 1, 1, 1, 1, 0])
    """
    dilated = binary_dilation(input, structure, iterations, mask, None, border_value, origin, axes=axes)
    return binary_erosion(dilated, structure, iterations, mask, output, border_value, origin, axes=axes)


@runs_anywhere
@described(_AS_EROSION)
def binary_propagation(
    input: Any,
    structure: Any = None,
    mask: Any = None,
    output: Any = None,
    border_value: int = 0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return what dilation reaches inside a mask.

    Examples
    --------
    >>> binary_propagation([1, 0, 0, 0, 0], mask=[1, 1, 1, 0, 1]).astype(int)
    Array([1, 1, 1, 0, 0])
    """
    return binary_dilation(input, structure, -1, mask, output, border_value, origin, axes=axes)


@runs_anywhere
@described(_AS_EROSION)
def binary_fill_holes(
    input: Any, structure: Any = None, output: Any = None, origin: Any = 0, *, axes: Any = None
) -> Any:
    """Return truth values without holes: what can't be reached from the edges is true.

    Examples
    --------
    >>> binary_fill_holes([0, 1, 0, 1, 0]).astype(int)
    Array([0, 1, 1, 1, 0])
    """
    x = traced(input)
    outside = np.logical_not(x.astype(bool))
    reached = binary_dilation(np.zeros_like(outside), structure, -1, outside, None, 1, origin, axes=axes)
    return _as_truth(np.logical_not(reached), output)


@runs_anywhere
@described(_AS_EROSION)
def binary_hit_or_miss(
    input: Any,
    structure1: Any = None,
    structure2: Any = None,
    output: Any = None,
    origin1: Any = 0,
    origin2: Any = None,
    *,
    axes: Any = None,
) -> Any:
    """Return where a pattern is: all places of one structure true, all of another one false.

    Parameters
    ----------
    input : array_like
    structure1, structure2 : array_like of bool, optional
        By default the nearest neighbours, and what the first one leaves out.
    output : dtype_like, optional
        Accepted: the result is bool.
    origin1, origin2 : int or sequence of int, optional
        Where the structures' middles are; the second one is as the first.
    axes : sequence of int, optional
        All by default.

    Examples
    --------
    >>> binary_hit_or_miss([0, 1, 1, 0, 1], [0, 1, 1], [1, 0, 0]).astype(int)
    Array([0, 1, 0, 0, 0])
    """
    x = traced(input)
    truth = x.astype(bool)
    hit = _Structure("binary_hit_or_miss", x, structure1, origin1, axes)
    rest = np.logical_not(hit.window) if structure2 is None else structure2
    miss = _Structure("binary_hit_or_miss", x, rest, origin1 if origin2 is None else origin2, axes)
    return _as_truth(np.logical_and(hit.eroded(truth, 0), np.logical_not(miss.dilated(truth, 0, turn=False))), output)
