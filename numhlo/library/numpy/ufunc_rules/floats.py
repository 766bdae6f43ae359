"""Functions of floats that look at their bits (nextafter, frexp, ldexp, trunc), or avoid overflow (hypot, logaddexp).

Operands arrive with the dtype and shape of the result; complex numbers have `complex_numbers`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.tracer.building import composite, convert
from numhlo.tracer.building import operations as b

LN_2 = math.log(2.0)


def _layout(dtype: np.dtype) -> tuple[int, int]:
    """Return the number of mantissa bits and the exponent's bias."""
    info = b.finfo(dtype)
    return int(info.nmant), 1 - int(info.minexp)


def _power_of_two(exponent: Any, dtype: np.dtype) -> Any:
    """Return 2 to the power of small signed integers as floats, by making their bits."""
    mantissa, bias = _layout(dtype)
    return b.bitcast(b.shift_left(b.add(exponent, bias), mantissa), dtype)


def scale_by_power_of_two(x: Any, exponent: Any) -> Any:
    """Return ``x * 2**exponent`` for signed integers of ``x``'s width, rounded once.

    What the first factor makes subnormal, the second one takes to zero, so that it does not matter how it was rounded.
    """
    mantissa, bias = _layout(x.dtype)
    limit = 2 * (bias + mantissa) + 2
    rest = b.maximum(b.minimum(exponent, limit), -limit)
    for _ in range(2):
        part = b.select(b.less(rest, 1 - bias), mantissa + 2 - bias, b.minimum(rest, bias))
        x, rest = b.multiply(x, _power_of_two(part, x.dtype)), b.subtract(rest, part)
    return b.multiply(x, _power_of_two(b.maximum(rest, 1 - bias), x.dtype))


def logaddexp(x: Any, y: Any) -> Any:
    """Return ``log(exp(x) + exp(y))`` without overflow."""
    large, below = _apart(x, y)
    return b.add(large, b.log1p(b.exp(below)))


def logaddexp2(x: Any, y: Any) -> Any:
    """Return ``log2(2**x + 2**y)`` without overflow."""
    large, below = _apart(x, y)
    return b.add(large, b.multiply(b.log1p(composite("exp2", below)), 1 / LN_2))


def _apart(x: Any, y: Any) -> tuple[Any, Any]:
    """Return the larger number, and how far the other one lies below it: 0 for equal infinities.

    Either of two equal ones is chosen: what is symmetric in both then has all its derivatives, where those of a maximum
    and of an absolute value would be lost.
    """
    first = b.at_least(x, y)
    large = b.select(first, x, y)
    below = b.subtract(b.select(first, y, x), large)
    return large, b.select(b.both(b.equal(x, y), b.is_nan(below)), 0.0, below)


def hypot(x: Any, y: Any) -> Any:
    """Return ``sqrt(x**2 + y**2)`` without overflow; infinity wins over NaN.

    The ratio keeps its sign, and either of two equal ones is chosen: so all derivatives are those of the formula.
    """
    across, along = b.absolute(x), b.absolute(y)
    first = b.at_least(across, along)
    large, small = b.select(first, x, y), b.select(first, y, x)
    ratio = b.divide(small, b.select(b.equal(large, 0), 1.0, large))
    result = b.multiply(b.absolute(large), b.sqrt(b.add(b.multiply(ratio, ratio), 1.0)))
    return b.select(b.either(b.equal(across, np.inf), b.equal(along, np.inf)), np.inf, result)


def nextafter(x: Any, y: Any) -> Any:
    """Return the next float after ``x`` toward ``y``."""
    bits = b.sign_bits(x)
    away = b.equal(b.greater(y, x), b.greater(x, 0))
    moved = b.select(away, b.add(bits, 1), b.subtract(bits, 1))
    least = b.copysign(b.bitcast(b.constant(1, bits), x.dtype), y)
    moved = b.select(b.equal(x, 0), least, b.bitcast(moved, x.dtype))
    unordered = b.either(b.is_nan(x), b.is_nan(y))
    return b.select(unordered, b.add(x, y), b.select(b.equal(x, y), y, moved))


def spacing(x: Any) -> Any:
    """Return the distance to the neighbour away from zero, with ``x``'s sign; upwards for float16, as in NumPy."""
    x = b.fixed(x)
    if x.dtype == np.float16:
        upward = b.subtract(nextafter(x, b.constant(np.inf, x)), x)
        return b.select(b.is_finite(x), upward, np.nan)
    outward = nextafter(x, b.copysign(b.constant(np.inf, x), x))
    found = b.select(b.equal(x, 0), b.absolute(outward), b.subtract(outward, x))
    return b.select(b.is_finite(x), found, np.nan)


def trunc(x: Any) -> Any:
    """Return the integer nearest toward zero."""
    return x if x.dtype.kind in "bui" else b.copysign(b.floor(b.absolute(x)), x)


def modf(x: Any) -> tuple[Any, Any]:
    """Return the fractional and the whole part, both with ``x``'s sign."""
    whole = trunc(x)
    zero = b.copysign(b.constant(0, x), x)
    fraction = b.select(b.equal(x, whole), b.with_slope_of(x, zero), b.subtract(x, whole))
    return b.select(b.equal(b.absolute(x), np.inf), zero, fraction), whole


def frexp(x: Any) -> tuple[Any, Any]:
    """Return the mantissa in [1/2, 1) and the power of two that make ``x``."""
    mantissa, bias = _layout(x.dtype)
    tiny = b.less(b.absolute(x), float(b.finfo(x.dtype).smallest_normal))
    bits = b.sign_bits(b.select(tiny, b.multiply(x, 2.0**mantissa), x))
    mask = ((1 << (8 * x.dtype.itemsize - 1 - mantissa)) - 1) << mantissa
    exponent = b.shift_right(b.both(bits, mask), mantissa)
    exponent = b.subtract(exponent, b.select(tiny, b.constant(mantissa + bias - 1, bits), bias - 1))
    regular = b.both(b.is_finite(x), b.unequal(x, 0))
    fraction = scale_by_power_of_two(x, b.negate(exponent))
    return b.select(regular, fraction, x), convert(b.select(regular, exponent, 0), np.int32)


def ldexp(x: Any, exponent: Any) -> Any:
    """Return ``x * 2**exponent``."""
    if x.dtype.itemsize < 4:
        return convert(ldexp(convert(x, np.float32), exponent), x.dtype)
    width = np.dtype(f"i{x.dtype.itemsize}")
    if exponent.dtype.itemsize > width.itemsize:
        limit = int(np.iinfo(width).max)
        exponent = b.maximum(b.minimum(exponent, limit), -limit)
    return scale_by_power_of_two(x, convert(exponent, width))


def heaviside(x: Any, y: Any) -> Any:
    """Return 0 below zero, ``y`` at zero, 1 above."""
    step = b.select(b.less(x, 0), b.constant(0, x), 1)
    return b.select(b.is_nan(x), x, b.select(b.equal(x, 0), y, step))
