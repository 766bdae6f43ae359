"""Decompositions of gamma, lgamma and digamma.

From 8 up all are asymptotic series (Stirling's). Below, the recurrences ``gamma(x + 1) = x gamma(x)`` and
``digamma(x + 1) = digamma(x) + 1 / x`` lead to an interval where a polynomial holds the function's zeros exactly as
factors, so that relative accuracy is kept around them. Negative arguments are reflected.
"""

from __future__ import annotations

import math

import numpy as np

from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.formula import (
    Formula,
    absolute,
    exp,
    floor,
    log,
    log1p,
    maximum,
    minimum,
    polynomial,
    round_even,
    sin,
    sqrt,
    where,
)
from numhlo.lowering.ops.special_functions import coefficients as tables

FLOAT32 = np.dtype(np.float32)
ASYMPTOTIC = 8.0
"""From here up, the asymptotic series are used."""


def lgamma(x: Formula) -> Formula:
    """Return ``log(abs(gamma(x)))``: infinite at 0, the negative integers and both infinities."""
    size = absolute(x)
    positive = where(size < ASYMPTOTIC, _lgamma_near_2(size), _stirling(size))
    # gamma(x) gamma(-x) = -pi / (x sin(pi x)); the sine of the distance to the nearest integer, which is exact
    distance = absolute(size - round_even(size))
    reflected = -log(size) - log(sin(distance * math.pi) * (1 / math.pi)) - positive
    pole = distance.compare("EQ", 0.0)  # beyond 2^52 every number is an integer
    infinite = size.compare("EQ", np.inf)
    return where(infinite, size, where(x < 0.0, where(pole, np.inf, reflected), positive))


def gamma(x: Formula) -> Formula:
    """Return the gamma function: infinite at 0, of its sign, NaN at the negative integers; float64."""
    size = absolute(x)
    bounded = minimum(size, 190.0)  # results overflow, or underflow, beyond
    small = size < 0.25  # where the recurrence needs no reflection
    near, root = _gamma_near_2(where(small, x, size)), bounded.apply(elementwise.POWER, bounded * 0.5)
    tail = exp(-bounded) * (exp(stirling_rest(bounded)) * (math.sqrt(2 * math.pi) / sqrt(bounded)))
    value = where(size < ASYMPTOTIC, near, root * (tail * root))
    whole = round_even(x).compare("EQ", x)
    # 16! and below, whose rounding errors are under 1/2; it keeps the slope of the value
    exact = where(size < 17.5, value + (round_even(value) - value).frozen(), value)
    distance = absolute(size - round_even(size))
    odd = floor(size * 0.5).compare("NE", floor(size) * 0.5)
    sine = where(odd, sin(distance * math.pi), -sin(distance * math.pi))  # of pi x, for x < 0
    # gamma(x) gamma(-x) = -pi / (x sin(pi x)), divided by the factors one by one, whose product overflows first
    beyond = math.pi / (size * sine)
    reflected = where(size < ASYMPTOTIC, beyond / near, beyond / root / (tail * root))
    negative = where(whole, np.nan, reflected)
    beside = where(small, near, where(x < 0.0, negative, where(whole, exact, value)))
    at_zero = where(x.compare("EQ", 0.0), 1.0 / x, beside)
    return where(x.compare("EQ", np.inf), np.inf, where(x.compare("EQ", -np.inf), np.nan, at_zero))


def stirling_rest(x: Formula) -> Formula:
    """Return what Stirling's formula leaves of lgamma, for x from 8 up."""
    inverse = 1.0 / maximum(x, ASYMPTOTIC)
    return inverse * polynomial(inverse * inverse, tables.STIRLING_DOUBLE)


def lgamma_of_one_plus(x: Formula) -> Formula:
    """Return ``lgamma(1 + x)`` for x in [-1/2, 1/2], accurate near 0; float64."""
    return x * polynomial(x, tables.LGAMMA_NEAR_2_DOUBLE) - log1p(x)


def _led_to_2(x: Formula) -> tuple[Formula, Formula, Formula, Formula]:
    """Return u, where the recurrence leads from [0, 8] to 2 + u with -3/4 <= u <= 1/2, and how it goes there.

    Below 5/4 it goes up, and gamma is divided by the second result; elsewhere down, and it is multiplied by the third.
    The last is whether it goes up.
    """
    low = x < 0.25
    middle = x < 1.25
    shifted = where(low, x, where(middle, x - 1.0, x - 2.0))  # u, before steps down
    product = where(low, x * (x + 1.0), where(middle, x, 1.0))
    up = x.constant(1.0)
    for _ in range(6):
        step = shifted > 0.5
        up = where(step, up * (shifted + 1.0), up)
        shifted = where(step, shifted - 1.0, shifted)
    return shifted, product, up, middle


def _gamma_near_2(x: Formula) -> Formula:
    """Return gamma on [0, 8]."""
    u, product, up, middle = _led_to_2(x)
    value = exp(u * polynomial(u, tables.LGAMMA_NEAR_2_DOUBLE))
    return where(middle, value / product, value * up)


def _lgamma_near_2(x: Formula) -> Formula:
    """Return lgamma on (0, 8)."""
    single = x.type.dtype == FLOAT32
    u, product, up, middle = _led_to_2(x)
    series = u * polynomial(u, tables.LGAMMA_NEAR_2_SINGLE if single else tables.LGAMMA_NEAR_2_DOUBLE)
    change = log(where(middle, product, up))
    return series + where(middle, -change, change)


def _stirling(x: Formula) -> Formula:
    """Return lgamma from 8 up: ``(x - 1/2) (log(x) - 1) + (log(2 pi) - 1) / 2 + rest / x``."""
    single = x.type.dtype == FLOAT32
    inverse = 1.0 / maximum(x, ASYMPTOTIC)
    rest = polynomial(inverse * inverse, tables.STIRLING_SINGLE if single else tables.STIRLING_DOUBLE)
    return (x - 0.5) * (log(x) - 1.0) + ((math.log(2 * math.pi) - 1) / 2 + rest * inverse)


def digamma(x: Formula) -> Formula:
    """Return the logarithmic derivative of gamma: infinite at zeros, NaN at the negative integers."""
    negative = x < 0.0
    y = where(negative, 1.0 - x, x)
    positive = where(y < ASYMPTOTIC, _digamma_near_root(y), _digamma_series(y))
    # digamma(x) = digamma(1 - x) - pi / tan(pi x); by the distance to the nearest integer, which is exact
    distance = x - round_even(x)
    cosine = sin((0.5 - absolute(distance)) * math.pi)
    reflected = positive - math.pi * (cosine / sin(distance * math.pi))
    pole = floor(x).compare("EQ", x)
    return where(negative, where(pole, np.nan, reflected), positive)


def _digamma_near_root(x: Formula) -> Formula:
    """Return digamma on (0, 8): the recurrence leads to [1, 2], whose only zero is a factor."""
    single = x.type.dtype == FLOAT32
    low = x < 1.0
    # digamma(y) = digamma(x) - numerator / denominator, summed as one fraction
    numerator = where(low, x.constant(-1.0), 0.0)
    denominator = where(low, x, 1.0)
    offset = where(low, x, x - 1.0)  # y - 1
    for _ in range(7):
        step = offset >= 1.0
        numerator = where(step, numerator * offset + denominator, numerator)
        denominator = where(step, denominator * offset, denominator)
        offset = where(step, offset - 1.0, offset)
    factor = polynomial(offset - 0.5, tables.DIGAMMA_SINGLE if single else tables.DIGAMMA_DOUBLE)
    high, rest = ROOT_SINGLE if single else ROOT_DOUBLE
    return ((offset - high) - rest) * factor + numerator / denominator


def _digamma_series(x: Formula) -> Formula:
    """Return digamma from 8 up: ``log(x) - 1 / (2 x) - rest / x^2``."""
    single = x.type.dtype == FLOAT32
    inverse = 1.0 / maximum(x, ASYMPTOTIC)
    square = inverse * inverse
    rest = polynomial(square, tables.DIGAMMA_REST_SINGLE if single else tables.DIGAMMA_REST_DOUBLE)
    return log(x) - inverse * (0.5 + inverse * rest)


ROOT_SINGLE = (0.4616321325302124, 1.2438149938918909e-08)
ROOT_DOUBLE = (0.46163214496836236, -1.5522348162858677e-17)
"""Where digamma is zero, less one, as the sum of two numbers."""
