"""NumPy's polynomial modules (`numpy.polynomial.chebyshev` and its kin) under tracing: the steps that ask for values.

The rest is Python code over arrays that it makes, and runs with its calls exchanged as a user's does (`plain_numpy`).
Fits ask whether the rank is full, to warn; sums and products of coefficients ask how many zeros they end with: traced
ones keep them, as `numpy.polymul` of traced arrays does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial, polyutils

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.building import FUNCTIONS, Tracer, contains_tracer, special_methods, stands_for


@stands_for(polyutils.trimseq)
@functools.wraps(polyutils.trimseq)
def trimseq(seq: Any) -> Any:
    """Return coefficients without the zeros that they end with; which of traced ones are zero nobody knows."""
    return seq if _is_unknown_line(seq) else polyutils.trimseq(seq)


def _is_unknown_line(c: Any) -> bool:
    return isinstance(c, Tracer) and c.ndim > 0 and c.known() is None


def _roots(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def find(c: Any) -> Any:
        if contains_tracer(c):
            raise UnsupportedError(
                f"{function.__name__} of traced coefficients",
                where=capture_location(),
                why="zeros at the end are cut off, and which are zero is not known while tracing",
                fix="for a power series write numhlo.numpy.roots(c[::-1], strip_zeros=False)",
            )
        return function(c)

    return find


for _function in (
    polynomial.polyroots, chebyshev.chebroots, legendre.legroots,
    hermite.hermroots, hermite_e.hermeroots, laguerre.lagroots,
):  # fmt: skip
    stands_for(_function)(_roots(_function))


def _fit(
    vander_f: Callable[..., Any], x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None
) -> Any:
    """Return the coefficients of a least-squares fit, as `numpy.polynomial.polyutils` computes them."""
    if not contains_tracer([x, y, w]):
        return _fit_of_known(vander_f, x, y, deg, rcond, full, w)
    x, y = (FUNCTIONS[np.asarray](v) + 0.0 for v in (x, y))
    _fit_of_known(vander_f, np.ones(x.shape), np.ones(y.shape), deg, full=True)  # raises what NumPy raises
    powers = np.sort(np.atleast_1d(deg)) if np.ndim(deg) else np.arange(int(deg) + 1)
    matrix = special_methods.exchange(vander_f)(x, int(powers[-1]))[:, powers]
    weights = None if w is None else (FUNCTIONS[np.asarray](w) + 0.0)[:, None]
    if weights is not None:
        matrix, y = matrix * weights, (y[:, None] * weights)[:, 0] if y.ndim == 1 else y * weights
    cutoff = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    scale = np.sqrt((matrix.real**2 + matrix.imag**2).sum(0))
    scale = np.where(scale == 0, 1, scale)
    found, *rest = np.linalg.lstsq(matrix / scale, y, cutoff)
    found = (found.T / scale).T
    if np.ndim(deg):
        sparse, found = found, np.zeros_like(found, shape=(int(powers[-1]) + 1, *found.shape[1:]))
        found[powers] = sparse
    return (found, [*rest, cutoff]) if full else found


_fit_of_known: Callable[..., Any] = getattr(polyutils, "_fit")  # noqa: B009 - a name of NumPy's own
stands_for(_fit_of_known)(_fit)


# ---------------------------------------------------------------------------------------------------- classes' methods

_BASE: Any = polynomial.Polynomial.__base__
_fit_series, _convert = _BASE.fit.__func__, _BASE.convert


@stands_for(_fit_series)
@functools.wraps(_fit_series)
def fit_series(cls: Any, x: Any, y: Any, deg: Any, domain: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return a fitted series; its domain, where none is given, is that of traced points."""
    if domain is None and contains_tracer(x):
        points = FUNCTIONS[np.asarray](x)
        low, high = points.min(), points.max()
        around = (low == high) * 1
        domain = FUNCTIONS[np.stack]([low - around, high + around])
    return special_methods.exchange(_fit_series)(cls, x, y, deg, domain, *args, **kwargs)


@stands_for(_convert)
@functools.wraps(_convert)
def convert(self: Any, domain: Any = None, kind: Any = None, window: Any = None) -> Any:
    """Return a series of another kind, domain or window; one of traced coefficients keeps its length."""
    kind = type(self) if kind is None else kind
    if not contains_tracer([self.coef, self.domain, domain]):
        return _convert(self, domain, kind, window)
    domain, window = (getattr(kind, n) if x is None else x for n, x in (("domain", domain), ("window", window)))
    if contains_tracer([self.domain, domain]):
        powers = _as(polynomial.Polynomial, type(self), self.coef, *[_IDENTITY] * 4)
        parameters = polyutils.mapparms(window, domain), polyutils.mapparms(self.domain, self.window)
        found = _as(kind, polynomial.Polynomial, _substituted(powers, *parameters), *[_IDENTITY] * 4)
    else:
        found = _as(kind, type(self), self.coef, self.domain, self.window, domain, window)
    made = kind([0.0], window=window, symbol=self.symbol)
    made.coef, made.domain = found, domain
    return made


_IDENTITY = np.array([-1.0, 1.0])
"""A domain and window between which nothing is scaled."""


def _as(kind: Any, own: Any, coef: Any, domain: Any, window: Any, new_domain: Any, new_window: Any) -> Any:
    """Return the coefficients of a series as one of another kind: they are sums of the first ones, by known factors."""
    if kind is own and np.array_equal(domain, new_domain) and np.array_equal(window, new_window):
        return coef
    factors = np.zeros((len(coef), len(coef)))
    for k in range(len(coef)):
        found = _convert(own.basis(k, domain, window), new_domain, kind, new_window).coef
        factors[: len(found), k] = found
    return FUNCTIONS[np.matmul](factors, coef)


def _substituted(coef: Any, outer: Any, inner: Any) -> Any:
    """Return the coefficients of a power series of one line of another one of the variable."""
    (first, by), (offset, scale) = outer, inner
    line = FUNCTIONS[np.stack]([offset + scale * first, scale * by])
    found = coef[-1:]
    for k in range(len(coef) - 1):
        product = FUNCTIONS[np.convolve](found, line)
        found = FUNCTIONS[np.concatenate]([product[:1] + coef[-2 - k], product[1:]])
    return found
