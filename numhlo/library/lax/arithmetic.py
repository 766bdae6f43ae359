"""Strict elementwise operations that are more than one op: powers, halves of products, rounding, choices.

Operands are those of `operands`. What is one op or composite is in `elementwise`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.lax.arguments import RoundingMethod
from numhlo.library.lax.operands import operands
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError
from numhlo.lowering.ops import comparison
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building import asarray, bind1, broadcast_to_shape, composite, convert, shape_of, spelling
from numhlo.tracer.building import operations as b

__all__ = ["betainc", "clamp", "integer_pow", "mulhi", "pow", "round", "select", "select_n"]


def betainc(a: Any, b: Any, x: Any) -> Any:
    """Return the regularized incomplete beta function.

    Parameters
    ----------
    a, b, x : array_like
        Of floats, positive ``a`` and ``b``, and ``x`` in [0, 1]; NaN elsewhere. Of one dtype and shape, as for `add`.

    Returns
    -------
    Array
        Of floats.

    Notes
    -----
    NIST DLMF section 8.17.

    Examples
    --------
    >>> betainc(1.0, 2.0, np.array([0.5, 1.0]))
    Array([0.75, 1.  ])
    """
    return composite("betainc", *operands("betainc", a, b, x))


def pow(x: Any, y: Any) -> Any:
    """Return ``x`` to the power ``y``; integers are allowed as the power of floats.

    Parameters
    ----------
    x, y : array_like
        Of numbers, of one dtype and shape, as for `add`.

    Returns
    -------
    Array
        Of the dtype of ``x``; integers to negative powers are 0, but of 1 and -1.

    Raises
    ------
    DTypeError, OperandError
        If dtypes or shapes differ otherwise.

    Notes
    -----
    StableHLO specification, section ``power``.

    Examples
    --------
    >>> pow(np.array([2.0, 3.0]), 2)
    Array([4., 9.])
    """
    kinds = [asarray(v).dtype.kind for v in (x, y)]
    if kinds[1] in "iu" and kinds[0] in "fcV":
        y = convert(asarray(y), asarray(x).dtype)
    return bind1(ops.POWER, *operands("pow", x, y))


def mulhi(x: Any, y: Any, /) -> Any:
    """Return the high half of the product of integers: the bits that `mul` loses.

    Parameters
    ----------
    x, y : array_like
        Of integers of 8 to 64 bits, of one dtype and shape, as for `add`.

    Returns
    -------
    Array
        Of that dtype.

    Raises
    ------
    DTypeError, OperandError
        If operands are no integers, or differ in dtype or shape.

    Examples
    --------
    >>> mulhi(np.array([2**40, -1]), np.array([2**40, 1]))
    Array([65536,    -1])
    """
    first, second = operands("mulhi", x, y)
    dtype = first.dtype
    if dtype.kind not in "iu" or dtype.itemsize * 8 not in (8, 16, 32, 64):
        raise DTypeError(f"lax.mulhi of {spelling(first)}", where=capture_location(), fix="use integers")
    if dtype.itemsize < 8:
        wide = np.dtype(f"{dtype.kind}8")
        shift = b.shift_right if dtype.kind == "i" else b.shift_right_logical
        return convert(shift(b.multiply(convert(first, wide), convert(second, wide)), 8 * dtype.itemsize), dtype)
    high = _high_half(convert(first, np.uint64), convert(second, np.uint64))
    if dtype.kind == "u":
        return high
    # of two's complement: x y = x' y' - 2^64 (y where x < 0, x where y < 0), modulo 2^128
    high = b.subtract(convert(high, dtype), b.select(b.less(first, 0), second, 0))
    return b.subtract(high, b.select(b.less(second, 0), first, 0))


def _high_half(x: Any, y: Any) -> Any:
    """Return the upper 64 bits of the product of uint64, from products of 32 bits."""
    low, half = 0xFFFFFFFF, 32
    x0, x1, y0, y1 = b.both(x, low), b.shift_right_logical(x, half), b.both(y, low), b.shift_right_logical(y, half)
    first = b.add(b.multiply(x1, y0), b.shift_right_logical(b.multiply(x0, y0), half))
    second = b.add(b.multiply(x0, y1), b.both(first, low))
    high = b.add(b.multiply(x1, y1), b.shift_right_logical(first, half))
    return b.add(high, b.shift_right_logical(second, half))


def integer_pow(x: Any, y: int) -> Any:
    """Return ``x`` to a Python integer power, by repeated multiplication.

    Parameters
    ----------
    x : array_like
        Of numbers.
    y : int
        Known while tracing; negative ones take the reciprocal at the end.

    Returns
    -------
    Array
        Of the shape and dtype of ``x``, rounded after each of about ``2 log2(y)`` products.

    Examples
    --------
    >>> integer_pow(np.array([2.0, 4.0]), -2)
    Array([0.25  , 0.0625])
    """
    (base,) = operands("integer_pow", x)
    if y < 0:
        return b.divide(1.0, integer_pow(base, -y))
    result = None
    power = base
    while y:
        if y & 1:
            result = power if result is None else b.multiply(result, power)
        y >>= 1
        power = b.multiply(power, power) if y else power
    return b.constant(1, base) if result is None else result


def round(x: Any, rounding_method: Any = RoundingMethod.AWAY_FROM_ZERO) -> Any:
    """Return the nearest integer; halves go away from zero (method 0), or to even (method 1).

    Parameters
    ----------
    x : array_like
        Of floats.
    rounding_method : RoundingMethod or int, optional

    Returns
    -------
    Array
        Of the shape and dtype of ``x``.

    Raises
    ------
    ArgumentError
        If the method is another.

    Notes
    -----
    StableHLO specification, sections ``round_nearest_afz`` and ``round_nearest_even``.

    Examples
    --------
    >>> round(np.array([0.5, 1.5])), round(np.array([0.5, 1.5]), 1)
    (Array([1., 2.]), Array([0., 2.]))
    """
    (value,) = operands("round", x)
    if value.dtype.kind not in "fV":
        raise DTypeError(f"lax.round of {spelling(value)}", where=capture_location(), why="it rounds real floats")
    method = int(rounding_method)
    if method not in (0, 1):
        raise ArgumentError(f"lax.round(rounding_method={rounding_method})", where=capture_location(), fix="use 0 or 1")
    return bind1(ops.ROUND_NEAREST_EVEN if method else ops.ROUND_NEAREST_AFZ, value)


def clamp(min: Any, x: Any, max: Any) -> Any:
    """Return ``x`` limited to ``[min, max]``, which may be scalars.

    Parameters
    ----------
    min, x, max : array_like
        Of one dtype, and shape but for scalars.

    Returns
    -------
    Array
        ``minimum(maximum(x, min), max)``, so that ``max`` wins where they cross; NaN in any of them gives NaN.

    Notes
    -----
    StableHLO specification, section ``clamp``.

    Examples
    --------
    >>> clamp(0, np.array([-3, 2, 9]), 5)
    Array([0, 2, 5])
    """
    return bind1(comparison.CLAMP, *operands("clamp", min, x, max))


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Choose element by element: from ``on_true`` where ``pred``, else from ``on_false``.

    Parameters
    ----------
    pred : bool array
        A scalar, or of the arrays' shape.
    on_true, on_false : array
        Of one shape and dtype; a Python scalar takes the other's.

    Returns
    -------
    Array
        Of that shape and dtype. Both are computed in full.

    Raises
    ------
    DTypeError, OperandError, VerificationError
        If dtypes or shapes do not fit.

    Notes
    -----
    StableHLO specification, section ``select``.

    Examples
    --------
    >>> select(np.array([True, False]), np.array([1, 2]), np.array([3, 4])).tolist()
    [1, 4]
    """
    return bind1(comparison.SELECT, asarray(pred), *operands("select", on_true, on_false))


def select_n(which: Any, *cases: Any) -> Any:
    """Return elements of the case that ``which`` names: a boolean or an integer in range.

    Parameters
    ----------
    which : array_like
        Of booleans for two cases, else of integers; those out of range take the nearest case.
    *cases : array_like
        Of one dtype and shape; all are computed.

    Returns
    -------
    Array

    Raises
    ------
    ArgumentError
        If a boolean is to choose among more than two.

    Examples
    --------
    >>> select_n(np.array([0, 2]), np.array([1, 2]), np.array([3, 4]), np.array([5, 6]))
    Array([1, 6])
    """
    selector = asarray(which)
    arrays = operands("select_n", *cases)
    if selector.dtype.kind not in "biu":
        what = f"lax.select_n by {spelling(selector)}"
        raise DTypeError(what, where=capture_location(), why="a boolean or an integer chooses among cases")
    if selector.dtype.kind == "b":
        if len(arrays) > 2:
            raise ArgumentError("lax.select_n: a boolean chooses between two cases", where=capture_location())
        selector = convert(selector, np.int32)
    selector = broadcast_to_shape(selector, shape_of(arrays[0]))
    result = arrays[-1]
    for number in reversed(range(len(arrays) - 1)):
        result = b.select(b.at_most(selector, number), arrays[number], result)
    return result
