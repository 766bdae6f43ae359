"""Means, variances and standard deviations over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy.out_arrays import store
from numhlo.library.numpy.reductions import NO_VALUE, finish, keeps, reduction_axes, sum
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building import (
    as_dtype,
    as_traced,
    asarray,
    bind1,
    broadcast_to_shape,
    convert,
    full_of,
    implements,
    reshape_to,
    shape_of,
)
from numhlo.tracer.building import operations as b

__all__ = ["mean", "std", "var"]


def _mean_dtype(dtype: np.dtype) -> np.dtype:
    return np.dtype(np.float64) if dtype.kind in "bui" else dtype


def computed_dtype(array: Any, dtype: Any, out: Any) -> Any:
    """Return the ``dtype`` argument; float32 where narrow floats go into a wider ``out``, which takes them unrounded.

    Parameters
    ----------
    array : array
    dtype : dtype or None
        As the caller gave it.
    out : Array or None
    """
    if dtype is not None:
        return as_dtype(dtype)
    if out is None or array.dtype.kind in "biu" or array.dtype.itemsize >= 4:
        return None
    return np.dtype(np.float32) if out.dtype.kind in "fc" and out.dtype.itemsize >= 4 else None


def inexact_dtype(array: Any, dtype: Any) -> Any:
    """Return the dtype asked for; integers are refused for floats, among which NaN is left out."""
    if array.dtype.kind in "fcV" and dtype is not None and np.dtype(dtype).kind in "biu":
        raise TypeError("If a is inexact, then dtype must be inexact")
    return dtype


def lessening(ddof: Any, correction: Any) -> Any:
    """Return what the number of elements is lessened by, of which there are two names."""
    if correction is NO_VALUE:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


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

    Parameters
    ----------
    a : array_like
    axis, out, keepdims, where : optional
        As those of `sum`.
    dtype : dtype, optional
        In which is added up, and of the result.

    Returns
    -------
    Array
        NaN for means over nothing, without a warning while tracing.

    Examples
    --------
    >>> mean(np.array([1.0, 2.0]))
    Array(1.5)
    """
    array = as_traced(asarray(a))
    accumulated = array.dtype if out is None or array.dtype.kind in "biu" or array.dtype.itemsize < 4 else out.dtype
    dtype = computed_dtype(array, dtype, out)
    final = _mean_dtype(accumulated) if dtype is None else np.dtype(dtype)
    axes = reduction_axes(axis, array.ndim)
    whole = final.kind in "biu" and out is not None and out.dtype.kind in "fc"  # a sum of integers, divided in out
    mean = _mean(array, axes, out.dtype if whole else final, where, final if whole else None)
    return finish("mean", _drop(mean, axes, keepdims), array.shape, axes, NO_VALUE, out)


def _mean(array: Any, axes: tuple[int, ...], final: np.dtype, where: Any, summed: np.dtype | None = None) -> Any:
    """Return the mean with axes kept; a sum of the dtype ``summed`` where that is given."""
    wide = np.dtype(np.float32) if final.itemsize < 4 else final
    total = sum(array if summed else convert(array, wide), axes, summed or wide, keepdims=True, where=where)
    count = convert(asarray(_count(array, axes, where)), wide)
    return convert(bind1(ops.DIVIDE, convert(total, wide), broadcast_to_shape(count, total.shape)), final)


def _drop(x: Any, axes: tuple[int, ...], keepdims: Any) -> Any:
    if keeps(keepdims):
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

    Parameters
    ----------
    a : array_like
    axis, out, keepdims, where : optional
        As those of `sum`.
    dtype : dtype, optional
        In which is computed; float64 by default for integers.
    ddof, correction : scalar, optional
        What N is lessened by.
    mean : array_like, optional
        Known already, with the axes kept.

    Returns
    -------
    Array
        Real, of ``abs(x - mean) ** 2`` for complex numbers; NaN where N - ddof is not positive.

    Raises
    ------
    DTypeError
        If ``dtype`` is an integer or boolean one.

    Notes
    -----
    Computed in two passes, the mean first, as NumPy does.

    Examples
    --------
    >>> var(np.array([1.0, 3.0]))
    Array(1.)
    """
    array = as_traced(asarray(a))
    axes = reduction_axes(axis, array.ndim)
    dtype = computed_dtype(array, dtype, out)
    final = _mean_dtype(array.dtype) if dtype is None else np.dtype(dtype)
    if final.kind in "biu":
        raise DTypeError(f"var(dtype={final})", where=capture_location(), fix="use a float or complex dtype")
    wide = np.dtype(np.float32) if final.itemsize < 4 else final
    center = _mean(array, axes, wide, where) if mean is NO_VALUE else convert(asarray(mean), wide)
    if array.dtype.kind == "c" and wide.kind != "c":  # as NumPy: from the real parts' mean, imaginary parts and all
        wide = np.result_type(wide, np.complex64)
        center = convert(center, wide)
    deviation = bind1(ops.SUBTRACT, convert(array, wide), broadcast_to_shape(center, array.shape))
    if where is not NO_VALUE:  # NaN times 0 is NaN: derivatives, too, must not see what is left out
        chosen = broadcast_to_shape(convert(asarray(where), np.dtype(np.bool_)), array.shape)
        deviation = b.select(chosen, deviation, 0)
    if wide.kind == "c":
        real, imag = bind1(ops.REAL, deviation), bind1(ops.IMAG, deviation)
        square = bind1(ops.ADD, bind1(ops.MULTIPLY, real, real), bind1(ops.MULTIPLY, imag, imag))
        final = square.dtype if array.dtype.kind == "c" and dtype is None else final
    else:
        square = bind1(ops.MULTIPLY, deviation, deviation)
    total = sum(square, axes, square.dtype, keepdims=True, where=where)
    less = lessening(ddof, correction)
    count = convert(asarray(_count(array, axes, where)), square.dtype)
    degrees = bind1(ops.SUBTRACT, count, full_of(less, shape_of(count), square.dtype))
    degrees = bind1(ops.MAXIMUM, degrees, full_of(0, shape_of(count), square.dtype))
    result = convert(bind1(ops.DIVIDE, total, broadcast_to_shape(degrees, total.shape)), final)
    return finish("var", _drop(result, axes, keepdims), array.shape, axes, NO_VALUE, out)


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

    Parameters
    ----------
    a : array_like
    axis, dtype, out, ddof, keepdims, where, mean, correction : optional
        As those of `var`.

    Returns
    -------
    Array
        Real; NaN where N - ddof is not positive.

    Raises
    ------
    DTypeError
        If ``dtype`` is an integer or boolean one.

    Examples
    --------
    >>> std(np.array([1.0, 3.0]))
    Array(1.)
    """
    array = as_traced(asarray(a))
    dtype = computed_dtype(array, dtype, out)
    spread = var(array, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return store("std", bind1(ops.SQRT, spread), out, exact=True)
