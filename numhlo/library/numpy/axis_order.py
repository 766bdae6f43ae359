"""Axes in another order: transpose, swapaxes, moveaxis, rollaxis, matrix_transpose. All of them are views."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.tracer.building import (
    Tracer,
    as_traced,
    asarray,
    implements,
    normalize_axes,
    normalize_axis,
    view_transpose,
)

__all__ = ["matrix_transpose", "moveaxis", "permute_dims", "rollaxis", "swapaxes", "transpose"]

_VIEW = """
Parameters
----------
a : array_like

Returns
-------
Array
    A view.
"""


@implements(np.transpose, np.permute_dims)
@described(_VIEW)
def transpose(a: Any, axes: Any = None) -> Any:
    """Return the axes in another order, reversed for None.

    Parameters
    ----------
    axes : sequence of int, optional
        Axis ``k`` of the result is axis ``axes[k]`` of ``a``.

    Raises
    ------
    ValueError
        If ``axes`` is no permutation of all axes.

    Examples
    --------
    >>> transpose(np.array([[1, 2]]))
    Array([[1],
           [2]])
    """
    array = as_traced(asarray(a))
    is_array = isinstance(axes, np.ndarray | Tracer) and axes.ndim == 1
    given = [*axes] if is_array else axes
    order = tuple(reversed(range(array.ndim))) if given is None else normalize_axes(given, array.ndim)
    if len(order) != array.ndim:
        raise ValueError("axes don't match array")
    return view_transpose(array, order)


permute_dims = transpose


@implements(np.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    """Return the last two axes swapped.

    Parameters
    ----------
    x : array_like
        Of shape ``(..., m, n)``.

    Returns
    -------
    Array
        A view of shape ``(..., n, m)``.

    Raises
    ------
    ValueError
        If ``x`` has fewer than two dimensions.

    Examples
    --------
    >>> matrix_transpose(np.ones((4, 2, 3))).shape
    (4, 3, 2)
    """
    array = as_traced(asarray(x))
    if array.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {array.ndim}")
    return swapaxes(array, -1, -2)


@implements(np.swapaxes)
@described(_VIEW)
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Return two axes interchanged.

    Parameters
    ----------
    axis1, axis2 : int

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.

    Examples
    --------
    >>> swapaxes(np.zeros((2, 3)), 0, 1).shape
    (3, 2)
    """
    array = as_traced(asarray(a))
    first, second = normalize_axis(axis1, array.ndim, "axis1"), normalize_axis(axis2, array.ndim, "axis2")
    order = list(range(array.ndim))
    order[first], order[second] = second, first
    return view_transpose(array, tuple(order))


@implements(np.moveaxis)
@described(_VIEW)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Return axes moved to other places.

    Parameters
    ----------
    source, destination : int or sequence of int
        Where the axes stand, and where they shall; the others keep their order.

    Raises
    ------
    ValueError
        If the two have different lengths, or name an axis twice.

    Examples
    --------
    >>> moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    array = as_traced(asarray(a))
    origins, targets = normalize_axes(source, array.ndim), normalize_axes(destination, array.ndim)
    if len(origins) != len(targets):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [k for k in range(array.ndim) if k not in origins]
    for target, origin in sorted(zip(targets, origins, strict=True)):
        order.insert(target, origin)
    return view_transpose(array, tuple(order))


@implements(np.rollaxis)
@described(_VIEW)
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """Return an axis moved back until it stands before another; `moveaxis` is easier to read.

    Parameters
    ----------
    axis : int
        Which moves.
    start : int, optional
        Before which axis; up to ``a.ndim``.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis, or place.

    Examples
    --------
    >>> rollaxis(np.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    array = as_traced(asarray(a))
    place = normalize_axis(axis, array.ndim)
    target = start + array.ndim if start < 0 else start
    if not 0 <= target <= array.ndim:
        raise np.exceptions.AxisError(f"'start' arg requires {-array.ndim} <= start < {array.ndim + 1}")
    return moveaxis(array, place, target - (place < target))
