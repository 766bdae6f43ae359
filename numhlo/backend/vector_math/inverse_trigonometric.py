"""asin, acos, atan and atan2: polynomials for arguments up to 1/2 (asin) or 1 (atan), identities beyond."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.backend.primitives import absolute, copy_sign, divide, is_nan, select, square_root
from numhlo.backend.vector_math.jitable import constants_f32, horner, jitable, polynomial

# (atan(t) / t - 1) / t**2 in t**2 up to 1, errors 2**-57.3 and 2**-27.1
ATAN_F64 = (
    -0.33333333333333093,
    0.19999999999955448,
    -0.14285714282802922,
    0.11111111013667152,
    -0.09090907119458672,
    0.07692281188147727,
    -0.06666415001521103,
    0.058805925406603954,
    -0.05253805346679134,
    0.047232922331806156,
    -0.042217138657597825,
    0.03669342796876709,
    -0.029985385688986215,
    0.022084894556441793,
    -0.013994723426572141,
    0.007263159246357565,
    -0.002919235200567335,
    0.0008434457139885904,
    -0.00015478843434384916,
    1.3488401796502633e-05,
)
ATAN_F32 = constants_f32(
    -0.33333301544189453,
    0.19998642802238464,
    -0.14265289902687073,
    0.10957803577184677,
    -0.08420094102621078,
    0.058244772255420685,
    -0.031465183943510056,
    0.011069157160818577,
    -0.0018281879602000117,
)
# (asin(x) / x - 1) / x**2 in x**2 up to 1/4, errors 2**-58.4 and 2**-27.4
ASIN_F64 = (
    0.16666666666666763,
    0.074999999999703,
    0.044642857175097354,
    0.030381942684285467,
    0.022372215651526414,
    0.017351600105863146,
    0.013980962670276008,
    0.011397756778365017,
    0.010786679225712222,
    0.0036823419626450704,
    0.02176547109471513,
    -0.02108040058233326,
    0.03267900017425203,
)
ASIN_F32 = constants_f32(
    0.16666753590106964, 0.07495242357254028, 0.045477040112018585, 0.024147871881723404, 0.04221814125776291
)

ATAN_HEAD_F64, ATAN_TAIL_F64 = ATAN_F64[:5], ATAN_F64[5:]
ATAN_HEAD_F32, ATAN_TAIL_F32 = ATAN_F32[:3], ATAN_F32[3:]
ONE = np.float64(1.0)
PI, PI_LOW = 3.141592653589793, 1.2246467991473532e-16
HALF_PI, HALF_PI_LOW = 1.5707963267948966, 6.123233995736766e-17
ZERO_F32, HALF_F32, ONE_F32, TWO_F32, INFINITY_F32, NAN_F32 = constants_f32(0.0, 0.5, 1.0, 2.0, np.inf, np.nan)
PI_F32, PI_LOW_F32 = constants_f32(3.1415927410125732, -8.742277657347586e-08)
HALF_PI_F32, HALF_PI_LOW_F32 = constants_f32(1.5707963705062866, -4.371138828673793e-08)


@jitable
def atan_rest_f64(t: Any) -> Any:
    """Return atan(t) - t, 0 <= t <= 1; the first coefficients alternate: split, their halves would cancel."""
    z = t * t
    return t * z * horner(z, (*ATAN_HEAD_F64, polynomial(z, ATAN_TAIL_F64)))


@jitable
def atan_rest_f32(t: Any) -> Any:
    """Return atan(t) - t, 0 <= t <= 1."""
    z = t * t
    return t * z * horner(z, (*ATAN_HEAD_F32, polynomial(z, ATAN_TAIL_F32)))


@jitable
def atan2_f64(y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y), from -pi to pi, to 1.9 ULP."""
    a, b = absolute(y), absolute(x)
    steep = a > b
    larger = select(steep, a, b)
    t = divide(select(steep, b, a), select(larger == 0.0, ONE, larger))
    t = select((a == np.inf) & (b == np.inf), 1.0, t)
    rest = atan_rest_f64(t)
    high = select(steep, HALF_PI - t, t)
    low = select(steep, (((HALF_PI - high) - t) + HALF_PI_LOW) - rest, rest)
    behind = copy_sign(ONE, x) < 0.0
    turned = select(behind, PI - high, high)
    low = select(behind, (((PI - turned) - high) + PI_LOW) - low, low)
    angle = turned + low
    return copy_sign(select(is_nan(x) | is_nan(y), np.nan, angle), y)


@jitable
def atan2_f32(y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y), from -pi to pi, to 1.5 ULP."""
    a, b = absolute(y), absolute(x)
    steep = a > b
    larger = select(steep, a, b)
    t = divide(select(steep, b, a), select(larger == ZERO_F32, ONE_F32, larger))
    t = select((a == INFINITY_F32) & (b == INFINITY_F32), ONE_F32, t)
    rest = atan_rest_f32(t)
    high = select(steep, HALF_PI_F32 - t, t)
    low = select(steep, (((HALF_PI_F32 - high) - t) + HALF_PI_LOW_F32) - rest, rest)
    behind = copy_sign(ONE_F32, x) < ZERO_F32
    turned = select(behind, PI_F32 - high, high)
    low = select(behind, (((PI_F32 - turned) - high) + PI_LOW_F32) - low, low)
    angle = turned + low
    return copy_sign(select(is_nan(x) | is_nan(y), NAN_F32, angle), y)


@jitable
def atan_f64(x: Any) -> Any:
    """Return the angle whose tangent is x, to 1.8 ULP."""
    a = absolute(x)
    steep = a > 1.0
    t = divide(select(steep, ONE, a), select(steep, a, ONE))
    rest = atan_rest_f64(t)
    high = select(steep, HALF_PI - t, t)
    low = select(steep, (((HALF_PI - high) - t) + HALF_PI_LOW) - rest, rest)
    return copy_sign(high + low, x)


@jitable
def atan_f32(x: Any) -> Any:
    """Return the angle whose tangent is x, to 1.4 ULP."""
    a = absolute(x)
    steep = a > ONE_F32
    t = divide(select(steep, ONE_F32, a), select(steep, a, ONE_F32))
    rest = atan_rest_f32(t)
    high = select(steep, HALF_PI_F32 - t, t)
    low = select(steep, (((HALF_PI_F32 - high) - t) + HALF_PI_LOW_F32) - rest, rest)
    return copy_sign(high + low, x)


@jitable
def asin_f64(x: Any) -> Any:
    """Return the angle whose sine is x, to 1.2 ULP."""
    a = absolute(x)
    large = a > 0.5
    z = select(large, 0.5 * (1.0 - a), a * a)
    s = select(large, square_root(z), a)
    rest = s * z * polynomial(z, ASIN_F64)
    far = HALF_PI - 2.0 * s
    far = far + (((HALF_PI - far) - 2.0 * s) - (2.0 * rest - HALF_PI_LOW))
    return copy_sign(select(large, far, s + rest), x)


@jitable
def asin_f32(x: Any) -> Any:
    """Return the angle whose sine is x, to 1.2 ULP."""
    a = absolute(x)
    large = a > HALF_F32
    z = select(large, HALF_F32 * (ONE_F32 - a), a * a)
    s = select(large, square_root(z), a)
    rest = s * z * polynomial(z, ASIN_F32)
    far = HALF_PI_F32 - TWO_F32 * s
    far = far + (((HALF_PI_F32 - far) - TWO_F32 * s) - (TWO_F32 * rest - HALF_PI_LOW_F32))
    return copy_sign(select(large, far, s + rest), x)


@jitable
def acos_f64(x: Any) -> Any:
    """Return the angle whose cosine is x, to 1.2 ULP."""
    a = absolute(x)
    large = a > 0.5
    z = select(large, 0.5 * (1.0 - a), a * a)
    s = copy_sign(select(large, square_root(z), a), x)
    rest = s * z * polynomial(z, ASIN_F64)
    near = HALF_PI - (s + (rest - HALF_PI_LOW))
    far = select(x < 0.0, PI, 0.0) + (2.0 * s + (2.0 * rest + select(x < 0.0, PI_LOW, 0.0)))
    return select(large, far, near)


@jitable
def acos_f32(x: Any) -> Any:
    """Return the angle whose cosine is x, to 1.2 ULP."""
    a = absolute(x)
    large = a > HALF_F32
    z = select(large, HALF_F32 * (ONE_F32 - a), a * a)
    s = copy_sign(select(large, square_root(z), a), x)
    rest = s * z * polynomial(z, ASIN_F32)
    near = HALF_PI_F32 - (s + (rest - HALF_PI_LOW_F32))
    negative = x < ZERO_F32
    low = select(negative, PI_LOW_F32, ZERO_F32)
    far = select(negative, PI_F32, ZERO_F32) + (TWO_F32 * s + (TWO_F32 * rest + low))
    return select(large, far, near)
