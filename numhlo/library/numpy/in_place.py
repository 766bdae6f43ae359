"""NumPy's functions that write into their first argument: copyto, put, place, putmask and their kin.

With ``inplace=False`` they leave it alone and return a new array, as JAX's do. Assignment is `indexing`'s.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.numpy.cumulative import cumsum
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.insertion import resize
from numhlo.library.numpy.out_arrays import store
from numhlo.tracer.building import (
    ARRAYS,
    FUNCTIONS,
    Tracer,
    are_arrays_immutable,
    as_arrays,
    asarray,
    convert,
    current_trace,
    immutable_arrays,
    is_weak,
    new_array,
    normalize_axis,
    refuse_write,
    require_array,
    require_casting,
    reshape_to,
    result_dtype,
    shape_of,
    stored,
)
from numhlo.tracer.building import operations as b

__all__ = ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"]


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
            require_array(target, function.__name__)
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
