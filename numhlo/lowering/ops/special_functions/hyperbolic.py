"""Decompositions of sinh and cosh and of the inverse trigonometric and hyperbolic functions of real numbers.

Formulas are chosen so that nothing cancels and no intermediate overflows where the result does not.
"""

from __future__ import annotations

import math

import numpy as np

from numhlo.lowering.ops.formula import Formula, absolute, atan2, exp, expm1, log, log1p, sign, sqrt, where

LOG_2 = math.log(2.0)


def _significand_bits(x: Formula) -> int:
    return int(np.finfo(x.type.dtype).nmant)


def sinh(x: Formula) -> Formula:
    """Return the hyperbolic sine: ``(e + e / (e + 1)) / 2`` with ``e = expm1(|x|)``, or ``exp(|x| / 2) ** 2 / 2``."""
    size = absolute(x)
    e = expm1(size)
    half = exp(size * 0.5)
    large = (half * 0.5) * half  # exp(|x|) overflows before the result does
    return sign(x) * where(size < 20.0, (e + e / (e + 1.0)) * 0.5, large)


def cosh(x: Formula) -> Formula:
    """Return the hyperbolic cosine: ``(e + 1 / e) / 2`` with ``e = exp(|x|)``, or ``exp(|x| / 2) ** 2 / 2``."""
    size = absolute(x)
    e = exp(size)
    half = exp(size * 0.5)
    return where(size < 20.0, e * 0.5 + 0.5 / e, (half * 0.5) * half)


def asin(x: Formula) -> Formula:
    """Return the inverse sine: ``atan2(x, sqrt((1 - x) (1 + x)))``."""
    return atan2(x, sqrt((1.0 - x) * (1.0 + x)))


def acos(x: Formula) -> Formula:
    """Return the inverse cosine: ``atan2(sqrt((1 - x) (1 + x)), x)``."""
    return atan2(sqrt((1.0 - x) * (1.0 + x)), x)


def atan(x: Formula) -> Formula:
    """Return the inverse tangent."""
    return atan2(x, 1.0)


def asinh(x: Formula) -> Formula:
    """Return the inverse hyperbolic sine: ``log1p(a + a^2 / (1 + sqrt(1 + a^2)))``, ``a = |x|``, or ``log(2 a)``."""
    size = absolute(x)
    square = size * size
    small = log1p(size + square / (1.0 + sqrt(1.0 + square)))
    # beyond 2 ** bits, 1 + a^2 is a^2; and a^2 must not overflow
    return sign(x) * where(size < 2.0 ** _significand_bits(x), small, log(size) + LOG_2)


def acosh(x: Formula) -> Formula:
    """Return the inverse hyperbolic cosine: ``log1p(t + sqrt(2 t + t^2))`` with ``t = x - 1``, or ``log(2 x)``."""
    t = x - 1.0
    small = log1p(t + sqrt(t * (t + 2.0)))
    defined = where(x < 2.0 ** _significand_bits(x), small, log(x) + LOG_2)
    return where(x < 1.0, np.nan, defined)  # t (t + 2) overflows far below


def atanh(x: Formula) -> Formula:
    """Return the inverse hyperbolic tangent: ``log1p(2 a / (1 - a)) / 2`` with ``a = |x|``."""
    size = absolute(x)
    return sign(x) * (log1p((size + size) / (1.0 - size)) * 0.5)
