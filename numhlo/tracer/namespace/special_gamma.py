"""SciPy's special functions around gamma, beta, zeta and Bessel: composites, and what is made of them.

Integers are computed in float64. They run outside tracing too, on the same definitions. Errors are stated in
``docs/special_functions.md``, in units in the last place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.bind import bind1
from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace.core import convert, spelling
from numhlo.tracer.namespace.eager import runs_anywhere
from numhlo.tracer.namespace.special import composite
from numhlo.tracer.namespace.special_functions import inexact, xlog1py, xlogy

__all__ = [
    "beta", "betainc", "betaln", "boxcox", "boxcox1p", "comb", "erfcx", "expn", "factorial", "gamma", "gammainc",
    "gammaincc", "gammasgn", "i0", "i0e", "i1", "i1e", "kl_div", "loggamma", "multigammaln", "ndtri", "poch",
    "polygamma", "rel_entr", "spence", "zeta",
]  # fmt: skip


def _real(name: str, *operands: Any) -> list[Any]:
    """Return operands as real floats of one dtype and shape."""
    arrays = inexact(*operands)
    if arrays[0].dtype.kind == "c":
        raise DTypeError(
            f"special.{name} of {spelling(arrays[0])}",
            where=capture_location(),
            why="it is defined here for real numbers",
            fix="take the real part, or use SciPy's outside tracing",
        )
    return arrays


@runs_anywhere
def gamma(x: Any) -> Any:
    """Return the gamma function: infinite at 0, NaN at the negative integers.

    Examples
    --------
    >>> gamma([0.5, 5.0])
    Array([ 1.77245385, 24.        ])
    """
    return composite("gamma", *_real("gamma", x))


@runs_anywhere
def loggamma(x: Any) -> Any:
    """Return the logarithm of gamma, on real numbers: NaN below 0, where `gammaln` takes gamma's absolute value.

    Examples
    --------
    >>> loggamma([4.0, -0.5])
    Array([1.79175947,        nan])
    """
    (value,) = _real("loggamma", x)
    return b.select(b.less(value, 0), np.nan, composite("lgamma", value))


@runs_anywhere
def gammasgn(x: Any) -> Any:
    """Return the sign of gamma; NaN at the negative integers.

    Examples
    --------
    >>> gammasgn([2.5, -0.5, -1.5])
    Array([ 1., -1.,  1.])
    """
    (value,) = _real("gammasgn", x)
    whole = b.floor(value)
    half = b.multiply(whole, 0.5)
    even = b.equal(b.floor(half), half)
    below = b.select(b.equal(whole, value), np.nan, b.select(even, b.constant(1, value), -1))
    found = b.select(b.less(value, 0), below, 1)
    found = b.select(b.equal(value, 0), b.copysign(b.constant(1, value), value), found)
    return b.select(b.either(b.is_nan(value), b.equal(value, -np.inf)), np.nan, found)


def _require_floats(name: str, exact: bool) -> None:
    if exact:
        raise ArgumentError(
            f"special.{name}(exact=True)",
            where=capture_location(),
            why="its results are Python integers of any size",
            fix=f"use math.{name} outside tracing",
        )


@runs_anywhere
def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """Return ``gamma(n + 1)``, 0 for negative ``n``.

    Raises
    ------
    ArgumentError
        If ``exact`` is true: Python's integers can't be traced; if ``extend`` is another.

    Examples
    --------
    >>> factorial([0, 3, 10])
    Array([1.0000e+00, 6.0000e+00, 3.6288e+06])
    """
    _require_floats("factorial", exact)
    if extend != "zero":
        raise ArgumentError(
            f"special.factorial({extend=})", where=capture_location(), fix="use gamma(n + 1) for negative n"
        )
    (value,) = _real("factorial", n)
    return b.select(b.less(value, 0), 0, composite("gamma", b.add(value, 1.0)))


@runs_anywhere
def poch(z: Any, m: Any) -> Any:
    """Return the rising factorial, ``gamma(z + m) / gamma(z)``.

    Examples
    --------
    >>> poch(3.0, [0.0, 1.0, 2.0])
    Array([ 1.,  3., 12.])
    """
    start, count = _real("poch", z, m)
    end = b.add(start, count)
    direct = b.divide(composite("gamma", end), composite("gamma", start))
    size = b.exp(b.subtract(composite("lgamma", end), composite("lgamma", start)))
    large = b.greater(b.maximum(b.absolute(start), b.absolute(end)), 30.0)
    signed = b.multiply(b.multiply(gammasgn(end), gammasgn(start)), size)
    return b.select(b.equal(count, 0), 1, b.select(large, signed, direct))


@runs_anywhere
def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """Return how many ways there are to choose ``k`` of ``N``: 0 where ``k`` is greater, or one of them negative.

    Parameters
    ----------
    N, k : array_like
    exact : bool, optional
        Only False: Python's integers can't be traced.
    repetition : bool, optional
        Whether a thing may be chosen more than once.

    Examples
    --------
    >>> comb(10, [0, 3, 11])
    Array([  1., 120.,   0.])
    """
    _require_floats("comb", exact)
    total, chosen = _real("comb", N, k)
    if repetition:
        total = b.select(b.equal(chosen, 0), total, b.subtract(b.add(total, chosen), 1.0))
    rest = b.subtract(total, chosen)
    legal = b.both(b.at_least(rest, 0), b.both(b.at_least(chosen, 0), b.at_least(total, 0)))
    safe, left = b.select(legal, chosen, 0), b.select(legal, rest, 0)
    # 1 / ((N + 1) beta(N - k + 1, k + 1)), a whole number where both are
    raw = b.divide(
        1.0, b.multiply(b.add(b.add(safe, left), 1.0), composite("beta", b.add(left, 1.0), b.add(safe, 1.0)))
    )
    whole = b.both(b.equal(b.floor(safe), safe), b.equal(b.floor(left), left))
    limit = 1e12 if raw.dtype == np.float64 else 1e5
    rounded = b.select(b.both(whole, b.less(raw, limit)), b.round_even(raw), raw)
    return b.select(legal, rounded, b.select(b.is_nan(b.add(total, chosen)), np.nan, b.constant(0, raw)))


@runs_anywhere
def multigammaln(a: Any, d: int) -> Any:
    """Return the logarithm of the multivariate gamma function of dimension ``d``.

    Examples
    --------
    >>> multigammaln(2.5, 3)
    Array(1.880995...)
    """
    (value,) = _real("multigammaln", a)
    total = b.constant(d * (d - 1) / 4 * math.log(math.pi), value)
    for k in range(d):
        total = b.add(total, composite("lgamma", b.subtract(value, k / 2)))
    return total


@runs_anywhere
def beta(a: Any, b: Any) -> Any:
    """Return the beta function, ``gamma(a) gamma(b) / gamma(a + b)``; NaN at negative integers.

    Examples
    --------
    >>> beta(2.0, 3.0)
    Array(0.08333333)
    """
    return composite("beta", *_real("beta", a, b))


@runs_anywhere
def betaln(a: Any, b: Any) -> Any:
    """Return the logarithm of the absolute value of `beta`, accurate where the arguments are large.

    Examples
    --------
    >>> betaln(1e6, 0.5)
    Array(-6.33539...)
    """
    return composite("betaln", *_real("betaln", a, b))


@runs_anywhere
def betainc(a: Any, b: Any, x: Any) -> Any:
    """Return the regularized incomplete beta function: the beta distribution's function at ``x`` in [0, 1].

    Its derivative is by ``x`` alone.

    Examples
    --------
    >>> betainc(1.0, 2.0, 0.5)
    Array(0.75)
    """
    return composite("betainc", *_real("betainc", a, b, x))


@runs_anywhere
def gammainc(a: Any, x: Any) -> Any:
    """Return the regularized lower incomplete gamma function P: the gamma distribution's function at ``x``.

    Examples
    --------
    >>> gammainc(1.0, [0.0, 1.0])
    Array([0.        , 0.63212056])
    """
    return composite("igamma", *_real("gammainc", a, x))


@runs_anywhere
def gammaincc(a: Any, x: Any) -> Any:
    """Return ``1 - gammainc(a, x)``, accurate where that is small.

    Examples
    --------
    >>> gammaincc(1.0, 50.0)
    Array(1.92874985e-22)
    """
    return composite("igammac", *_real("gammaincc", a, x))


@runs_anywhere
def polygamma(n: Any, x: Any) -> Any:
    """Return the ``n``-th derivative of `digamma`, for whole ``n``.

    Examples
    --------
    >>> polygamma(1, 1.0)
    Array(1.64493407)
    """
    return composite("polygamma", *_real("polygamma", n, x))


@runs_anywhere
def zeta(x: Any, q: Any = None) -> Any:
    """Return Hurwitz's zeta function, the sum of ``(q + k) ** -x`` for k >= 0; Riemann's without ``q``.

    Parameters
    ----------
    x : array_like
        The order; the result is NaN below 1 with ``q``, and without it analytically continued.
    q : array_like, optional
        Poles are at 0 and the negative integers.

    Examples
    --------
    >>> zeta(2.0), zeta(2.0, 3.0)
    (Array(1.64493407), Array(0.39493407))
    """
    if q is not None:
        return composite("zeta", *_real("zeta", x, q))
    (value,) = _real("zeta", x)
    return convert(_riemann_zeta(convert(value, np.float64)), value.dtype)


def _riemann_zeta(x: Any) -> Any:
    """Return Riemann's zeta function: below 1/2 from its mirror image (DLMF 25.4.1), up to 1 as alternating sum."""
    left = b.less(x, 0.0)
    mirrored = b.subtract(1.0, b.select(left, x, 0))
    right = composite("zeta", b.select(left, b.constant(2, x), x), b.constant(1, x))
    image = composite("zeta", b.maximum(mirrored, 1.0), b.constant(1, x))
    # sin(pi x / 2), by the distance to the nearest even number
    nearest = b.multiply(b.round_even(b.multiply(x, 0.5)), 2.0)
    quarter = b.multiply(b.round_even(b.multiply(nearest, 0.25)), 4.0)
    sine = b.sin(b.multiply(b.subtract(x, nearest), math.pi / 2))
    signed = b.select(b.equal(quarter, nearest), sine, b.negate(sine))
    scale = b.power(b.constant(2 * math.pi, x), b.negate(mirrored))
    reflected = b.multiply(b.multiply(b.multiply(scale, 2.0), signed), b.multiply(composite("gamma", mirrored), image))
    strip = b.both(b.at_least(x, 0.0), b.less(x, 1.0))
    inner = _zeta_in_strip(b.select(strip, x, 0))
    return b.select(strip, inner, b.select(left, reflected, right))


def _zeta_in_strip(x: Any) -> Any:
    """Return zeta on [0, 1), by Borwein's alternating sum (CMS Conf. Proc. 27 (2000), algorithm 2)."""
    count = 24
    weights, total = [], 0
    for k in range(count + 1):
        total += count * math.factorial(count + k - 1) * 4**k // (math.factorial(count - k) * math.factorial(2 * k))
        weights.append(total)
    found = b.constant(0, x)
    for k in range(count):
        weight = (-1) ** k * (weights[k] - weights[count]) / weights[count]
        found = b.add(found, b.multiply(b.power(b.constant(k + 1, x), b.negate(x)), weight))
    # over 1 - 2^(1 - x)
    return b.divide(found, bind1(ops.EXPONENTIAL_MINUS_ONE, b.multiply(b.subtract(1.0, x), math.log(2))))


@runs_anywhere
def spence(x: Any) -> Any:
    """Return Spence's function, the integral of ``log(t) / (1 - t)`` from 1 to ``x``; NaN below 0.

    Examples
    --------
    >>> spence([0.0, 1.0])
    Array([1.64493407, 0.        ])
    """
    return composite("spence", *_real("spence", x))


@runs_anywhere
def expn(n: Any, x: Any) -> Any:
    """Return the exponential integral of a whole order: of ``exp(-x t) / t ** n`` from t = 1.

    Examples
    --------
    >>> expn([1, 2], 1.0)
    Array([0.21938393, 0.14849551])
    """
    return composite("expn", *_real("expn", n, x))


@runs_anywhere
def erfcx(x: Any) -> Any:
    """Return ``exp(x ** 2) erfc(x)``, which neither overflows nor vanishes for large ``x``.

    Examples
    --------
    >>> erfcx(1000.0)
    Array(0.00056419)
    """
    return composite("erfcx", *_real("erfcx", x))


@runs_anywhere
def ndtri(p: Any) -> Any:
    """Return where the normal distribution function is ``p``: the inverse of `ndtr`.

    Examples
    --------
    >>> ndtri([0.5, 0.975])
    Array([0.        , 1.95996398])
    """
    return composite("ndtri", *_real("ndtri", p))


def _unscaled(name: str, x: Any) -> Any:
    half = b.exp(b.multiply(b.absolute(x), 0.5))  # twice, since exp overflows before the product
    return b.multiply(b.multiply(composite(name, x), half), half)


@runs_anywhere
def i0(x: Any) -> Any:
    """Return the modified Bessel function of order 0.

    Examples
    --------
    >>> i0([0.0, 1.0])
    Array([1.        , 1.26606588])
    """
    return _unscaled("bessel_i0e", *_real("i0", x))


@runs_anywhere
def i0e(x: Any) -> Any:
    """Return `i0` times ``exp(-abs(x))``.

    Examples
    --------
    >>> i0e(1000.0)
    Array(0.01261724)
    """
    return composite("bessel_i0e", *_real("i0e", x))


@runs_anywhere
def i1(x: Any) -> Any:
    """Return the modified Bessel function of order 1.

    Examples
    --------
    >>> i1([-1.0, 1.0])
    Array([-0.5651591,  0.5651591])
    """
    return _unscaled("bessel_i1e", *_real("i1", x))


@runs_anywhere
def i1e(x: Any) -> Any:
    """Return `i1` times ``exp(-abs(x))``.

    Examples
    --------
    >>> i1e(1000.0)
    Array(0.01261093)
    """
    return composite("bessel_i1e", *_real("i1e", x))


@runs_anywhere
def rel_entr(x: Any, y: Any) -> Any:
    """Return ``x log(x / y)``: 0 where ``x`` is 0 and ``y`` is not negative, infinite outside of positive numbers.

    Examples
    --------
    >>> rel_entr([1.0, 0.0, 1.0], [2.0, 2.0, 0.0])
    Array([-0.69314718,  0.        ,         inf])
    """
    first, second = _real("rel_entr", x, y)
    positive = b.both(b.greater(first, 0), b.greater(second, 0))
    ratio = b.divide(b.select(positive, first, 1), b.select(positive, second, 1))
    zero = b.both(b.equal(first, 0), b.at_least(second, 0))
    outside = b.select(zero, b.constant(0, first), np.inf)
    found = b.select(positive, b.multiply(first, b.log(ratio)), outside)
    return b.select(b.is_nan(b.add(first, second)), b.add(first, second), found)


@runs_anywhere
def kl_div(x: Any, y: Any) -> Any:
    """Return ``x log(x / y) - x + y``, the elementwise Kullback-Leibler divergence.

    Examples
    --------
    >>> kl_div([1.0, 0.0], [2.0, 2.0])
    Array([0.30685282, 2.        ])
    """
    first, second = _real("kl_div", x, y)
    return b.add(b.subtract(rel_entr(first, second), first), second)


@runs_anywhere
def boxcox(x: Any, lmbda: Any) -> Any:
    """Return ``(x ** lmbda - 1) / lmbda``, ``log(x)`` where ``lmbda`` is 0.

    Examples
    --------
    >>> boxcox([1.0, 4.0], 0.5)
    Array([0., 2.])
    """
    value, power = _real("boxcox", x, lmbda)
    return _boxcox(b.log(value), xlogy(power, value), power)


@runs_anywhere
def boxcox1p(x: Any, lmbda: Any) -> Any:
    """Return ``((1 + x) ** lmbda - 1) / lmbda``, ``log(1 + x)`` where ``lmbda`` is 0.

    Examples
    --------
    >>> boxcox1p([0.0, 3.0], 0.5)
    Array([0., 2.])
    """
    value, power = _real("boxcox1p", x, lmbda)
    return _boxcox(b.log1p(value), xlog1py(power, value), power)


def _boxcox(log: Any, exponent: Any, power: Any) -> Any:
    tiny = b.less(b.absolute(power), 1e-19)
    return b.select(tiny, log, b.divide(bind1(ops.EXPONENTIAL_MINUS_ONE, exponent), b.select(tiny, 1, power)))
