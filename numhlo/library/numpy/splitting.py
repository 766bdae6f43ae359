"""Arrays cut along an axis: split and its kin, unstack. The parts are views."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from numhlo.library.numpy.indexing.index_items import Range, basic_view, whole
from numhlo.tracer.building import as_traced, asarray, implements, known_numbers, normalize_axis

__all__ = ["array_split", "dsplit", "hsplit", "split", "unstack", "vsplit"]


@implements(np.unstack)
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Return the slices along an axis.

    Parameters
    ----------
    x : array_like
    axis : int, optional

    Returns
    -------
    tuple of Array
        Views without the axis; as many as it has elements.

    Examples
    --------
    >>> unstack(np.array([1, 2]))
    (Array(1), Array(2))
    """
    array = as_traced(asarray(x))
    place = normalize_axis(axis, array.ndim)
    return tuple(array[(slice(None),) * place + (k,)] for k in range(array.shape[place]))  # type: ignore[index]


def _part(array: Any, axis: int, low: int, high: int) -> Any:
    items: list[Any] = [whole(n) for n in array.shape]
    items[axis] = Range(low, max(low, high), 1)
    return basic_view(array, items)


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Return sub-arrays of nearly equal extent, or cut at given places.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        The number of parts, of which the first are longer by one, or where to cut; known while tracing.
    axis : int, optional

    Returns
    -------
    list of Array
        Views; empty ones where cuts lie outside.

    Raises
    ------
    ValueError
        If the number of parts is not positive.

    Examples
    --------
    >>> array_split(np.array([1, 2, 3]), 2)
    [Array([1, 2]), Array([3])]
    """
    array = as_traced(asarray(ary))
    place = normalize_axis(axis, array.ndim)
    extent = array.shape[place]
    if isinstance(indices_or_sections, int | np.integer):
        count = int(indices_or_sections)
        if count <= 0:
            raise ValueError("number sections must be larger than 0.")
        small, extra = divmod(extent, count)
        sizes = [small + 1] * extra + [small] * (count - extra)
        cuts = [0, *np.cumsum(sizes).tolist()]
    else:
        given = [int(i) for i in indices_or_sections]
        cuts = [0, *[min(max(i + extent if i < 0 else i, 0), extent) for i in given], extent]
    return [_part(array, place, low, high) for low, high in pairwise(cuts)]


@implements(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Return sub-arrays of equal extent, or cut at given places.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        The number of parts or where to cut; known while tracing.
    axis : int, optional

    Returns
    -------
    list of Array
        Views; empty ones where cuts lie outside.

    Raises
    ------
    ValueError
        If the extent is no multiple of the number of parts.

    Examples
    --------
    >>> split(np.array([1, 2, 3, 4]), 2)
    [Array([1, 2]), Array([3, 4])]
    """
    array, indices_or_sections = asarray(ary), known_numbers(indices_or_sections)
    extent = array.shape[normalize_axis(axis, array.ndim)]
    if isinstance(indices_or_sections, int | np.integer):
        if indices_or_sections == 0:
            raise ZeroDivisionError("array split into 0 parts")
        if extent % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
    return array_split(array, indices_or_sections, axis)


@implements(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Return the array cut along the first axis.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        As that of `split`.

    Returns
    -------
    list of Array
        Views.

    Raises
    ------
    ValueError
        If the array has too few dimensions, or can't be divided equally.

    Examples
    --------
    >>> [part.shape for part in vsplit(np.zeros((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    if asarray(ary).ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


@implements(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Return the array cut along the second axis (the first where there is only one).

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        As that of `split`.

    Returns
    -------
    list of Array
        Views.

    Raises
    ------
    ValueError
        If the array has too few dimensions, or can't be divided equally.

    Examples
    --------
    >>> hsplit(np.array([1, 2, 3, 4]), 2)
    [Array([1, 2]), Array([3, 4])]
    """
    return split(ary, indices_or_sections, 0 if asarray(ary).ndim == 1 else 1)


@implements(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Return the array cut along the third axis.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        As that of `split`.

    Returns
    -------
    list of Array
        Views.

    Raises
    ------
    ValueError
        If the array has too few dimensions, or can't be divided equally.

    Examples
    --------
    >>> [part.shape for part in dsplit(np.zeros((2, 2, 4)), 2)]
    [(2, 2, 2), (2, 2, 2)]
    """
    if asarray(ary).ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)
