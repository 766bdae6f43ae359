"""Smooth activation functions under JAX's names; integers are computed in float64.

They run outside tracing too, on the same definitions. Those made of pieces are in `rectifiers`, those that work along
an axis in `normalizations`.
"""

from __future__ import annotations

import math
from typing import Any

from numhlo.library.documentation import described
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy.ufunc_rules import complex_numbers
from numhlo.library.scipy.special.widely_used import inexact, logsumexp
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building import asarray, bind1, composite, convert, runs_anywhere
from numhlo.tracer.building import operations as b

__all__ = [
    "gelu", "identity",
    "log_sigmoid", "logsumexp", "mish",
    "sigmoid", "silu", "soft_sign", "softplus",
    "swish", "tanh",
]  # fmt: skip

_SMOOTH = """
Parameters
----------
x : array_like

Returns
-------
Array
    Of the shape of ``x``, and its dtype where that is a float; no intermediate overflows.
"""


@runs_anywhere
@described(_SMOOTH)
def sigmoid(x: Any) -> Any:
    """Return ``1 / (1 + exp(-x))``.

    Examples
    --------
    >>> sigmoid(0.0)
    Array(0.5)
    """
    return bind1(ops.LOGISTIC, *inexact(x))


@runs_anywhere
@described(_SMOOTH)
def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent.

    Examples
    --------
    >>> tanh([0.0, 100.0])
    Array([0., 1.])
    """
    return bind1(ops.TANH, *inexact(x))


@runs_anywhere
@described(_SMOOTH)
def silu(x: Any) -> Any:
    """Return ``x sigmoid(x)``.

    Examples
    --------
    >>> silu([0.0, 1.0])
    Array([0.        , 0.73105858])
    """
    (value,) = inexact(x)
    return b.multiply(value, bind1(ops.LOGISTIC, value))


swish = silu


@runs_anywhere
@described(_SMOOTH)
def softplus(x: Any) -> Any:
    """Return ``log(1 + exp(x))``.

    Examples
    --------
    >>> softplus([0.0, 1000.0])
    Array([6.93147181e-01, 1.00000000e+03])
    """
    return _softplus(*inexact(x))


def _softplus(value: Any) -> Any:
    if value.dtype.kind == "c":
        return complex_numbers.logaddexp(value, b.constant(0, value))
    return ufuncs.logaddexp(value, 0.0)


@runs_anywhere
@described(_SMOOTH)
def log_sigmoid(x: Any) -> Any:
    """Return ``log(sigmoid(x))``.

    Examples
    --------
    >>> log_sigmoid([0.0, -1000.0])
    Array([-6.93147181e-01, -1.00000000e+03])
    """
    (value,) = inexact(x)
    return b.negate(_softplus(b.negate(value)))


@runs_anywhere
def gelu(x: Any, approximate: bool = True) -> Any:
    """Return ``x`` times the normal distribution function, by default its approximation with a tanh.

    Parameters
    ----------
    x : array_like
        Of real numbers.
    approximate : bool, optional
        False for the exact one, by erfc.

    Returns
    -------
    Array
        Of the shape of ``x``, and its dtype where that is a float.

    Notes
    -----
    Hendrycks, Gimpel: Gaussian Error Linear Units (2016), section 2.

    Examples
    --------
    >>> gelu(1.0, approximate=False)
    Array(0.84134475)
    """
    (value,) = inexact(x)
    if approximate:
        cube = b.multiply(b.multiply(value, value), value)
        inner = b.multiply(b.add(value, b.multiply(cube, 0.044715)), math.sqrt(8 / math.pi))
        return b.multiply(value, bind1(ops.LOGISTIC, inner))  # (1 + tanh(u)) / 2 = logistic(2 u), which keeps the tail
    share = composite("erfc", b.multiply(value, -math.sqrt(0.5)))
    return b.multiply(b.multiply(value, 0.5), share)


@runs_anywhere
@described(_SMOOTH)
def mish(x: Any) -> Any:
    """Return ``x tanh(softplus(x))``.

    Examples
    --------
    >>> mish([0.0, 1.0])
    Array([0.        , 0.86509839])
    """
    (value,) = inexact(x)
    return b.multiply(value, bind1(ops.TANH, _softplus(value)))


@runs_anywhere
@described(_SMOOTH)
def soft_sign(x: Any) -> Any:
    """Return ``x / (1 + abs(x))``.

    Examples
    --------
    >>> soft_sign([-1.0, 3.0])
    Array([-0.5 ,  0.75])
    """
    (value,) = inexact(x)
    return b.divide(value, convert(b.add(b.absolute(value), 1.0), value.dtype))


@runs_anywhere
def identity(x: Any) -> Any:
    """Return the operand.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    Array

    Examples
    --------
    >>> identity([1, 2])
    Array([1, 2])
    """
    return asarray(x)
