"""Logarithms: x = 2**k m with m in [sqrt(1/2), sqrt(2)), then log m = 2 atanh((m - 1) / (m + 1)) by a polynomial.

In other bases log m is a head of few bits, whose product with a constant in two parts loses nothing, and the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.backend.primitives import bits_of_f32, bits_of_f64, divide, f32_from_bits, f64_from_bits, select
from numhlo.backend.vector_math.exponential import LN2_HIGH, LN2_HIGH_F32, LN2_LOW, LN2_LOW_F32
from numhlo.backend.vector_math.jitable import constants_f32, jitable, polynomial

# (2 atanh(s) / s - 2) / s**2 in z = s**2, |s| <= (sqrt(2) - 1) / (sqrt(2) + 1), error of the log: 2**-59.0, 2**-31.1
LOG_F64 = (
    0.6666666666666734,
    0.3999999999941457,
    0.2857142874243533,
    0.22222198565645568,
    0.18183564855931247,
    0.1531403358712603,
    0.14796151741920324,
)
LOG_F32 = constants_f32(0.6666666269302368, 0.4000033438205719, 0.2853729724884033, 0.23582391440868378)

# the same with an error of 2**-37.6, in float64
LOG_SHORT = (0.666666656452461, 0.40000335293994327, 0.2853729856323245, 0.2358239211269573)

LN2 = 0.6931471805599453
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
MANTISSA_MASK = 0xFFFFFFFFFFFFF
SMALLEST_NORMAL = 2.2250738585072014e-308
TWO_52_BITS = 0x4330000000000000  # with a small integer in the low bits this is 2**52 plus that integer
TWO_52_AND_BIAS = 4503599627370496.0 + 1023.0

HEAD, HEAD_F32 = -(1 << 29), -(1 << 12)  # masks of the bits that heads keep
LOG2_E_HIGH, LOG2_E_LOW = 1.4426950216293335, 1.9259629911266175e-08  # 24 bits, and the rest
LOG10_E_HIGH, LOG10_E_LOW = 0.4342944622039795, 1.9699272335463627e-08
LOG10_2_HIGH, LOG10_2_LOW = 0.30102999566361177, 3.694239077158931e-13  # 40 bits: k * LOG10_2_HIGH is exact
LOG2_E_HIGH_F32, LOG2_E_LOW_F32, LOG10_E_HIGH_F32, LOG10_E_LOW_F32 = constants_f32(
    1.4423828125, 0.00031222839606925845, 0.4342041015625, 9.038033749675378e-05
)
LOG10_2_HIGH_F32, LOG10_2_LOW_F32 = constants_f32(0.301025390625, 4.605038981195214e-06)

SQRT_HALF_BITS_F32 = 0x3F3504F3
MANTISSA_MASK_F32 = 0x7FFFFF
TWO_23_BITS_F32 = 0x4B000000
(SMALLEST_NORMAL_F32, TWO_25_F32, TWO_23_AND_BIAS_F32, TWENTY_FIVE_F32, BIG_F32) = constants_f32(
    1.1754943508222875e-38, 33554432.0, 8388608.0 + 127.0, 25.0, 60.0
)
ZERO_F32, HALF_F32, ONE_F32, TWO_F32, INFINITY_F32, NAN_F32 = constants_f32(0.0, 0.5, 1.0, 2.0, np.inf, np.nan)


@jitable
def split_normal_f64(x: Any) -> Any:
    """Return ``(k, m)`` with ``x = 2**k m``, m from sqrt(1/2) to sqrt(2), k a whole float; x positive and normal."""
    bits = bits_of_f64(x) + (0x3FF0000000000000 - SQRT_HALF_BITS)
    k = f64_from_bits(((bits >> 52) & 0xFFF) | TWO_52_BITS) - TWO_52_AND_BIAS
    return k, f64_from_bits((bits & MANTISSA_MASK) + SQRT_HALF_BITS)


@jitable
def split_f64(x: Any) -> Any:
    """Return ``(k, m)`` with ``x = 2**k m``, m from sqrt(1/2) to sqrt(2), k a whole float; x positive and finite."""
    subnormal = x < SMALLEST_NORMAL
    k, m = split_normal_f64(select(subnormal, x * 18014398509481984.0, x))
    return select(subnormal, k - 54.0, k), m


@jitable
def split_f32(x: Any) -> Any:
    """Return ``(k, m)`` with ``x = 2**k m``, m from sqrt(1/2) to sqrt(2), k a whole float; x positive and finite."""
    subnormal = x < SMALLEST_NORMAL_F32
    normal = select(subnormal, x * TWO_25_F32, x)
    bits = bits_of_f32(normal) + (0x3F800000 - SQRT_HALF_BITS_F32)
    k = f32_from_bits(((bits >> 23) & 0x1FF) | TWO_23_BITS_F32) - TWO_23_AND_BIAS_F32
    m = f32_from_bits((bits & MANTISSA_MASK_F32) + SQRT_HALF_BITS_F32)
    return select(subnormal, k - TWENTY_FIVE_F32, k), m


@jitable
def log_sum_f64(k: Any, f: Any, low: Any) -> Any:
    """Return k ln 2 + log(1 + f) + low, low tiny."""
    s = divide(f, 2.0 + f)
    z = s * s
    half_square = 0.5 * f * f
    tail = s * (half_square + z * polynomial(z, LOG_F64)) + (k * LN2_LOW + low)
    return k * LN2_HIGH - ((half_square - tail) - f)


@jitable
def log_sum_f32(k: Any, f: Any, low: Any) -> Any:
    """Return k ln 2 + log(1 + f) + low, low tiny."""
    s = divide(f, TWO_F32 + f)
    z = s * s
    half_square = HALF_F32 * f * f
    tail = s * (half_square + z * polynomial(z, LOG_F32)) + (k * LN2_LOW_F32 + low)
    return k * LN2_HIGH_F32 - ((half_square - tail) - f)


@jitable
def log_f64(x: Any) -> Any:
    """Return the natural logarithm, to 0.9 ULP."""
    k, m = split_f64(x)
    y = log_sum_f64(k, m - 1.0, 0.0)
    y = select(x < np.inf, y, x)
    return select(x > 0.0, y, select(x == 0.0, -np.inf, np.nan))


@jitable
def log_f32(x: Any) -> Any:
    """Return the natural logarithm, to 0.9 ULP."""
    k, m = split_f32(x)
    y = log_sum_f32(k, m - ONE_F32, ZERO_F32)
    y = select(x < INFINITY_F32, y, x)
    return select(x > ZERO_F32, y, select(x == ZERO_F32, -INFINITY_F32, NAN_F32))


@jitable
def log_parts_f64(f: Any) -> Any:
    """Return log(1 + f) as a head of 24 bits and the rest."""
    s = divide(f, 2.0 + f)
    z = s * s
    half_square = 0.5 * f * f
    tail = s * (half_square + z * polynomial(z, LOG_F64))
    head = f64_from_bits(bits_of_f64(f - half_square) & HEAD)
    return head, ((f - head) - half_square) + tail


@jitable
def log_parts_f32(f: Any) -> Any:
    """Return log(1 + f) as a head of 12 bits and the rest."""
    s = divide(f, TWO_F32 + f)
    z = s * s
    half_square = HALF_F32 * f * f
    tail = s * (half_square + z * polynomial(z, LOG_F32))
    head = f32_from_bits(bits_of_f32(f - half_square) & HEAD_F32)
    return head, ((f - head) - half_square) + tail


@jitable
def log2_f64(x: Any) -> Any:
    """Return the logarithm of base 2, to 0.9 ULP; exact at powers of two."""
    k, m = split_f64(x)
    head, rest = log_parts_f64(m - 1.0)
    large = head * LOG2_E_HIGH
    y = k + large
    y = y + (((k - y) + large) + (rest * LOG2_E_HIGH + (head + rest) * LOG2_E_LOW))
    y = select(x < np.inf, y, x)
    return select(x > 0.0, y, select(x == 0.0, -np.inf, np.nan))


@jitable
def log2_f32(x: Any) -> Any:
    """Return the logarithm of base 2, to 0.9 ULP; exact at powers of two."""
    k, m = split_f32(x)
    head, rest = log_parts_f32(m - ONE_F32)
    large = head * LOG2_E_HIGH_F32
    y = k + large
    y = y + (((k - y) + large) + (rest * LOG2_E_HIGH_F32 + (head + rest) * LOG2_E_LOW_F32))
    y = select(x < INFINITY_F32, y, x)
    return select(x > ZERO_F32, y, select(x == ZERO_F32, -INFINITY_F32, NAN_F32))


@jitable
def log10_f64(x: Any) -> Any:
    """Return the logarithm of base 10, to 0.9 ULP."""
    k, m = split_f64(x)
    head, rest = log_parts_f64(m - 1.0)
    large, whole = head * LOG10_E_HIGH, k * LOG10_2_HIGH
    y = whole + large
    low = k * LOG10_2_LOW + (rest * LOG10_E_HIGH + (head + rest) * LOG10_E_LOW)
    y = y + (((whole - y) + large) + low)
    y = select(x < np.inf, y, x)
    return select(x > 0.0, y, select(x == 0.0, -np.inf, np.nan))


@jitable
def log10_f32(x: Any) -> Any:
    """Return the logarithm of base 10, to 0.9 ULP."""
    k, m = split_f32(x)
    head, rest = log_parts_f32(m - ONE_F32)
    large, whole = head * LOG10_E_HIGH_F32, k * LOG10_2_HIGH_F32
    y = whole + large
    low = k * LOG10_2_LOW_F32 + (rest * LOG10_E_HIGH_F32 + (head + rest) * LOG10_E_LOW_F32)
    y = y + (((whole - y) + large) + low)
    y = select(x < INFINITY_F32, y, x)
    return select(x > ZERO_F32, y, select(x == ZERO_F32, -INFINITY_F32, NAN_F32))


@jitable
def log1p_sum_f64(x: Any, x_low: Any) -> Any:
    """Return log(1 + x + x_low), x_low tiny; x finite and above -1."""
    u = 1.0 + x
    k, m = split_normal_f64(u)
    v = u - 1.0
    low = ((1.0 - (u - v)) + (x - v)) + x_low  # u + low is 1 + x + x_low
    low = low * f64_from_bits((1023 << 52) - (bits_of_f64(u) - bits_of_f64(m)))
    low = select(k > 60.0, 0.0, low)
    exact = k == 0.0
    f = select(exact, x, m - 1.0)
    low = select(exact, x_low, low)
    return log_sum_f64(k, f, low - low * f)


@jitable
def log1p_f64(x: Any) -> Any:
    """Return log(1 + x), to 1.1 ULP."""
    y = select(x < np.inf, log1p_sum_f64(x, 0.0), x)
    y = select(x > -1.0, y, select(x == -1.0, -np.inf, np.nan))
    return select(x == 0.0, x, y)


@jitable
def log_short(x: Any) -> Any:
    """Return log(x) for float32: to 2**-37 of it, and to 2**-53 of x - 1 near 1; x from 1 to 2**200."""
    k, m = split_normal_f64(x)
    f = m - 1.0
    s = divide(f, 2.0 + f)
    z = s * s
    return k * LN2 + s * (2.0 + z * polynomial(z, LOG_SHORT))


@jitable
def log1p_short(x: Any) -> Any:
    """Return log(1 + x) with a relative error below 2**-36, for float32; x from -1 + 2**-24 to 2**200."""
    u = 1.0 + x
    k, m = split_normal_f64(u)
    low = (x - (u - 1.0)) * f64_from_bits((1023 << 52) - (bits_of_f64(u) - bits_of_f64(m)))
    f = (m - 1.0) + select(k > 50.0, 0.0, low)
    s = divide(f, 2.0 + f)
    z = s * s
    return k * LN2 + s * (2.0 + z * polynomial(z, LOG_SHORT))


@jitable
def log1p_f32(x: Any) -> Any:
    """Return log(1 + x), to 1.1 ULP."""
    u = ONE_F32 + x
    k, m = split_f32(u)
    v = u - ONE_F32
    low = (ONE_F32 - (u - v)) + (x - v)  # u + low is exactly 1 + x
    low = low * f32_from_bits((127 << 23) - (bits_of_f32(u) - bits_of_f32(m)))
    low = select(k > BIG_F32, ZERO_F32, low)
    exact = k == ZERO_F32
    f = select(exact, x, m - ONE_F32)
    y = log_sum_f32(k, f, select(exact, ZERO_F32, low - low * f))
    y = select(x < INFINITY_F32, y, x)
    y = select(x > -ONE_F32, y, select(x == -ONE_F32, -INFINITY_F32, NAN_F32))
    return select(x == ZERO_F32, x, y)
