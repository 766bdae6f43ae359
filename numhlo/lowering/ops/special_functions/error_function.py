"""Decompositions of erf, erfc, erfcx, erf_inv and ndtri.

``erf`` near zero is a polynomial. The tail ``erfc(x)`` is ``exp(-x^2)`` times a smooth function of ``(x - 3) / (x +
3)`` (the variable is Shepherd and Laframboise's, Math. Comp. 36 (1981) 249), so one polynomial covers it to the last
subnormal. ``erf_inv`` is a polynomial in ``-log(1 - x^2)`` or its square root (variables after Giles, GPU Computing
Gems 2, 10).
"""

from __future__ import annotations

import math

import numpy as np

from numhlo.lowering.ops.formula import Formula, absolute, exp, log, maximum, minimum, polynomial, sign, sqrt, where
from numhlo.lowering.ops.special_functions import coefficients as tables

FLOAT32 = np.dtype(np.float32)
NEAR_ZERO = 1.0
"""Below this, erf is computed by itself; above, as one minus its tail."""


def erf(x: Formula) -> Formula:
    """Return the error function."""
    size = absolute(x)
    return where(size < NEAR_ZERO, _erf_near_zero(x), sign(x) * (1.0 - _erfc_tail(size)))


def erfc(x: Formula) -> Formula:
    """Return the complementary error function: below 1/2 as ``1 - erf(x)``, where nothing cancels."""
    size = absolute(x)
    tail = _erfc_tail(size)
    low = where(size < NEAR_ZERO, _erf_near_zero(x), sign(x) * (1.0 - tail))
    return where(x < 0.5, 1.0 - low, tail)


def _erf_near_zero(x: Formula) -> Formula:
    table = tables.ERF_SINGLE if x.type.dtype == FLOAT32 else tables.ERF_DOUBLE
    return x * polynomial(x * x, table)


def _erfc_tail(x: Formula) -> Formula:
    """Return erfc for ``x >= 1/2``."""
    single = x.type.dtype == FLOAT32
    x = minimum(x, 12.0 if single else 30.0)  # where the result is zero already; infinity would give NaN
    scaled = polynomial((x - 3.0) / (x + 3.0), tables.ERFC_SINGLE if single else tables.ERFC_DOUBLE)
    # exp(-x^2) = exp(-z^2) exp((z - x) (z + x)) with z = x rounded to few bits, so that z^2 is exact
    z = x.rounded(8, 10) if single else x.rounded(11, 22)
    rest = (z - x) * (z + x)
    correction = polynomial(rest, (1.0, 1.0, 1 / 2, 1 / 6, 1 / 24))
    return exp(-(z * z)) * (correction * (scaled / (1.0 + 2.0 * x)))


def erfcx(x: Formula) -> Formula:
    """Return ``exp(x^2) erfc(x)``; float64."""
    size = absolute(x)
    middle = minimum(size, ERFCX_FAR)
    scaled = polynomial((middle - 3.0) / (middle + 3.0), tables.ERFC_DOUBLE) / (1.0 + 2.0 * middle)
    inverse = 1.0 / maximum(size, ERFCX_FAR)
    # the asymptotic series of erfc, sum of (-1)^k (2 k - 1)!! / (2 x^2)^k
    series = polynomial(inverse * inverse * 0.5, (1.0, -1.0, 3.0, -15.0, 105.0, -945.0, 10395.0, -135135.0))
    far = series * inverse * (1 / math.sqrt(math.pi))
    # exp(x^2) = exp(z^2) exp((x - z) (x + z)) with z = x rounded to few bits, so that z^2 is exact
    bounded = minimum(size, 30.0)
    z = bounded.rounded(11, 22)
    growth = exp(z * z) * exp((bounded - z) * (bounded + z))
    near = growth * (1.0 - _erf_near_zero(bounded))
    positive = where(size < 0.5, near, where(size < ERFCX_FAR, scaled, far))
    return where(x < 0.0, 2.0 * growth - positive, positive)


ERFCX_FAR = 27.0
"""From here up, the asymptotic series is used."""


def ndtri(p: Formula) -> Formula:
    """Return where the normal distribution function is ``p``: infinite at 0 and 1, NaN outside; float64."""
    lesser = where(p < 0.5, p, 1.0 - p)
    bounded = maximum(lesser, FAR_TAIL)
    central = (2.0 * bounded - 1.0) * (_erf_inv_ratio(-log(4.0 * bounded * (1.0 - bounded))) * math.sqrt(2))
    tail = where(lesser.compare("EQ", 0.0), -np.inf, _ndtri_far(minimum(lesser, FAR_TAIL)))
    low = where(lesser > FAR_TAIL, central, tail)
    inside = where(p < 0.5, low, -low)
    return where(p >= 0.0, where(p <= 1.0, inside, np.nan), np.nan)


FAR_TAIL = 1e-15
"""Up to here ndtri solves an equation, above it is erf_inv."""


def _ndtri_far(p: Formula) -> Formula:
    """Return ndtri up to `FAR_TAIL` by a step of Halley's on the logarithm, which is nearly a parabola there.

    The first guess, from the asymptotic series, is right to 1e-5; the cube of its error is no more than rounding.
    """
    target = log(p)
    square = -2.0 * target
    guess = square - log(square * (2 * math.pi))
    x = -sqrt(square - log(guess * (2 * math.pi)) - 2.0 / (guess + 3.0))
    size = x * -math.sqrt(0.5)
    ratio = polynomial((size - 3.0) / (size + 3.0), tables.ERFC_DOUBLE) / (1.0 + 2.0 * size)  # erfcx(size)
    found = log(ratio * 0.5) - x * x * 0.5
    mills = ratio * math.sqrt(math.pi / 2)
    step = (found - target) * mills
    return x - step / (1.0 + step * (x + 1.0 / mills) * 0.5)


def erf_inv(x: Formula) -> Formula:
    """Return the inverse of the error function: infinite at -1 and 1, NaN outside."""
    at_end = absolute(x).compare("EQ", 1.0)
    # at the ends the polynomial would see an infinite argument
    return x * where(at_end, np.inf, _erf_inv_ratio(-log((1.0 - x) * (1.0 + x))))


def _erf_inv_ratio(w: Formula) -> Formula:
    """Return ``erf_inv(x) / x`` by ``w = -log(1 - x^2)``."""
    single = w.type.dtype == FLOAT32
    if single:
        center = polynomial(w - 2.5, tables.ERF_INV_CENTER_SINGLE)
        tail = polynomial(sqrt(w) - TAIL_MIDDLE_SINGLE, tables.ERF_INV_TAIL_SINGLE)
    else:
        center = polynomial(w - 3.125, tables.ERF_INV_CENTER_DOUBLE)
        tail = polynomial(sqrt(w) - TAIL_MIDDLE_DOUBLE, tables.ERF_INV_TAIL_DOUBLE)
    return where(w < (5.0 if single else 6.25), center, tail)


TAIL_MIDDLE_SINGLE = (5**0.5 + 4.1) / 2
TAIL_MIDDLE_DOUBLE = 4.3
