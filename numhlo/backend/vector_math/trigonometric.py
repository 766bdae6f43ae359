"""sin, cos and tan: x = n pi/2 + r, polynomials in r, and the quadrant n picks one and its sign.

float32 works in float64 inside. Up to 2**26 the reduction subtracts n times pi/2 in parts that make the products
exact; huge arguments take a slow path with enough bits of 2/pi (`huge_arguments`).
"""

from __future__ import annotations

from typing import Any

from numhlo.backend.primitives import bits_of_f64, divide, f64_from_bits, select, to_f32, to_f64
from numhlo.backend.vector_math.exponential import ROUND
from numhlo.backend.vector_math.huge_arguments import reduced_huge
from numhlo.backend.vector_math.jitable import jitable, polynomial, rescue

TWO_OVER_PI = 0.6366197723675814
PI_HALF_1 = 1.570796325802803  # 27 bits, and so the next two: n times one is exact for n < 2**26
PI_HALF_2 = 9.920935739593517e-10
PI_HALF_3 = 5.721188709663575e-18
PI_HALF_4 = 1.6446256936324258e-26
PI_HALF_REST = 9.920935796805404e-10  # pi/2 without the first part
LIMIT = 67108864.0

# (sin(r) / r - 1) / r**2 and (cos(r) - 1 + r**2 / 2) / r**4 in r**2, |r| <= pi/4, errors 2**-57.3 and 2**-59.8
SIN_F64 = (
    -0.16666666666666632,
    0.008333333333322425,
    -0.00019841269829815828,
    2.7557313694177866e-06,
    -2.5050758393504286e-08,
    1.5896808031566887e-10,
)
COS_F64 = (
    0.0416666666666666,
    -0.0013888888888874092,
    2.480158728946466e-05,
    -2.755731434777575e-07,
    2.087572270368299e-09,
    -1.1359620289723713e-11,
)
# the same with errors 2**-28.1 and 2**-33.3, for float32
SIN_F32 = (-0.16666654937884182, 0.008332177707670141, -0.00019517234843045245)
COS_F32 = (0.041666646858420364, -0.0013887367054406948, 2.443839235823623e-05)


@jitable
def reduced(x: Any) -> Any:
    """Return ``(bits, r, low)`` with ``x = n pi/2 + r + low``, n in the low bits; |x| <= 2**26."""
    t = x * TWO_OVER_PI + ROUND
    n = t - ROUND
    first = x - n * PI_HALF_1
    second = n * PI_HALF_2
    high = first - second
    third = n * PI_HALF_3
    fourth = n * PI_HALF_4
    rest = third + fourth
    r = high - rest
    lost = ((first - high) - second) - ((third - rest) + fourth)
    return bits_of_f64(t), r, ((high - r) - rest) + lost


@jitable
def reduced_short(x: Any) -> Any:
    """Return ``(bits, r)`` as `reduced` does, r in one float64: enough for float32."""
    t = x * TWO_OVER_PI + ROUND
    n = t - ROUND
    return bits_of_f64(t), (x - n * PI_HALF_1) - n * PI_HALF_REST


@jitable
def sine(r: Any, low: Any, z: Any) -> Any:
    """Return sin(r + low), z = r**2, |r| <= pi/4."""
    return r + (r * z * polynomial(z, SIN_F64) + (low - 0.5 * z * low))


@jitable
def cosine(r: Any, low: Any, z: Any) -> Any:
    """Return cos(r + low), z = r**2, |r| <= pi/4."""
    half = 0.5 * z
    y = 1.0 - half
    return y + (((1.0 - y) - half) + (z * z * polynomial(z, COS_F64) - r * low))


@jitable
def by_quadrant(n: Any, sin_r: Any, cos_r: Any) -> Any:
    """Return sin(n pi/2 + r); n an integer of which the low two bits count."""
    y = select((n & 1) == 0, sin_r, cos_r)
    return f64_from_bits(bits_of_f64(y) ^ ((n & 2) << 62))


@jitable
def sin_huge(x: Any) -> Any:
    """Return sin(x) of a huge argument."""
    n, r, low = reduced_huge(x)
    return by_quadrant(n, sine(r, low, r * r), cosine(r, low, r * r))


@jitable
def cos_huge(x: Any) -> Any:
    """Return cos(x) of a huge argument."""
    n, r, low = reduced_huge(x)
    return by_quadrant(n + 1, sine(r, low, r * r), cosine(r, low, r * r))


@jitable
def sin_f64(x: Any) -> Any:
    """Return the sine, to 0.8 ULP."""
    n, r, low = reduced(x)
    z = r * r
    y = by_quadrant(n, sine(r, low, z), cosine(r, low, z))
    return rescue(select(x == 0.0, x, y), x, LIMIT, sin_huge)


@jitable
def cos_f64(x: Any) -> Any:
    """Return the cosine, to 0.8 ULP."""
    n, r, low = reduced(x)
    z = r * r
    return rescue(by_quadrant(n + 1, sine(r, low, z), cosine(r, low, z)), x, LIMIT, cos_huge)


@jitable
def sin_f32(x: Any) -> Any:
    """Return the sine, to 0.6 ULP."""
    wide = to_f64(x)
    n, r = reduced_short(wide)
    z = r * r
    y = by_quadrant(n, r + r * z * polynomial(z, SIN_F32), (1.0 - 0.5 * z) + z * z * polynomial(z, COS_F32))
    return to_f32(rescue(select(wide == 0.0, wide, y), wide, LIMIT, sin_huge))


@jitable
def cos_f32(x: Any) -> Any:
    """Return the cosine, to 0.6 ULP."""
    wide = to_f64(x)
    n, r = reduced_short(wide)
    z = r * r
    y = by_quadrant(n + 1, r + r * z * polynomial(z, SIN_F32), (1.0 - 0.5 * z) + z * z * polynomial(z, COS_F32))
    return to_f32(rescue(y, wide, LIMIT, cos_huge))


@jitable
def tan_by_quadrant(n: Any, sin_r: Any, cos_r: Any) -> Any:
    """Return tan(n pi/2 + r); n an integer of which the lowest bit counts."""
    even = (n & 1) == 0
    return divide(select(even, sin_r, -cos_r), select(even, cos_r, sin_r))


@jitable
def tan_huge(x: Any) -> Any:
    """Return tan(x) of a huge argument."""
    n, r, low = reduced_huge(x)
    return tan_by_quadrant(n, sine(r, low, r * r), cosine(r, low, r * r))


@jitable
def tan_f64(x: Any) -> Any:
    """Return the tangent, to 2.3 ULP."""
    n, r, low = reduced(x)
    z = r * r
    y = tan_by_quadrant(n, sine(r, low, z), cosine(r, low, z))
    return rescue(select(x == 0.0, x, y), x, LIMIT, tan_huge)


@jitable
def tan_f32(x: Any) -> Any:
    """Return the tangent, to 0.6 ULP."""
    wide = to_f64(x)
    n, r = reduced_short(wide)
    z = r * r
    y = tan_by_quadrant(n, r + r * z * polynomial(z, SIN_F32), (1.0 - 0.5 * z) + z * z * polynomial(z, COS_F32))
    return to_f32(rescue(select(wide == 0.0, wide, y), wide, LIMIT, tan_huge))
