"""Continuous distributions by incomplete gamma and beta functions: gamma, beta, chi2, t, and others like them.

Sources: NIST DLMF sections 8.2, 8.17 and 8.24. Their quantiles have no closed form, and are left out.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from numhlo.library.scipy.special.gamma import betainc, betaln, gammainc, gammaincc
from numhlo.library.scipy.special.normal import log_ndtr
from numhlo.library.scipy.special.widely_used import gammaln, xlog1py, xlogy
from numhlo.library.scipy.stats.closed import HALF_LOG_TAU
from numhlo.library.scipy.stats.family import Continuous
from numhlo.tracer.building import operations as b

__all__ = ["beta", "chi2", "gamma", "gennorm", "t", "truncnorm"]


class Gamma(Continuous):
    """The gamma distribution of shape ``a``.

    Examples
    --------
    >>> gamma.logpdf([1.0, 2.0], 2.0)
    Array([-1.        , -1.30685282])
    """

    shapes: ClassVar[tuple[str, ...]] = ("a",)
    _inside: ClassVar[float] = 1.0

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0.0, np.inf

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        (a,) = shapes
        return b.subtract(b.subtract(xlogy(b.subtract(a, 1.0), z), z), gammaln(a))

    def _below(self, z: Any, *shapes: Any) -> Any:
        return gammainc(shapes[0], z)

    def _above(self, z: Any, *shapes: Any) -> Any:
        return gammaincc(shapes[0], z)


class Chi2(Continuous):
    """The chi-squared distribution of ``df`` degrees of freedom.

    Examples
    --------
    >>> chi2.sf([0.0, 2.0], 2.0)
    Array([1.        , 0.36787944])
    """

    shapes: ClassVar[tuple[str, ...]] = ("df",)
    _inside: ClassVar[float] = 1.0

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0.0, np.inf

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        half = b.multiply(shapes[0], 0.5)
        rest = b.add(gammaln(half), b.multiply(half, math.log(2)))
        return b.subtract(b.subtract(xlogy(b.subtract(half, 1.0), z), b.multiply(z, 0.5)), rest)

    def _below(self, z: Any, *shapes: Any) -> Any:
        return gammainc(b.multiply(shapes[0], 0.5), b.multiply(z, 0.5))

    def _above(self, z: Any, *shapes: Any) -> Any:
        return gammaincc(b.multiply(shapes[0], 0.5), b.multiply(z, 0.5))


class Beta(Continuous):
    """The beta distribution of shapes ``a`` and ``b``, on ``loc`` to ``loc + scale``.

    Examples
    --------
    >>> beta.cdf([0.5, 1.0], 2.0, 1.0)
    Array([0.25, 1.  ])
    """

    shapes: ClassVar[tuple[str, ...]] = ("a", "b")

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0.0, 1.0

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        first, second = shapes
        left, right = xlogy(b.subtract(first, 1.0), z), xlog1py(b.subtract(second, 1.0), b.negate(z))
        return b.subtract(b.add(left, right), betaln(first, second))

    def _below(self, z: Any, *shapes: Any) -> Any:
        return betainc(shapes[0], shapes[1], z)

    def _above(self, z: Any, *shapes: Any) -> Any:
        return betainc(shapes[1], shapes[0], b.subtract(1.0, z))


class T(Continuous):
    """Student's distribution of ``df`` degrees of freedom.

    Examples
    --------
    >>> t.cdf([-1.0, 0.0, 1.0], 1.0)
    Array([0.25, 0.5 , 0.75])
    """

    shapes: ClassVar[tuple[str, ...]] = ("df",)

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        (df,) = shapes
        half = b.multiply(df, 0.5)
        rest = b.add(betaln(half, b.constant(0.5, half)), b.multiply(b.log(df), 0.5))
        power = b.multiply(b.add(half, 0.5), b.log1p(b.divide(b.multiply(z, z), df)))
        return b.negate(b.add(rest, power))

    def _below(self, z: Any, *shapes: Any) -> Any:
        (df,) = shapes
        square = b.multiply(z, z)
        # a sum with 1/2 loses the tail, and the tail's argument, near 1, what df is greater than the square
        near = b.less(square, b.maximum(b.multiply(b.log(b.multiply(df, 0.5)), 2.0), 1.0))
        half, root = b.multiply(df, 0.5), b.constant(0.5, df)
        share = b.divide(b.select(near, square, df), b.add(df, square))
        middle = b.subtract(0.5, b.multiply(betainc(root, half, b.select(near, share, 0.5)), 0.5))
        tail = b.multiply(betainc(half, root, b.select(near, 0.5, share)), 0.5)
        side = b.select(near, middle, tail)
        return b.select(b.less(z, 0), side, b.subtract(1.0, side))

    def _above(self, z: Any, *shapes: Any) -> Any:
        return self._below(b.negate(z), *shapes)


class Gennorm(Continuous):
    """The generalized normal distribution, whose logarithm falls as a power ``beta``.

    Examples
    --------
    >>> gennorm.pdf([0.0, 1.0], 1.0)
    Array([0.5       , 0.18393972])
    """

    shapes: ClassVar[tuple[str, ...]] = ("beta",)

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        (power,) = shapes
        scale = b.subtract(b.log(b.multiply(power, 0.5)), gammaln(b.divide(1.0, power)))
        return b.subtract(scale, b.power(b.absolute(z), power))

    def _below(self, z: Any, *shapes: Any) -> Any:
        (power,) = shapes
        tail = b.multiply(gammaincc(b.divide(1.0, power), b.power(b.absolute(z), power)), 0.5)
        return b.select(b.less(z, 0), tail, b.subtract(1.0, tail))

    def _above(self, z: Any, *shapes: Any) -> Any:
        return self._below(b.negate(z), *shapes)


def _log_mass(low: Any, high: Any) -> Any:
    """Return the logarithm of a normal number's probability between two bounds, from the tail that they are in."""
    right = b.greater(low, 0)
    first, second = b.select(right, b.negate(high), low), b.select(right, b.negate(low), high)
    whole = log_ndtr(second)
    return b.add(whole, b.log1p(b.negate(b.exp(b.subtract(log_ndtr(first), whole)))))


class Truncnorm(Continuous):
    """The normal distribution between ``loc + a scale`` and ``loc + b scale``.

    Examples
    --------
    >>> truncnorm.pdf([-1.0, 0.0], 0.0, np.inf)
    Array([0.        , 0.79788456])
    """

    shapes: ClassVar[tuple[str, ...]] = ("a", "b")

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return shapes[0], shapes[1]

    def _allowed(self, *shapes: Any) -> list[Any]:
        return [b.less(shapes[0], shapes[1])]

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        return b.subtract(b.subtract(b.multiply(b.multiply(z, z), -0.5), HALF_LOG_TAU), _log_mass(*shapes))

    def _below(self, z: Any, *shapes: Any) -> Any:
        return b.exp(self._log_below(z, *shapes))

    def _above(self, z: Any, *shapes: Any) -> Any:
        return b.exp(self._log_above(z, *shapes))

    def _log_below(self, z: Any, *shapes: Any) -> Any:
        return b.subtract(_log_mass(shapes[0], z), _log_mass(*shapes))

    def _log_above(self, z: Any, *shapes: Any) -> Any:
        return b.subtract(_log_mass(z, shapes[1]), _log_mass(*shapes))


gamma, chi2, beta, t, gennorm, truncnorm = Gamma(), Chi2(), Beta(), T(), Gennorm(), Truncnorm()
