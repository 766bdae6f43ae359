"""Hurwitz's zeta function and the derivatives of digamma, as formulas in plain StableHLO.

Zeta is the Euler-Maclaurin sum: the first nine terms one by one, the rest by Bernoulli numbers (DLMF 2.10.1, 25.11.5).
Next: `gamma`.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from math import comb, factorial

import numpy as np

from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.formula import Formula, exp, floor, where
from numhlo.lowering.ops.iteration import both, iterate, negated
from numhlo.lowering.ops.special_functions.gamma import digamma, gamma, lgamma

TERMS = 9
"""Terms that are summed one by one."""

CORRECTIONS = 12
"""Bernoulli numbers that the rest takes."""


def bernoulli_numbers(count: int) -> list[Fraction]:
    """Return the first Bernoulli numbers, by their recurrence."""
    numbers = [Fraction(1)]
    for n in range(1, count):
        numbers.append(-sum((comb(n + 1, k) * numbers[k] for k in range(n)), Fraction(0)) / (n + 1))
    return numbers


@functools.cache
def _coefficients() -> list[float]:
    """Return what the derivatives of the correction are multiplied by: B_2k / (2 k)!, k from 1."""
    return [float(b / factorial(2 * k)) for k, b in enumerate(bernoulli_numbers(2 * CORRECTIONS + 1)[::2]) if k]


def _power(x: Formula, y: Formula) -> Formula:
    return x.apply(elementwise.POWER, y)


def _is_integer(x: Formula) -> Formula:
    return floor(x).compare("EQ", x)


def zeta(s: Formula, q: Formula) -> Formula:
    """Return the sum of ``(q + k) ** -s`` for k >= 0 as XLA has it: NaN for s < 1, and at odd poles q = 0, -1, ..."""
    total, base = _power(q, -s), q
    for _ in range(TERMS):
        base = base + 1.0
        last = _power(base, -s)
        total = total + last
    # base = q + 9: its own term is in the sum already, where the formula wants half of it
    correction = -0.5 * last
    term = last * s / base
    for k, coefficient in enumerate(_coefficients()):
        correction = correction + term * coefficient
        term = term * ((s + (2.0 * k + 1.0)) / base) * ((s + (2.0 * k + 2.0)) / base)
    rest = _power(base, 1.0 - s) / (s - 1.0)
    total = total + rest + where(last.compare("EQ", 0.0), 0.0, correction)
    even = floor(s * 0.5).compare("EQ", s * 0.5)
    pole = where(even, s.constant(np.inf), np.nan)
    below = where(_is_integer(q), pole, where(_is_integer(s), total, np.nan))
    result = where(q <= 0.0, below, total)
    return where(s < 1.0, np.nan, where(s.compare("EQ", 1.0), np.inf, result))


def hurwitz_zeta(s: Formula, q: Formula) -> Formula:
    """Return `zeta` with SciPy's meaning: infinite at every pole, and negative q down to -10,000; float64."""
    negative = q < 0.0
    legal = both(_is_integer(s), q > -LOWEST)

    def step(_: Formula, values: list[Formula]) -> tuple[list[Formula], Formula]:
        base, total = values
        return [base + 1.0, total + _power(base, -s)], base < -1.0

    base, total = iterate(both(both(negative, legal), negated(_is_integer(q))), [q, q.constant(0.0)], step, int(LOWEST))
    value = where(negative, where(legal, total + zeta(s, base), np.nan), zeta(s, q))
    value = where(both(q <= 0.0, _is_integer(q)), np.inf, value)
    return where(s > 1.0, value, where(s.compare("EQ", 1.0), s.constant(np.inf), np.nan))


LOWEST = 1e4
"""How far below zero q may be; as many terms are summed."""


def derivative_of_digamma(n: Formula, x: Formula) -> Formula:
    """Return `polygamma` by `hurwitz_zeta`; float64."""
    odd = floor(n * 0.5).compare("NE", n * 0.5)
    size = gamma(n + 1.0) * hurwitz_zeta(n + 1.0, x)
    valid = both(n >= 0.0, _is_integer(n))
    return where(valid, where(n.compare("EQ", 0.0), digamma(x), where(odd, size, -size)), np.nan)


def polygamma(n: Formula, x: Formula) -> Formula:
    """Return the n-th derivative of digamma; NaN where n is no natural number."""
    odd = floor(n * 0.5).compare("NE", n * 0.5)
    size = exp(lgamma(n + 1.0)) * zeta(n + 1.0, x)
    derivative = where(odd, size, -size)
    valid = where(n >= 0.0, _is_integer(n), (n >= 0.0))
    return where(valid, where(n.compare("EQ", 0.0), digamma(x), derivative), np.nan)
