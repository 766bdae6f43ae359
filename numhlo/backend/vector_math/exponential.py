"""exp, exp2 and expm1: x = k ln 2 + r, a polynomial in r, and scaling by 2**k.

`expm1_parts_f64` and its float32 twin serve the hyperbolic functions and the logistic function too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.backend.primitives import bits_of_f32, bits_of_f64, copy_sign, f32_from_bits, f64_from_bits, select
from numhlo.backend.vector_math.jitable import constants_f32, jitable, polynomial

# (exp(r) - 1 - r) / r**2 on |r| <= ln 2 / 2, error of exp(r): 2**-56.7, 2**-29.7
EXP_F64 = (
    0.5000000000000008,
    0.16666666666666693,
    0.0416666666665441,
    0.008333333333309486,
    0.0013888888940890313,
    0.00019841269913349873,
    2.4801495304467124e-05,
    2.755721932354647e-06,
    2.7629624036941375e-07,
    2.5117042754799635e-08,
)
EXP_F32 = constants_f32(
    0.5, 0.1666666716337204, 0.041666265577077866, 0.008333263918757439, 0.0013946302933618426, 0.00019918559701181948
)

EXP_TAIL_F32 = EXP_F32[1:]
# the same with an error of 2**-28.2, in float64
EXP_SHORT = (0.500000009603405, 0.1666651771102173, 0.041666202768783404, 0.008369024777521595, 0.0013950702409326744)

LOG2_E, LN2 = 1.4426950408889634, 0.6931471805599453
LN2_HIGH = 0.6931471803691238  # 32 bits: k * LN2_HIGH is exact for |k| < 2**21
LN2_LOW = 1.9082149292705877e-10
ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer, which then stands in the low bits

LOG2_E_F32, LN2_HIGH_F32, LN2_LOW_F32, ROUND_F32 = constants_f32(
    1.4426950408889634, 0.693359375, -0.00021219444005469057, 12582912.0
)
ZERO_F32, HALF_F32, ONE_F32, TWO_F32, INFINITY_F32 = constants_f32(0.0, 0.5, 1.0, 2.0, np.inf)
(LN2_F32,) = constants_f32(0.6931471805599453)

# A product that is too small even for a subnormal number takes a processor some 150 cycles: what becomes 0 is scaled by
# 0, the factors of this power of two. Below the first bound, results are less than half of the smallest number.
VANISHED, VANISHED_F32 = -2046.0, constants_f32(-254.0)[0]
EXP_RANGE, EXP_VANISHED = (-745.2, 710.0), np.float64(VANISHED * LN2)
EXP2_RANGE = (-1075.0, 1025.0)
EXP_RANGE_F32 = constants_f32(-104.0, 90.0)
EXP_VANISHED_F32 = constants_f32(-254.0 * LN2)[0]
EXP2_RANGE_F32 = constants_f32(-150.0, 129.0)
# Powers that are not positive take one product with the power times a constant, and one with the inverse of that.
TWO_MINUS_512, TWO_MINUS_64_F32 = 2.0**-512, constants_f32(2.0**-64)[0]
FADED, FADED_F32 = np.float64(-1535.0 * LN2), constants_f32(-191.0 * LN2)[0]
EXPM1_RANGE_F32 = constants_f32(-30.0, 89.0)


@jitable
def reduced_f64(x: Any) -> Any:
    """Return ``(t, k, r, low)`` with ``x = k ln 2 + r + low``, k a whole float; t's low bits hold k as an integer."""
    t = x * LOG2_E + ROUND
    k = t - ROUND
    high = x - k * LN2_HIGH
    r = high - k * LN2_LOW
    return t, k, r, (high - r) - k * LN2_LOW


@jitable
def reduced_f32(x: Any) -> Any:
    """Return ``(t, k, r, low)`` with ``x = k ln 2 + r + low``, k a whole float; t's low bits hold k as an integer."""
    t = x * LOG2_E_F32 + ROUND_F32
    k = t - ROUND_F32
    high = x - k * LN2_HIGH_F32
    r = high - k * LN2_LOW_F32
    return t, k, r, (high - r) - k * LN2_LOW_F32


@jitable
def scaled_f64(y: Any, t: Any) -> Any:
    """Return y times 2 to the power in the low bits of t, |power| <= 2046, rounded once; y near 1."""
    power = bits_of_f64(t)
    half = power >> 1
    return (y * f64_from_bits((half + 1023) << 52)) * f64_from_bits((power - half + 1023) << 52)


@jitable
def scaled_f32(y: Any, t: Any) -> Any:
    """Return y times 2 to the power in the low bits of t, |power| <= 254, rounded once; y near 1."""
    power = bits_of_f32(t)
    half = power >> 1
    return (y * f32_from_bits((half + 127) << 23)) * f32_from_bits((power - half + 127) << 23)


@jitable
def faded_f64(y: Any, t: Any) -> Any:
    """Return y times 2 to the power in the low bits of t, from -1535, which gives 0, to 500, rounded once; y near 1."""
    return (y * f64_from_bits((bits_of_f64(t) + 1535) << 52)) * TWO_MINUS_512


@jitable
def faded_f32(y: Any, t: Any) -> Any:
    """Return y times 2 to the power in the low bits of t, from -191, which gives 0, to 60, rounded once; y near 1."""
    return (y * f32_from_bits((bits_of_f32(t) + 191) << 23)) * TWO_MINUS_64_F32


@jitable
def exp_rest_f32(r: Any) -> Any:
    """Return e**r - 1 - r, r reduced; the first coefficient is 1/2 exactly, which saves a rounding."""
    z = r * r
    return HALF_F32 * z + r * z * polynomial(r, EXP_TAIL_F32)


@jitable
def exp_f64(x: Any) -> Any:
    """Return e**x, to 1.1 ULP."""
    x = select(x < EXP_RANGE[0], EXP_VANISHED, select(x > EXP_RANGE[1], EXP_RANGE[1], x))
    t, _k, r, _low = reduced_f64(x)
    return scaled_f64((r * r * polynomial(r, EXP_F64) + r) + 1.0, t)


@jitable
def exp_f32(x: Any) -> Any:
    """Return e**x, to 1.0 ULP."""
    x = select(x < EXP_RANGE_F32[0], EXP_VANISHED_F32, select(x > EXP_RANGE_F32[1], EXP_RANGE_F32[1], x))
    t, _k, r, _low = reduced_f32(x)
    return scaled_f32((r * r * polynomial(r, EXP_F32) + r) + ONE_F32, t)


@jitable
def exp2_f64(x: Any) -> Any:
    """Return 2**x, to 1.1 ULP; exact where x is whole."""
    x = select(x < EXP2_RANGE[0], VANISHED, select(x > EXP2_RANGE[1], EXP2_RANGE[1], x))
    t = x + ROUND
    r = (x - (t - ROUND)) * LN2
    return scaled_f64((r * r * polynomial(r, EXP_F64) + r) + 1.0, t)


@jitable
def exp2_f32(x: Any) -> Any:
    """Return 2**x, to 1.2 ULP; exact where x is whole."""
    x = select(x < EXP2_RANGE_F32[0], VANISHED_F32, select(x > EXP2_RANGE_F32[1], EXP2_RANGE_F32[1], x))
    t = x + ROUND_F32
    r = (x - (t - ROUND_F32)) * LN2_F32
    return scaled_f32((r * r * polynomial(r, EXP_F32) + r) + ONE_F32, t)


@jitable
def expm1_parts_f64(x: Any) -> Any:
    """Return ``(p, scale, k)`` with ``exp(x) - 1 = 2 (scale p + (scale - 1/2))``, scale half of 2**k; -70 < x < 711."""
    t, k, r, low = reduced_f64(x)
    p = r + (r * r * polynomial(r, EXP_F64) + (low + low * r))
    return p, f64_from_bits((bits_of_f64(t) + 1022) << 52), k


@jitable
def expm1_parts_f32(x: Any) -> Any:
    """Return ``(p, scale, k)`` with ``exp(x) - 1 = 2 (scale p + (scale - 1/2))``, scale half of 2**k; -60 < x < 89."""
    t, k, r, low = reduced_f32(x)
    p = r + (exp_rest_f32(r) + (low + low * r))
    return p, f32_from_bits((bits_of_f32(t) + 126) << 23), k


@jitable
def expm1_f64(x: Any) -> Any:
    """Return e**x - 1, also near 0, to 1.8 ULP."""
    clamped = select(x > 710.0, 710.0, x)
    clamped = select(x < -50.0, -50.0, clamped)
    p, scale, k = expm1_parts_f64(clamped)
    y = 2.0 * (scale * p + (scale - 0.5))
    return copy_sign(select(k == 0.0, p, y), x)


@jitable
def expm1_f32(x: Any) -> Any:
    """Return e**x - 1, also near 0, to 1.5 ULP."""
    clamped = select(x > EXPM1_RANGE_F32[1], EXPM1_RANGE_F32[1], x)
    clamped = select(x < EXPM1_RANGE_F32[0], EXPM1_RANGE_F32[0], clamped)
    p, scale, k = expm1_parts_f32(clamped)
    y = TWO_F32 * (scale * p + (scale - HALF_F32))
    return copy_sign(select(k == ZERO_F32, p, y), x)
