"""Continuous distributions whose quantiles have closed forms: normal, exponential, uniform, and others like them.

Sources: NIST DLMF sections 7.2 and 7.17 for the normal one; the others' formulas follow from their definitions.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from numhlo.library.scipy.special.bessel import ndtri
from numhlo.library.scipy.special.normal import log_ndtr, ndtr
from numhlo.library.scipy.special.widely_used import logit
from numhlo.library.scipy.stats.family import Invertible, expm1
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building import bind1
from numhlo.tracer.building import operations as b

__all__ = ["cauchy", "expon", "gumbel_l", "gumbel_r", "laplace", "logistic", "norm", "pareto", "uniform"]

HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


class Norm(Invertible):
    """The normal distribution, of mean ``loc`` and standard deviation ``scale``.

    Examples
    --------
    >>> norm.logpdf([0.0, 3.0], loc=1.0, scale=2.0)
    Array([-1.73708571, -2.11208571])
    >>> norm.cdf(norm.ppf(0.3))
    Array(0.3)
    """

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        return b.subtract(b.multiply(b.multiply(z, z), -0.5), HALF_LOG_TAU)

    def _below(self, z: Any, *shapes: Any) -> Any:
        return ndtr(z)

    def _above(self, z: Any, *shapes: Any) -> Any:
        return ndtr(b.negate(z))

    def _log_below(self, z: Any, *shapes: Any) -> Any:
        return log_ndtr(z)

    def _log_above(self, z: Any, *shapes: Any) -> Any:
        return log_ndtr(b.negate(z))

    def _quantile(self, q: Any, *shapes: Any) -> Any:
        return ndtri(q)

    def _upper_quantile(self, q: Any, *shapes: Any) -> Any:
        return b.negate(ndtri(q))


class Expon(Invertible):
    """The exponential distribution, from ``loc`` on, of mean ``loc + scale``.

    Examples
    --------
    >>> expon.sf([0.0, 2.0], scale=2.0)
    Array([1.        , 0.36787944])
    """

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0.0, np.inf

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        return b.negate(z)

    def _below(self, z: Any, *shapes: Any) -> Any:
        return b.negate(expm1(b.negate(z)))

    def _above(self, z: Any, *shapes: Any) -> Any:
        return b.exp(b.negate(z))

    def _log_above(self, z: Any, *shapes: Any) -> Any:
        return b.negate(z)

    def _quantile(self, q: Any, *shapes: Any) -> Any:
        return b.negate(b.log1p(b.negate(q)))

    def _upper_quantile(self, q: Any, *shapes: Any) -> Any:
        return b.negate(b.log(q))


class Uniform(Invertible):
    """The uniform distribution from ``loc`` to ``loc + scale``.

    Examples
    --------
    >>> uniform.pdf([-1.0, 1.0, 3.0], 0.0, 2.0)
    Array([0. , 0.5, 0. ])
    """

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0.0, 1.0

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        return b.constant(0, z)

    def _below(self, z: Any, *shapes: Any) -> Any:
        return z

    def _quantile(self, q: Any, *shapes: Any) -> Any:
        return q

    def _upper_quantile(self, q: Any, *shapes: Any) -> Any:
        return b.subtract(1.0, q)


class Laplace(Invertible):
    """Laplace's distribution, exponential to both sides of ``loc``.

    Examples
    --------
    >>> laplace.cdf([-1.0, 0.0])
    Array([0.18393972, 0.5       ])
    """

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        return b.subtract(b.negate(b.absolute(z)), math.log(2))

    def _below(self, z: Any, *shapes: Any) -> Any:
        tail = b.multiply(b.exp(b.negate(b.absolute(z))), 0.5)
        return b.select(b.less(z, 0), tail, b.subtract(1.0, tail))

    def _above(self, z: Any, *shapes: Any) -> Any:
        return self._below(b.negate(z))

    def _log_below(self, z: Any, *shapes: Any) -> Any:
        size = b.negate(b.absolute(z))
        return b.select(b.less(z, 0), b.subtract(size, math.log(2)), b.log1p(b.multiply(b.exp(size), -0.5)))

    def _log_above(self, z: Any, *shapes: Any) -> Any:
        return self._log_below(b.negate(z))

    def _quantile(self, q: Any, *shapes: Any) -> Any:
        left = b.less(q, 0.5)
        log = b.log(b.multiply(b.select(left, q, b.subtract(1.0, q)), 2.0))
        return b.select(left, log, b.negate(log))

    def _upper_quantile(self, q: Any, *shapes: Any) -> Any:
        return b.negate(self._quantile(q))


class Logistic(Invertible):
    """The logistic distribution, whose distribution function is the sigmoid.

    Examples
    --------
    >>> logistic.ppf([0.5, 0.9])
    Array([0.        , 2.19722458])
    """

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        size = b.negate(b.absolute(z))
        return b.subtract(size, b.multiply(b.log1p(b.exp(size)), 2.0))

    def _below(self, z: Any, *shapes: Any) -> Any:
        return bind1(ops.LOGISTIC, z)

    def _above(self, z: Any, *shapes: Any) -> Any:
        return bind1(ops.LOGISTIC, b.negate(z))

    def _log_below(self, z: Any, *shapes: Any) -> Any:
        return b.subtract(b.minimum(z, 0), b.log1p(b.exp(b.negate(b.absolute(z)))))

    def _log_above(self, z: Any, *shapes: Any) -> Any:
        return self._log_below(b.negate(z))

    def _quantile(self, q: Any, *shapes: Any) -> Any:
        return logit(q)

    def _upper_quantile(self, q: Any, *shapes: Any) -> Any:
        return b.negate(logit(q))


class Cauchy(Invertible):
    """Cauchy's distribution, of median ``loc`` and quartiles ``scale`` away.

    Examples
    --------
    >>> cauchy.cdf([-1.0, 0.0, 1.0])
    Array([0.25, 0.5 , 0.75])
    """

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        return b.subtract(-math.log(math.pi), b.log1p(b.multiply(z, z)))

    def _below(self, z: Any, *shapes: Any) -> Any:
        return b.multiply(b.atan2(b.constant(1, z), b.negate(z)), 1 / math.pi)

    def _above(self, z: Any, *shapes: Any) -> Any:
        return b.multiply(b.atan2(b.constant(1, z), z), 1 / math.pi)

    def _quantile(self, q: Any, *shapes: Any) -> Any:
        return b.negate(self._upper_quantile(q))

    def _upper_quantile(self, q: Any, *shapes: Any) -> Any:
        upper = b.greater(q, 0.5)
        tail = b.select(upper, b.subtract(1, q), q)  # without a rounding error, as is its distance from 1/2
        outside = b.less(tail, 0.25)
        angle = b.multiply(b.select(outside, tail, b.subtract(0.5, tail)), math.pi)
        sine, cosine = b.sin(angle), b.cos(angle)
        result = b.divide(b.select(outside, cosine, sine), b.select(outside, sine, cosine))
        return b.select(upper, b.negate(result), result)


class Pareto(Invertible):
    """Pareto's distribution, of exponent ``b``, from ``loc + scale`` on.

    Examples
    --------
    >>> pareto.sf([1.0, 2.0], 3.0)
    Array([1.   , 0.125])
    """

    shapes: ClassVar[tuple[str, ...]] = ("b",)
    _inside: ClassVar[float] = 2.0

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return 1.0, np.inf

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        (exponent,) = shapes
        return b.subtract(b.log(exponent), b.multiply(b.add(exponent, 1.0), b.log(z)))

    def _below(self, z: Any, *shapes: Any) -> Any:
        return b.negate(expm1(self._log_above(z, *shapes)))

    def _above(self, z: Any, *shapes: Any) -> Any:
        return b.exp(self._log_above(z, *shapes))

    def _log_above(self, z: Any, *shapes: Any) -> Any:
        return b.negate(b.multiply(shapes[0], b.log(z)))

    def _quantile(self, q: Any, *shapes: Any) -> Any:
        return b.exp(b.negate(b.divide(b.log1p(b.negate(q)), shapes[0])))

    def _upper_quantile(self, q: Any, *shapes: Any) -> Any:
        return b.exp(b.negate(b.divide(b.log(q), shapes[0])))


class GumbelR(Invertible):
    """Gumbel's distribution of greatest values.

    Examples
    --------
    >>> gumbel_r.cdf(0.0)
    Array(0.36787944)
    """

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        return b.negate(b.add(z, b.exp(b.negate(z))))

    def _below(self, z: Any, *shapes: Any) -> Any:
        return b.exp(self._log_below(z))

    def _above(self, z: Any, *shapes: Any) -> Any:
        return b.negate(expm1(self._log_below(z)))

    def _log_below(self, z: Any, *shapes: Any) -> Any:
        return b.negate(b.exp(b.negate(z)))

    def _quantile(self, q: Any, *shapes: Any) -> Any:
        return b.negate(b.log(b.negate(b.log(q))))

    def _upper_quantile(self, q: Any, *shapes: Any) -> Any:
        return b.negate(b.log(b.negate(b.log1p(b.negate(q)))))


class GumbelL(Invertible):
    """Gumbel's distribution of least values: `gumbel_r` mirrored.

    Examples
    --------
    >>> gumbel_l.sf(0.0)
    Array(0.36787944)
    """

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        return gumbel_r._log_weight(b.negate(z))

    def _below(self, z: Any, *shapes: Any) -> Any:
        return gumbel_r._above(b.negate(z))

    def _above(self, z: Any, *shapes: Any) -> Any:
        return gumbel_r._below(b.negate(z))

    def _log_above(self, z: Any, *shapes: Any) -> Any:
        return gumbel_r._log_below(b.negate(z))

    def _quantile(self, q: Any, *shapes: Any) -> Any:
        return b.negate(gumbel_r._upper_quantile(q))

    def _upper_quantile(self, q: Any, *shapes: Any) -> Any:
        return b.negate(gumbel_r._quantile(q))


norm, expon, uniform, laplace, logistic = Norm(), Expon(), Uniform(), Laplace(), Logistic()
cauchy, pareto, gumbel_r, gumbel_l = Cauchy(), Pareto(), GumbelR(), GumbelL()
