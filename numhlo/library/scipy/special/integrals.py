"""Exponential integrals and Dawson's integral, from series whose number of terms is fixed by the precision.

They are computed in float64 and rounded once for narrower floats; derivatives are those of the series.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyval

from numhlo.library.documentation import described
from numhlo.library.scipy.operands import traced
from numhlo.library.scipy.special.bessel import expn
from numhlo.library.scipy.special.widely_used import ONE_REAL, in_double, real_operands
from numhlo.tracer.building import runs_anywhere

__all__ = ["dawsn", "exp1", "expi"]

GROWING = [1 / (k * math.factorial(k)) for k in range(1, 112)]
"""Ei(x) = gamma + log x + sum of x^k / (k k!), NIST DLMF 6.6.2: enough up to 40."""

FALLING = [float(math.factorial(k)) for k in range(39)]
"""Ei(x) = exp(x) / x times the sum of k! / x^k, NIST DLMF 6.12.2: its least term is below 1e-16 from 40 on."""

STEP = 0.2
"""The step of Rybicki's sum, whose error is exp(-(pi / (2 step))^2)."""

WEIGHTS = [(k, math.exp(-((k * STEP) ** 2))) for k in range(1, 34, 2)]

RISING = [(-2.0) ** k / math.prod(range(1, 2 * k + 2, 2)) for k in range(12)]
"""Dawson's integral over x, a series of x^2, NIST DLMF 7.6.2: enough below 1/2."""

TAIL = [math.prod(range(1, 2 * k, 2)) / 2.0**k for k in range(13)]
"""Twice Dawson's integral times x, a series of 1 / x^2, NIST DLMF 7.12.1: enough above 12."""


@runs_anywhere
@described(ONE_REAL)
def exp1(x: Any) -> Any:
    """Return the exponential integral: of ``exp(-t) / t`` from ``x`` to infinity; NaN below 0.

    Notes
    -----
    NIST DLMF section 6.2.

    Examples
    --------
    >>> exp1([0.0, 1.0]).round(6)
    Array([     inf, 0.219384])
    """
    return expn(1, real_operands("exp1", x)[0])


@runs_anywhere
@described(ONE_REAL)
def expi(x: Any) -> Any:
    """Return the exponential integral of ``exp(t) / t`` up to ``x``, the principal value above 0.

    Notes
    -----
    NIST DLMF sections 6.6 and 6.12. Beside its zero at 0.3725 the error is an absolute one, as SciPy's.

    Examples
    --------
    >>> expi([-1.0, 1.0, 50.0]).round(6)
    Array([-2.19384000e-01,  1.89511800e+00,  1.05856369e+20])
    """
    return in_double(_expi, *real_operands("expi", x))


def _expi(x: Any) -> Any:
    x = traced(x)
    near, far = np.where((x > 0) & (x < 40), x, 1.0), np.where((x >= 40) & (x < np.inf), x, 40.0)
    small = np.euler_gamma + np.log(near) + near * polyval(near, GROWING)
    half = np.exp(far / 2)
    large = half * (half / far * polyval(1 / far, FALLING))
    above = np.where(x < 40, small, np.where(x == np.inf, x, large))
    below = -traced(expn(1, np.where(x < 0, -x, 1.0)))
    found = np.where(x > 0, above, np.where(x < 0, below, -np.inf))
    return traced(np.where(np.isnan(x), x, found))


@runs_anywhere
@described(ONE_REAL)
def dawsn(x: Any) -> Any:
    """Return Dawson's integral: ``exp(-x**2)`` times the integral of ``exp(t**2)`` from 0 to ``x``.

    Notes
    -----
    G. B. Rybicki, "Dawson's integral and the sampling theorem" (1989); series below 1/2 and above 12.

    Examples
    --------
    >>> dawsn([0.0, 1.0, 100.0]).round(6)
    Array([0.     , 0.53808, 0.005  ])
    """
    return in_double(_dawsn, *real_operands("dawsn", x))


def _dawsn(x: Any) -> Any:
    x = traced(x)
    size = np.abs(x)
    inner, outer = np.where(size < 0.5, x, 0.0), np.where(size > 12, x, 12.0)
    middle = np.where((size >= 0.5) & (size <= 12), size, 1.0)
    base = 2 * np.round(middle / (2 * STEP))
    rest = middle - base * STEP
    grown = np.exp(2 * STEP * rest)
    rising, falling, square, inverse = grown, 1 / grown, grown * grown, 1 / (grown * grown)
    total: Any = 0.0
    for k, weight in WEIGHTS:
        total = total + weight * (rising / (base + k) + falling / (base - k))
        rising, falling = rising * square, falling * inverse
    between = np.sign(x) * np.exp(-rest * rest) * total / math.sqrt(math.pi)
    small = inner * polyval(inner * inner, RISING)
    large = polyval((1 / outer) ** 2, TAIL) / (2 * outer)
    return traced(np.where(size < 0.5, small, np.where(size > 12, large, between)))
