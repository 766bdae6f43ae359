"""Decompositions of beta, its logarithm, and the incomplete beta function; float64.

Where both arguments are large, Stirling's formulas are combined before anything is rounded, so that nothing cancels.
The incomplete function is a continued fraction (DLMF 8.17.22, by Lentz's method) on the side where it converges fast.
"""

from __future__ import annotations

import math

import numpy as np

from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.formula import Formula, absolute, exp, log, log1p, maximum, minimum, polynomial, sqrt, where
from numhlo.lowering.ops.iteration import both, either, iterate
from numhlo.lowering.ops.special_functions.gamma import gamma, lgamma, stirling_rest

LARGE = 10.0
"""From here up, an argument is taken for large."""

STEPS = 20000
EPSILON = 2.0**-53
TINY = 1e-290


def log1p_less(x: Formula) -> Formula:
    """Return ``log(1 + x) - x`` for x > -1, accurate near 0."""
    r = x / (x + 2.0)
    square = r * r
    series = polynomial(square, [2.0 / (2 * k + 3) for k in range(16)])
    return where(absolute(x) < 0.5, r * (square * series - x), log1p(x) - x)


def betaln(a: Formula, b: Formula) -> Formula:
    """Return the logarithm of the absolute value of the beta function."""
    low, high = minimum(a, b), maximum(a, b)
    plain = lgamma(low) + lgamma(high) - lgamma(low + high)
    mixed = lgamma(low) - _log_quotient(low, high)
    found = where(low >= LARGE, _betaln_of_large(low, high), where(high >= LARGE, mixed, plain))
    found = where(low > 0.0, found, where(low.compare("EQ", 0.0), np.inf, plain))
    return where(both(low > 0.0, high.compare("EQ", np.inf)), -np.inf, found)


def _betaln_of_large(a: Formula, b: Formula) -> Formula:
    rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b)
    powers = a * log1p(b / a) + b * log1p(a / b)
    return 0.5 * log((1.0 / a + 1.0 / b) * (2 * math.pi)) + rest - powers


def _log_quotient(a: Formula, b: Formula) -> Formula:
    """Return ``log(gamma(a + b) / gamma(b))`` for large b and smaller positive a."""
    ratio = a / maximum(b, LARGE)
    change = (a + b - 0.5) * log1p(ratio) + a * (log(b) - 1.0)
    return change + (stirling_rest(a + b) - stirling_rest(b))


def beta(a: Formula, b: Formula) -> Formula:
    """Return the beta function, ``gamma(a) gamma(b) / gamma(a + b)``."""
    low, high = minimum(a, b), maximum(a, b)
    plain = gamma(low) * (gamma(high) / gamma(low + high))
    mixed = gamma(low) * exp(-_log_quotient(low, high))
    found = where(low >= LARGE, exp(_betaln_of_large(low, high)), where(high >= LARGE, mixed, plain))
    found = where(high.compare("EQ", np.inf), 0.0, found)
    return where(low > 0.0, found, where(low.compare("EQ", 0.0), np.inf, plain))


BEYOND = 60.0
"""Terms behind the last one of a finite fraction that its derivatives take."""


def betainc_to_differentiate(a: Formula, b: Formula, x: Formula) -> Formula:
    """Return `betainc` by fractions that go on where they are finite: their derivatives are not."""
    return betainc(a, b, x, BEYOND)


def betainc(a: Formula, b: Formula, x: Formula, beyond: float = 0.0) -> Formula:
    """Return the regularized incomplete beta function; NaN for negative a or b and for x outside [0, 1]."""
    within = both(x > 0.0, x < 1.0)
    positive, finite = both(a > 0.0, b > 0.0), both(a < np.inf, b < np.inf)
    inside = both(both(positive, finite), within)
    swapped = x * (a + b + 2.0) > a + 1.0
    y = where(swapped, 1.0 - x, x)
    p, q = where(swapped, b, a), where(swapped, a, b)
    tail = _weight(a, b, x) * _fraction(inside, p, q, y, beyond) / p
    found = where(swapped, 1.0 - tail, tail)
    # all mass is at 0 where a vanishes or b is infinite, at 1 the other way round; in neither place where both are
    at_zero, at_one = (
        either(a.compare("EQ", 0.0), b.compare("EQ", np.inf)),
        either(b.compare("EQ", 0.0), a.compare("EQ", np.inf)),
    )
    found = where(at_zero, 1.0, where(at_one, 0.0, found))
    found = where(x.compare("EQ", 0.0), 0.0, where(x.compare("EQ", 1.0), 1.0, found))
    legal = both(both(a >= 0.0, b >= 0.0), both(x >= 0.0, x <= 1.0))
    return where(legal, where(both(at_zero, at_one), np.nan, found), np.nan)


def _weight(a: Formula, b: Formula, x: Formula) -> Formula:
    """Return ``x^a (1 - x)^b / beta(a, b)``."""
    total = a + b
    shift = x * total - a
    deviance = a * _log_ratio(shift / a, x * total / a) + b * _log_ratio(-shift / b, (1.0 - x) * total / b)
    rest = stirling_rest(total) - stirling_rest(a) - stirling_rest(b)
    large = sqrt(a * (b / total) * (1 / (2 * math.pi))) * exp(deviance) * exp(rest)
    small = x.apply(elementwise.POWER, a) * exp(b * log1p(-x)) / beta(a, b)
    return where(minimum(a, b) >= LARGE, large, small)


def _log_ratio(change: Formula, ratio: Formula) -> Formula:
    """Return ``log(ratio) - change`` where the ratio is 1 plus the change."""
    return where(absolute(change) < 0.5, log1p_less(change), log(ratio) - change)


def _nonzero(x: Formula) -> Formula:
    return where(absolute(x) < TINY, TINY, x)


def _fraction(active: Formula, a: Formula, b: Formula, x: Formula, beyond: float) -> Formula:
    """Return the continued fraction by which ``x^a (1 - x)^b / (a beta(a, b))`` is to be multiplied."""
    total = a + b

    def step(m: Formula, values: list[Formula]) -> tuple[list[Formula], Formula]:
        c, d, h = values
        twice = a + 2.0 * m
        even = m * (b - m) * x / ((twice - 1.0) * twice)
        d = 1.0 / _nonzero(1.0 + even * d)
        c = _nonzero(1.0 + even / c)
        h = h * (d * c)
        odd = -(a + m) * (total + m) * x / (twice * (twice + 1.0))
        d = 1.0 / _nonzero(1.0 + odd * d)
        c = _nonzero(1.0 + odd / c)
        change = d * c
        going = absolute(change - 1.0) > 2 * EPSILON
        if beyond:
            going = either(going, both(m >= b, m < b + beyond))
        return [c, d, h * change], going

    first = 1.0 / _nonzero(1.0 - total * x / (a + 1.0))
    return iterate(active, [x.constant(1.0), first, first], step, STEPS)[2]
