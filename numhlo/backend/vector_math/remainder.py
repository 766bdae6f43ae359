"""fmod: what truncating division leaves, exactly, with the dividend's sign.

The truncated quotient is known from a division: where that was rounded up to a whole number, it is one too large. Its
product with the divisor is exact if the quotient is short and the divisor in two halves (float64), or in float64
(float32). Beyond that the processor's library does it, bit by bit.
"""

from __future__ import annotations

from typing import Any

from numhlo.backend.primitives import (
    absolute,
    bits_of_f64,
    copy_sign,
    divide,
    f64_from_bits,
    remainder,
    select,
    to_f32,
    to_f64,
    truncate,
)
from numhlo.backend.vector_math.jitable import jitable, rescue_pair

LIMIT = 33554431.0  # 2**25 - 1: with 26 and 27 bits of the divisor the products have 53
LIMIT_F32 = 536870911.0  # 2**29 - 1: with 24 bits of a float32
LOW_BITS = 0x7FFFFFF


@jitable
def fmod_slow(x: Any, y: Any) -> Any:
    """Return the remainder, in time that grows with the logarithm of the quotient."""
    return remainder(x, y)


@jitable
def fmod_f64(x: Any, y: Any) -> Any:
    """Return ``x - y * truncate(x / y)``, exact; NaN where x is infinite or y zero."""
    size, step = absolute(x), absolute(y)
    quotient = divide(size, step)
    whole = truncate(quotient)
    high = f64_from_bits(bits_of_f64(step) & ~LOW_BITS)
    rest = (size - whole * high) - whole * (step - high)
    rest = select(rest < to_f64(0.0), rest + step, rest)
    rest = select(size < step, size, rest)
    return rescue_pair(copy_sign(rest, x), quotient, LIMIT, fmod_slow, x, y)


@jitable
def fmod_f32(x: Any, y: Any) -> Any:
    """Return ``x - y * truncate(x / y)``, exact; NaN where x is infinite or y zero."""
    dividend, divisor = to_f64(x), to_f64(y)
    size, step = absolute(dividend), absolute(divisor)
    quotient = divide(size, step)
    rest = size - truncate(quotient) * step
    rest = select(rest < to_f64(0.0), rest + step, rest)
    rest = select(size < step, size, rest)
    return to_f32(rescue_pair(copy_sign(rest, dividend), quotient, LIMIT_F32, fmod_slow, dividend, divisor))
