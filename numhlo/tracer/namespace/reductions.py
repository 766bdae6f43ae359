"""Sums, products, extrema, means and variances, with axes, ``where``, ``initial``, ``dtype`` and ``out``."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops import reduction
from numhlo.lowering.ops.cumulative import initial_value
from numhlo.lowering.ops.primitive import Primitive
from numhlo.tracer.bind import bind1, trace_region
from numhlo.tracer.namespace.core import (
    asarray,
    broadcast_to_shape,
    convert,
    expand,
    full_of,
    implements,
    normalize_axes,
    reshape_to,
    shape_of,
)
from numhlo.tracer.namespace.cumulative import accumulator_dtype
from numhlo.tracer.namespace.elementwise import store
from numhlo.tracer.namespace.elementwise_rules import compare, constant, select
from numhlo.tracer.namespace.index_items import as_traced

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "count_nonzero",
    "max",
    "mean",
    "min",
    "prod",
    "ptp",
    "std",
    "sum",
    "var",
]

NO_VALUE: Any = np._NoValue


def reduce_with(op: Primitive, x: Any, initial: Any, axes: tuple[int, ...]) -> Any:
    """Return ``x`` reduced over axes by a binary op; ``initial`` is a scalar array of its dtype."""
    if not axes:
        return bind1(op, broadcast_to_shape(initial, shape_of(x)), x)
    scalar = TensorType((), x.dtype)
    body = trace_region(lambda a, b: [bind1(op, a, b)], [scalar, scalar])
    return bind1(reduction.REDUCE, x, initial, attributes={"dimensions": axes}, regions=[body])


def reduction_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes to reduce; a 0-d array may be reduced over axis 0 or -1, as in NumPy."""
    if ndim == 0 and isinstance(axis, int | np.integer) and axis in (0, -1):
        return ()
    return normalize_axes(axis, ndim)


def _finish(name: str, result: Any, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: Any, out: Any) -> Any:
    if keepdims is True or (keepdims is not NO_VALUE and keepdims):
        result = expand(result, *axes) if axes and len(shape_of(result)) < len(shape) else result
    return store(name, result, out, True)


def _reduce(
    name: str,
    op: Primitive,
    x: Any,
    neutral: Any,
    axis: Any,
    keepdims: Any,
    out: Any,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:
    """Reduce an array of the accumulator's dtype; masked-out elements become the neutral one."""
    x = as_traced(x)
    axes = reduction_axes(axis, x.ndim)
    if where is not NO_VALUE and where is not True:
        mask = broadcast_to_shape(asarray(where, np.dtype(bool)), x.shape)
        x = select(mask, x, full_of(neutral, x.shape, x.dtype))
    result = reduce_with(op, x, np.asarray(neutral).astype(x.dtype), axes)
    if initial is not NO_VALUE and initial is not None:
        first = broadcast_to_shape(convert(asarray(initial), x.dtype), shape_of(result))
        result = bind1(op, result, first)
    return _finish(name, result, x.shape, axes, keepdims, out)


def _accumulator(array: Any, dtype: Any, out: Any) -> np.dtype:
    default: np.dtype = array.dtype if out is None else out.dtype
    if dtype is not None:
        default = np.dtype(dtype)
    return accumulator_dtype(default) if out is None and dtype is None else default


@implements(np.sum)
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:
    """Return the sum of elements over axes; small integers accumulate in 64 bits.

    Examples
    --------
    >>> sum(np.array([[1, 2], [3, 4]]), axis=0)
    Array([4, 6])
    """
    array = asarray(a)
    wanted = _accumulator(array, dtype, out)
    return _reduce("sum", ops.ADD, convert(array, wanted), 0, axis, keepdims, out, initial, where)


@implements(np.prod)
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:
    """Return the product of elements over axes; small integers accumulate in 64 bits.

    Examples
    --------
    >>> prod(np.array([2, 3]))
    Array(6)
    """
    array = asarray(a)
    wanted = _accumulator(array, dtype, out)
    return _reduce("prod", ops.MULTIPLY, convert(array, wanted), 1, axis, keepdims, out, initial, where)


def _extremum(kind: str, a: Any, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    array = as_traced(asarray(a))
    axes = reduction_axes(axis, array.ndim)
    given = initial is not NO_VALUE and initial is not None
    if not given and 0 in [array.shape[k] for k in axes]:
        raise ValueError(f"zero-size array to reduction operation {kind} which has no identity")
    if not given and where is not NO_VALUE and where is not True:
        raise ValueError(
            f"reduction operation '{kind}' does not have an identity, "
            "so to use a where mask one has to specify 'initial'"
        )
    op = ops.MAXIMUM if kind == "maximum" else ops.MINIMUM
    neutral = initial_value("cummax" if kind == "maximum" else "cummin", array.dtype)
    return _reduce(kind, op, array, neutral, axis, keepdims, out, initial, where)


@implements(np.max, np.amax)
def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Any:
    """Return the greatest element over axes; NaN wins.

    Examples
    --------
    >>> max(np.array([3, 9, 5]))
    Array(9)
    """
    return _extremum("maximum", a, axis, out, keepdims, initial, where)


@implements(np.min, np.amin)
def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Any:
    """Return the least element over axes; NaN wins.

    Examples
    --------
    >>> min(np.array([3, 9, 5]))
    Array(3)
    """
    return _extremum("minimum", a, axis, out, keepdims, initial, where)


amax, amin = max, min


def _truth(a: Any) -> Any:
    array = asarray(a)
    return array if array.dtype.kind == "b" else compare("NE", array, constant(0, array))


@implements(np.all)
def all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE) -> Any:
    """Return whether all elements over axes are true.

    Examples
    --------
    >>> all(np.array([True, False]))
    Array(False)
    """
    return _reduce("all", ops.AND, _truth(a), True, axis, keepdims, out, where=where)


@implements(np.any)
def any(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE) -> Any:
    """Return whether any element over axes is true.

    Examples
    --------
    >>> any(np.array([True, False]))
    Array(True)
    """
    return _reduce("any", ops.OR, _truth(a), False, axis, keepdims, out, where=where)


def bitwise_and_reduce(a: Any, **options: Any) -> Any:
    """Return the bitwise and of all elements over axes."""
    return _bits_reduce("bitwise_and", ops.AND, a, **options)


def bitwise_or_reduce(a: Any, **options: Any) -> Any:
    """Return the bitwise or of all elements over axes."""
    return _bits_reduce("bitwise_or", ops.OR, a, **options)


def bitwise_xor_reduce(a: Any, **options: Any) -> Any:
    """Return the bitwise exclusive or of all elements over axes."""
    return _bits_reduce("bitwise_xor", ops.XOR, a, **options)


def _bits_reduce(name: str, op: Primitive, a: Any, dtype: Any = None, **options: Any) -> Any:
    array = asarray(a) if dtype is None else convert(asarray(a), np.dtype(dtype))
    ones = True if array.dtype.kind == "b" else np.iinfo(array.dtype).max if array.dtype.kind == "u" else -1
    return _reduce(name, op, array, ones if op is ops.AND else 0, **options)


@implements(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return the number of elements that are not zero.

    Examples
    --------
    >>> count_nonzero(np.array([0, 5, 7]))
    Array(2)
    """
    return sum(_truth(a), axis, np.int64, keepdims=keepdims)


def _mean_dtype(dtype: np.dtype) -> np.dtype:
    return np.dtype(np.float64) if dtype.kind in "bui" else dtype


def _count(x: Any, axes: tuple[int, ...], where: Any) -> Any:
    """Return how many elements each mean is over: a float scalar, or an array where masked."""
    if where is NO_VALUE or where is True:
        return float(np.prod([x.shape[k] for k in axes], dtype=np.float64))
    mask = broadcast_to_shape(asarray(where, np.dtype(bool)), x.shape)
    return sum(mask, axes, np.int64, keepdims=True)


@implements(np.mean)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """Return the arithmetic mean over axes; integers are averaged in float64, float16 in float32.

    Examples
    --------
    >>> mean(np.array([1.0, 2.0]))
    Array(1.5)
    """
    array = as_traced(asarray(a))
    accumulated = array.dtype if out is None or array.dtype.kind in "biu" or array.dtype.itemsize < 4 else out.dtype
    final = _mean_dtype(accumulated) if dtype is None else np.dtype(dtype)
    axes = reduction_axes(axis, array.ndim)
    return _finish("mean", _drop(_mean(array, axes, final, where), axes, keepdims), array.shape, axes, NO_VALUE, out)


def _mean(array: Any, axes: tuple[int, ...], final: np.dtype, where: Any) -> Any:
    """Return the mean with axes kept."""
    wide = np.dtype(np.float32) if final.itemsize < 4 else final
    total = sum(convert(array, wide), axes, wide, keepdims=True, where=where)
    count = convert(asarray(_count(array, axes, where)), wide)
    return convert(bind1(ops.DIVIDE, total, broadcast_to_shape(count, total.shape)), final)


def _drop(x: Any, axes: tuple[int, ...], keepdims: Any) -> Any:
    if keepdims is not NO_VALUE and keepdims:
        return x
    return reshape_dropped(x, axes)


def reshape_dropped(x: Any, axes: tuple[int, ...]) -> Any:
    """Return ``x`` without the given axes of extent 1."""
    return reshape_to(x, tuple(n for k, n in enumerate(x.shape) if k not in axes))


@implements(np.var)
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Any:
    """Return the variance over axes, divided by N - ddof (``correction`` is the Array API's name for it).

    Examples
    --------
    >>> var(np.array([1.0, 3.0]))
    Array(1.)
    """
    array = as_traced(asarray(a))
    axes = reduction_axes(axis, array.ndim)
    final = _mean_dtype(array.dtype) if dtype is None else np.dtype(dtype)
    if final.kind in "biu":
        raise DTypeError(f"var(dtype={final})", where=capture_location(), fix="use a float or complex dtype")
    wide = np.dtype(np.float32) if final.itemsize < 4 else final
    center = _mean(array, axes, wide, where) if mean is NO_VALUE else convert(asarray(mean), wide)
    deviation = bind1(ops.SUBTRACT, convert(array, wide), broadcast_to_shape(center, array.shape))
    if wide.kind == "c":
        real, imag = bind1(ops.REAL, deviation), bind1(ops.IMAG, deviation)
        square = bind1(ops.ADD, bind1(ops.MULTIPLY, real, real), bind1(ops.MULTIPLY, imag, imag))
        final = square.dtype if array.dtype.kind == "c" else final
    else:
        square = bind1(ops.MULTIPLY, deviation, deviation)
    total = sum(square, axes, square.dtype, keepdims=True, where=where)
    less = ddof if correction is NO_VALUE else correction
    count = convert(asarray(_count(array, axes, where)), square.dtype)
    degrees = bind1(ops.SUBTRACT, count, full_of(less, shape_of(count), square.dtype))
    degrees = bind1(ops.MAXIMUM, degrees, full_of(0, shape_of(count), square.dtype))
    result = convert(bind1(ops.DIVIDE, total, broadcast_to_shape(degrees, total.shape)), final)
    return _finish("var", _drop(result, axes, keepdims), array.shape, axes, NO_VALUE, out)


@implements(np.std)
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Any:
    """Return the standard deviation over axes.

    Examples
    --------
    >>> std(np.array([1.0, 3.0]))
    Array(1.)
    """
    spread = var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return store("std", bind1(ops.SQRT, spread), out, True)


@implements(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Any:
    """Return the difference between the greatest and the least element.

    Examples
    --------
    >>> ptp(np.array([3, 9, 5]))
    Array(6)
    """
    if asarray(a).dtype.kind == "b":
        raise DTypeError("ptp of a boolean array", where=capture_location(), fix="convert it to an integer dtype first")
    spread = bind1(ops.SUBTRACT, max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))
    return store("ptp", spread, out, True)
