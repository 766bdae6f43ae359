"""Decompositions of the incomplete gamma functions, regularized; float64.

Below the mean, P is a power series; above, Q is a continued fraction (DLMF 8.7.1, 8.9.2). Small ``a`` and ``x`` take
the series of Q itself, so that it keeps its digits where P is nearly 1. Both converge in a number of steps that grows
with the square root of ``a``; from 10,000 up Temme's uniform expansion (DLMF 8.12.3) takes over, with coefficients that
are derived here.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np

from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.formula import Formula, absolute, exp, expm1, log, maximum, minimum, polynomial, sqrt, where
from numhlo.lowering.ops.iteration import both, iterate
from numhlo.lowering.ops.special_functions.beta import log1p_less
from numhlo.lowering.ops.special_functions.error_function import erfc
from numhlo.lowering.ops.special_functions.gamma import digamma, gamma, lgamma_of_one_plus, stirling_rest

LARGE = 10.0
UNIFORM = 1e4
"""From here up, ``a`` takes the uniform expansion."""

STEPS = 3000
EPSILON = 2.0**-53


def igamma(a: Formula, x: Formula) -> Formula:
    """Return P(a, x), the integral of the gamma distribution's density up to x; NaN for negative arguments."""
    lower, upper, is_lower = _parts(a, x)
    return _with_edges(a, x, where(is_lower, lower, 1.0 - upper), 1.0)


def igammac(a: Formula, x: Formula) -> Formula:
    """Return Q(a, x) = 1 - P(a, x), accurate where that is small."""
    lower, upper, is_lower = _parts(a, x)
    return _with_edges(a, x, where(is_lower, 1.0 - lower, upper), 0.0)


def _with_edges(a: Formula, x: Formula, value: Formula, far: float) -> Formula:
    """Return a value corrected where an argument is zero, infinite or illegal; ``far`` is the function at infinity."""
    value = where(x.compare("EQ", 0.0), 1.0 - far, value)
    value = where(a.compare("EQ", np.inf), 1.0 - far, value)
    value = where(x.compare("EQ", np.inf), where(a.compare("EQ", np.inf), np.nan, x.constant(far)), value)
    value = where(a.compare("EQ", 0.0), where(x.compare("EQ", 0.0), np.nan, x.constant(far)), value)
    return where(both(a >= 0.0, x >= 0.0), value, np.nan)


def _parts(a: Formula, x: Formula) -> tuple[Formula, Formula, Formula]:
    """Return P where it was computed, Q where it was, and which of them it is."""
    inside = both(both(a > 0.0, x > 0.0), both(a < np.inf, x < np.inf))
    iterated = both(inside, a < UNIFORM)
    weight = _weight(a, x)
    small = both(a <= 0.5, x <= 1.1)
    below = x <= a + 1.0
    series = weight * _series(both(iterated, below), a, x)
    fraction = weight * a * _fraction(both(iterated, x > a + 1.0), a, x)
    upper = where(small, _upper_of_small(a, x), fraction)
    is_lower = where(small, upper > 0.5, below)
    uniform_lower, uniform_upper = _uniform(a, x)
    uniform = a >= UNIFORM
    return (
        where(uniform, uniform_lower, series),
        where(uniform, uniform_upper, upper),
        where(uniform, x <= a, is_lower),
    )


def _weight(a: Formula, x: Formula) -> Formula:
    """Return ``x^a exp(-x) / gamma(a + 1)``."""
    half = exp(x * -0.5)
    power = minimum(x, 1500.0).apply(elementwise.POWER, a)
    small = power / gamma(a + 1.0) * half * half
    large = exp(-_deviance(a, x)) / (sqrt(a * (2 * math.pi)) * exp(stirling_rest(a)))
    return where(a < LARGE, small, large)


def _deviance(a: Formula, x: Formula) -> Formula:
    """Return ``x - a - a log(x / a)``, which is not negative."""
    change = (x - a) / a
    near = log1p_less(maximum(minimum(change, 0.5), -0.5))
    return a * where(absolute(change) < 0.5, -near, change - log(x / a))


def _series(active: Formula, a: Formula, x: Formula) -> Formula:
    """Return the sum of ``x^n / ((a + 1) ... (a + n))``."""

    def step(n: Formula, values: list[Formula]) -> tuple[list[Formula], Formula]:
        term, total = values
        term = term * (x / (a + n))
        total = total + term
        return [term, total], term > total * (EPSILON / 4)

    one = x.constant(1.0)
    return iterate(active, [one, one], step, STEPS)[1]


def _fraction(active: Formula, a: Formula, x: Formula) -> Formula:
    """Return ``gamma(a, x) x^-a exp(x)`` for x > a + 1, by Lentz's method."""
    first = x + 1.0 - a

    def step(n: Formula, values: list[Formula]) -> tuple[list[Formula], Formula]:
        c, d, h = values
        numerator, denominator = n * (a - n), first + 2.0 * n
        d = 1.0 / (numerator * d + denominator)
        c = denominator + numerator / c
        change = c * d
        return [c, d, h * change], absolute(change - 1.0) > 2 * EPSILON

    start = 1.0 / first
    return iterate(active, [x.constant(1e290), start, start], step, STEPS)[2]


def igamma_slope(a: Formula, x: Formula) -> Formula:
    """Return the derivative of P(a, x) by a, for a up to a million: series and fraction, differentiated."""
    inside = both(both(a > 0.0, x > 0.0), both(a < np.inf, x < np.inf))
    below = x <= a + 1.0
    weight, log_x = _weight(a, x), log(x)

    def next_term(n: Formula, values: list[Formula]) -> tuple[list[Formula], Formula]:
        term, total, harmonic, slope = values
        term, harmonic = term * (x / (a + n)), harmonic + 1.0 / (a + n)
        return [term, total + term, harmonic, slope + term * harmonic], term * harmonic > slope * (EPSILON / 4)

    def next_fraction(n: Formula, values: list[Formula]) -> tuple[list[Formula], Formula]:
        c, dc, d, dd, h, dh = values
        numerator, denominator = n * (a - n), x + 1.0 - a + 2.0 * n
        inverse = 1.0 / (numerator * d + denominator)
        dd = -inverse * inverse * (n * d + numerator * dd - 1.0)
        dc = (n - numerator * (dc / c)) / c - 1.0
        c, d = denominator + numerator / c, inverse
        change, slope = c * d, dc * d + c * dd
        dh = dh * change + h * slope
        going = (absolute(change - 1.0) + absolute(slope)) > 8 * EPSILON
        return [c, dc, d, dd, h * change, dh], going

    one, zero = x.constant(1.0), x.constant(0.0)
    _, total, _, slope = iterate(both(inside, below), [one, one, zero, zero], next_term, SLOPE_STEPS)
    lower = weight * (total * (log_x - digamma(a + 1.0)) - slope)
    start = 1.0 / (x + 1.0 - a)
    first = [x.constant(1e290), zero, start, start * start, start, start * start]
    *_, fraction, change = iterate(both(inside, x > a + 1.0), first, next_fraction, SLOPE_STEPS)
    upper = weight * a * (fraction * (log_x - digamma(a)) + change)
    found = where(inside, where(below, lower, -upper), 0.0)
    return where(both(a > 0.0, x >= 0.0), found, np.nan)


SLOPE_STEPS = 10000


def _upper_of_small(a: Formula, x: Formula) -> Formula:
    """Return Q for a up to 1/2 and x up to 1.1: ``1 - x^a / gamma(1 + a) (1 + a sum of (-x)^n / (n! (a + n)))``."""
    bounded, tiny = minimum(x, 1.1), minimum(a, 0.5)
    power = tiny * log(bounded) - lgamma_of_one_plus(tiny)
    total, term = x.constant(0.0), x.constant(1.0)
    for n in range(1, 21):
        term = term * (bounded * (-1.0 / n))
        total = total + term / (tiny + float(n))
    return -expm1(power) - exp(power) * tiny * total


@functools.cache  # half of what importing this module costs, and few programs need it
def _temme_tables(counts: tuple[int, ...]) -> list[list[float]]:
    """Return the expansion's coefficients: a polynomial in eta for each power of 1 / a, by series in fractions.

    With mu = x / a - 1 and eta^2 / 2 = mu - log(1 + mu): c_0 = 1 / mu - 1 / eta, and c_k is the derivative of c_(k-1)
    over eta, plus the multiple of 1 / mu that makes it regular at 0 (DLMF 8.12.9 to 8.12.12).
    """
    size = counts[0] + 2 * len(counts) + 2
    mu = [Fraction(0), Fraction(1)]
    for k in range(2, size + 1):  # from eta (1 + mu) = mu mu'
        known = sum(((j + 1) * mu[k - j] * mu[j + 1] for j in range(1, k - 1)), Fraction(0))
        mu.append((mu[k - 1] - known) / (k + 1))
    inverse = [Fraction(1)]  # of mu / eta
    for k in range(1, size):
        inverse.append(-sum((mu[j + 1] * inverse[k - j] for j in range(1, k + 1)), Fraction(0)))
    current = inverse[1:]
    tables = [[float(c) for c in current[: counts[0]]]]
    for count in counts[1:]:
        slope = [(k + 1) * c for k, c in enumerate(current[1:])]
        current = [slope[k + 1] - slope[0] * inverse[k + 1] for k in range(len(slope) - 1)]
        tables.append([float(c) for c in current[:count]])
    return tables


TEMME_COUNTS = (18, 15, 11, 7)
"""Coefficients of the uniform expansion that count, by power of 1 / a."""


def _uniform(a: Formula, x: Formula) -> tuple[Formula, Formula]:
    """Return P and Q for large a: normal distribution functions of a nearly linear variable, and a correction."""
    deviance = _deviance(maximum(a, UNIFORM), x)
    ratio = deviance / maximum(a, UNIFORM)
    size = sqrt(2.0 * ratio)
    eta = minimum(where(x < a, -size, size), 0.5)
    eta = maximum(eta, -0.5)  # beyond, both terms vanish
    correction = eta.constant(0.0)
    for table in _temme_tables(TEMME_COUNTS)[::-1]:
        correction = correction / maximum(a, UNIFORM) + polynomial(eta, table)
    correction = correction * exp(-deviance) / sqrt(maximum(a, UNIFORM) * (2 * math.pi))
    root = sqrt(deviance)
    signed = where(x < a, -root, root)
    return 0.5 * erfc(-signed) - correction, 0.5 * erfc(signed) + correction
