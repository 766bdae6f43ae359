"""Arrays made from a shape: zeros, ones, empty, full, and those like another array.

While tracing, large arrays are made by iota and broadcast in the graph, never stored in it. Ranges are in
`sequences`, matrices by their diagonals in `diagonals`, arrays made of objects in `from_objects`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.tracer.building import (
    as_dtype,
    broadcast_to_shape,
    convert,
    current_trace,
    full_of,
    implements,
    lay_out,
    new_array,
    shape_of,
    stands_for,
    stored,
)
from numhlo.tracer.building import asarray as to_array

__all__ = [
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]

_FROM_SHAPE = """
Parameters
----------
shape : int or sequence of int
    Known while tracing.
dtype : dtype, optional
    float64 by default.
order, device, like : optional
    NumPy's; without a meaning while tracing, where arrays are row-major.

Returns
-------
Array

Raises
------
DataDependentShapeError
    If an extent is traced.
DTypeError
    If StableHLO has no such element type.
"""

_LIKE = """
Parameters
----------
a : array_like
    Its shape and dtype are the defaults; its values do not count, and it may be traced.
dtype, order, subok, shape, device : optional
    As those of `zeros_like`.
fill_value : array_like
    Broadcast to the shape; may be traced.

Returns
-------
Array
"""


@stands_for(np.ndarray)
def _ndarray(
    shape: Any,
    dtype: Any = float,
    buffer: Any = None,
    offset: int = 0,
    strides: Any = None,
    order: Any = None,
) -> Any:
    """Return an array of a shape, as NumPy's constructor does: zeros, where NumPy's contents are undefined."""
    if buffer is None and strides is None and not offset and current_trace() is not None:
        return zeros(shape, dtype)
    return np.ndarray(shape, dtype, buffer, offset, strides, order)


@implements(np.zeros)
@described(_FROM_SHAPE)
def zeros(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """Return an array of zeros.

    Examples
    --------
    >>> zeros(2)
    Array([0., 0.])
    """
    return lay_out(new_array(full_of(0, shape_tuple(shape), as_dtype(dtype))), order)


@implements(np.ones)
@described(_FROM_SHAPE)
def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """Return an array of ones.

    Examples
    --------
    >>> ones(2, int)
    Array([1, 1])
    """
    return lay_out(new_array(full_of(1, shape_tuple(shape), as_dtype(dtype))), order)


@implements(np.empty)
@described(_FROM_SHAPE)
def empty(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """Return an array of unspecified values; zeros while tracing.

    Examples
    --------
    >>> empty((2, 3)).shape
    (2, 3)
    """
    return lay_out(new_array(full_of(0, shape_tuple(shape), as_dtype(dtype))), order)


@implements(np.full)
@described(_FROM_SHAPE, _LIKE)
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> Any:
    """Return an array filled with a value.

    Parameters
    ----------
    dtype : dtype, optional
        That of ``fill_value`` by default.
    order, device, like : optional
        As those of `zeros`.

    Raises
    ------
    DataDependentShapeError
        If an extent is traced.

    Examples
    --------
    >>> full(2, 7)
    Array([7, 7])
    """
    value = to_array(fill_value)
    wanted = as_dtype(dtype, value.dtype)
    value = stored(fill_value, wanted) if type(fill_value) is int else convert(value, wanted)
    return lay_out(new_array(broadcast_to_shape(value, shape_tuple(shape))), order)


def _like(a: Any, dtype: Any, shape: Any) -> tuple[tuple[int, ...], np.dtype]:
    array = to_array(a)
    return shape_of(array) if shape is None else shape_tuple(shape), as_dtype(dtype, array.dtype)


@implements(np.zeros_like)
@described(_LIKE)
def zeros_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Return zeros of another array's shape and dtype.

    Parameters
    ----------
    dtype : dtype, optional
    order, subok, device : optional
        NumPy's; without a meaning while tracing, where arrays are row-major.
    shape : int or sequence of int, optional

    Examples
    --------
    >>> zeros_like([1, 2])
    Array([0, 0])
    """
    return lay_out(zeros(*_like(a, dtype, shape)), order, a)


@implements(np.ones_like)
@described(_LIKE)
def ones_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Return ones of another array's shape and dtype.

    Parameters
    ----------
    dtype : dtype, optional
    order, subok, device : optional
        NumPy's; without a meaning while tracing, where arrays are row-major.
    shape : int or sequence of int, optional

    Examples
    --------
    >>> ones_like([1.5, 2.5])
    Array([1., 1.])
    """
    return lay_out(ones(*_like(a, dtype, shape)), order, a)


@implements(np.empty_like)
def empty_like(
    prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Return unspecified values of another array's shape and dtype.

    Parameters
    ----------
    prototype : array_like
        Its shape and dtype are the defaults.
    dtype, order, subok, shape, device : optional
        As those of `zeros_like`.

    Returns
    -------
    Array
        Of zeros while tracing.

    Examples
    --------
    >>> empty_like([1, 2]).dtype
    dtype('int64')
    """
    return lay_out(zeros(*_like(prototype, dtype, shape)), order, prototype)


@implements(np.full_like)
@described(_LIKE)
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

    Parameters
    ----------
    a : array_like
        Its shape and dtype are the defaults: a float fills an integer array truncated.

    Examples
    --------
    >>> full_like([1, 2], 7)
    Array([7, 7])
    """
    extents, wanted = _like(a, dtype, shape)
    return lay_out(full(extents, fill_value, wanted), order, a)
