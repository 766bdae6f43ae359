"""SciPy's special functions around gamma and beta. Bessel's are in `bessel`, zeta in `counting`.

Integers are computed in float64. They run outside tracing too, on the same definitions. Errors are stated in
``docs/special_functions.md``, in units in the last place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.scipy.special.widely_used import ONE_REAL, of_one_real, real_operands
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.building import composite, runs_anywhere
from numhlo.tracer.building import operations as b

__all__ = [
    "beta", "betainc", "betaln", "gamma", "gammainc",
    "gammaincc", "gammasgn", "loggamma", "multigammaln",
    "polygamma",
]  # fmt: skip

_COMMON = """
Parameters
----------
a, b : array_like
    They broadcast.

Returns
-------
Array
    Of the common float.

Notes
-----
NIST DLMF section 5.12.
"""

_INCOMPLETE = """
Parameters
----------
a, x : array_like
    Not negative; they broadcast.

Returns
-------
Array
    Of the common float; NaN outside.

Notes
-----
NIST DLMF section 8.2.
"""

MOST_TERMS = 10_000
"""Of a sum that is written out."""


gamma = of_one_real(
    "gamma",
    lambda x: composite("gamma", x),
    "Return the gamma function: infinite at 0, NaN at the negative integers.",
    ">>> gamma([0.5, 5.0])\nArray([ 1.77245385, 24.        ])",
)


@runs_anywhere
@described(ONE_REAL)
def loggamma(x: Any) -> Any:
    """Return the logarithm of gamma, on real numbers: NaN below 0, where `gammaln` takes gamma's absolute value.

    Examples
    --------
    >>> loggamma([4.0, -0.5])
    Array([1.79175947,        nan])
    """
    (value,) = real_operands("loggamma", x)
    return b.select(b.less(value, 0), np.nan, composite("lgamma", value))


@runs_anywhere
@described(ONE_REAL)
def gammasgn(x: Any) -> Any:
    """Return the sign of gamma; NaN at the negative integers.

    Examples
    --------
    >>> gammasgn([2.5, -0.5, -1.5])
    Array([ 1., -1.,  1.])
    """
    (value,) = real_operands("gammasgn", x)
    whole = b.floor(value)
    half = b.multiply(whole, 0.5)
    even = b.equal(b.floor(half), half)
    below = b.select(b.equal(whole, value), np.nan, b.select(even, b.constant(1, value), -1))
    found = b.select(b.less(value, 0), below, 1)
    found = b.select(b.equal(value, 0), b.copysign(b.constant(1, value), value), found)
    return b.select(b.either(b.is_nan(value), b.equal(value, -np.inf)), np.nan, found)


@runs_anywhere
def multigammaln(a: Any, d: int) -> Any:
    """Return the logarithm of the multivariate gamma function of dimension ``d``.

    Parameters
    ----------
    a : array_like
        Above ``(d - 1) / 2``.
    d : int
        Known while tracing.

    Returns
    -------
    Array
        Of floats.

    Notes
    -----
    Muirhead: Aspects of Multivariate Statistical Theory (1982), theorem 2.1.12.

    Examples
    --------
    >>> multigammaln(2.5, 3)
    Array(1.880995...)
    """
    (value,) = real_operands("multigammaln", a)
    total = b.constant(d * (d - 1) / 4 * math.log(math.pi), value)
    for k in range(_dimension(d)):
        total = b.add(total, composite("lgamma", b.subtract(value, k / 2)))
    return total


def _dimension(d: Any) -> int:
    if d != int(d) or d > MOST_TERMS:
        what = f"multigammaln in {d} dimensions"
        why = f"they are a whole number up to {MOST_TERMS}, with one term each"
        raise ArgumentError(what, where=capture_location(), why=why)
    return int(d)


@runs_anywhere
@described(_COMMON)
def beta(a: Any, b: Any) -> Any:
    """Return the beta function, ``gamma(a) gamma(b) / gamma(a + b)``; NaN at negative integers.

    Examples
    --------
    >>> beta(2.0, 3.0)
    Array(0.08333333)
    """
    return composite("beta", *real_operands("beta", a, b))


@runs_anywhere
@described(_COMMON)
def betaln(a: Any, b: Any) -> Any:
    """Return the logarithm of the absolute value of `beta`, accurate where the arguments are large.

    Examples
    --------
    >>> betaln(1e6, 0.5)
    Array(-6.33539...)
    """
    return composite("betaln", *real_operands("betaln", a, b))


@runs_anywhere
@described(_INCOMPLETE)
def betainc(a: Any, b: Any, x: Any) -> Any:
    """Return the regularized incomplete beta function: the beta distribution's function at ``x`` in [0, 1].

    Its derivative is by ``x`` alone.

    Parameters
    ----------
    a, b : array_like
        Positive.
    x : array_like
        All broadcast.

    Notes
    -----
    NIST DLMF section 8.17.

    Examples
    --------
    >>> betainc(1.0, 2.0, 0.5)
    Array(0.75)
    """
    return composite("betainc", *real_operands("betainc", a, b, x))


@runs_anywhere
@described(_INCOMPLETE)
def gammainc(a: Any, x: Any) -> Any:
    """Return the regularized lower incomplete gamma function P: the gamma distribution's function at ``x``.

    Examples
    --------
    >>> gammainc(1.0, [0.0, 1.0])
    Array([0.        , 0.63212056])
    """
    return composite("igamma", *real_operands("gammainc", a, x))


@runs_anywhere
@described(_INCOMPLETE)
def gammaincc(a: Any, x: Any) -> Any:
    """Return ``1 - gammainc(a, x)``, accurate where that is small.

    Examples
    --------
    >>> gammaincc(1.0, 50.0)
    Array(1.92874985e-22)
    """
    return composite("igammac", *real_operands("gammaincc", a, x))


@runs_anywhere
def polygamma(n: Any, x: Any) -> Any:
    """Return the ``n``-th derivative of `digamma`, for whole ``n``.

    Parameters
    ----------
    n : array_like
        Whole and not negative.
    x : array_like
        They broadcast.

    Returns
    -------
    Array
        Of the common float; NaN where ``n`` is not such.

    Notes
    -----
    NIST DLMF section 5.15.

    Examples
    --------
    >>> polygamma(1, 1.0)
    Array(1.64493407)
    """
    return composite("polygamma", *real_operands("polygamma", n, x))
