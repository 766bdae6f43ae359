"""Distributions of whole numbers: Bernoulli's, the binomial ones, the geometric one, Poisson's.

Sources: NIST DLMF sections 8.2 and 8.17 for the distribution functions. Binomial coefficients are beta functions.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from numhlo.library.scipy.special.gamma import betainc, betaln, gammainc, gammaincc
from numhlo.library.scipy.special.widely_used import gammaln, xlog1py, xlogy
from numhlo.library.scipy.stats.family import Countable, Discrete, expm1
from numhlo.tracer.building import operations as b

__all__ = ["bernoulli", "betabinom", "binom", "geom", "nbinom", "poisson"]


def _log_choices(n: Any, k: Any) -> Any:
    """Return the logarithm of ``n`` over ``k``."""
    return b.negate(b.add(b.log1p(n), betaln(b.add(b.subtract(n, k), 1.0), b.add(k, 1.0))))


def _is_probability(p: Any) -> Any:
    return b.both(b.at_least(p, 0), b.at_most(p, 1))


def _is_count(n: Any) -> Any:
    return b.both(b.at_least(n, 0), b.equal(b.floor(n), n))


class Bernoulli(Discrete):
    """A number that is 1 with probability ``p``, else 0.

    Examples
    --------
    >>> bernoulli.pmf([0, 1, 2], 0.25)
    Array([0.75, 0.25, 0.  ])
    """

    shapes: ClassVar[tuple[str, ...]] = ("p",)
    _inside: ClassVar[float] = 0.0

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0.0, 1.0

    def _allowed(self, *shapes: Any) -> list[Any]:
        return [_is_probability(shapes[0])]

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        (p,) = shapes
        return b.add(xlogy(z, p), xlog1py(b.subtract(1.0, z), b.negate(p)))

    def _below(self, z: Any, *shapes: Any) -> Any:
        return b.subtract(1.0, shapes[0])

    def _above(self, z: Any, *shapes: Any) -> Any:
        return shapes[0]


class Binom(Discrete):
    """The number of successes of probability ``p`` among ``n`` trials.

    Examples
    --------
    >>> binom.pmf([0, 1, 2], 2, 0.5)
    Array([0.25, 0.5 , 0.25])
    """

    shapes: ClassVar[tuple[str, ...]] = ("n", "p")
    _inside: ClassVar[float] = 0.0

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0.0, shapes[0]

    def _allowed(self, *shapes: Any) -> list[Any]:
        return [_is_count(shapes[0]), _is_probability(shapes[1])]

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        n, p = shapes
        chances = b.add(xlogy(z, p), xlog1py(b.subtract(n, z), b.negate(p)))
        return b.add(_log_choices(n, z), chances)

    def _below(self, z: Any, *shapes: Any) -> Any:
        n, p = shapes
        return betainc(b.maximum(b.subtract(n, z), 1.0), b.add(z, 1.0), b.subtract(1.0, p))

    def _above(self, z: Any, *shapes: Any) -> Any:
        n, p = shapes
        return betainc(b.add(z, 1.0), b.maximum(b.subtract(n, z), 1.0), p)


class Geom(Discrete):
    """The number of trials up to the first success of probability ``p``.

    Examples
    --------
    >>> geom.pmf([0, 1, 2], 0.5)
    Array([0.  , 0.5 , 0.25])
    """

    shapes: ClassVar[tuple[str, ...]] = ("p",)
    _inside: ClassVar[float] = 1.0

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return 1.0, np.inf

    def _allowed(self, *shapes: Any) -> list[Any]:
        return [b.both(b.greater(shapes[0], 0), b.at_most(shapes[0], 1))]

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        return b.add(xlog1py(b.subtract(z, 1.0), b.negate(shapes[0])), b.log(shapes[0]))

    def _below(self, z: Any, *shapes: Any) -> Any:
        return b.negate(expm1(self._log_above(z, *shapes)))

    def _above(self, z: Any, *shapes: Any) -> Any:
        return b.exp(self._log_above(z, *shapes))

    def _log_above(self, z: Any, *shapes: Any) -> Any:
        return xlog1py(z, b.negate(shapes[0]))


class Nbinom(Discrete):
    """The number of failures before the ``n``-th success of probability ``p``.

    Examples
    --------
    >>> nbinom.pmf([0, 1], 2, 0.5)
    Array([0.25, 0.25])
    """

    shapes: ClassVar[tuple[str, ...]] = ("n", "p")
    _inside: ClassVar[float] = 0.0

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0.0, np.inf

    def _allowed(self, *shapes: Any) -> list[Any]:
        return [b.greater(shapes[0], 0), b.both(b.greater(shapes[1], 0), b.at_most(shapes[1], 1))]

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        n, p = shapes
        orders = b.negate(b.add(b.log(b.add(n, z)), betaln(n, b.add(z, 1.0))))
        return b.add(orders, b.add(b.multiply(n, b.log(p)), xlog1py(z, b.negate(p))))

    def _below(self, z: Any, *shapes: Any) -> Any:
        return betainc(shapes[0], b.add(z, 1.0), shapes[1])

    def _above(self, z: Any, *shapes: Any) -> Any:
        return betainc(b.add(z, 1.0), shapes[0], b.subtract(1.0, shapes[1]))


class Poisson(Discrete):
    """The number of events of which ``mu`` are expected.

    Examples
    --------
    >>> poisson.pmf([0, 1, 2], 2.0)
    Array([0.13533528, 0.27067057, 0.27067057])
    """

    shapes: ClassVar[tuple[str, ...]] = ("mu",)
    _inside: ClassVar[float] = 0.0

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0.0, np.inf

    def _allowed(self, *shapes: Any) -> list[Any]:
        return [b.at_least(shapes[0], 0)]

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        (mu,) = shapes
        return b.subtract(b.subtract(xlogy(z, mu), gammaln(b.add(z, 1.0))), mu)

    def _below(self, z: Any, *shapes: Any) -> Any:
        return gammaincc(b.add(z, 1.0), shapes[0])

    def _above(self, z: Any, *shapes: Any) -> Any:
        return gammainc(b.add(z, 1.0), shapes[0])


class Betabinom(Countable):
    """The number of successes among ``n`` trials, whose probability is a beta number of shapes ``a`` and ``b``.

    Examples
    --------
    >>> betabinom.pmf([0, 1, 2], 2, 1.0, 1.0)
    Array([0.33333333, 0.33333333, 0.33333333])
    """

    shapes: ClassVar[tuple[str, ...]] = ("n", "a", "b")
    _inside: ClassVar[float] = 0.0

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0.0, shapes[0]

    def _allowed(self, *shapes: Any) -> list[Any]:
        return [_is_count(shapes[0]), b.greater(shapes[1], 0), b.greater(shapes[2], 0)]

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        n, first, second = shapes
        ratio = b.subtract(betaln(b.add(z, first), b.add(b.subtract(n, z), second)), betaln(first, second))
        return b.add(_log_choices(n, z), ratio)


bernoulli, binom, geom = Bernoulli(), Binom(), Geom()
nbinom, poisson, betabinom = Nbinom(), Poisson(), Betabinom()
