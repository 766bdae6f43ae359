"""lgamma and digamma, float32 by rounding what float64 gives.

Beyond 8 or 6 the asymptotic series of Stirling; below, quotients of polynomials with the zeros as factors, so that
results near them keep their relative accuracy; for negative arguments reflection, with sin(pi x) from the distance to
the next integer, which is exact. Near their zeros at negative arguments both are accurate in absolute terms only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.backend.primitives import absolute, copy_sign, divide, is_nan, select, to_f32, to_f64
from numhlo.backend.vector_math.exponential import ROUND
from numhlo.backend.vector_math.jitable import horner, jitable, polynomial
from numhlo.backend.vector_math.logarithm import log_sum_f64, split_f64

# lgamma(x) / ((x - 1)(x - 2)) - 1/2 in x - 1/2 on [1/2, 5/2]: numerator, denominator; error 2**-54.6
LGAMMA_P = (
    0.2631532572329334,
    1.1704068648731007,
    1.4729367831930462,
    -0.3088824316478431,
    -1.9542088822902712,
    -1.4442735255220625,
    -0.40739648363692543,
    -0.04245680945834224,
    -0.0011370342653054968,
)
LGAMMA_Q = (
    1.0,
    6.662827960850578,
    17.628979620121292,
    23.686650716844674,
    17.192924411483553,
    6.652377730864817,
    1.2732562048648741,
    0.10222873997436216,
    0.0023189315794613628,
)
# x (lgamma(x) - (x - 1/2)(log x - 1) - STIRLING) in 1 / x**2 for x >= 8, error 2**-60.9
STIRLING = 0.4189385332046727
STIRLING_SERIES = (
    0.0833333333333331,
    -0.0027777777773584237,
    0.0007936505763629585,
    -0.0005951896639788258,
    0.0008364572841222666,
    -0.0016334004936881619,
)
# digamma(x) / (x - zero) - 1/2 in x - 1 on [0.99, 6]: numerator, denominator; error 2**-54.6
DIGAMMA_ZERO = 1.4616321449683622
DIGAMMA_ZERO_LOW = 9.549995429965697e-17
DIGAMMA_P = (
    0.7503801375034054,
    0.866682935751405,
    0.22743445037770324,
    -0.05565393407772229,
    -0.03382488054240537,
    -0.005158275700811347,
    -0.000289010302489973,
    -4.6996318820717125e-06,
)
DIGAMMA_Q = (
    1.0,
    2.2940056783491007,
    1.913213755007173,
    0.7568582291408217,
    0.15221767221908622,
    0.015233262250342421,
    0.0006752957020056257,
    9.550056162772463e-06,
    -5.663567071541561e-10,
)
# x**2 (digamma(x) - log x + 1 / (2x)) in 1 / x**2 for x >= 6, error 2**-62.9
DIGAMMA_SERIES = (
    -0.08333333333333298,
    0.008333333332920497,
    -0.003968253799399088,
    0.0041666330927922325,
    -0.007572029036981956,
    0.020847109251605052,
    -0.07358261930474579,
    0.21481877455377124,
)
# sin(pi t) / (pi t) in t**2, |t| <= 1/2, error 2**-54.4
SIN_PI = (
    1.0,
    -1.6449340668482262,
    0.8117424252833373,
    -0.19075182412143007,
    0.026147847804524144,
    -0.0023460808867827223,
    0.00014842780069810032,
    -6.972000086608468e-06,
    2.449304295765008e-07,
)
# (cos(pi t) - 1) / t**2 in t**2, |t| <= 1/2, error of the cosine 2**-53.6
COS_PI = (
    -4.934802200544679,
    4.058712126416768,
    -1.3352627688545589,
    0.23533063035806467,
    -0.025806891377309113,
    0.0019295741917210749,
    -0.00010463743314997015,
    4.300756993623651e-06,
    -1.3437987805283116e-07,
)
ONE, SIX, EIGHT = np.float64(1.0), np.float64(6.0), np.float64(8.0)


@jitable
def log_positive(x: Any) -> Any:
    """Return log(x), x positive and finite."""
    k, m = split_f64(x)
    return log_sum_f64(k, m - 1.0, 0.0)


@jitable
def step_down(y: Any, product: Any) -> Any:
    """Return ``(y - 1, product (y - 1))`` where y >= 5/2, else both as they are."""
    large = y >= 2.5
    less = y - 1.0
    return select(large, less, y), select(large, product * less, product)


@jitable
def factorial_steps(y: Any) -> Any:
    """Return ``(y - n, (y - 1)...(y - n))`` with y - n below 5/2, for y up to 8."""
    y, product = step_down(y, ONE)
    y, product = step_down(y, product)
    y, product = step_down(y, product)
    y, product = step_down(y, product)
    y, product = step_down(y, product)
    return step_down(y, product)


@jitable
def distance_to_integer(x: Any) -> Any:
    """Return x minus the nearest integer, 0 beyond 2**51."""
    nearest = (x + ROUND) - ROUND
    return select(absolute(x) < 2251799813685248.0, x - nearest, 0.0)


@jitable
def lgamma_f64(x: Any) -> Any:
    """Return the logarithm of the absolute value of the gamma function, to 4.0 ULP."""
    a = absolute(x)
    small = a < 0.5
    big = a >= 8.0
    y, product = factorial_steps(select(big, EIGHT, a))
    v = select(small, a + 0.5, y - 0.5)
    factor = select(small, a * (a - 1.0), (y - 1.0) * (y - 2.0))
    core = factor * (0.5 + divide(horner(v, LGAMMA_P), polynomial(v, LGAMMA_Q)))
    logarithm = log_positive(select(small | big, a, product))
    inverse = divide(ONE, select(big, a, EIGHT))
    stirling = (a - 0.5) * (logarithm - 1.0) + (STIRLING + inverse * polynomial(inverse * inverse, STIRLING_SERIES))
    y = select(big, stirling, core + select(small, -logarithm, logarithm))
    t = absolute(distance_to_integer(x))
    sine = t * polynomial(t * t, SIN_PI)
    reflected = -log_positive(select(small, sine, a * sine)) - select(small, core, y)
    y = select(x < 0.0, select(t == 0.0, np.inf, reflected), y)
    return select((a == np.inf) | (a == 0.0), np.inf, select(is_nan(x), x, y))


@jitable
def lgamma_f32(x: Any) -> Any:
    """Return the logarithm of the absolute value of the gamma function, to 0.6 ULP."""
    return to_f32(lgamma_f64(to_f64(x)))


@jitable
def digamma_f64(x: Any) -> Any:
    """Return the derivative of the logarithm of the gamma function, to 6.0 ULP."""
    negative = x < 0.0
    a = select(negative, 1.0 - x, x)
    small = a < 1.0
    big = a >= 6.0
    b = select(big, SIX, a)
    y = select(small, b + 1.0, b)
    distance = select(small, b - (DIGAMMA_ZERO - 1.0), b - DIGAMMA_ZERO) - DIGAMMA_ZERO_LOW
    v = select(small, b, b - 1.0)
    core = distance * (0.5 + divide(horner(v, DIGAMMA_P), polynomial(v, DIGAMMA_Q)))
    inverse = divide(ONE, a)
    z = inverse * inverse
    series = log_positive(select(big, a, y)) - (0.5 * inverse - z * polynomial(z, DIGAMMA_SERIES))
    y = select(big, series, core) - select(small, inverse, 0.0)
    t = distance_to_integer(x)
    z = t * t
    cotangent = divide(1.0 + z * polynomial(z, COS_PI), select(t == 0.0, ONE, t * polynomial(z, SIN_PI)))  # times pi
    y = select(negative, select(t == 0.0, np.nan, y - cotangent), y)
    y = select(x == 0.0, copy_sign(np.inf, -x), y)
    return select(x == np.inf, x, select(is_nan(x), x, y))


@jitable
def digamma_f32(x: Any) -> Any:
    """Return the derivative of the logarithm of the gamma function, to 0.6 ULP."""
    return to_f32(digamma_f64(to_f64(x)))
