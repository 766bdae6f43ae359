"""What the distributions of one variable have in common: arguments, supports, places and scales.

A distribution gives formulas of a standardized variable inside its support; what is outside, parameters that make no
sense, and NaN are looked after here. Formulas see arrays of one float dtype and shape.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from numhlo.library.scipy.special.widely_used import in_double, real_operands
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building import bind1, runs_anywhere
from numhlo.tracer.building import operations as b

__all__ = ["Continuous", "Countable", "Dense", "Discrete", "Family", "Invertible", "expm1"]


def expm1(x: Any) -> Any:
    """Return ``exp(x) - 1``."""
    return bind1(ops.EXPONENTIAL_MINUS_ONE, x)


class Family:
    """A family of distributions: functions of a variable, the parameters of its shape, and where it is placed.

    Methods take the variable first (``x``, ``k`` of whole numbers, ``q`` of probabilities), then the parameters named
    in `shapes`, then ``loc`` (and ``scale``), in order or by name, as SciPy's do; all are real arrays that broadcast.
    Results are floats, NaN where a parameter is not allowed or an argument is NaN; complex arguments raise a
    `DTypeError`, missing ones a `TypeError`. Narrow floats are computed in float64, and rounded once.
    """

    shapes: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters."""

    _placed: ClassVar[dict[str, float]] = {"loc": 0.0, "scale": 1.0}
    """Names and defaults of place and scale."""

    _inside: ClassVar[float] = 0.5
    """A number in the support, or near it: what formulas see of variables that are outside."""

    def _support(self, *shapes: Any) -> tuple[Any, Any]:
        """Return the least and the greatest standardized value."""
        del shapes
        return -np.inf, np.inf

    def _allowed(self, *shapes: Any) -> list[Any]:
        """Return conditions that parameters must meet: that they are positive, for most."""
        return [b.greater(x, 0) for x in shapes]

    def _log_weight(self, z: Any, *shapes: Any) -> Any:
        """Return the logarithm of the density, or of the probability, inside the support."""
        raise NotImplementedError

    def _below(self, z: Any, *shapes: Any) -> Any:
        """Return the probability of values up to ``z``."""
        return b.subtract(1.0, self._above(z, *shapes))

    def _above(self, z: Any, *shapes: Any) -> Any:
        """Return the probability of values greater than ``z``."""
        return b.subtract(1.0, self._below(z, *shapes))

    def _log_below(self, z: Any, *shapes: Any) -> Any:
        """Return the logarithm of `_below`."""
        return b.log(self._below(z, *shapes))

    def _log_above(self, z: Any, *shapes: Any) -> Any:
        """Return the logarithm of `_above`."""
        return b.log(self._above(z, *shapes))

    def _arguments(self, method: str, first: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        required = [inspect.Parameter(name, kind) for name in (first, *self.shapes)]
        optional = [inspect.Parameter(name, kind, default=value) for name, value in self._placed.items()]
        try:
            bound = inspect.Signature([*required, *optional]).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__.lower()}.{method}() {error}") from None
        bound.apply_defaults()
        return list(bound.arguments.values())

    def _apply(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], formula: Callable[..., Any]) -> Any:
        operands = self._arguments(method, "x", args, kwargs)
        return in_double(formula, *real_operands(f"{type(self).__name__.lower()}.{method}", *operands))

    def _selected(self, z: Any, shapes: tuple[Any, ...], legal: Any, outside: tuple[float, float], formula: Any) -> Any:
        """Return a formula inside the support, other values below and above it, and NaN where something is."""
        low, high = self._support(*shapes)
        under, over = b.less(z, low), b.greater(z, high)
        bad = b.either(b.is_nan(z), b.invert(legal))
        beyond = b.either(bad, b.either(under, over))
        value = formula(b.select(beyond, self._inside, z), *shapes)
        return b.select(bad, np.nan, b.select(under, outside[0], b.select(over, outside[1], value)))


class Cumulative(Family):
    """A family whose distribution function has a formula: `cdf`, `sf` and their logarithms, each from its own end."""

    def _distribution(self, method: str, args: Any, kwargs: Any, outside: tuple[float, float], formula: Any) -> Any:
        """Return a formula inside the support, and the two values that are known below and above it."""
        raise NotImplementedError

    @runs_anywhere
    def cdf(self, *args: Any, **kwargs: Any) -> Any:
        """Return the probability of values up to the variable."""
        return self._distribution("cdf", args, kwargs, (0.0, 1.0), self._below)

    @runs_anywhere
    def sf(self, *args: Any, **kwargs: Any) -> Any:
        """Return the probability of greater values, accurate where it is small."""
        return self._distribution("sf", args, kwargs, (1.0, 0.0), self._above)

    @runs_anywhere
    def logcdf(self, *args: Any, **kwargs: Any) -> Any:
        """Return the logarithm of `cdf`."""
        return self._distribution("logcdf", args, kwargs, (-np.inf, 0.0), self._log_below)

    @runs_anywhere
    def logsf(self, *args: Any, **kwargs: Any) -> Any:
        """Return the logarithm of `sf`."""
        return self._distribution("logsf", args, kwargs, (0.0, -np.inf), self._log_above)


class Dense(Family):
    """A family of distributions of real numbers with a density: `logpdf` and `pdf`."""

    def _standardized(self, x: Any, rest: list[Any]) -> tuple[Any, tuple[Any, ...], Any, Any]:
        *shapes, loc, scale = rest
        legal = b.both(b.greater(scale, 0), b.both(b.is_finite(loc), b.is_finite(scale)))
        for condition in self._allowed(*shapes):
            legal = b.both(legal, condition)
        return b.divide(b.subtract(x, loc), scale), tuple(shapes), scale, legal

    @runs_anywhere
    def logpdf(self, *args: Any, **kwargs: Any) -> Any:
        """Return the logarithm of the density: minus infinity outside the support."""

        def formula(x: Any, *rest: Any) -> Any:
            z, shapes, scale, legal = self._standardized(x, list(rest))
            log_weight = self._selected(z, shapes, legal, (-np.inf, -np.inf), self._log_weight)
            nowhere = b.equal(log_weight, -np.inf)  # whatever the scale is: it has no slope there
            return b.select(nowhere, -np.inf, b.subtract(log_weight, b.log(scale)))

        return self._apply("logpdf", args, kwargs, formula)

    @runs_anywhere
    def pdf(self, *args: Any, **kwargs: Any) -> Any:
        """Return the density: 0 outside the support."""

        def formula(x: Any, *rest: Any) -> Any:
            z, shapes, scale, legal = self._standardized(x, list(rest))
            return b.divide(b.exp(self._selected(z, shapes, legal, (-np.inf, -np.inf), self._log_weight)), scale)

        return self._apply("pdf", args, kwargs, formula)


class Continuous(Cumulative, Dense):
    """A family of distributions with a density."""

    def _distribution(self, method: str, args: Any, kwargs: Any, outside: tuple[float, float], formula: Any) -> Any:
        def whole(x: Any, *rest: Any) -> Any:
            z, shapes, _, legal = self._standardized(x, list(rest))
            low, high = self._support(*shapes)
            under, over = b.at_most(z, low), b.at_least(z, high)
            ended = b.both(legal, b.either(under, over))  # at the ends, too, the answer is known
            value = self._selected(b.select(ended, self._inside, z), shapes, legal, outside, formula)
            return b.select(ended, b.select(under, outside[0], b.constant(outside[1], z)), value)

        return self._apply(method, args, kwargs, whole)


class Invertible(Continuous):
    """A continuous family whose distribution function has an inverse in closed form."""

    def _quantile(self, q: Any, *shapes: Any) -> Any:
        """Return the standardized value with the probability ``q`` of values up to it."""
        raise NotImplementedError

    def _upper_quantile(self, q: Any, *shapes: Any) -> Any:
        """Return the standardized value with the probability ``q`` of greater ones."""
        raise NotImplementedError

    def _inverse(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], formula: Any) -> Any:
        if "q" in kwargs:
            kwargs = {"x": kwargs["q"], **{name: value for name, value in kwargs.items() if name != "q"}}

        def whole(q: Any, *rest: Any) -> Any:
            _, shapes, scale, legal = self._standardized(q, list(rest))
            legal = b.both(legal, b.both(b.at_least(q, 0), b.at_most(q, 1)))
            found = b.add(b.multiply(formula(b.select(legal, q, 0.5), *shapes), scale), rest[-2])
            return b.select(legal, found, np.nan)

        return self._apply(method, args, kwargs, whole)

    @runs_anywhere
    def ppf(self, *args: Any, **kwargs: Any) -> Any:
        """Return the quantile: the inverse of `cdf`, NaN outside of 0 and 1."""
        return self._inverse("ppf", args, kwargs, self._quantile)

    @runs_anywhere
    def isf(self, *args: Any, **kwargs: Any) -> Any:
        """Return the inverse of `sf`, NaN outside of 0 and 1."""
        return self._inverse("isf", args, kwargs, self._upper_quantile)


class Countable(Family):
    """A family of distributions of whole numbers."""

    _placed: ClassVar[dict[str, float]] = {"loc": 0.0}

    def _arguments(self, method: str, first: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        del first
        return super()._arguments(method, "k", args, kwargs)

    def _shifted(self, k: Any, rest: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], Any]:
        *shapes, loc = rest
        legal = b.is_finite(loc)
        for condition in self._allowed(*shapes):
            legal = b.both(legal, condition)
        return b.subtract(k, loc), tuple(shapes), legal

    def _log_mass(self, k: Any, *rest: Any) -> Any:
        z, shapes, legal = self._shifted(k, rest)
        whole = b.either(b.equal(b.floor(z), z), b.is_nan(z))
        value = self._selected(b.select(whole, z, -np.inf), shapes, legal, (-np.inf, -np.inf), self._log_weight)
        return b.select(b.equal(b.absolute(z), np.inf), b.select(legal, b.constant(-np.inf, z), np.nan), value)

    @runs_anywhere
    def logpmf(self, *args: Any, **kwargs: Any) -> Any:
        """Return the logarithm of the probability: minus infinity outside the support, and between whole numbers."""
        return self._apply("logpmf", args, kwargs, self._log_mass)

    @runs_anywhere
    def pmf(self, *args: Any, **kwargs: Any) -> Any:
        """Return the probability: 0 outside the support, and between whole numbers."""
        return self._apply("pmf", args, kwargs, lambda *operands: b.exp(self._log_mass(*operands)))


class Discrete(Cumulative, Countable):
    """A family of distributions of whole numbers whose sums have a closed form."""

    def _distribution(self, method: str, args: Any, kwargs: Any, outside: tuple[float, float], formula: Any) -> Any:
        def total(k: Any, *rest: Any) -> Any:
            z, shapes, legal = self._shifted(k, rest)
            _, high = self._support(*shapes)
            # all of it lies up to the greatest value
            reached = b.both(b.at_least(z, high), legal)
            value = self._selected(
                b.select(reached, b.constant(np.inf, z), b.floor(z)), shapes, legal, outside, formula
            )
            return b.select(reached, outside[1], value)

        return self._apply(method, args, kwargs, total)
