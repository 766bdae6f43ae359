"""Arrays made from nothing or from Python objects: zeros, full, eye, asarray, and the ranges arange and linspace.

While tracing, large arrays are made by iota and broadcast in the graph, never stored in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace import manipulation
from numhlo.tracer.namespace.core import (
    as_dtype,
    broadcast_to_shape,
    convert,
    full_of,
    implements,
    shape_of,
)
from numhlo.tracer.namespace.core import asarray as to_array
from numhlo.tracer.namespace.index_items import new_array
from numhlo.tracer.namespace.manipulation import shape_tuple
from numhlo.tracer.trace import Tracer
from numhlo.tracer.views import lies_in

__all__ = [
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "asfortranarray",
    "copy",
    "empty",
    "empty_like",
    "from_dlpack",
    "fromfunction",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


@implements(np.zeros)
def zeros(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """Return an array of zeros.

    Examples
    --------
    >>> zeros(2)
    Array([0., 0.])
    """
    return new_array(full_of(0, shape_tuple(shape), as_dtype(dtype)))


@implements(np.ones)
def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """Return an array of ones.

    Examples
    --------
    >>> ones(2, int)
    Array([1, 1])
    """
    return new_array(full_of(1, shape_tuple(shape), as_dtype(dtype)))


@implements(np.empty)
def empty(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """Return an array of unspecified values; zeros while tracing.

    Examples
    --------
    >>> empty((2, 3)).shape
    (2, 3)
    """
    return new_array(full_of(0, shape_tuple(shape), as_dtype(dtype)))


@implements(np.full)
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> Any:
    """Return an array filled with a value.

    Examples
    --------
    >>> full(2, 7)
    Array([7, 7])
    """
    value = to_array(fill_value)
    return new_array(broadcast_to_shape(convert(value, as_dtype(dtype, value.dtype)), shape_tuple(shape)))


def _like(a: Any, dtype: Any, shape: Any) -> tuple[tuple[int, ...], np.dtype]:
    array = to_array(a)
    return shape_of(array) if shape is None else shape_tuple(shape), as_dtype(dtype, array.dtype)


@implements(np.zeros_like)
def zeros_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Return zeros of another array's shape and dtype.

    Examples
    --------
    >>> zeros_like([1, 2])
    Array([0, 0])
    """
    return zeros(*_like(a, dtype, shape))


@implements(np.ones_like)
def ones_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Return ones of another array's shape and dtype.

    Examples
    --------
    >>> ones_like([1.5, 2.5])
    Array([1., 1.])
    """
    return ones(*_like(a, dtype, shape))


@implements(np.empty_like)
def empty_like(
    prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Return unspecified values of another array's shape and dtype.

    Examples
    --------
    >>> empty_like([1, 2]).dtype
    dtype('int64')
    """
    return zeros(*_like(prototype, dtype, shape))


@implements(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """Return an array filled with a value, of another array's shape and dtype.

    Examples
    --------
    >>> full_like([1, 2], 7)
    Array([7, 7])
    """
    extents, wanted = _like(a, dtype, shape)
    return full(extents, fill_value, wanted)


@implements(np.asarray)
def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Any = None,
) -> Any:
    """Return an array of ``a``, which may be a nested list that holds traced arrays; ``a`` itself where it is one.

    Examples
    --------
    >>> asarray([1, 2], dtype="float32")
    Array([1., 2.], dtype=float32)
    """
    converted = to_array(a, None if dtype is None else as_dtype(dtype))
    if converted is a and isinstance(a, Tracer) and not copy and not a.is_scalar and lies_in(a, order):
        return a
    if copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return new_array(converted)


@implements(np.asanyarray)
def asanyarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Any = None,
) -> Any:
    """Return an array of ``a``; ``a`` itself where it is one.

    Examples
    --------
    >>> asanyarray([1, 2])
    Array([1, 2])
    """
    return asarray(a, dtype, order, device=device, copy=copy)


@implements(np.ascontiguousarray)
def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """Return an array of at least one dimension: a copy where NumPy's would not be contiguous already.

    Examples
    --------
    >>> ascontiguousarray(3.0)
    Array([3.])
    """
    return manipulation.atleast_1d(asarray(a, dtype, "C"))


@implements(np.asfortranarray)
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """Return an array of at least one dimension: a copy where NumPy's would not be in Fortran's order already.

    Examples
    --------
    >>> asfortranarray([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    return manipulation.atleast_1d(asarray(a, dtype, "F"))


@implements(np.array)
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: Any = None,
) -> Any:
    """Return a fresh array of ``object``.

    Examples
    --------
    >>> array([[1, 2], [3, 4]], "float32")
    Array([[1., 2.], [3., 4.]], dtype=float32)
    """
    result = asarray(object, dtype, order, copy=copy)
    missing = max(0, ndmin - result.ndim)
    return manipulation.reshape(result, (1,) * missing + result.shape) if missing else result


@implements(np.copy)
def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """Return a copy of an array.

    Examples
    --------
    >>> x = np.array([1, 2])
    >>> y = copy(x)
    >>> y[0] = 9
    >>> x
    array([1, 2])
    """
    return new_array(to_array(a))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """Return an array that shares memory with another library's; a traced one as it is.

    Examples
    --------
    >>> from_dlpack(np.array([1, 2]))
    Array([1, 2])
    """
    if isinstance(x, Tracer):
        return asarray(x, copy=copy)
    return asarray(np.from_dlpack(x, device=device, copy=copy))


@implements(np.fromfunction)
def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    """Return a function of the index arrays of a shape.

    Examples
    --------
    >>> fromfunction(lambda row, column: row + 10 * column, (2, 2), dtype=int).tolist()
    [[0, 10], [1, 11]]
    """
    extents = shape_tuple(shape)
    return function(*[b.iota_along(extents, k, dtype) for k in range(len(extents))], **kwargs)
