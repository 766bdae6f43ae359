"""Arrays made from nothing or from Python objects: zeros, full, eye, asarray, and the ranges arange and linspace.

While tracing, large arrays are made by iota and broadcast in the graph, never stored in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DataDependentShapeError
from numhlo.lowering.ops import layout
from numhlo.tracer.bind import bind1
from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace import manipulation
from numhlo.tracer.namespace.core import (
    as_dtype,
    broadcast_all,
    broadcast_to_shape,
    convert,
    expand,
    full_of,
    implements,
    normalize_axis,
    reshape_to,
    result_dtype,
    shape_of,
)
from numhlo.tracer.namespace.core import asarray as to_array
from numhlo.tracer.namespace.elementwise import log10, power
from numhlo.tracer.namespace.index_items import as_traced, new_array
from numhlo.tracer.namespace.manipulation import shape_tuple
from numhlo.tracer.trace import Tracer
from numhlo.tracer.views import lies_in

__all__ = [
    "arange",
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "asfortranarray",
    "copy",
    "diag",
    "diagflat",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "fromfunction",
    "full",
    "full_like",
    "geomspace",
    "identity",
    "linspace",
    "logspace",
    "ones",
    "ones_like",
    "tri",
    "tril",
    "triu",
    "vander",
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
    """Return an array of unspecified values; zeros while tracing."""
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
    """Return ones of another array's shape and dtype."""
    return ones(*_like(a, dtype, shape))


@implements(np.empty_like)
def empty_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Return unspecified values of another array's shape and dtype."""
    return zeros(*_like(a, dtype, shape))


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
def asanyarray(a: Any, dtype: Any = None, order: str | None = None, **options: Any) -> Any:
    """Return an array of ``a``; ``a`` itself where it is one."""
    return asarray(a, dtype, **options)


@implements(np.ascontiguousarray)
def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """Return an array of at least one dimension: a copy where NumPy's would not be contiguous already."""
    return manipulation.atleast_1d(asarray(a, dtype, "C"))


@implements(np.asfortranarray)
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """Return an array of at least one dimension: a copy where NumPy's would not be in Fortran's order already."""
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
    """Return a copy of an array."""
    return new_array(to_array(a))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """Return an array that shares memory with another library's, which is never a traced one."""
    return asarray(np.from_dlpack(x, device=device, copy=copy))


@implements(np.fromfunction)
def fromfunction(function: Callable[..., Any], shape: Any, *, dtype: Any = float, **options: Any) -> Any:
    """Return a function of the index arrays of a shape."""
    extents = shape_tuple(shape)
    return function(*[b.iota_along(extents, k, dtype) for k in range(len(extents))], **options)


@implements(np.arange)
def arange(
    start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None, like: Any = None
) -> Any:
    """Return evenly spaced values in ``[start, stop)``; the bounds must be known while tracing.

    Examples
    --------
    >>> arange(1, 2, 0.25)
    Array([1.  , 1.25, 1.5 , 1.75])
    """
    first, last = (0, start) if stop is None else (start, stop)
    first, last, stride = (_known_bound(x) for x in (first, last, 1 if step is None else step))
    line: np.ndarray = np.arange(first, last, stride, dtype)  # type: ignore[call-overload]
    if line.size < 2 or line.dtype.kind == "b":
        return new_array(line)
    # NumPy computes the second element and goes on by its distance from the first
    line_step = line[1] - line[0]
    index = b.iota(line.size, line.dtype)
    scaled = index if line_step == 1 else b.multiply(index, line_step.item())
    return new_array(scaled if line[0] == 0 else b.add(scaled, line[0].item()))


def _known_bound(bound: Any) -> Any:
    if not isinstance(bound, Tracer):
        return bound
    known = bound.concrete
    if known is None:
        raise DataDependentShapeError(
            "arange with a traced bound",
            where=capture_location(),
            why="its length would depend on a value that is not known while tracing",
            fix="mark the argument static, or use arange(N) < n as a mask at the full size N",
        )
    return known[()]


@implements(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Return ``num`` evenly spaced values from ``start`` to ``stop``, which may be arrays.

    Examples
    --------
    >>> linspace(0, 1, 3)
    Array([0. , 0.5, 1. ])
    """
    (num,) = shape_tuple(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    wanted = result_dtype(start, stop, 0.0)
    low, high = broadcast_all(convert(to_array(start), wanted), convert(to_array(stop), wanted))
    pieces = num - 1 if endpoint else num
    values, step = _line(low, high, num, pieces, endpoint)
    final = as_dtype(dtype, wanted)
    if final.kind in "iu" and wanted.kind == "f":
        values = b.floor(values)
    values = new_array(convert(values, final))
    values = manipulation.moveaxis(values, 0, axis) if normalize_axis(axis, values.ndim) else values
    return (values, step) if retstep else values


def _line(low: Any, high: Any, num: int, pieces: int, endpoint: bool) -> tuple[Any, Any]:
    """Return ``num`` values from ``low`` on, stacked along a first axis, and their distance."""
    wanted = low.dtype
    shape = (num, *shape_of(low))
    line = b.iota(num, wanted if wanted.kind != "c" else np.float64)
    column = convert(broadcast_to_shape(reshape_to(line, (num,) + (1,) * len(shape_of(low))), shape), wanted)
    difference = b.subtract(high, low)
    if pieces <= 0:
        step = b.constant(np.nan, difference)
        return b.add(b.multiply(column, broadcast_to_shape(difference, shape)), broadcast_to_shape(low, shape)), step
    step = b.divide(difference, b.constant(pieces, difference))
    values = b.add(b.multiply(column, broadcast_to_shape(step, shape)), broadcast_to_shape(low, shape))
    if endpoint and num > 1:
        is_last = b.equal(b.iota_along(shape, 0), num - 1)
        values = b.select(is_last, broadcast_to_shape(high, shape), values)
    return values, step


@implements(np.logspace)
def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """Return numbers spaced evenly on a log scale, from ``base**start`` to ``base**stop``.

    Examples
    --------
    >>> logspace(0, 2, 3)
    Array([  1.,  10., 100.])
    """
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    values = power(base, exponents)
    return values if dtype is None else convert(values, as_dtype(dtype))


@implements(np.geomspace)
def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Return numbers in geometric progression, from ``start`` to ``stop``; both of one sign."""
    wanted = result_dtype(start, stop, float(num), np.zeros((), dtype))
    low, high = broadcast_all(convert(to_array(start), wanted), convert(to_array(stop), wanted))
    low, high = as_traced(low), as_traced(high)
    negated = b.both(b.less(low, 0), b.less(high, 0)) if wanted.kind == "f" else full_of(False, low.shape, np.bool_)
    sign = b.select(negated, b.constant(-1, low), 1)
    low, high = b.multiply(low, sign), b.multiply(high, sign)
    exponents = linspace(log10(low), log10(high), num, endpoint)
    values = b.multiply(power(10.0, exponents), broadcast_to_shape(sign, exponents.shape))
    row = b.iota_along(values.shape, 0)
    ends = [(0, low)] + ([(num - 1, high)] if endpoint and num > 1 else [])
    for place, end in ends:
        exact = broadcast_to_shape(b.multiply(end, sign), values.shape)
        values = b.select(b.equal(row, place), exact, values)
    values = convert(values, as_dtype(dtype, wanted))
    return manipulation.moveaxis(values, 0, axis) if axis else values


@implements(np.eye)
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = float,
    order: str = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """Return a 2-d array with ones on the k-th diagonal.

    Examples
    --------
    >>> eye(2, 3, 1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    rows, columns = shape_tuple((N, N if M is None else M))
    return new_array(convert(_diagonal_mask(rows, columns, k, "EQ"), as_dtype(dtype)))


@implements(np.identity)
def identity(n: int, dtype: Any = None, *, like: Any = None) -> Any:
    """Return the n by n identity matrix.

    Examples
    --------
    >>> identity(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return eye(n, dtype=float if dtype is None else dtype)


def _diagonal_mask(rows: int, columns: int, k: Any, direction: str) -> Any:
    """Return the mask ``column <direction> row + k``."""
    shape = (rows, columns)
    offset = broadcast_to_shape(convert(to_array(k), np.int64), shape)
    return b.compare(direction, b.iota_along(shape, 1), b.add(b.iota_along(shape, 0), offset))


@implements(np.tri)
def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float, *, like: Any = None) -> Any:
    """Return ones at and below the k-th diagonal."""
    rows, columns = shape_tuple((N, N if M is None else M))
    return new_array(convert(_diagonal_mask(rows, columns, k, "LE"), as_dtype(dtype)))


@implements(np.tril)
def tril(m: Any, k: int = 0) -> Any:
    """Return the lower triangle, zeros above the k-th diagonal."""
    return _masked_triangle(to_array(m), k, "LE")


@implements(np.triu)
def triu(m: Any, k: int = 0) -> Any:
    """Return the upper triangle, zeros below the k-th diagonal."""
    return _masked_triangle(to_array(m), k, "GE")


def _masked_triangle(m: Any, k: int, direction: str) -> Any:
    shape = shape_of(m)
    if len(shape) == 1:
        m = broadcast_to_shape(m, (shape[0], shape[0]))
        shape = shape_of(m)
    mask = broadcast_to_shape(_diagonal_mask(shape[-2], shape[-1], k, direction), shape)
    return b.select(mask, m, b.constant(0, m))


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    """Return a diagonal, or a matrix with ``v`` on its k-th diagonal.

    Examples
    --------
    >>> diag([1, 2])
    Array([[1, 0], [0, 2]])
    """
    array = to_array(v)
    shape = shape_of(array)
    if len(shape) == 2:
        return manipulation.diagonal(array, k)
    if len(shape) != 1:
        raise ValueError("Input must be 1- or 2-d.")
    size = shape[0] + abs(k)
    low = max(-k, 0)
    attributes = {"edge_padding_low": (max(k, 0),), "edge_padding_high": (low,), "interior_padding": (0,)}
    padded = bind1(layout.PAD, array, np.zeros((), array.dtype), attributes=attributes)
    row = broadcast_to_shape(padded, (size, size))
    return b.select(_diagonal_mask(size, size, k, "EQ"), row, b.constant(0, row))


@implements(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    """Return a matrix with the flattened ``v`` on its k-th diagonal."""
    array = to_array(v)
    return diag(reshape_to(array, (math.prod(shape_of(array)),)), k)


@implements(np.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Return the powers of a vector's elements as columns, falling unless ``increasing``."""
    line = to_array(x)
    if len(shape_of(line)) != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = line.size if N is None else N
    wanted = result_dtype(line, np.int64(0))
    columns = [full_of(1, (line.size, 1), wanted)] if count else []
    column = expand(convert(line, wanted), 1)
    for _ in range(count - 1):
        columns.append(b.multiply(columns[-1], column))
    if not columns:
        return new_array(np.empty((line.size, 0), wanted))
    return bind1(layout.CONCATENATE, *(columns if increasing else columns[::-1]), attributes={"dimension": 1})
