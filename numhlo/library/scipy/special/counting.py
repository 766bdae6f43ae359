"""SciPy's special functions that count: factorials, rising factorials, combinations; and Riemann's and Hurwitz's zeta.

Integers are computed in float64. They run outside tracing too, on the same definitions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.scipy.special.gamma import gammasgn
from numhlo.library.scipy.special.widely_used import in_double, real_operands
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building import bind1, composite, convert, runs_anywhere
from numhlo.tracer.building import operations as b

__all__ = ["comb", "factorial", "poch", "zeta"]


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

    Parameters
    ----------
    n : array_like
        Real, and not only whole.
    exact : bool, optional
        Only False.
    extend : str, optional
        Only "zero".

    Returns
    -------
    Array
        Of floats.

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
    (value,) = real_operands("factorial", n)
    return b.select(b.less(value, 0), 0, composite("gamma", b.add(value, 1.0)))


@runs_anywhere
def poch(z: Any, m: Any) -> Any:
    """Return the rising factorial, ``gamma(z + m) / gamma(z)``.

    Parameters
    ----------
    z, m : array_like
        They broadcast.

    Returns
    -------
    Array
        Of floats; by logarithms where an argument is above 30, which costs some digits.

    Examples
    --------
    >>> poch(3.0, [0.0, 1.0, 2.0])
    Array([ 1.,  3., 12.])
    """
    return in_double(_rising_factorial, *real_operands("poch", z, m))


def _rising_factorial(start: Any, count: Any) -> Any:
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

    Returns
    -------
    Array
        Of floats; whole where the arguments are, up to 1e12.

    Raises
    ------
    ArgumentError
        If ``exact`` is true.

    Examples
    --------
    >>> comb(10, [0, 3, 11])
    Array([  1., 120.,   0.])
    """
    _require_floats("comb", exact)

    def combinations(total: Any, chosen: Any) -> Any:
        repeated = b.select(b.equal(chosen, 0), total, b.subtract(b.add(total, chosen), 1.0))
        return _combinations(repeated if repetition else total, chosen)

    return in_double(combinations, *real_operands("comb", N, k))


def _combinations(total: Any, chosen: Any) -> Any:
    rest = b.subtract(total, chosen)
    legal = b.both(b.at_least(rest, 0), b.both(b.at_least(chosen, 0), b.at_least(total, 0)))
    safe, left = b.select(legal, chosen, 0), b.select(legal, rest, 0)
    # 1 / ((N + 1) beta(N - k + 1, k + 1)), a whole number where both are
    raw = b.divide(
        1.0, b.multiply(b.add(b.add(safe, left), 1.0), composite("beta", b.add(left, 1.0), b.add(safe, 1.0)))
    )
    whole = b.both(b.equal(b.floor(safe), safe), b.equal(b.floor(left), left))
    rounded = b.select(b.both(whole, b.less(raw, 1e12)), b.round_even(raw), raw)
    return b.select(legal, rounded, b.select(b.is_nan(b.add(total, chosen)), np.nan, b.constant(0, raw)))


@runs_anywhere
def zeta(x: Any, q: Any = None) -> Any:
    """Return Hurwitz's zeta function, the sum of ``(q + k) ** -x`` for k >= 0; Riemann's without ``q``.

    Parameters
    ----------
    x : array_like
        The order; the result is NaN below 1 with ``q``, and without it analytically continued.
    q : array_like, optional
        Poles are at 0 and the negative integers.

    Returns
    -------
    Array
        Of the common float.

    Notes
    -----
    NIST DLMF sections 25.2 and 25.11.

    Examples
    --------
    >>> zeta(2.0), zeta(2.0, 3.0)
    (Array(1.64493407), Array(0.39493407))
    """
    if q is not None:
        return composite("zeta", *real_operands("zeta", x, q))
    (value,) = real_operands("zeta", x)
    return convert(_riemann_zeta(convert(value, np.float64)), value.dtype)


def _riemann_zeta(x: Any) -> Any:
    """Return Riemann's zeta function: below 1/2 from its mirror image (DLMF 25.4.1), up to 1 as alternating sum."""
    left = b.less(x, 0.0)
    mirrored = b.subtract(1.0, b.select(left, x, -1))
    right = composite("zeta", b.select(b.less(x, 1.0), b.constant(2, x), x), b.constant(1, x))
    image = composite("zeta", mirrored, b.constant(1, x))
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
