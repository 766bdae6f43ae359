"""sinh, cosh, tanh and the logistic function.

sinh(k ln 2 + r) is sinh(k ln 2) cosh(r) + cosh(k ln 2) sinh(r), cosh likewise: scales and two polynomials, no quotient.

tanh and the logistic function are quotients of terms in exp(x). The latter carries its rounding errors along. With
``n + dn`` over ``d + dd`` and ``q = n / d``, the quotient is ``q + (dn - q dd) / d``; 1 / d is known from q here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.backend.primitives import (
    absolute,
    bits_of_f32,
    bits_of_f64,
    copy_sign,
    divide,
    f32_from_bits,
    f64_from_bits,
    select,
    to_f32,
    to_f64,
)
from numhlo.backend.vector_math.exponential import (
    EXP_F32,
    EXP_F64,
    FADED,
    FADED_F32,
    LN2,
    LOG2_E,
    ROUND,
    exp_rest_f32,
    faded_f32,
    faded_f64,
    reduced_f32,
    reduced_f64,
)
from numhlo.backend.vector_math.jitable import constants_f32, horner, jitable, polynomial

# (sinh(r) / r - 1) / r**2 and (cosh(r) - 1) / r**2 in r**2, |r| <= ln 2 / 2, errors 2**-61.4 and 2**-57.4
SINH_F64 = (
    0.16666666666666677,
    0.008333333333321442,
    0.00019841269886663982,
    2.7557243614785002e-06,
    2.5109260976699276e-08,
)
COSH_F64 = (
    0.5000000000000013,
    0.04166666666651203,
    0.00138888889479163,
    2.4801488987564038e-05,
    2.763163001591138e-07,
)
# the same with errors 2**-37.4 and 2**-34.3, for float32
SINH_SHORT = (0.1666666675554687, 0.008333288617028992, 0.0001990520325883853)
COSH_SHORT = (0.5000000080034825, 0.04166626403370583, 0.0013946448610173616)

EXP_EVEN_F32, EXP_ODD_F32 = EXP_F32[::2], EXP_F32[1::2]  # few, but what waits for them is long

ONE, TANH_ONE, NEGLIGIBLE = np.float64(1.0), np.float64(20.0), np.float64(-60.0)
ZERO_F32, ONE_F32, TWO_F32 = constants_f32(0.0, 1.0, 2.0)
COSH_OVERFLOW, COSH_OVERFLOW_F32 = np.float64(710.5), np.float64(100.0)
TANH_ONE_F32, NEGLIGIBLE_F32 = constants_f32(10.0, -60.0)


@jitable
def tanh_f64(x: Any) -> Any:
    """Return the hyperbolic tangent, to 2.6 ULP."""
    a = absolute(x)
    a = select(a > TANH_ONE, TANH_ONE, a)
    t, _k, r, low = reduced_f64(a + a)
    p = r + (r * r * polynomial(r, EXP_F64) + low)
    scale = f64_from_bits((bits_of_f64(t) + 1023) << 52)
    e = scale * p + (scale - 1.0)
    return copy_sign(divide(e, e + 2.0), x)


@jitable
def logistic_f64(x: Any) -> Any:
    """Return 1 / (1 + e**-x), to 2.5 ULP."""
    a = -absolute(x)
    least = select(x < 0.0, FADED, NEGLIGIBLE)
    a = select(a < least, least, a)
    t, _k, r, _low = reduced_f64(a)
    e = faded_f64((r * r * polynomial(r, EXP_F64) + r) + 1.0, t)
    return divide(select(x < 0.0, e, ONE), e + 1.0)


@jitable
def tanh_f32(x: Any) -> Any:
    """Return the hyperbolic tangent, to 2.5 ULP."""
    a = absolute(x)
    a = select(a > TANH_ONE_F32, TANH_ONE_F32, a)
    t, _k, r, low = reduced_f32(a + a)
    p = r + (exp_rest_f32(r) + low)
    scale = f32_from_bits((bits_of_f32(t) + 127) << 23)
    e = scale * p + (scale - ONE_F32)
    return copy_sign(divide(e, e + TWO_F32), x)


@jitable
def logistic_f32(x: Any) -> Any:
    """Return 1 / (1 + e**-x), to 2.5 ULP."""
    a = -absolute(x)
    least = select(x < ZERO_F32, FADED_F32, NEGLIGIBLE_F32)
    a = select(a < least, least, a)
    t, _k, r, _low = reduced_f32(a)
    z = r * r
    p = horner(z, EXP_EVEN_F32) + r * horner(z, EXP_ODD_F32)
    e = faded_f32((z * p + r) + ONE_F32, t)
    return divide(select(x < ZERO_F32, e, ONE_F32), e + ONE_F32)


@jitable
def halves(t: Any, k: Any) -> Any:
    """Return a quarter of 2**k and a quarter of 2**-k (0 where negligible), k from 0 to 1025 in the low bits of t."""
    bits = bits_of_f64(t)
    small = f64_from_bits((1021 - bits) << 52)
    return f64_from_bits((bits + 1021) << 52), select(k > 100.0, 0.0, small)


@jitable
def expansions_f64(a: Any) -> Any:
    """Return quarters of 2**k and 2**-k, then cosh(r) - 1, r, sinh(r) - r, and k: a = k ln 2 + r, a >= 0."""
    a = select(a > COSH_OVERFLOW, COSH_OVERFLOW, a)
    t, k, r, low = reduced_f64(a)
    z = r * r
    up, down = halves(t, k)
    return up, down, z * polynomial(z, COSH_F64), r, r * z * polynomial(z, SINH_F64) + low, k


@jitable
def expansions_short(a: Any) -> Any:
    """Return cosh and sinh of k ln 2, then cosh(r) - 1 and sinh(r), for float32; a = k ln 2 + r, a >= 0."""
    a = select(a > COSH_OVERFLOW_F32, COSH_OVERFLOW_F32, a)
    t = a * LOG2_E + ROUND
    r = a - (t - ROUND) * LN2
    z = r * r
    bits = bits_of_f64(t)
    up, down = f64_from_bits((bits + 1022) << 52), f64_from_bits((1022 - bits) << 52)
    return up + down, up - down, z * polynomial(z, COSH_SHORT), r + r * z * polynomial(z, SINH_SHORT)


@jitable
def sinh_f64(x: Any) -> Any:
    """Return the hyperbolic sine, to 1.6 ULP."""
    up, down, even, r, odd, k = expansions_f64(absolute(x))
    total, difference = up + down, up - down
    y = difference + (total * r + (total * odd + difference * even))
    return copy_sign(select(k == 0.0, r + odd, y + y), x)


@jitable
def sinh_f32(x: Any) -> Any:
    """Return the hyperbolic sine, to 0.6 ULP."""
    wide = to_f64(x)
    total, difference, even, odd = expansions_short(absolute(wide))
    return to_f32(copy_sign(difference + (total * odd + difference * even), wide))


@jitable
def cosh_f64(x: Any) -> Any:
    """Return the hyperbolic cosine, to 1.6 ULP."""
    up, down, even, r, odd, _k = expansions_f64(absolute(x))
    odd = r + odd
    y = up + (up * (even + odd) + (down + down * (even - odd)))
    return y + y


@jitable
def cosh_f32(x: Any) -> Any:
    """Return the hyperbolic cosine, to 0.6 ULP."""
    total, difference, even, odd = expansions_short(absolute(to_f64(x)))
    return to_f32(total + (total * even + difference * odd))
