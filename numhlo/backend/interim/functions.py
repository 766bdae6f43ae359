"""What plain text calls where Python has no expression for it: the rare and total cases of arithmetic.

Everything here takes and gives registers as `typed` describes them, and means what the interpreter's ops mean.
"""

from __future__ import annotations

import math

import numpy as np

from numhlo.backend.interim.typed import limits, wrap

INEXACT_FROM = 1 << 53


def divide_by_zero(lhs: float, rhs: float) -> float:
    """Return ``lhs / rhs`` where ``rhs`` is a zero, which Python refuses."""
    if lhs == 0 or lhs != lhs:
        return math.nan
    return math.copysign(math.inf, lhs) * math.copysign(1.0, rhs)


def least_of_ties(lhs: np.float32 | float, rhs: np.float32 | float) -> np.float32 | float:
    """Return the minimum of floats of which neither is less: NaN if there is one, else -0.0 if there is one."""
    if lhs != lhs:
        return lhs
    if rhs != rhs:
        return rhs
    return lhs if math.copysign(1.0, lhs) < 0 else rhs


def greatest_of_ties(lhs: np.float32 | float, rhs: np.float32 | float) -> np.float32 | float:
    """Return the maximum of floats of which neither is less: NaN if there is one, else 0.0 if there is one."""
    if lhs != lhs:
        return lhs
    if rhs != rhs:
        return rhs
    return rhs if math.copysign(1.0, lhs) < 0 else lhs


def float_remainder(lhs: float, rhs: float) -> float:
    """Return C's ``fmod``, NaN where Python's raises."""
    try:
        return math.fmod(lhs, rhs)
    except ValueError:
        return math.nan


def divide_truncating(lhs: int, rhs: int) -> int:
    """Return a signed quotient rounded toward zero, not yet wrapped; -1 where ``rhs`` is 0."""
    if rhs == 0:
        return -1
    quotient = abs(lhs) // abs(rhs)
    return quotient if (lhs < 0) == (rhs < 0) else -quotient


def remainder_truncating(lhs: int, rhs: int) -> int:
    """Return what `divide_truncating` leaves, with the sign of ``lhs``; ``lhs`` where ``rhs`` is 0."""
    if rhs == 0:
        return lhs
    rest = abs(lhs) % abs(rhs)
    return -rest if lhs < 0 else rest


def shift_left(value: int, amount: int, bits: int) -> int:
    """Return the pattern shifted left, not yet wrapped; 0 where the amount is out of range."""
    return value << amount if 0 <= amount < bits else 0


def shift_right_logical(pattern: int, amount: int, bits: int) -> int:
    """Return a pattern without sign shifted right; 0 where the amount is out of range."""
    return pattern >> amount if 0 <= amount < bits else 0


def shift_right_arithmetic(value: int, amount: int, bits: int) -> int:
    """Return a signed number shifted right; only signs where the amount is out of range."""
    return value >> (amount if 0 <= amount < bits else bits - 1)


def wrapped(value: int, type: str) -> int:
    """Return an integer modulo two to the width of ``type``."""
    return wrap(value, type)


def saturated(value: float, type: str) -> int:
    """Return a float truncated and cut to an integer type's range; 0 where it is NaN."""
    if value != value:
        return 0
    least, most = limits(type)
    if value <= least:
        return least
    return most if value >= most else int(value)


def float32_of_integer(value: int) -> np.float32:
    """Return an integer rounded once."""
    if -INEXACT_FROM <= value <= INEXACT_FROM:
        return np.float32(value)
    exact = np.int64(value) if value < 0 else np.uint64(value)
    return exact.astype(np.float32)
