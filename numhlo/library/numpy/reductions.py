"""Sums, products, extrema and questions about all elements, with ``where``, ``initial``, ``dtype`` and ``out``.

Means and variances are in `moments`, extrema's places in `searching`, reductions without NaN in `nan_reductions`.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy.cumulative import accumulator_dtype
from numhlo.library.numpy.out_arrays import store
from numhlo.library.numpy.ufunc_rules.elementwise import compare, constant, select
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.cumulative import initial_value
from numhlo.lowering.ops.primitive import Primitive
from numhlo.tracer.building import (
    as_traced,
    asarray,
    bind1,
    broadcast_to_shape,
    convert,
    expand,
    full_of,
    implements,
    normalize_axes,
    reduce_with,
    shape_of,
)

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "count_nonzero",
    "max",
    "min",
    "prod",
    "ptp",
    "sum",
]

_EXTREMUM = """
Parameters
----------
a : array_like
    Complex numbers are ordered by real part, then imaginary part.
axis, out, keepdims : optional
    As those of `sum`.
initial : scalar, optional
    Takes part; what an empty or masked reduction gives.
where : array_like of bool, optional
    Which elements count; needs ``initial``.

Returns
-------
Array
    Of the dtype of ``a``.

Raises
------
ValueError
    If a reduction is empty or may be masked away, and there is no ``initial``.
"""

_TRUTH = """
Parameters
----------
a : array_like
    What is not zero is true, NaN too.
axis, out, keepdims, where : optional
    As those of `sum`.

Returns
-------
Array
    Of booleans; over nothing, true for `all` and false for `any`.
"""

NO_VALUE: Any = np._NoValue


def reduction_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes to reduce; a 0-d array may be reduced over axis 0 or -1, as in NumPy."""
    if ndim == 0 and isinstance(axis, int | np.integer) and axis in (0, -1):
        return ()
    return normalize_axes(axis, ndim)


def keeps(keepdims: Any) -> bool:
    """Return whether axes are kept; what is no integer raises NumPy's `TypeError`."""
    return keepdims is True or (keepdims is not NO_VALUE and operator.index(keepdims) != 0)


def finish(name: str, result: Any, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: Any, out: Any) -> Any:
    """Return what was reduced over axes of an array of ``shape``, with them kept or in ``out`` where asked for."""
    if keeps(keepdims):
        result = expand(result, *axes) if axes and len(shape_of(result)) < len(shape) else result
    return store(name, result, out, exact=True)


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
        # a number of Python's that the dtype can't hold raises what NumPy does
        first = np.asarray(initial, x.dtype) if type(initial) in (int, float, complex) else asarray(initial)
        first = broadcast_to_shape(convert(first, x.dtype), shape_of(result))
        result = bind1(op, result, first)
    return finish(name, result, x.shape, axes, keepdims, out)


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

    Parameters
    ----------
    a : array_like
    axis : int or sequence of int, optional
        All axes by default.
    dtype : dtype, optional
        In which is added up. By default that of ``a``; int64 or uint64 for narrower integers and booleans.
    out : Array, optional
        Where the result is written; its dtype is then the default.
    keepdims : bool, optional
        Keep the axes, with extent 1.
    initial : scalar, optional
        Added to every sum.
    where : array_like of bool, optional
        Which elements count; it broadcasts to ``a``.

    Returns
    -------
    Array
        0 for sums over nothing; NaN where one counts.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.

    Notes
    -----
    Elements are added in an order that the shape alone decides, so the bits do not depend on the number of threads.

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

    Parameters
    ----------
    a : array_like
    axis, dtype, out, keepdims, where : optional
        As those of `sum`.
    initial : scalar, optional
        A factor of every product.

    Returns
    -------
    Array
        1 for products over nothing; integers wrap around.

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
@described(_EXTREMUM)
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
@described(_EXTREMUM)
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
@described(_TRUTH)
def all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE) -> Any:
    """Return whether all elements over axes are true.

    Examples
    --------
    >>> all(np.array([True, False]))
    Array(False)
    """
    return _reduce("all", ops.AND, _truth(a), True, axis, keepdims, out, where=where)


@implements(np.any)
@described(_TRUTH)
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

    Parameters
    ----------
    a : array_like
        NaN counts.
    axis, keepdims : optional
        As those of `sum`.

    Returns
    -------
    Array
        Of int64.

    Examples
    --------
    >>> count_nonzero(np.array([0, 5, 7]))
    Array(2)
    """
    return sum(_truth(a), axis, np.int64, keepdims=keepdims)


@implements(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Any:
    """Return the difference between the greatest and the least element.

    Parameters
    ----------
    a : array_like
    axis, out, keepdims : optional
        As those of `sum`.

    Returns
    -------
    Array
        Of the dtype of ``a``, in which small integers may wrap around; NaN wins.

    Raises
    ------
    DTypeError
        If ``a`` is boolean.
    ValueError
        If a reduction is empty.

    Examples
    --------
    >>> ptp(np.array([3, 9, 5]))
    Array(6)
    """
    if asarray(a).dtype.kind == "b":
        raise DTypeError("ptp of a boolean array", where=capture_location(), fix="convert it to an integer dtype first")
    spread = bind1(ops.SUBTRACT, max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))
    return store("ptp", spread, out, exact=True)
