"""The normal distribution function and its logarithm, by erfc: what SciPy has of them. Its inverse is `ndtri`.

Integers are computed in float64, narrower floats too, with one rounding at the end. They run outside tracing too, on
the same definitions.
"""

from __future__ import annotations

import math
from typing import Any

from numhlo.library.scipy.special.widely_used import in_double, real_operands
from numhlo.lowering.ops import conversion
from numhlo.tracer.building import bind1, composite, runs_anywhere
from numhlo.tracer.building import operations as b

__all__ = ["log_ndtr", "ndtr"]

HALF_ROOT = math.sqrt(0.5)
HIGH = 11863283 / 2**24
"""The first 24 bits of the square root of 1/2."""

LOW = 1.210161710447897e-08
"""What `HIGH` leaves of it, to twice a double's precision."""


@runs_anywhere
def ndtr(x: Any) -> Any:
    """Return the standard normal distribution function.

    Parameters
    ----------
    x : array_like
        Real.

    Returns
    -------
    Array
        Of floats; accurate in both tails.

    Notes
    -----
    ``erfc(-x / sqrt(2)) / 2``, NIST DLMF section 7.2.

    Examples
    --------
    >>> ndtr([0.0, 1.96])
    Array([0.5      , 0.9750021])
    """
    return in_double(_distribution, *real_operands("ndtr", x))


@runs_anywhere
def log_ndtr(x: Any) -> Any:
    """Return the logarithm of the standard normal distribution function.

    Parameters
    ----------
    x : array_like
        Real.

    Returns
    -------
    Array
        Of floats; accurate in both tails.

    Notes
    -----
    Below 0, erfcx takes the exponential out of the logarithm: ``log(erfcx(-x / sqrt(2)) / 2) - x^2 / 2``.

    Examples
    --------
    >>> log_ndtr([0.0, -40.0])
    Array([-6.93147181e-01, -8.04608442e+02])
    """
    return in_double(_log_distribution, *real_operands("log_ndtr", x))


def _distribution(x: Any) -> Any:
    negative = b.less(x, 0)
    tail = _tail(b.select(negative, b.negate(x), x))
    near = b.add(b.multiply(composite("erf", b.multiply(x, HALF_ROOT)), 0.5), 0.5)
    far = b.select(negative, tail, b.subtract(1.0, tail))
    return b.select(b.less(b.absolute(x), 1.0), near, far)


def _log_distribution(x: Any) -> Any:
    negative = b.less(x, 0)
    size = b.select(negative, b.negate(x), x)
    scaled = composite("erfcx", b.multiply(size, HALF_ROOT))
    below = b.subtract(b.log(b.multiply(scaled, 0.5)), b.multiply(b.multiply(size, 0.5), size))
    return b.select(negative, below, b.log1p(b.negate(_tail(size))))


def _tail(size: Any) -> Any:
    """Return ``erfc(size / sqrt(2)) / 2`` of numbers that are not negative."""
    scaled = b.multiply(size, HALF_ROOT)
    # erfc(s + r) = erfc(s) (1 - r g), g = 2 / (sqrt(pi) erfcx(s)) = s + sqrt(s^2 + 2) nearly; r is what rounding took
    bounded = b.minimum(size, 64.0)
    attributes = {"exponent_bits": 11, "mantissa_bits": 26}
    high = bind1(conversion.REDUCE_PRECISION, bounded, attributes=attributes)
    product = b.subtract(b.multiply(high, HIGH), b.multiply(bounded, HALF_ROOT))
    taken = b.add(b.add(product, b.multiply(b.subtract(bounded, high), HIGH)), b.multiply(bounded, LOW))
    near = b.minimum(scaled, 64.0)
    slope = b.add(near, b.sqrt(b.add(b.multiply(near, near), 2.0)))
    return b.multiply(b.multiply(composite("erfc", scaled), 0.5), b.subtract(1.0, b.multiply(taken, slope)))
