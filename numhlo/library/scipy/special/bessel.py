"""SciPy's special functions around Bessel, the exponential integral, the normal distribution and entropy.

Integers are computed in float64. They run outside tracing too, on the same definitions. Errors are stated in
``docs/special_functions.md``, in units in the last place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.scipy.special.widely_used import ONE_REAL, in_double, of_one_real, real_operands, xlog1py, xlogy
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building import bind1, composite, runs_anywhere
from numhlo.tracer.building import operations as b

__all__ = ["boxcox", "boxcox1p", "erfcx", "expn", "i0", "i0e", "i1", "i1e", "kl_div", "ndtri", "rel_entr", "spence"]

_BESSEL = """
Parameters
----------
x : array_like
    Real.

Returns
-------
Array
    Of floats.

Notes
-----
NIST DLMF section 10.25.
"""

_ENTROPY = """
Parameters
----------
x, y : array_like
    Not negative; they broadcast.

Returns
-------
Array
    Of the common float, infinite outside.
"""

_BOXCOX = """
Parameters
----------
x, lmbda : array_like
    They broadcast.

Returns
-------
Array
    Of the common float; NaN where the logarithm is.

Notes
-----
Box, Cox: An analysis of transformations (1964), equation 1.
"""


@runs_anywhere
@described(ONE_REAL)
def spence(x: Any) -> Any:
    """Return Spence's function, the integral of ``log(t) / (1 - t)`` from 1 to ``x``; NaN below 0.

    Notes
    -----
    NIST DLMF section 25.12: the dilogarithm of ``1 - x``.

    Examples
    --------
    >>> spence([0.0, 1.0])
    Array([1.64493407, 0.        ])
    """
    return composite("spence", *real_operands("spence", x))


@runs_anywhere
def expn(n: Any, x: Any) -> Any:
    """Return the exponential integral of a whole order: of ``exp(-x t) / t ** n`` from t = 1.

    Parameters
    ----------
    n : array_like
        Whole and not negative.
    x : array_like
        Not negative; they broadcast.

    Returns
    -------
    Array
        Of the common float.

    Notes
    -----
    NIST DLMF section 8.19.

    Examples
    --------
    >>> expn([1, 2], 1.0)
    Array([0.21938393, 0.14849551])
    """
    return composite("expn", *real_operands("expn", n, x))


erfcx = of_one_real(
    "erfcx",
    lambda x: composite("erfcx", x),
    "Return ``exp(x ** 2) erfc(x)``, which neither overflows nor vanishes for large ``x``.",
    ">>> erfcx(1000.0)\nArray(0.00056419)",
)


@runs_anywhere
def ndtri(p: Any) -> Any:
    """Return where the normal distribution function is ``p``: the inverse of `ndtr`.

    Parameters
    ----------
    p : array_like
        In [0, 1]; NaN outside.

    Returns
    -------
    Array
        Of floats; infinite at 0 and 1.

    Examples
    --------
    >>> ndtri([0.5, 0.975])
    Array([0.        , 1.95996398])
    """
    return composite("ndtri", *real_operands("ndtri", p))


def _unscaled(name: str, x: Any) -> Any:
    def product(x: Any) -> Any:
        half = b.exp(b.multiply(b.absolute(x), 0.5))  # twice, since exp overflows before the product
        return b.multiply(b.multiply(composite(name, x), half), half)

    return in_double(product, x)


i0 = of_one_real(
    "i0",
    lambda x: _unscaled("bessel_i0e", x),
    "Return the modified Bessel function of order 0.",
    ">>> i0([0.0, 1.0])\nArray([1.        , 1.26606588])",
    _BESSEL,
)
i0e = of_one_real(
    "i0e",
    lambda x: composite("bessel_i0e", x),
    "Return `i0` times ``exp(-abs(x))``.",
    ">>> i0e(1000.0)\nArray(0.01261724)",
    _BESSEL,
)
i1 = of_one_real(
    "i1",
    lambda x: _unscaled("bessel_i1e", x),
    "Return the modified Bessel function of order 1.",
    ">>> i1([-1.0, 1.0])\nArray([-0.5651591,  0.5651591])",
    _BESSEL,
)
i1e = of_one_real(
    "i1e",
    lambda x: composite("bessel_i1e", x),
    "Return `i1` times ``exp(-abs(x))``.",
    ">>> i1e(1000.0)\nArray(0.01261093)",
    _BESSEL,
)


@runs_anywhere
@described(_ENTROPY)
def rel_entr(x: Any, y: Any) -> Any:
    """Return ``x log(x / y)``: 0 where ``x`` is 0 and ``y`` is not negative, infinite outside of positive numbers.

    Examples
    --------
    >>> rel_entr([1.0, 0.0, 1.0], [2.0, 2.0, 0.0])
    Array([-0.69314718,  0.        ,         inf])
    """
    return in_double(_relative_entropy, *real_operands("rel_entr", x, y))


def _relative_entropy(x: Any, y: Any) -> Any:
    positive = b.both(b.greater(x, 0), b.greater(y, 0))
    first, second = b.select(positive, x, 1), b.select(positive, y, 1)
    ratio = b.divide(first, second)
    # near 1 the ratio's rounding would be most of its logarithm; far from it the ratio overflows
    near = b.both(b.greater(ratio, 0.5), b.less(ratio, 2.0))
    far = b.either(b.less(ratio, 1e-300), b.greater(ratio, 1e300))
    close, base = b.select(near, first, 1), b.select(near, second, 1)
    dividend, divisor = b.select(far, 1.0, first), b.select(far, 1.0, second)
    beyond = b.select(far, b.subtract(b.log(first), b.log(second)), b.log(b.divide(dividend, divisor)))
    logarithm = b.select(near, b.log1p(b.divide(b.subtract(close, base), base)), beyond)
    zero = b.both(b.equal(x, 0), b.at_least(y, 0))
    outside = b.select(zero, b.constant(0, x), np.inf)
    found = b.select(positive, b.multiply(first, logarithm), outside)
    return b.select(b.is_nan(b.add(x, y)), b.add(x, y), found)


@runs_anywhere
@described(_ENTROPY)
def kl_div(x: Any, y: Any) -> Any:
    """Return ``x log(x / y) - x + y``, the elementwise Kullback-Leibler divergence.

    Examples
    --------
    >>> kl_div([1.0, 0.0], [2.0, 2.0])
    Array([0.30685282, 2.        ])
    """

    def divergence(first: Any, second: Any) -> Any:
        return b.add(b.subtract(_relative_entropy(first, second), first), second)

    return in_double(divergence, *real_operands("kl_div", x, y))


@runs_anywhere
@described(_BOXCOX)
def boxcox(x: Any, lmbda: Any) -> Any:
    """Return ``(x ** lmbda - 1) / lmbda``, ``log(x)`` where ``lmbda`` is 0.

    Examples
    --------
    >>> boxcox([1.0, 4.0], 0.5)
    Array([0., 2.])
    """

    def transformed(value: Any, power: Any) -> Any:
        return _boxcox(b.log(value), xlogy(power, value), power)

    return in_double(transformed, *real_operands("boxcox", x, lmbda))


@runs_anywhere
@described(_BOXCOX)
def boxcox1p(x: Any, lmbda: Any) -> Any:
    """Return ``((1 + x) ** lmbda - 1) / lmbda``, ``log(1 + x)`` where ``lmbda`` is 0.

    Examples
    --------
    >>> boxcox1p([0.0, 3.0], 0.5)
    Array([0., 2.])
    """

    def transformed(value: Any, power: Any) -> Any:
        return _boxcox(b.log1p(value), xlog1py(power, value), power)

    return in_double(transformed, *real_operands("boxcox1p", x, lmbda))


def _boxcox(log: Any, exponent: Any, power: Any) -> Any:
    tiny = b.less(b.absolute(power), 1e-19)
    return b.select(tiny, log, b.divide(bind1(ops.EXPONENTIAL_MINUS_ONE, exponent), b.select(tiny, 1, power)))
