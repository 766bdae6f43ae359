"""Shapes: reshape, ravel, squeeze, expand_dims, broadcasting, diagonals. Views where NumPy gives views.

Axes in another order are in `axis_order`, elements in another order in `rearranging`, padding in `padding`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.numpy.axis_order import moveaxis
from numhlo.library.numpy.indexing.special_views import Broadcast, Diagonal
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.building import (
    STATIC,
    Reshape,
    Tracer,
    as_traced,
    asarray,
    broadcast_shapes,
    convert,
    copy_or_view,
    implements,
    is_contiguous,
    is_undecided,
    normalize_axes,
    shape_of,
    strides_of,
    unknown_extent_of,
    view_reshape,
    view_transpose,
)

__all__ = [
    "astype",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_to",
    "diagonal",
    "expand_dims",
    "ravel",
    "reshape",
    "squeeze",
]


def _traced(x: Any) -> Tracer:
    return as_traced(asarray(x))


def shape_tuple(shape: Any) -> tuple[int, ...]:
    """Return a shape as a tuple of ints.

    Raises
    ------
    DataDependentShapeError
        If an extent is traced.
    """
    entries = shape if isinstance(shape, Sequence | np.ndarray) else (shape,)
    for entry in entries:
        if isinstance(entry, Tracer) and entry.concrete is None:
            raise unknown_extent_of(
                entry,
                "an array's shape with a traced extent",
                why="every shape must be known while tracing",
                fix=f"{STATIC}, or work at full size under a mask",
            )
    return tuple(operator.index(n) for n in entries)


@implements(np.reshape)
def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    """Return the elements in row-major order under another shape; one extent may be -1.

    Parameters
    ----------
    a : array_like
    shape : int or sequence of int
        Known while tracing.
    order : "C", "F" or "A", optional
        In which elements are read and placed.
    copy : bool, optional
        True for a copy; by default a view where NumPy gives one.

    Returns
    -------
    Array

    Raises
    ------
    ShapeError
        If the number of elements differs, or more than one extent is -1.
    DataDependentShapeError
        If an extent is traced.

    Examples
    --------
    >>> reshape(np.arange(4), (2, 2))
    Array([[0, 1],
           [2, 3]])
    """
    array = _traced(a)
    extents = _resolve_shape(shape, array)
    if _resolve_order(array, order) == "F":
        flipped = view_transpose(array, tuple(reversed(range(array.ndim))))
        result = view_reshape(flipped, tuple(reversed(extents)))
        return view_transpose(result, tuple(reversed(range(result.ndim))))
    result = view_reshape(array, extents)
    return result.copy() if copy else result  # type: ignore[attr-defined]


def _resolve_shape(shape: Any, array: Tracer) -> tuple[int, ...]:
    entries = shape_tuple(shape)
    extents = list(entries)
    known = math.prod(n for n in extents if n != -1)
    if extents.count(-1) == 1 and known and array.size % known == 0:
        extents[extents.index(-1)] = array.size // known
    if min(extents, default=0) < 0 or math.prod(extents) != array.size:
        raise ShapeError(
            f"cannot reshape array of size {array.size} into shape {entries}",
            where=capture_location(),
            why=f"the array is {array.aval.short()}",
        )
    return tuple(extents)


@implements(np.ravel)
def ravel(a: Any, order: str = "C") -> Any:
    """Return the array flattened.

    Parameters
    ----------
    a : array_like
    order : "C", "F", "A" or "K", optional
        In which elements are read; "K" as they lie in memory.

    Returns
    -------
    Array
        One-dimensional; a view where the elements lie in that order already.

    Raises
    ------
    ArgumentError
        If ``order`` is another.

    Examples
    --------
    >>> ravel(np.array([[1, 2]]))
    Array([1, 2])
    """
    array = view_transpose(_traced(a), _reading_order(_traced(a), order))
    if is_undecided(array):
        return copy_or_view(array, (array.size,))
    if is_contiguous(array):
        return view_reshape(array, (array.size,))
    return Reshape((array.size,)).get(array)  # a copy, also where a reshape would give a view


def _reading_order(x: Tracer, order: str) -> tuple[int, ...]:
    """Return the axes as NumPy's ``order`` reads them, the slowest first."""
    axes = tuple(range(x.ndim))
    if order == "K":
        strides = strides_of(x)
        return tuple(sorted(axes, key=lambda k: -abs(strides[k])))
    return axes[::-1] if _resolve_order(x, order) == "F" else axes


def _resolve_order(x: Tracer, order: str) -> str:
    """Return "C" or "F"; "A" means "F" where NumPy's array would be Fortran-contiguous only."""
    if order == "A":
        backwards = view_transpose(x, tuple(range(x.ndim))[::-1])
        return "F" if is_contiguous(backwards) and not is_contiguous(x) else "C"
    if order not in ("C", "F"):
        raise ArgumentError(f"order={order!r}", where=capture_location(), fix='use "C", "F", "A" or "K"')
    return order


@implements(np.expand_dims)
def expand_dims(a: Any, axis: Any = 0) -> Any:
    """Return axes of extent 1 inserted at the given places of the result.

    Parameters
    ----------
    a : array_like
    axis : int or sequence of int
        Negative ones count from the result's last axis.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    numpy.exceptions.AxisError
        If the result has no such axis.

    Examples
    --------
    >>> expand_dims(np.array([1, 2]), 0)
    Array([[1, 2]])
    """
    array = _traced(a)
    given = (axis,) if isinstance(axis, int) else tuple(axis)
    places = normalize_axes(given, array.ndim + len(given))
    own = iter(array.shape)
    return view_reshape(array, tuple(1 if k in places else next(own) for k in range(array.ndim + len(given))))


@implements(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    """Return axes of extent 1 removed.

    Parameters
    ----------
    a : array_like
    axis : int or sequence of int, optional
        All axes of extent 1 by default.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    ValueError
        If an axis that is named has another extent.

    Examples
    --------
    >>> squeeze(np.array([[1, 2]]))
    Array([1, 2])
    """
    array = _traced(a)
    if array.ndim == 0 and isinstance(axis, int | np.integer) and axis in (0, -1):
        axis = ()
    axes = tuple(k for k, n in enumerate(array.shape) if n == 1) if axis is None else normalize_axes(axis, array.ndim)
    if any(array.shape[k] != 1 for k in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return view_reshape(array, tuple(n for k, n in enumerate(array.shape) if k not in axes))


@implements(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """Return an array broadcast to a shape: a view that can't be written.

    Parameters
    ----------
    array : array_like
    shape : int or sequence of int
        Known while tracing.
    subok : bool, optional
        NumPy's; while tracing there are no subclasses.

    Returns
    -------
    Array

    Raises
    ------
    ShapeError
        If the array has more dimensions, or an extent that is neither 1 nor equal.

    Examples
    --------
    >>> broadcast_to(np.array([1, 2]), (2, 2))
    Array([[1, 2],
           [1, 2]])
    """
    source = _traced(array)
    extents = shape_tuple(shape)
    own = source.shape
    if len(own) > len(extents) or any(n not in (1, m) for n, m in zip(own[::-1], extents[::-1], strict=False)):
        raise ShapeError(
            f"broadcast_to: cannot broadcast {source.aval.short()} to shape {list(extents)}",
            where=capture_location(),
            why="trailing sizes must be equal, or 1 in the array",
        )
    return source.through(Broadcast(extents))


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """Return arrays broadcast against each other.

    Parameters
    ----------
    *args : array_like
    subok : bool, optional
        NumPy's; while tracing there are no subclasses.

    Returns
    -------
    tuple of Array
        Views that can't be written, where the shape changed.

    Raises
    ------
    ShapeError
        If two extents differ and neither is 1.

    Examples
    --------
    >>> [x.shape for x in broadcast_arrays([[1], [2]], [1, 2, 3])]
    [(2, 3), (2, 3)]
    """
    arrays = [asarray(a) for a in args]
    shape = broadcast_shapes(*[shape_of(a) for a in arrays], name="broadcast_arrays", operands=arrays)
    return tuple(_traced(a) if shape_of(a) == shape else broadcast_to(a, shape) for a in arrays)


@implements(np.diagonal)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return diagonals of the planes of two axes, as the last axis.

    Parameters
    ----------
    a : array_like
    offset : int, optional
        Positive above the main diagonal, negative below; beyond the plane the diagonal is empty.
    axis1, axis2 : int, optional
        Rows and columns.

    Returns
    -------
    Array
        A view without the two axes.

    Raises
    ------
    ValueError
        If the two axes are one.

    Examples
    --------
    >>> diagonal(np.array([[1, 2], [3, 4]]))
    Array([1, 4])
    """
    return diagonal_view(a, offset, axis1, axis2, writable=False)


def diagonal_view(a: Any, offset: int, axis1: int, axis2: int, *, writable: bool) -> Any:
    """Return diagonals of the planes of two axes, as a view that can, or can't, be written."""
    array = _traced(moveaxis(a, (axis1, axis2), (-2, -1)))
    rows, columns = array.shape[-2:]
    offset = operator.index(offset)
    row, column = max(-offset, 0), max(offset, 0)
    count = max(0, min(rows - row, columns - column))
    return array.through(Diagonal(row, column, count, writable))


def _at_least(x: Any, ndim: int) -> Any:
    array = _traced(x)
    if ndim == 3 and array.ndim < 3:
        shape = {0: (1, 1, 1), 1: (1, *array.shape, 1), 2: (*array.shape, 1)}[array.ndim]
        return view_reshape(array, shape)
    return view_reshape(array, (1,) * (ndim - array.ndim) + array.shape) if array.ndim < ndim else array


@implements(np.atleast_1d)
def atleast_1d(*arys: Any) -> Any:
    """Return arrays of at least one dimension.

    Parameters
    ----------
    *arys : array_like

    Returns
    -------
    Array or tuple of Array
        A tuple for more than one argument; views, with axes of extent 1 in front.

    Examples
    --------
    >>> atleast_1d(3)
    Array([3])
    """
    return _at_least(arys[0], 1) if len(arys) == 1 else tuple(_at_least(a, 1) for a in arys)


@implements(np.atleast_2d)
def atleast_2d(*arys: Any) -> Any:
    """Return arrays of at least two dimensions.

    Parameters
    ----------
    *arys : array_like

    Returns
    -------
    Array or tuple of Array
        A tuple for more than one argument; views, with axes of extent 1 in front.

    Examples
    --------
    >>> atleast_2d([1, 2]).tolist()
    [[1, 2]]
    """
    return _at_least(arys[0], 2) if len(arys) == 1 else tuple(_at_least(a, 2) for a in arys)


@implements(np.atleast_3d)
def atleast_3d(*arys: Any) -> Any:
    """Return arrays of at least three dimensions.

    Parameters
    ----------
    *arys : array_like

    Returns
    -------
    Array or tuple of Array
        A tuple for more than one argument; a vector becomes ``(1, n, 1)``, a matrix ``(m, n, 1)``.

    Examples
    --------
    >>> atleast_3d([1, 2]).shape
    (1, 2, 1)
    """
    return _at_least(arys[0], 3) if len(arys) == 1 else tuple(_at_least(a, 3) for a in arys)


@implements(np.astype)
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Return the array converted to a dtype.

    Parameters
    ----------
    x : array_like
    dtype : dtype
        Floats become integers by truncation, complex numbers real ones by their real part.
    copy : bool, optional
        False to return ``x`` itself where it has the dtype.
    device : optional
        NumPy's; without a meaning while tracing.

    Returns
    -------
    Array

    Raises
    ------
    DTypeError
        If StableHLO has no such element type.

    Examples
    --------
    >>> astype(np.array([1, 2]), "float32")
    Array([1., 2.], dtype=float32)
    """
    converted = convert(_traced(x), dtype)
    return converted.copy() if copy and converted is x else converted
