"""Elements put in, taken out and overwritten: insert, delete, resize, and NumPy's writing functions.

`place`, `put`, `putmask`, `copyto`, `fill_diagonal` and `put_along_axis` write into their first argument, as in NumPy;
with ``inplace=False`` they leave it alone and return a new array, as JAX's do.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DataDependentShapeError
from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace.core import (
    ARRAYS,
    FUNCTIONS,
    as_arrays,
    asarray,
    broadcast_to_shape,
    convert,
    implements,
    is_weak,
    normalize_axis,
    require_casting,
    reshape_to,
    result_dtype,
    shape_of,
    stored,
)
from numhlo.tracer.namespace.cumulative import cumsum
from numhlo.tracer.namespace.elementwise import store
from numhlo.tracer.namespace.index_items import as_traced, new_array, strip_leading, unshared
from numhlo.tracer.namespace.indexed import advanced_indexing as advanced
from numhlo.tracer.namespace.lax.joining import slice_in_dim
from numhlo.tracer.namespace.shapes.axis_order import moveaxis
from numhlo.tracer.namespace.shapes.joining import concatenate_arrays
from numhlo.tracer.namespace.shapes.manipulation import shape_tuple
from numhlo.tracer.semantics import are_arrays_immutable, immutable_arrays, refuse_write
from numhlo.tracer.trace import Tracer, current_trace

__all__ = [
    "copyto",
    "delete",
    "fill_diagonal",
    "insert",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "resize",
    "trim_zeros",
]


MOST_RUNS = 8
"""Runs of neighbours up to which they are copied as such, rather than gathered one by one."""


def _flat_or_axis(arr: Any, axis: int | None) -> tuple[Tracer, int]:
    array = as_traced(asarray(arr))
    if axis is None:
        return as_traced(reshape_to(array, (array.size,))), 0
    return array, normalize_axis(axis, array.ndim)


def _known_positions(obj: Any, extent: int, what: str) -> np.ndarray:
    if isinstance(obj, slice):
        return np.arange(extent)[obj]
    if isinstance(obj, list | tuple) and not obj:
        return np.zeros(0, np.int64)
    known = obj.known() if isinstance(obj, Tracer) else np.asarray(obj)
    if known is None:
        raise DataDependentShapeError(
            f"{what} at traced positions",
            where=capture_location(),
            why="which elements move where would depend on values that are not known while tracing",
            fix="use concrete positions, a single traced one, or where with a mask",
        )
    return known


@implements(np.delete)
def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """Return the array without the elements at ``obj`` along an axis; one traced index works too.

    Parameters
    ----------
    arr : array_like
    obj : int, slice, or array_like of int or bool
        Known while tracing, but for a single index; negative ones count from the end.
    axis : int, optional
        Without it, the flattened array.

    Returns
    -------
    Array

    Raises
    ------
    DataDependentShapeError
        If several positions are traced.
    IndexError
        If one that is known is out of bounds; a traced one then removes nothing but the last element.

    Examples
    --------
    >>> delete([1, 2, 3], 1)
    Array([1, 3])
    """
    array, place = _flat_or_axis(arr, axis)
    extent = array.shape[place]
    if isinstance(obj, Tracer) and obj.concrete is None and obj.ndim == 0 and obj.dtype.kind in "iu":
        line = b.iota(extent - 1)
        skipped = b.at_least(line, broadcast_to_shape(advanced.wrap_negative(obj, extent), line.shape))
        return advanced.take(array, b.add(line, convert(skipped, np.int64)), place, "clip")
    found = _known_positions(obj, extent, "delete")
    kept = np.delete(np.arange(extent), found)
    return _take_known([array], kept, place)


@implements(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Return the array with values put before positions along an axis; one traced position works too.

    Parameters
    ----------
    arr : array_like
    obj : int, slice, or array_like of int or bool
        Known while tracing, but for a single index.
    values : array_like
        They broadcast, and are converted to the dtype of ``arr``.
    axis : int, optional
        Without it, the flattened array.

    Returns
    -------
    Array

    Raises
    ------
    DataDependentShapeError
        If several positions are traced.
    IndexError
        If one that is known is out of bounds.

    Examples
    --------
    >>> insert([1, 2], 1, 9)
    Array([1, 9, 2])
    """
    array, place = _flat_or_axis(arr, axis)
    extent = array.shape[place]
    new = stored(values, array.dtype)
    if isinstance(obj, Tracer) and obj.concrete is None and obj.ndim == 0:
        return _insert_one(array, obj, new, place)
    positions = _known_positions(obj, extent, "insert")
    if positions.dtype.kind == "b":
        positions = np.flatnonzero(positions)
    outside = (positions < -extent) | (positions > extent)
    if outside.any():
        raise IndexError(f"index {positions[outside].ravel()[0]} is out of bounds for axis {place} with size {extent}")
    if positions.size == 1:  # as many values as there are go before it
        new = _raised(new, array.ndim)
        new = moveaxis(new, 0, place) if positions.ndim == 0 else new
        positions = np.full(shape_of(new)[place], int(positions.item()))
    shape = (*array.shape[:place], len(positions), *array.shape[place + 1 :])
    new = broadcast_to_shape(strip_leading(new, array.ndim), shape)
    wrapped = np.where(positions < 0, positions + extent, positions)
    order = np.argsort(np.concatenate([np.arange(extent) + 0.5, wrapped.astype(float)]), kind="stable")
    return _take_known([array, as_traced(new)], order, place)


def _take_known(arrays: list[Any], order: np.ndarray, place: int) -> Any:
    """Return elements at known places of arrays that lie one behind the other along an axis; few runs are slices."""
    bounds = np.cumsum([0, *[array.shape[place] for array in arrays]])
    breaks = np.flatnonzero((np.diff(order) != 1) | np.isin(order[1:], bounds)) + 1
    if not order.size or breaks.size >= MOST_RUNS:
        return advanced.take(as_traced(concatenate_arrays(arrays, place)), order, place, "raise")
    pieces = []
    for run in np.split(order, breaks):
        number = int(np.searchsorted(bounds, run[0], "right")) - 1
        first = int(run[0] - bounds[number])
        pieces.append(slice_in_dim(arrays[number], first, first + run.size, 1, place))
    return as_traced(concatenate_arrays(pieces, place))


def _raised(x: Any, ndim: int) -> Any:
    shape = shape_of(x)
    return reshape_to(x, (1,) * (ndim - len(shape)) + shape)


def _insert_one(array: Tracer, position: Tracer, new: Any, place: int) -> Any:
    extent = array.shape[place]
    shape = (*array.shape[:place], 1, *array.shape[place + 1 :])
    both = as_traced(concatenate_arrays([array, broadcast_to_shape(new, shape)], place))
    line = b.iota(extent + 1)
    at = broadcast_to_shape(advanced.wrap_negative(position, extent), line.shape)
    later = convert(b.greater(line, at), np.int64)
    source = b.select(b.equal(line, at), extent, b.subtract(line, later))
    return advanced.take(both, source, place, "clip")


@implements(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    """Return the flattened elements, repeated as often as needed, under another shape.

    Parameters
    ----------
    a : array_like
    new_shape : int or sequence of int
        Known while tracing.

    Returns
    -------
    Array
        Zeros where ``a`` is empty.

    Examples
    --------
    >>> resize([1, 2, 3], (2, 2)).tolist()
    [[1, 2], [3, 1]]
    """
    array, _ = _flat_or_axis(a, None)
    shape = shape_tuple(new_shape)
    size = int(np.prod(shape, dtype=np.int64))
    if array.size == 0 or size == 0:
        return new_array(np.zeros(shape, array.dtype))
    copies = concatenate_arrays([array] * -(-size // array.size), 0)
    return unshared(reshape_to(as_traced(copies)[:size], shape))  # type: ignore[index]


@implements(np.trim_zeros)
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """Return the array without zeros at its ends: the values must be known while tracing.

    Parameters
    ----------
    filt : array_like
    trim : "fb", "f" or "b", optional
        At the front, the back or both.
    axis : int or sequence of int, optional

    Returns
    -------
    Array

    Raises
    ------
    DataDependentShapeError
        If ``filt`` is traced.

    Examples
    --------
    >>> trim_zeros([0, 1, 0])
    [1]
    """
    return new_array(np.trim_zeros(_known_positions(filt, 0, "trim_zeros"), trim, axis))  # type: ignore[arg-type]


def writes(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for a function that writes into its first argument, unless called with ``inplace=False``."""

    def decorate(traced: Callable[..., Any]) -> Callable[..., Any]:
        known = inspect.signature(traced)
        first = next(iter(known.parameters))

        @functools.wraps(traced)
        def public(*args: Any, inplace: bool = True, **kwargs: Any) -> Any:
            array, *rest = args or (kwargs.pop(first),)
            target = array
            run = traced
            if inplace and are_arrays_immutable():
                refuse_write(f"{function.__name__} in place", f"{function.__name__}(..., inplace=False)")
            if current_trace() is None:
                target = array if inplace else np.array(array)
                run = function
            elif not inplace:
                target = new_array(asarray(array))
            elif not isinstance(array, Tracer):
                store(function.__name__, asarray(0), array)
            with immutable_arrays(False):
                result = run(target, *rest, **kwargs)
            return result if inplace else as_arrays(target)

        option = inspect.Parameter("inplace", inspect.Parameter.KEYWORD_ONLY, default=True)
        public.__signature__ = known.replace(parameters=[*known.parameters.values(), option])  # type: ignore[attr-defined]
        FUNCTIONS[function] = public
        return public

    return decorate


@writes(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Write ``src`` into ``dst`` where a mask holds.

    Parameters
    ----------
    dst : Array
    src : array_like
        It broadcasts to ``dst``.
    casting : str, optional
        NumPy's rule for the conversion.
    where : array_like of bool, optional
    inplace : bool, optional
        Without it, the array stays as it was, and a new one is returned.

    Raises
    ------
    DTypeError
        If ``casting`` forbids the conversion.
    ShapeError
        If ``src`` does not broadcast.

    Examples
    --------
    >>> array = np.zeros(2)
    >>> copyto(array, [1.0, 2.0])
    >>> array
    array([1., 2.])
    """
    if is_weak(src) and result_dtype(dst, src) == dst.dtype:
        src = convert(src, dst.dtype) if isinstance(src, Tracer) else np.asarray(src, dst.dtype)
    store("copyto", asarray(src), dst, where, casting)


@writes(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Write ``values``, repeated over the whole array, into ``a`` where a mask holds.

    Parameters
    ----------
    a : Array
    mask : array_like of bool
        Of the shape of ``a``.
    values : array_like
        Element ``k`` of them goes to element ``k`` of ``a``, counted without regard of the mask.
    inplace : bool, optional
        Without it, the array stays as it was, and a new one is returned.

    Examples
    --------
    >>> array = np.array([1, 2, 3])
    >>> putmask(array, [True, False, True], [7, 8, 9])
    >>> array
    array([7, 2, 9])
    """
    _require_safe("putmask", values, a)
    new = resize(stored(values, a.dtype), a.shape)
    store("putmask", new, a, asarray(mask, np.dtype(bool)))


def _require_safe(name: str, values: Any, a: Tracer) -> None:
    """Refuse arrays that lose something in the dtype of ``a``; numbers and lists of them adapt, as in NumPy."""
    if isinstance(values, ARRAYS) and shape_of(values):
        require_casting(name, [values], a.dtype, "safe")


@writes(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write the first values, in order, into the elements where a mask holds.

    Parameters
    ----------
    arr : Array
    mask : array_like of bool
        Of the size of ``arr``.
    vals : array_like
        From the start again where there are too few.
    inplace : bool, optional
        Without it, the array stays as it was, and a new one is returned.

    Raises
    ------
    ValueError
        If there are no values.

    Examples
    --------
    >>> place(np.array([1, 2, 3]), [True, False, True], [7, 8], inplace=False)
    Array([7, 2, 8])
    """
    _require_safe("place", vals, arr)
    flags = asarray(mask, np.dtype(bool))
    values = stored(vals, arr.dtype)
    values = reshape_to(values, (values.size,))
    if values.size == 0:
        raise ValueError("Cannot insert from an empty array!")
    rank = b.subtract(cumsum(convert(reshape_to(flags, (flags.size,)), np.int64)), 1)
    chosen = advanced.take(values, rank, 0, "wrap")
    store("place", reshape_to(chosen, arr.shape), arr, reshape_to(flags, arr.shape))


@writes(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Write values at positions of the flattened array.

    Parameters
    ----------
    a : Array
    ind : array_like of int
        Traced indices out of bounds are dropped under "raise".
    v : array_like
        From the start again where there are too few.
    mode : "raise", "clip" or "wrap", optional
    inplace : bool, optional
        Without it, the array stays as it was, and a new one is returned.

    Raises
    ------
    IndexError
        If an index that is known is out of bounds under "raise".

    Examples
    --------
    >>> put(np.array([1, 2, 3]), [0, 2], [7, 8], inplace=False)
    Array([7, 2, 8])
    """
    index = asarray(ind)
    index = reshape_to(index, (index.size,))
    if index.size == 0:
        return
    if mode != "raise":
        index = advanced.bound(convert(index, np.int64), a.size, mode)
    values = stored(v, a.dtype)
    a.flat[index] = resize(values, (shape_of(index)[0],))


@writes(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Write a value, or several in turn, on the main diagonal.

    Parameters
    ----------
    a : Array
        Of at least two dimensions, and one extent if they are more.
    val : array_like
    wrap : bool, optional
        In a tall matrix, go on in the rows below, leaving one out.
    inplace : bool, optional
        Without it, the array stays as it was, and a new one is returned.

    Raises
    ------
    ValueError
        If ``a`` has fewer dimensions, or extents that differ.

    Examples
    --------
    >>> fill_diagonal(np.zeros((2, 2)), 7, inplace=False).tolist()
    [[7.0, 0.0], [0.0, 7.0]]
    """
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim == 2:
        step = a.shape[1] + 1
        end = None if wrap else a.shape[1] * a.shape[1]
    else:
        if len(set(a.shape)) != 1:
            raise ValueError("All dimensions of input must be of equal length")
        step, end = 1 + sum(a.shape[0] ** k for k in range(1, a.ndim)), None
    count = len(range(a.size)[:end:step])
    a.flat[:end:step] = resize(stored(val, a.dtype), (count,)) if shape_of(asarray(val)) else val


@writes(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None = -1) -> None:
    """Write values at ``indices`` along an axis, matched along the others.

    Parameters
    ----------
    arr : Array
    indices : array_like of int
        They broadcast along the other axes.
    values : array_like
        They broadcast to the indices; where one repeats, the last value counts.
    axis : int or None, optional
        None for the flattened array.
    inplace : bool, optional
        Without it, the array stays as it was, and a new one is returned.

    Raises
    ------
    IndexError
        If the indices are no integers, or one that is known is out of bounds; a traced one is dropped.

    Examples
    --------
    >>> put_along_axis(np.array([[1, 2], [3, 4]]), np.array([[0], [1]]), 9, 1, inplace=False).tolist()
    [[9, 2], [3, 9]]
    """
    target, place_ = (arr, axis) if axis is not None else (arr.flat, 0)
    index = asarray(indices)
    items = advanced.along_axis_items(target.shape, index, normalize_axis(place_, target.ndim))
    advanced.scatter_points(target, items, values, "set")
