"""erf and erfc.

erf: an odd polynomial near 0, and 1 - exp(-x p(x)) beyond. erfc: exp(-x**2) / (1 + 2x) times a polynomial in
q = (x - 4) / (x + 4), which maps x >= 0 to a bounded interval. For float32 one quotient is enough, in float64:
exp(-x**2) u times a polynomial in u = 1 / (x + 3).
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
    LOG2_E,
    ROUND,
    reduced_f32,
    reduced_f64,
    scaled_f64,
)
from numhlo.backend.vector_math.jitable import constants_f32, horner, jitable, polynomial

# erf(x) / x - 1 in x**2 up to 1, errors 2**-55.6 and 2**-26.6
ERF_F64 = (
    0.12837916709551256,
    -0.37612638903183543,
    0.11283791670945208,
    -0.026866170643270824,
    0.005223977607388,
    -0.0008548325988272198,
    0.00012055295283744876,
    -1.492474404171287e-05,
    1.644751081867413e-06,
    -1.6209128353988404e-07,
    1.3722788155071894e-08,
    -7.800865076234372e-10,
)
ERF_F32 = constants_f32(
    0.12837916612625122,
    -0.3761262595653534,
    0.11283599585294724,
    -0.026854434981942177,
    0.005189518444240093,
    -0.000802069844212383,
    7.88865945651196e-05,
)
# -log(1 - erf(x)) / x on [1, 6] and [1, 4], errors of erf 2**-55.7 and 2**-28.0
TAIL_F64 = (
    1.1283792010526899,
    0.6366193647965965,
    0.10277490003711781,
    -0.019136530626334747,
    -0.00018925746244137756,
    0.0016595723232140102,
    -0.0005381024048819134,
    -3.252991334029445e-05,
    0.0001170232180635782,
    -6.774649335727288e-05,
    2.543264832297777e-05,
    -7.141544789871549e-06,
    1.5579795279576263e-06,
    -2.6524987716988834e-07,
    3.4738393049851257e-08,
    -3.387838899327066e-09,
    2.3192884519633392e-10,
    -9.945895297686777e-12,
    2.009681971892354e-13,
)
TAIL_F32 = constants_f32(
    1.128697156906128,
    0.6349582672119141,
    0.10654912889003754,
    -0.024025535210967064,
    0.0037646740674972534,
    -0.00035233600647188723,
    1.4134264347376302e-05,
)
# exp(x**2) erfc(x) (1 + 2x) in (x - 4) / (x + 4) on [0, 27.5], error 2**-59.3; the first coefficient in two parts
ERFC_FIRST = 1.2329951186255526
ERFC_F64 = (
    -4.531280125310658e-17,
    -0.13962111684056253,
    0.015379652102619676,
    0.06809705425469538,
    -0.10103906603630076,
    0.09373283499825356,
    -0.06633036581229329,
    0.03716751553904362,
    -0.01619773405694554,
    0.005031969964041186,
    -0.0007577732946544735,
    -0.000199256619379189,
    0.00015062170676479185,
    -2.4399469138467692e-05,
    -1.1222148618323313e-05,
    5.710268404053665e-06,
    2.9413000013993016e-07,
    -8.260789808554142e-07,
    7.409570031066756e-08,
    1.104261683016944e-07,
    -1.7425456394322605e-08,
    -1.409734467241165e-08,
    1.6514320354172262e-09,
    1.1926002973280204e-09,
)
# exp(x**2) erfc(x) (x + 3) in 1 / (x + 3) on [0, 10.1], error 2**-28.9, for float32
ERFC_SHORT = (
    0.5641079813076856,
    1.6981265495342792,
    4.629797276254867,
    15.544430135212924,
    -0.29802187555237786,
    293.21660547365036,
    -961.4741919491396,
    3507.3666127051924,
    -5740.821855733297,
    3284.8414901725223,
)
# 2**f on |f| <= 1/2, error 2**-29.0
EXP2_SHORT = (
    1.0000000005538434,
    0.693147205737944,
    0.24022646893081645,
    0.055503287756639416,
    0.009618488730747587,
    0.00133999315408984,
    0.00015345865218567619,
)
MINUS_LOG2_E = -LOG2_E
ONE, ERFC_ZERO, ERFC_ZERO_F32 = np.float64(1.0), np.float64(27.5), np.float64(10.1)
ONE_F32, FOUR_F32 = constants_f32(1.0, 4.0)
HIGH_BITS = -0x8000000  # keeps 26 bits of a float64's mantissa


@jitable
def head(x: Any) -> Any:
    """Return x cut to 26 bits."""
    return f64_from_bits(bits_of_f64(x) & HIGH_BITS)


@jitable
def erf_f64(x: Any) -> Any:
    """Return the error function, to 1.5 ULP."""
    a = absolute(x)
    z = x * x
    near = x + x * polynomial(z, ERF_F64)
    a = select(a > 6.0, 6.0, a)
    t, _k, r, _low = reduced_f64(-a * polynomial(a, TAIL_F64))
    far = 1.0 - ((r * r * polynomial(r, EXP_F64) + r) + 1.0) * f64_from_bits((bits_of_f64(t) + 1023) << 52)
    return select(a < 1.0, near, copy_sign(far, x))


@jitable
def erf_f32(x: Any) -> Any:
    """Return the error function, to 1.5 ULP."""
    a = absolute(x)
    z = x * x
    near = x + x * polynomial(z, ERF_F32)
    a = select(a > FOUR_F32, FOUR_F32, a)
    t, _k, r, _low = reduced_f32(-a * polynomial(a, TAIL_F32))
    far = ONE_F32 - ((r * r * polynomial(r, EXP_F32) + r) + ONE_F32) * f32_from_bits((bits_of_f32(t) + 127) << 23)
    return select(a < ONE_F32, near, copy_sign(far, x))


@jitable
def erfc_f64(x: Any) -> Any:
    """Return 1 - erf(x), also far out, to 2.1 ULP."""
    a = absolute(x)
    a = select(a > ERFC_ZERO, ERFC_ZERO, a)
    q = divide(a - 4.0, a + 4.0)
    d = 1.0 + 2.0 * a
    rest = polynomial(q, ERFC_F64)
    n = ERFC_FIRST + rest
    y = divide(n, d)
    y_low = 0.85 * y * (((ERFC_FIRST - n) + rest) - y * (2.0 * a - (d - 1.0)))  # 1 / d is about 0.85 y
    first = head(a)
    t, _k, high, low = reduced_f64(-first * first)
    low = low - (a - first) * (a + first)
    r = high + low
    low = (high - r) + low
    e = r + (r * r * polynomial(r, EXP_F64) + (low + low * r))
    tail = scaled_f64(y + (y * e + (y_low + y_low * e)), t)
    rest = 1.0 - x
    near = rest + (((1.0 - rest) - x) - x * polynomial(x * x, ERF_F64))
    return select(a < 0.7, near, select(x < 0.0, 2.0 - tail, tail))


@jitable
def erfc_f32(x: Any) -> Any:
    """Return 1 - erf(x), also far out, to 0.6 ULP."""
    wide = to_f64(x)
    a = absolute(wide)
    a = select(a > ERFC_ZERO_F32, ERFC_ZERO_F32, a)
    u = divide(ONE, a + 3.0)
    y = u * horner(u, ERFC_SHORT)
    s = a * a * MINUS_LOG2_E
    t = s + ROUND
    scale = f64_from_bits((bits_of_f64(t) + 1023) << 52)
    tail = y * horner(s - (t - ROUND), EXP2_SHORT) * scale
    return to_f32(select(wide < 0.0, 2.0 - tail, tail))
