"""erf_inv: quotients of polynomials in x**2 up to 3/4, in sqrt(-log(1 - x)) beyond."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.backend.primitives import absolute, copy_sign, divide, select, square_root, to_f32, to_f64
from numhlo.backend.vector_math.jitable import jitable, polynomial
from numhlo.backend.vector_math.logarithm import LN2, LOG_SHORT, log_sum_f64, split_normal_f64

# erf_inv(x) / x - 1 in 9/16 - x**2, |x| <= 3/4: numerator, denominator; error 2**-57.0
NEAR_P = (
    0.08455979679682472,
    -0.002717408648389707,
    -1.6460880643313482,
    -4.2575105918827845,
    -4.018149697593332,
    -1.4696755388604592,
    -0.15626253558510816,
)
NEAR_Q = (
    1.0,
    6.621301392771329,
    16.64396945138459,
    19.811892408339208,
    11.336742044455741,
    2.7813392723037498,
    0.20281343572486424,
    -0.0007388674640405274,
)
# erf_inv(1 - exp(-r**2)) / r - 7/8 in r - 9/8, r from 1.17 to 6.06: numerator, denominator; error 2**-54.3
FAR_P = (
    -0.19888232269558406,
    -0.4349937649802048,
    -0.25056862014581993,
    0.09357735760406134,
    0.17420438077163786,
    0.07739102262609017,
    0.014688192481958939,
    0.0012025653142089178,
    3.338560433444361e-05,
)
FAR_Q = (
    1.0,
    3.648565940184082,
    5.662342574978736,
    4.866409195779673,
    2.4821174944076243,
    0.7458416001087541,
    0.12271328590389687,
    0.009640945546490604,
    0.00026686053868964335,
    2.1068397555618475e-09,
)
# for float32: erf_inv(x) / x, error 2**-28.7; erf_inv(1 - exp(-r**2)) up to r = 4.2, error 2**-28.8
NEAR_P_SHORT = (1.0845597940833887, 2.7897430701983055, 1.6100606314417798, 0.11901952413381107)
NEAR_Q_SHORT = (1.0, 3.090982829423896, 2.4686354426602324, 0.41268098597426517)
FAR_P_SHORT = (0.7606324012394493, 2.0154513110593943, 1.9058246451495973, 0.7361984977155108, 0.08674383477006745)
FAR_Q_SHORT = (1.0, 1.3309482029548387, 0.6416773598589361, 0.08667242083190703)
HALF = np.float64(0.5)


@jitable
def erf_inv_f64(x: Any) -> Any:
    """Return the number whose error function is x, to 2.5 ULP."""
    a = absolute(x)
    near = a <= 0.75
    u = 0.5625 - x * x
    k, m = split_normal_f64(select(near | (a >= 1.0), HALF, 1.0 - a))
    r = square_root(-log_sum_f64(k, m - 1.0, 0.0))
    v = r - 1.125
    numerator = select(near, polynomial(u, NEAR_P), polynomial(v, FAR_P))
    quotient = divide(numerator, select(near, polynomial(u, NEAR_Q), polynomial(v, FAR_Q)))
    y = select(near, a + a * quotient, r + r * (quotient - 0.125))
    y = select(a < 1.0, y, select(a == 1.0, np.inf, np.nan))
    return copy_sign(y, x)


@jitable
def erf_inv_f32(x: Any) -> Any:
    """Return the number whose error function is x, to 0.6 ULP."""
    wide = to_f64(x)
    a = absolute(wide)
    near = a <= 0.75
    u = 0.5625 - wide * wide
    k, m = split_normal_f64(select(near | (a >= 1.0), HALF, 1.0 - a))
    f = m - 1.0
    s = divide(f, 2.0 + f)
    z = s * s
    v = square_root(-(k * LN2 + s * (2.0 + z * polynomial(z, LOG_SHORT)))) - 1.125
    numerator = select(near, a * polynomial(u, NEAR_P_SHORT), polynomial(v, FAR_P_SHORT))
    y = divide(numerator, select(near, polynomial(u, NEAR_Q_SHORT), polynomial(v, FAR_Q_SHORT)))
    y = select(a < 1.0, y, select(a == 1.0, np.inf, np.nan))
    return to_f32(copy_sign(y, wide))
