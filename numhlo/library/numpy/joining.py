"""Arrays joined: concatenate, stack, block and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError
from numhlo.tracer.building import (
    as_traced,
    asarray,
    concatenate_arrays,
    convert,
    expand,
    implements,
    normalize_axis,
    require_casting,
    reshape_to,
    result_dtype,
    shape_of,
)

__all__ = [
    "append",
    "block",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "stack",
    "vstack",
]

_JOINED = """
Parameters
----------
tup : sequence of array_like
dtype, casting : optional
    As those of `concatenate`.

Returns
-------
Array

Raises
------
ShapeError
    If extents differ outside the axis.
"""


@implements(np.concatenate)
def concatenate(
    arrays: Any, /, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """Return arrays joined along an existing axis (flattened first for None).

    Parameters
    ----------
    arrays : sequence of array_like
        Of equal extents along all other axes.
    axis : int or None, optional
    out : Array, optional
        Where the result is written.
    dtype : dtype, optional
        By default the common one of all.
    casting : str, optional
        NumPy's rule for the conversion to ``dtype``.

    Returns
    -------
    Array
        Never a view.

    Raises
    ------
    ShapeError
        If extents differ outside the axis.
    DTypeError
        If ``casting`` forbids the conversion.
    ValueError
        If there are no arrays, or they have no dimensions.

    Examples
    --------
    >>> concatenate([np.array([1]), np.array([2, 3])])
    Array([1, 2, 3])
    """
    parts = [asarray(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        parts, axis = [reshape_to(p, (p.size,)) for p in parts], 0
    if not shape_of(parts[0]):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    place = normalize_axis(axis, parts[0].ndim)
    first = shape_of(parts[0])
    for part in parts:
        shape = shape_of(part)
        if len(shape) != len(first) or any(
            n != m for k, (n, m) in enumerate(zip(shape, first, strict=True)) if k != place
        ):
            raise ShapeError(
                f"concatenate: shapes {list(first)} and {list(shape)} differ outside axis {place}",
                where=capture_location(),
            )
    wanted = result_dtype(*parts) if dtype is None else np.dtype(dtype)
    require_casting("concatenate", parts, wanted, casting)
    result = concatenate_arrays([convert(p, wanted) for p in parts], place)
    if out is None:
        return as_traced(result).copy() if len(parts) == 1 else result  # type: ignore[attr-defined]
    out[...] = result
    return out


concat = concatenate


@implements(np.stack)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Return arrays of one shape joined along a new axis.

    Parameters
    ----------
    arrays : sequence of array_like
    axis : int, optional
        Where the new axis stands in the result.
    out, dtype, casting : optional
        As those of `concatenate`.

    Returns
    -------
    Array

    Raises
    ------
    ShapeError
        If shapes differ, or there are no arrays.

    Examples
    --------
    >>> stack([np.array([1, 2]), np.array([3, 4])], axis=1)
    Array([[1, 3],
           [2, 4]])
    """
    parts = [asarray(a) for a in arrays]
    if len({shape_of(p) for p in parts}) != 1:
        raise ShapeError(
            f"stack: all arrays must have the same shape, got {[list(shape_of(p)) for p in parts]}",
            where=capture_location(),
        )
    place = normalize_axis(axis, parts[0].ndim + 1)
    return concatenate([expand(p, place) for p in parts], place, out, dtype=dtype, casting=casting)


def _raised(arrays: Any, ndim: int) -> list[Any]:
    return [reshape_to(a, _raised_shape(shape_of(a), ndim)) for a in map(asarray, arrays)]


def _raised_shape(shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    if ndim == 3 and len(shape) < 3:
        return {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}[len(shape)]
    return (1,) * (ndim - len(shape)) + shape


@implements(np.vstack)
@described(_JOINED)
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Return arrays stacked as rows.

    Examples
    --------
    >>> vstack(([1], [2]))
    Array([[1],
           [2]])
    """
    return concatenate(_raised(tup, 2), 0, dtype=dtype, casting=casting)


@implements(np.hstack)
@described(_JOINED)
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Return arrays stacked side by side.

    Examples
    --------
    >>> hstack(([1], [2]))
    Array([1, 2])
    """
    parts = _raised(tup, 1)
    return concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@implements(np.dstack)
@described(_JOINED)
def dstack(tup: Any) -> Any:
    """Return arrays stacked along the third axis.

    Parameters
    ----------
    tup : sequence of array_like
        A vector stands for ``(1, n, 1)``, a matrix for ``(m, n, 1)``.

    Examples
    --------
    >>> dstack([[1, 2], [3, 4]]).tolist()
    [[[1, 3], [2, 4]]]
    """
    return concatenate(_raised(tup, 3), 2)


@implements(np.column_stack)
def column_stack(tup: Any) -> Any:
    """Return 1-d arrays stacked as columns.

    Parameters
    ----------
    tup : sequence of array_like
        Matrices are joined as they are.

    Returns
    -------
    Array
        Two-dimensional.

    Raises
    ------
    ShapeError
        If the numbers of rows differ.

    Examples
    --------
    >>> column_stack([[1, 2], [3, 4]]).tolist()
    [[1, 3], [2, 4]]
    """
    parts = [asarray(a) for a in tup]
    return concatenate([expand(reshape_to(p, (p.size,)), 1) if p.ndim < 2 else p for p in parts], 1)


@implements(np.append)
@described(_JOINED)
def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Return values appended at the end of an axis.

    Parameters
    ----------
    arr, values : array_like
    axis : int, optional
        Without it, both are flattened.

    Returns
    -------
    Array
        A new one: arrays do not grow.

    Examples
    --------
    >>> append(np.array([1]), 2)
    Array([1, 2])
    """
    return concatenate((arr, values), axis)


@implements(np.block)
def block(arrays: Any) -> Any:
    """Return an array assembled from nested lists of blocks; the innermost lists are joined along the last axis.

    Parameters
    ----------
    arrays : array_like, or nested lists of them
        All lists of one depth; outer ones join along earlier axes.

    Returns
    -------
    Array
        Never a view.

    Raises
    ------
    ValueError
        If a list is empty, or depths differ.
    ShapeError
        If extents do not fit.

    Examples
    --------
    >>> block([[np.eye(1), np.zeros((1, 2))]]).tolist()
    [[1.0, 0.0, 0.0]]
    """
    depth = _depth(arrays)
    ndim = max(depth, *[asarray(x).ndim for x in _leaves(arrays)])
    return as_traced(_assemble(arrays, 1, depth, ndim)).copy()  # type: ignore[attr-defined]


def _depth(arrays: Any) -> int:
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(a) for a in arrays}
    if not arrays:
        raise ValueError("List at arrays cannot be empty")
    if len(depths) > 1:
        raise ValueError("List depths are mismatched.")
    return 1 + depths.pop()


def _leaves(arrays: Any) -> list[Any]:
    return [x for a in arrays for x in _leaves(a)] if isinstance(arrays, list) else [arrays]


def _assemble(arrays: Any, level: int, depth: int, ndim: int) -> Any:
    if not isinstance(arrays, list):
        array = asarray(arrays)
        return reshape_to(array, (1,) * (ndim - array.ndim) + shape_of(array))
    return concatenate([_assemble(a, level + 1, depth, ndim) for a in arrays], level - depth - 1)
