"""Arrays joined and cut: concatenate, stack, split and their kin."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError
from numhlo.lowering.ops import layout
from numhlo.tracer.bind import bind1
from numhlo.tracer.namespace.core import (
    asarray,
    convert,
    expand,
    implements,
    normalize_axis,
    reshape_to,
    result_dtype,
    shape_of,
)
from numhlo.tracer.namespace.index_items import Range, as_traced, basic_view, whole

__all__ = [
    "append",
    "array_split",
    "block",
    "column_stack",
    "concat",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "split",
    "stack",
    "unstack",
    "vsplit",
    "vstack",
]


def concatenate_arrays(arrays: Sequence[Any], axis: int) -> Any:
    """Return arrays of one dtype joined along an axis."""
    if len(arrays) == 1:
        return arrays[0]
    return bind1(layout.CONCATENATE, *arrays, attributes={"dimension": axis})


@implements(np.concatenate)
def concatenate(
    arrays: Any, /, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """Return arrays joined along an existing axis (flattened first for None).

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
    result = concatenate_arrays([convert(p, wanted) for p in parts], place)
    if out is None:
        return as_traced(result).copy() if len(parts) == 1 else result  # type: ignore[attr-defined]
    out[...] = result
    return out


concat = concatenate


@implements(np.stack)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Return arrays of one shape joined along a new axis.

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
    return concatenate([expand(p, place) for p in parts], place, out, dtype=dtype)


@implements(np.unstack)
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Return the slices along an axis.

    Examples
    --------
    >>> unstack(np.array([1, 2]))
    (Array(1), Array(2))
    """
    array = as_traced(asarray(x))
    place = normalize_axis(axis, array.ndim)
    parts = [_part(array, place, k, k + 1) for k in range(array.shape[place])]
    return tuple(reshape_to(p, tuple(n for k, n in enumerate(array.shape) if k != place)) for p in parts)


def _raised(arrays: Any, ndim: int) -> list[Any]:
    return [reshape_to(a, _raised_shape(shape_of(a), ndim)) for a in map(asarray, arrays)]


def _raised_shape(shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    if ndim == 3 and len(shape) < 3:
        return {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}[len(shape)]
    return (1,) * (ndim - len(shape)) + shape


@implements(np.vstack)
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Return arrays stacked as rows.

    Examples
    --------
    >>> vstack(([1], [2]))
    Array([[1],
           [2]])
    """
    return concatenate(_raised(tup, 2), 0, dtype=dtype)


@implements(np.hstack)
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Return arrays stacked side by side.

    Examples
    --------
    >>> hstack(([1], [2]))
    Array([1, 2])
    """
    parts = _raised(tup, 1)
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1, dtype=dtype)


@implements(np.dstack)
def dstack(tup: Any) -> Any:
    """Return arrays stacked along the third axis.

    Examples
    --------
    >>> dstack([[1, 2], [3, 4]]).tolist()
    [[[1, 3], [2, 4]]]
    """
    return concatenate(_raised(tup, 3), 2)


@implements(np.column_stack)
def column_stack(tup: Any) -> Any:
    """Return 1-d arrays stacked as columns.

    Examples
    --------
    >>> column_stack([[1, 2], [3, 4]]).tolist()
    [[1, 3], [2, 4]]
    """
    parts = [asarray(a) for a in tup]
    return concatenate([expand(reshape_to(p, (p.size,)), 1) if p.ndim < 2 else p for p in parts], 1)


@implements(np.append)
def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Return values appended at the end of an axis.

    Examples
    --------
    >>> append(np.array([1]), 2)
    Array([1, 2])
    """
    return concatenate((arr, values), axis)


def _part(array: Any, axis: int, low: int, high: int) -> Any:
    items: list[Any] = [whole(n) for n in array.shape]
    items[axis] = Range(low, max(low, high), 1)
    return basic_view(array, items)


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Return sub-arrays of nearly equal extent, or cut at given places.

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

    Examples
    --------
    >>> split(np.array([1, 2, 3, 4]), 2)
    [Array([1, 2]), Array([3, 4])]
    """
    array = asarray(ary)
    if isinstance(indices_or_sections, int) and array.shape[normalize_axis(axis, array.ndim)] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(array, indices_or_sections, axis)


@implements(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Return the array cut along the first axis.

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

    Examples
    --------
    >>> hsplit(np.array([1, 2, 3, 4]), 2)
    [Array([1, 2]), Array([3, 4])]
    """
    return split(ary, indices_or_sections, 0 if asarray(ary).ndim == 1 else 1)


@implements(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Return the array cut along the third axis.

    Examples
    --------
    >>> [part.shape for part in dsplit(np.zeros((2, 2, 4)), 2)]
    [(2, 2, 2), (2, 2, 2)]
    """
    if asarray(ary).ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


@implements(np.block)
def block(arrays: Any) -> Any:
    """Return an array assembled from nested lists of blocks; the innermost lists are joined along the last axis.

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
