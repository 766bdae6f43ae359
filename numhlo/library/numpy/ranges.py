"""Evenly spaced numbers: arange, linspace, logspace, geomspace, made by iota in the graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy import axis_order
from numhlo.library.numpy.elementwise import divide, log10, power, sign
from numhlo.library.numpy.reshaping import expand_dims, shape_tuple
from numhlo.tracer.building import (
    STATIC,
    Tracer,
    are_arrays_immutable,
    as_dtype,
    as_traced,
    broadcast_all,
    broadcast_to_shape,
    convert,
    implements,
    new_array,
    normalize_axis,
    reshape_to,
    result_dtype,
    shape_of,
    unknown_extent_of,
)
from numhlo.tracer.building import asarray as to_array
from numhlo.tracer.building import operations as b

__all__ = [
    "arange",
    "geomspace",
    "linspace",
    "logspace",
]


@implements(np.arange)
def arange(
    start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None, like: Any = None
) -> Any:
    """Return evenly spaced values in ``[start, stop)``; the bounds must be known while tracing.

    Parameters
    ----------
    start, stop, step : scalar
        A single bound is ``stop``, after 0.
    dtype : dtype, optional
        By default the common one of the bounds.
    device, like : optional
        NumPy's; without a meaning while tracing.

    Returns
    -------
    Array
        Of ``ceil((stop - start) / step)`` elements, none where that is negative; for floats, rounding may add one.

    Raises
    ------
    DataDependentShapeError
        If a bound is traced.

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
        raise unknown_extent_of(
            bound,
            "arange with a traced bound",
            why="its length would depend on a value that is not known while tracing",
            fix=f"{STATIC}, or use arange(N) < n as a mask at the full size N",
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

    Parameters
    ----------
    start, stop : array_like
        They broadcast; may be traced.
    num : int, optional
        Known while tracing.
    endpoint : bool, optional
        Whether ``stop`` is the last value.
    retstep : bool, optional
        Return the distance, too.
    dtype : dtype, optional
        Integers are rounded down.
    axis : int, optional
        Where the new axis stands in the result.
    device : optional
        NumPy's; without a meaning while tracing.

    Returns
    -------
    Array, or tuple of two Arrays
        Of floats by default.

    Raises
    ------
    ValueError
        If ``num`` is negative.

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
    values = axis_order.moveaxis(values, 0, axis) if normalize_axis(axis, values.ndim) else values
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

    Parameters
    ----------
    start, stop : array_like
        Exponents; they broadcast and may be traced.
    num, endpoint, dtype, axis : optional
        As those of `linspace`.
    base : array_like, optional

    Returns
    -------
    Array
        Of floats by default.

    Examples
    --------
    >>> logspace(0, 2, 3)
    Array([  1.,  10., 100.])
    """
    if np.ndim(base):
        ndim = len(np.broadcast_shapes(*[np.shape(x) for x in (start, stop, base)]))
        start, stop, base = (
            reshape_to(x, (1,) * (ndim - np.ndim(x)) + np.shape(x)) for x in map(to_array, (start, stop, base))
        )
        base = expand_dims(base, axis)
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    values = power(base, exponents)
    return values if dtype is None else convert(values, as_dtype(dtype))


@implements(np.geomspace)
def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Return numbers in geometric progression, from ``start`` to ``stop``; both of one sign.

    Parameters
    ----------
    start, stop : array_like
        They broadcast and may be traced; a traced 0 gives NaN, a known one an error.
    num, endpoint, dtype, axis : optional
        As those of `linspace`.

    Returns
    -------
    Array
        Of floats by default; both ends are exact.

    Examples
    --------
    >>> geomspace(1, 100, 3)
    Array([  1.,  10., 100.])
    """
    wanted = result_dtype(start, stop, float(num), np.zeros((), dtype))
    low, high = broadcast_all(convert(to_array(start), wanted), convert(to_array(stop), wanted))
    low, high = as_traced(low), as_traced(high)
    known = [] if are_arrays_immutable() else [low.known(), high.known()]
    if any(end is not None and not np.all(end) for end in known):
        raise ValueError("Geometric sequence cannot include zero")
    if wanted.kind == "c":
        direction = sign(low)  # turned so that it begins among the positive numbers, and back at the end
    else:
        direction = b.select(b.both(b.less(low, 0), b.less(high, 0)), b.constant(-1, low), 1)
    low, high = divide(low, direction), divide(high, direction)
    exponents = linspace(log10(low), log10(high), num, endpoint)
    values = b.multiply(power(10.0, exponents), broadcast_to_shape(direction, exponents.shape))
    row = b.iota_along(values.shape, 0)
    ends = [(0, low)] + ([(num - 1, high)] if endpoint and num > 1 else [])
    for place, end in ends:
        exact = broadcast_to_shape(b.multiply(end, direction), values.shape)
        values = b.select(b.equal(row, place), exact, values)
    values = convert(values, as_dtype(dtype, wanted))
    return axis_order.moveaxis(values, 0, axis) if axis else values
