"""Arrays made of what is there already: asarray, array, copy, from_dlpack, and fromfunction.

Nested lists may hold traced arrays. Arrays made from a shape are in `filled`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.numpy import reshaping
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.tracer.building import Tracer, as_dtype, implements, lay_out, lies_in, new_array, stands_for_scalar
from numhlo.tracer.building import asarray as to_array
from numhlo.tracer.building import operations as b

__all__ = [
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "asfortranarray",
    "copy",
    "from_dlpack",
    "fromfunction",
]


def _of_scalars(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy's that makes a new array of what stands for a scalar."""

    def run(a: Any, *args: Any, **options: Any) -> Any:
        return function(a[()] if stands_for_scalar(a) else a, *args, **options)

    return run


@implements(np.asarray, eager=_of_scalars(np.asarray))
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

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    order : "C", "F", "A" or "K", optional
        Where a traced array would not lie so in NumPy, the result is a copy.
    copy : bool, optional
        True for a copy in any case, False for an error where one is needed.
    device, like : optional
        NumPy's; without a meaning while tracing.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        If ``copy`` is False and a copy is needed.
    DTypeError
        If StableHLO has no such element type: strings, objects, records, longdouble.

    Examples
    --------
    >>> asarray([1, 2], dtype="float32")
    Array([1., 2.], dtype=float32)
    """
    converted = to_array(np.asarray(a) if isinstance(a, np.ndarray) else a, None if dtype is None else as_dtype(dtype))
    if converted is a and isinstance(a, Tracer) and not copy and not a.is_scalar and lies_in(a, order):
        return a
    if copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return lay_out(new_array(converted), order, converted)


@implements(np.asanyarray, eager=_of_scalars(np.asanyarray))
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

    Parameters
    ----------
    a, dtype, order, copy, device, like : optional
        As those of `asarray`; while tracing there are no subclasses to keep.

    Returns
    -------
    Array

    Examples
    --------
    >>> asanyarray([1, 2])
    Array([1, 2])
    """
    return asarray(to_array(a) if isinstance(a, np.ndarray) else a, dtype, order, device=device, copy=copy)


@implements(np.ascontiguousarray)
def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """Return an array of at least one dimension: a copy where NumPy's would not be contiguous already.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    like : optional
        NumPy's; without a meaning while tracing.

    Returns
    -------
    Array
        A scalar becomes an array of one element.

    Examples
    --------
    >>> ascontiguousarray(3.0)
    Array([3.])
    """
    return reshaping.atleast_1d(asarray(a, dtype, "C"))


@implements(np.asfortranarray)
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """Return an array of at least one dimension: a copy where NumPy's would not be in Fortran's order already.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    like : optional
        NumPy's; without a meaning while tracing.

    Returns
    -------
    Array
        A scalar becomes an array of one element.

    Examples
    --------
    >>> asfortranarray([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    return reshaping.atleast_1d(asarray(a, dtype, "F"))


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

    Parameters
    ----------
    object : array_like
        A nested list may hold traced arrays.
    dtype : dtype, optional
    copy : bool, optional
        None for a copy only where needed, False for an error where it is.
    order : "C", "F", "A" or "K", optional
        As that of `asarray`.
    ndmin : int, optional
        How many dimensions the result has at least; new ones of extent 1 come first.
    subok, like : optional
        NumPy's; without a meaning while tracing.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        If ``copy`` is False and a copy is needed.

    Examples
    --------
    >>> array([[1, 2], [3, 4]], "float32")
    Array([[1., 2.], [3., 4.]], dtype=float32)
    """
    result = asarray(object, dtype, order, copy=copy)
    missing = max(0, ndmin - result.ndim)
    return reshaping.reshape(result, (1,) * missing + result.shape) if missing else result


@implements(np.copy)
def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """Return a copy of an array.

    Parameters
    ----------
    a : array_like
    order, subok : optional
        NumPy's; without a meaning while tracing.

    Returns
    -------
    Array
        That shares no memory with ``a``.

    Examples
    --------
    >>> x = np.array([1, 2])
    >>> y = copy(x)
    >>> y[0] = 9
    >>> x
    array([1, 2])
    """
    array = to_array(np.asarray(a) if isinstance(a, np.ndarray) and not subok else a)
    return lay_out(new_array(array), order, array)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """Return an array that shares memory with another library's; a traced one as it is.

    Parameters
    ----------
    x : object
        With ``__dlpack__`` and ``__dlpack_device__``; on the CPU.
    device : optional
    copy : bool, optional
        True for a copy in any case, False for an error where one is needed.

    Returns
    -------
    Array

    Notes
    -----
    The Array API standard's exchange of arrays.

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

    Parameters
    ----------
    function : callable
        Called once, with one array for each axis.
    shape : int or sequence of int
        Known while tracing.
    dtype : dtype, optional
        Of the index arrays.
    like : optional
        NumPy's; without a meaning while tracing.
    **kwargs
        For the function.

    Returns
    -------
    object
        What the function returns.

    Examples
    --------
    >>> fromfunction(lambda row, column: row + 10 * column, (2, 2), dtype=int).tolist()
    [[0, 10], [1, 11]]
    """
    extents = shape_tuple(shape)
    return function(*[b.iota_along(extents, k, dtype) for k in range(len(extents))], **kwargs)
