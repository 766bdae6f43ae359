"""Distributions of angles: von Mises' and the wrapped Cauchy.

Sources: NIST DLMF 10.32.1 for the normalization of von Mises'; the others' formulas follow from their definitions.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.scipy.special.bessel import i0e
from numhlo.library.scipy.stats.family import Dense, Invertible
from numhlo.tracer.building import operations as b

__all__ = ["vonmises", "wrapcauchy"]


def _half_sine_squared(z: Any) -> Any:
    """Return ``sin(z / 2) ** 2``, which is ``(1 - cos(z)) / 2`` without its cancellation."""
    half = b.sin(b.multiply(z, 0.5))
    return b.multiply(half, half)


class VonMises(Dense):
    """Von Mises' distribution of concentration ``kappa`` around ``loc``, periodic; its integral has no closed form.

    Examples
    --------
    >>> vonmises.pdf([0.0, 3.0], 2.0)
    Array([0.51588541, 0.00963979])
    """

    shapes: ClassVar[tuple[str, ...]] = ("kappa",)

    def _allowed(self, *shapes: Any) -> list[Any]:
        return [b.at_least(shapes[0], 0)]

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        exponent = b.multiply(b.multiply(shapes[0], -2.0), _half_sine_squared(z))
        return b.subtract(b.subtract(exponent, math.log(2 * math.pi)), b.log(i0e(shapes[0])))


class WrapCauchy(Invertible):
    """The Cauchy distribution wrapped around the circle, from ``loc`` on, of concentration ``c`` between 0 and 1.

    Examples
    --------
    >>> wrapcauchy.pdf([0.0, 3.0], 0.5)
    Array([0.47746483, 0.05328866])
    >>> wrapcauchy.ppf(wrapcauchy.cdf(3.0, 0.5), 0.5)
    Array(3.)
    """

    shapes: ClassVar[tuple[str, ...]] = ("c",)

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0.0, 2 * math.pi

    def _allowed(self, *shapes: Any) -> list[Any]:
        return [b.greater(shapes[0], 0), b.less(shapes[0], 1)]

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        c = shapes[0]
        rest = b.subtract(1.0, c)
        spread = b.add(b.multiply(rest, rest), b.multiply(b.multiply(c, 4.0), _half_sine_squared(z)))
        top = b.multiply(rest, b.add(c, 1.0))  # 1 - c ** 2
        return b.subtract(b.log(b.divide(top, spread)), math.log(2 * math.pi))

    def _half(self, z: Any, c: Any) -> Any:
        """Return the probability of the first ``z`` of the circle's first half."""
        slope = b.divide(b.add(c, 1.0), b.subtract(1.0, c))
        turned = ufuncs.arctan2(b.multiply(slope, b.sin(b.multiply(z, 0.5))), b.cos(b.multiply(z, 0.5)))
        return b.divide(turned, math.pi)

    def _below(self, z: Any, *shapes: Any) -> Any:
        is_first = b.less(z, math.pi)
        part = self._half(b.select(is_first, z, b.subtract(2 * math.pi, z)), shapes[0])
        return b.select(is_first, part, b.subtract(1.0, part))

    def _above(self, z: Any, *shapes: Any) -> Any:
        return self._below(b.subtract(2 * math.pi, z), *shapes)

    def _quantile(self, q: Any, *shapes: Any) -> Any:
        c = shapes[0]
        is_first = b.less(q, 0.5)
        part = b.multiply(b.select(is_first, q, b.subtract(1.0, q)), math.pi)
        slope = b.divide(b.subtract(1.0, c), b.add(c, 1.0))
        angle = b.multiply(ufuncs.arctan2(b.multiply(slope, b.sin(part)), b.cos(part)), 2.0)
        return b.select(is_first, angle, b.subtract(2 * math.pi, angle))

    def _upper_quantile(self, q: Any, *shapes: Any) -> Any:
        return b.subtract(2 * math.pi, self._quantile(q, *shapes))


vonmises, wrapcauchy = VonMises(), WrapCauchy()
