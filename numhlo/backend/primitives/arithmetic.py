"""Scalar arithmetic that Numba's own operators don't offer as we need it: branch-free, typed, never raising.

``+ - *`` on floats of one type are Numba's own; integers narrower than 64 bits come out of Numba's operators as 64-bit
ones, so kernels write ``to_i8(a + b)`` or ``add(a, b)``. Floats are rounded once per operation: nothing is contracted.
Both operands of a binary primitive have the same type, and so has its result.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.backend.primitives.storage import wrapped

SPLITTER = 134217729.0  # 2**27 + 1 splits a float64 into halves of 26 bits


def select(condition: Any, on_true: Any, on_false: Any) -> Any:
    """Return ``on_true`` where the condition holds, else ``on_false``; both are computed."""
    return on_true if condition else on_false


def overtake(better: Any, candidate: Any, best: Any) -> Any:
    """Return ``select(better, candidate, best)``: what a search across columns is made of.

    Its kernel compares and chooses more than it loads and stores, which the widest vectors do in fewer steps.
    """
    return candidate if better else best


def add(lhs: Any, rhs: Any) -> Any:
    """Return the sum; integers wrap."""
    with np.errstate(all="ignore"):
        return lhs + rhs


def subtract(lhs: Any, rhs: Any) -> Any:
    """Return the difference; integers wrap."""
    with np.errstate(all="ignore"):
        return lhs - rhs


def multiply(lhs: Any, rhs: Any) -> Any:
    """Return the product; integers wrap."""
    with np.errstate(all="ignore"):
        return lhs * rhs


def negate(value: Any) -> Any:
    """Return the negative; integers wrap."""
    with np.errstate(all="ignore"):
        return -value


def absolute(value: Any) -> Any:
    """Return the absolute value of an integer (wrapping) or float."""
    with np.errstate(all="ignore"):
        return np.abs(value)


def divide(lhs: Any, rhs: Any) -> Any:
    """Return the quotient: of floats by IEEE, of integers truncated.

    An integer divided by zero gives all ones (-1, or the largest unsigned), the least integer divided by -1 itself.
    """
    if lhs.dtype.kind not in "iu":
        with np.errstate(all="ignore"):
            return lhs / rhs
    if rhs == 0:
        return ~lhs.dtype.type(0)
    quotient = abs(int(lhs)) // abs(int(rhs))
    return wrapped(quotient if (lhs < 0) == (rhs < 0) else -quotient, lhs.dtype)


def remainder(lhs: Any, rhs: Any) -> Any:
    """Return what truncating division leaves, with the sign of ``lhs``; ``lhs`` where an integer ``rhs`` is zero."""
    if lhs.dtype.kind not in "iu":
        with np.errstate(all="ignore"):
            return np.fmod(lhs, rhs)
    if rhs == 0:
        return lhs
    rest = abs(int(lhs)) % abs(int(rhs))
    return wrapped(-rest if lhs < 0 else rest, lhs.dtype)


def minimum(lhs: Any, rhs: Any) -> Any:
    """Return the smaller float as IEEE 754-2019 says (NaN propagates, -0 is below +0); complex ones as NumPy."""
    if lhs.dtype.kind == "f" and lhs == rhs:
        return lhs if np.signbit(lhs) else rhs
    return np.minimum(lhs, rhs)


def maximum(lhs: Any, rhs: Any) -> Any:
    """Return the larger float as IEEE 754-2019 says (NaN propagates, -0 is below +0); complex ones as NumPy."""
    if lhs.dtype.kind == "f" and lhs == rhs:
        return rhs if np.signbit(lhs) else lhs
    return np.maximum(lhs, rhs)


def quick_minimum(lhs: Any, rhs: Any) -> Any:
    """Return the same as `minimum`, for floats that much waits for: soon there, but no loop becomes vectors of it."""
    return minimum(lhs, rhs)


def quick_maximum(lhs: Any, rhs: Any) -> Any:
    """Return the same as `maximum`, for floats that much waits for: soon there, but no loop becomes vectors of it."""
    return maximum(lhs, rhs)


def counted_from_end(index: Any, count: Any) -> Any:
    """Return an index of type int64, that of one from the end where it is negative, which is not expected."""
    return index if index >= 0 else add(index, count)


def within(index: Any, limit: Any) -> Any:
    """Return an index of type int64, the nearest one in ``[0, limit]`` where it is outside, which is not expected."""
    return min(max(index, 0), limit)


def placed(index: Any, count: Any, limit: Any) -> Any:
    """Return ``within(counted_from_end(index, count), limit)``, where neither is expected: by one test."""
    return within(counted_from_end(index, count), limit)


def square_root(value: Any) -> Any:
    """Return the square root of a float, NaN below zero."""
    with np.errstate(all="ignore"):
        return np.sqrt(value)


def floor(value: Any) -> Any:
    """Return the largest whole float not above the value."""
    return np.floor(value)


def ceil(value: Any) -> Any:
    """Return the smallest whole float not below the value."""
    return np.ceil(value)


def truncate(value: Any) -> Any:
    """Return the whole part of a float."""
    return np.trunc(value)


def round_even(value: Any) -> Any:
    """Return the nearest whole float, the even one of two."""
    return np.rint(value)


def round_away(value: Any) -> Any:
    """Return the nearest whole float, the one farther from zero of two."""
    whole = np.trunc(value)
    return np.copysign(abs(whole) + (abs(value - whole) >= 0.5), value).astype(value.dtype)


def copy_sign(value: Any, sign: Any) -> Any:
    """Return the magnitude of one float with the sign of another."""
    return np.copysign(value, sign)


def product_error(lhs: Any, rhs: Any, product: Any) -> Any:
    """Return what float64's ``product = lhs * rhs`` lost by rounding, exactly.

    Notes
    -----
    One instruction where the processor multiplies and adds at once; elsewhere, and here, Dekker's 16 (1971). Both have
    the same bits unless a factor is above 2**996 or the product below 2**-969.
    """
    lhs_high, lhs_low = _halves(lhs)
    rhs_high, rhs_low = _halves(rhs)
    return ((lhs_high * rhs_high - product) + lhs_high * rhs_low + lhs_low * rhs_high) + lhs_low * rhs_low


def _halves(value: Any) -> Any:
    """Return a float64 as a sum of two of 26 bits each."""
    with np.errstate(all="ignore"):
        big = value * SPLITTER
        high = big - (big - value)
        return high, value - high


def divide_complex(lhs: Any, rhs: Any) -> Any:
    """Return the quotient of two complex numbers by Smith's method, step by step as NumPy does it."""
    with np.errstate(all="ignore"):
        return np.divide(lhs, rhs)


def is_nan(value: Any) -> Any:
    """Return whether a float is NaN."""
    return value != value


def is_finite(value: Any) -> Any:
    """Return whether a float is neither infinite nor NaN."""
    return math.isfinite(value)
