"""asinh, acosh and atanh: logarithms of arguments that carry their rounding errors along; float32 in float64 inside."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.backend.primitives import (
    absolute,
    bits_of_f64,
    copy_sign,
    divide,
    f64_from_bits,
    product_error,
    select,
    square_root,
    to_f32,
    to_f64,
)
from numhlo.backend.vector_math.jitable import jitable, polynomial
from numhlo.backend.vector_math.logarithm import (
    LOG_F64,
    log1p_short,
    log1p_sum_f64,
    log_short,
    log_sum_f64,
    split_normal_f64,
)

# (asinh(x) / x - 1) / x**2 in x**2 up to 1/4, error 2**-58.1
ASINH = (
    -0.1666666666666661,
    0.07499999999984638,
    -0.04464285712800753,
    0.030381943723400896,
    -0.022372138520705576,
    0.01735238932844168,
    -0.013960255004655442,
    0.011513129189999135,
    -0.009534752773357288,
    0.0074672246141237915,
    -0.004749994770853448,
    0.0017197416890158488,
)
BIG = 268435456.0
NEARLY_LINEAR, SIXTH = np.float64(0.0009765625), 0.16666666666666666  # below, asinh is x - x**3 / 6 to 2**-43
ONE, TWO, SMALL_LIMIT = np.float64(1.0), np.float64(2.0), np.float64(0.17)


@jitable
def asinh_f64(x: Any) -> Any:
    """Return the inverse hyperbolic sine, to 1.0 ULP."""
    a = absolute(x)
    z = a * a
    small = a + a * z * polynomial(z, ASINH)
    big = a > BIG
    b = select(big, ONE, a)
    square = b * b
    q = square + 1.0
    v = q - square
    root = square_root(q)
    root_square = root * root
    q_low = ((square - (q - v)) + (1.0 - v)) + product_error(b, b, square)
    root_low = divide((q - root_square) - product_error(root, root, root_square) + q_low, root + root)
    u = b + root
    u_low = ((root - u) + b) + root_low
    k, m = split_normal_f64(select(big, a, u))
    low = select(big, 0.0, u_low) * f64_from_bits((1023 << 52) - (bits_of_f64(u) - bits_of_f64(m)))
    low = select(big, 0.0, low)
    f = m - 1.0
    y = log_sum_f64(select(big, k + 1.0, k), f, low - low * f)
    y = select(a < np.inf, y, a)
    return copy_sign(select(a < 0.5, small, y), x)


@jitable
def asinh_f32(x: Any) -> Any:
    """Return the inverse hyperbolic sine, to 0.6 ULP."""
    wide = to_f64(x)
    a = absolute(wide)
    square = a * a
    y = log_short(a + square_root(square + 1.0))
    y = select(a < NEARLY_LINEAR, a - a * square * SIXTH, y)
    return to_f32(copy_sign(select(a < np.inf, y, a), wide))


@jitable
def acosh_f64(x: Any) -> Any:
    """Return the inverse hyperbolic cosine, to 1.0 ULP."""
    big = x > BIG
    b = select(big, TWO, x)
    square = b * b
    q = square - 1.0
    v = q - square
    q_low = ((square - (q - v)) - (1.0 + v)) + product_error(b, b, square)
    root = square_root(q + q_low)
    root_square = root * root
    rest = ((q - root_square) - product_error(root, root, root_square)) + q_low
    root_low = divide(rest, select(root == 0.0, ONE, root + root))
    t = b - 1.0
    y = t + root
    v = y - t
    y_low = ((t - (y - v)) + (root - v)) + root_low
    k, m = split_normal_f64(x)
    y = select(big, log_sum_f64(k + 1.0, m - 1.0, 0.0), log1p_sum_f64(y, y_low))
    y = select(x < np.inf, y, x)
    return select(x >= 1.0, y, np.nan)


@jitable
def acosh_f32(x: Any) -> Any:
    """Return the inverse hyperbolic cosine, to 0.6 ULP."""
    wide = to_f64(x)
    t = wide - 1.0
    y = log_short(wide + square_root(t * (t + 2.0)))
    y = select(wide < np.inf, y, wide)
    return to_f32(select(wide >= 1.0, y, np.nan))


@jitable
def atanh_f64(x: Any) -> Any:
    """Return the inverse hyperbolic tangent, to 1.0 ULP."""
    a = absolute(x)
    z = a * a
    small = a + 0.5 * (a * z * polynomial(z, LOG_F64))
    b = select(a < 1.0, a, SMALL_LIMIT)
    d = 1.0 - b
    d_low = (1.0 - d) - b
    y = divide(b + b, d)
    product = y * d
    y_low = divide((((b + b) - product) - product_error(y, d, product)) - y * d_low, d)
    y = select(a < SMALL_LIMIT, small, 0.5 * log1p_sum_f64(y, y_low))
    y = select(a < 1.0, y, select(a == 1.0, np.inf, np.nan))
    return copy_sign(y, x)


@jitable
def atanh_f32(x: Any) -> Any:
    """Return the inverse hyperbolic tangent, to 0.6 ULP."""
    wide = to_f64(x)
    a = absolute(wide)
    b = select(a < 1.0, a, SMALL_LIMIT)
    y = 0.5 * log1p_short(divide(b + b, 1.0 - b))
    y = select(a < 1.0, y, select(a == 1.0, np.inf, np.nan))
    return to_f32(copy_sign(y, wide))
