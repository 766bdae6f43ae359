"""pow, cbrt and 1 / sqrt.

pow is 2**(y log2 x). For float64 the logarithm and the product are sums of two floats, of which the second has what
rounding took from the first (`product_error`); for float32 plain float64 is enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.backend.primitives import (
    absolute,
    bits_of_f64,
    copy_sign,
    divide,
    f64_from_bits,
    is_nan,
    product_error,
    select,
    square_root,
    to_f32,
    to_f64,
)
from numhlo.backend.vector_math.exponential import EXP_F64, EXP_SHORT, LOG2_E, ROUND, VANISHED, scaled_f64
from numhlo.backend.vector_math.jitable import constants_f32, jitable, polynomial
from numhlo.backend.vector_math.logarithm import LN2, LOG_SHORT, SMALLEST_NORMAL, split_f64, split_normal_f64

# (3 atanh(s) / s - 3 - s**2) / s**4 in s**2, |s| <= (sqrt(2) - 1) / (sqrt(2) + 1), error of the log: 2**-66.0
POW_LOG = (
    0.6000000000000338,
    0.4285714285514871,
    0.3333333378002585,
    0.27272676536321705,
    0.23080136737890455,
    0.19885207763471158,
    0.19794681038644316,
)
# r**(-1/3) on [0.904, 1.095], error 2**-23.9
CBRT = (
    1.8760299317480131,
    -1.885427330953916,
    1.6223044606955996,
    -0.7591165940829202,
    0.14620954011339252,
)
CBRT_BITS = 715092000  # (1023 - 1023 / 3) 2**20 less what balances the first guess's error
CBRT_MASK = -0x40000000
INVERSE_CBRT_BITS = 1430188164  # (1023 + 1023 / 3) 2**20 less what balances the first guess's error
THIRD, TWO_NINTHS = 0.3333333333333333, 0.2222222222222222
RATIO, RATIO_REST = 0.9617966939259756, 5.0577616648125907e-17  # 2 / (3 ln 2), in two parts
LN2_REST = 2.3190468138462996e-17  # of ln 2, beyond LN2
HUGE_POWER = 36893488147419103232.0  # 2**65: beyond, every power but that of 1 is 0 or infinite
# 0, 1, 1/2, the power of two from which on adding one keeps no fraction, infinity, NaN
SPECIAL_F64 = (0.0, 1.0, 0.5, 4503599627370496.0, np.inf, np.nan)
SPECIAL_F32 = constants_f32(0.0, 1.0, 0.5, 8388608.0, np.inf, np.nan)
ONE = np.float64(1.0)
ONE_F32 = constants_f32(1.0)[0]


@jitable
def log2_sum(x: Any) -> Any:
    """Return log2(x) as a float and what it lacks, to 2**-63 of it; x positive and finite."""
    k, m = split_f64(x)
    f = m - 1.0
    d = m + 1.0
    d_low = m - (d - 1.0)
    reciprocal = divide(ONE, d)
    s = f * reciprocal
    product = s * d
    s_low = reciprocal * (((f - product) - product_error(s, d, product)) - s * d_low)
    z = s * s
    rest = z * z * polynomial(z, POW_LOG) + (product_error(s, s, z) + (s + s) * s_low)
    sum_high = 3.0 + (z + rest)
    sum_low = ((3.0 - sum_high) + z) + rest
    p = s * sum_high
    p_low = product_error(s, sum_high, p) + (s * sum_low + s_low * sum_high)
    q = p * RATIO
    q_low = product_error(p, RATIO, q) + (p * RATIO_REST + p_low * RATIO)
    high = k + q
    return high, ((k - high) + q) + q_low


@jitable
def exp2_of_sum(high: Any, low: Any) -> Any:
    """Return 2**(high + low), low at most 2**-40 or 2**-51 of high."""
    too_big = high > 1100.0
    too_small = high < -1080.0
    low = select(too_big | too_small, 0.0, low)
    high = select(too_big, 1100.0, select(too_small, VANISHED, high))
    t = high + ROUND
    a = high - (t - ROUND)
    r = a + low
    r_low = (a - r) + low
    w = r * LN2
    w_low = product_error(r, LN2, w) + (r * LN2_REST + r_low * LN2)
    return scaled_f64((w * w * polynomial(w, EXP_F64) + w_low + w) + 1.0, t)


@jitable
def corrected_power(x: Any, y: Any, size: Any, constants: Any) -> Any:
    """Return x**y given |x|**y for positive finite |x|: adds signs, zeros, infinities and NaN."""
    zero, one, half, limit, infinity, nan = constants
    a = absolute(x)
    vanishing = a == zero
    size = select(vanishing | (a == infinity), select((y < zero) ^ vanishing, zero, infinity), size)
    steps = absolute(y)
    steps = select(steps > limit, limit, steps)  # a whole number from there on, and even from twice the limit
    halves = absolute(y) * half
    halves = select(halves > limit, limit, halves)
    whole = (steps + limit) - limit == steps
    odd = whole & ((halves + limit) - limit != halves)
    size = select(odd, copy_sign(size, x), size)
    size = select((x < zero) & (x > -infinity) & (whole ^ True), nan, size)
    size = select(is_nan(x) | is_nan(y), nan, size)
    return select((x == one) | (y == zero), one, size)


@jitable
def pow_f64(x: Any, y: Any) -> Any:
    """Return x**y by the whole table of IEEE 754, to 1.5 ULP."""
    high, low = log2_sum(absolute(x))
    power = select(y > HUGE_POWER, HUGE_POWER, select(y < -HUGE_POWER, -HUGE_POWER, y))
    product = power * high
    size = exp2_of_sum(product, product_error(power, high, product) + power * low)
    return corrected_power(x, y, size, SPECIAL_F64)


@jitable
def pow_f32(x: Any, y: Any) -> Any:
    """Return x**y by the whole table of IEEE 754, to 0.6 ULP."""
    base, power = to_f64(x), to_f64(y)
    k, m = split_normal_f64(absolute(base))
    f = m - 1.0
    s = divide(f, 2.0 + f)
    z = s * s
    log2 = (s * (2.0 + z * polynomial(z, LOG_SHORT))) * LOG2_E + k
    log2 = log2 * select(power > HUGE_POWER, HUGE_POWER, select(power < -HUGE_POWER, -HUGE_POWER, power))
    log2 = select(log2 > 300.0, 300.0, select(log2 < -151.0, -1023.0, log2))  # times 0, not too small
    t = log2 + ROUND
    r = (log2 - (t - ROUND)) * LN2
    size = (r * r * polynomial(r, EXP_SHORT) + r) + 1.0
    size = to_f32(size * f64_from_bits((bits_of_f64(t) + 1023) << 52))
    return corrected_power(x, y, size, SPECIAL_F32)


@jitable
def rsqrt_f64(x: Any) -> Any:
    """Return 1 / sqrt(x), to 1.5 ULP."""
    return divide(ONE, square_root(x))


@jitable
def rsqrt_f32(x: Any) -> Any:
    """Return 1 / sqrt(x), to 1.5 ULP."""
    return divide(ONE_F32, square_root(x))


@jitable
def cbrt_guess(a: Any) -> Any:
    """Return the cube root of a normal positive number to 23 bits, and all further bits zero."""
    t = f64_from_bits((((bits_of_f64(a) >> 32) * 0x55555556 >> 32) + CBRT_BITS) << 32)  # a third of the exponent
    t = t * polynomial(t * t * divide(t, a), CBRT)
    return f64_from_bits((bits_of_f64(t) + 0x20000000) & CBRT_MASK)


@jitable
def cbrt_f64(x: Any) -> Any:
    """Return the cube root, to 0.7 ULP."""
    a = absolute(x)
    subnormal = a < SMALLEST_NORMAL
    a = select(subnormal, a * 18014398509481984.0, a)
    t = cbrt_guess(a)
    r = divide(a, t * t)
    t = t + t * divide(r - t, (t + t) + r)
    t = copy_sign(select(subnormal, t * 3.814697265625e-06, t), x)
    return select((x == 0.0) | (absolute(x) == np.inf), x, t)


@jitable
def cbrt_f32(x: Any) -> Any:
    """Return the cube root, to 0.6 ULP."""
    wide = to_f64(x)
    a = absolute(wide)
    y = f64_from_bits((INVERSE_CBRT_BITS - ((bits_of_f64(a) >> 32) * 0x55555556 >> 32)) << 32)  # a**(-1/3)
    e = 1.0 - a * y * y * y
    y = y + y * e * (THIRD + TWO_NINTHS * e)
    e = 1.0 - a * y * y * y
    y = y + y * e * (THIRD + TWO_NINTHS * e)
    return to_f32(select((wide == 0.0) | (a == np.inf), wide, copy_sign(a * y * y, wide)))
