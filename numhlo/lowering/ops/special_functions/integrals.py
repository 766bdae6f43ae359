"""Decompositions of the exponential integrals and of Spence's function; float64.

``expn`` is a power series up to 1 (DLMF 8.19.8) and a continued fraction above (DLMF 8.19.17, even part). Spence's
function is a series in ``log(x)`` with Bernoulli numbers (DLMF 25.12.13 at order 2), which inversion and reflection
(DLMF 25.12.4, 25.12.6) keep below ``log(2)``.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from numhlo.lowering.ops.formula import Formula, absolute, exp, floor, log, log1p, maximum, minimum, polynomial, where
from numhlo.lowering.ops.iteration import both, either, iterate
from numhlo.lowering.ops.special_functions.gamma import digamma
from numhlo.lowering.ops.special_functions.zeta import bernoulli_numbers

STEPS = 1000
EPSILON = 2.0**-53
TERMS = 22
"""Terms of the power series; for x up to 1 the next one is below 1e-21."""


def expn(n: Formula, x: Formula) -> Formula:
    """Return the integral of ``exp(-x t) / t^n`` from t = 1; n is a natural number, or the result NaN."""
    legal = both(both(floor(n).compare("EQ", n), n >= 0.0), x >= 0.0)
    far = both(both(legal, x > 1.0), both(x < np.inf, n < np.inf))
    found = where(x > 1.0, exp(-x) * _fraction(far, maximum(n, 1.0), x), _power_series(n, minimum(x, 1.0)))
    found = where(n.compare("EQ", 0.0), exp(-x) / x, found)
    at_zero = where(n > 1.0, 1.0 / (n - 1.0), np.inf)
    found = where(
        x.compare("EQ", 0.0), at_zero, where(either(x.compare("EQ", np.inf), n.compare("EQ", np.inf)), 0.0, found)
    )
    return where(legal, found, np.nan)


def _fraction(active: Formula, n: Formula, x: Formula) -> Formula:
    """Return ``exp(x) expn(n, x)`` for x > 1, by Lentz's method."""

    def step(k: Formula, values: list[Formula]) -> tuple[list[Formula], Formula]:
        c, d, h = values
        numerator, denominator = -k * (n + (k - 1.0)), x + n + 2.0 * k
        d = 1.0 / (numerator * d + denominator)
        c = denominator + numerator / c
        change = c * d
        return [c, d, h * change], absolute(change - 1.0) > 2 * EPSILON

    start = 1.0 / (x + n)
    return iterate(active, [x.constant(1e290), start, start], step, STEPS)[2]


def _power_series(n: Formula, x: Formula) -> Formula:
    """Return the sum of ``(-x)^m / (m! (n - 1 - m))``, with ``digamma(n) - log(x)`` where that divides by zero."""
    pole = digamma(n) - log(x)
    total, power = x.constant(0.0), x.constant(1.0)
    for m in range(TERMS):
        power = power * (x * (-1.0 / m)) if m else power
        below = n - float(m + 1)
        at_pole = below.compare("EQ", 0.0)
        total = total + power * where(at_pole, pole, 1.0 / where(at_pole, 1.0, below))
    return total


@functools.cache
def _spence_series() -> list[float]:
    """Return the coefficients of u^(2 k + 1) in the dilogarithm, u = -log(1 - z); the odd Bernoulli number is apart."""
    return [float(b / math.factorial(2 * k + 1)) for k, b in enumerate(bernoulli_numbers(25)[::2])]


def spence(x: Formula) -> Formula:
    """Return the integral of ``log(t) / (1 - t)`` from t = 1 to x: the dilogarithm of 1 - x; NaN below 0."""
    big = x > 2.0
    y = where(big, 1.0 / x, x)  # spence(x) = -log(x)^2 / 2 - spence(1 / x)
    small = y < 0.5
    log_y = where(big, -log(x), log(y))
    log_rest = log1p(-minimum(y, 0.5))
    # spence(y) = pi^2 / 6 - log(y) log(1 - y) - spence(1 - y)
    u = -where(small, log_rest, log_y)
    series = u * (polynomial(u * u, _spence_series()) - 0.25 * u)
    reflected = math.pi**2 / 6 - where(y.compare("EQ", 0.0), 0.0, log_y * log_rest) - series
    value = where(small, reflected, series)
    value = where(big, -0.5 * (log_y * log_y) - value, value)
    return where(x < 0.0, np.nan, value)
