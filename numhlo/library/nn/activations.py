"""Smooth activation functions under JAX's names; integers are computed in float64.

They run outside tracing too, on the same definitions. Those made of pieces are in `rectifiers`, those that work along
an axis in `normalizations`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numhlo.library.documentation import named
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


def _softplus(value: Any) -> Any:
    if value.dtype.kind == "c":
        return complex_numbers.logaddexp(value, b.constant(0, value))
    return ufuncs.logaddexp(value, 0.0)


def _smooth(name: str, formula: Callable[[Any], Any], summary: str, example: str) -> Callable[[Any], Any]:
    def activation(x: Any) -> Any:
        return formula(*inexact(x))

    return runs_anywhere(named(activation, name, summary, example, _SMOOTH))


sigmoid = _smooth(
    "sigmoid", lambda x: bind1(ops.LOGISTIC, x), "Return ``1 / (1 + exp(-x))``.", ">>> sigmoid(0.0)\nArray(0.5)"
)
tanh = _smooth(
    "tanh", lambda x: bind1(ops.TANH, x), "Return the hyperbolic tangent.", ">>> tanh([0.0, 100.0])\nArray([0., 1.])"
)
silu = _smooth(
    "silu",
    lambda x: b.multiply(x, bind1(ops.LOGISTIC, x)),
    "Return ``x sigmoid(x)``.",
    ">>> silu([0.0, 1.0])\nArray([0.        , 0.73105858])",
)
swish = silu
softplus = _smooth(
    "softplus",
    _softplus,
    "Return ``log(1 + exp(x))``.",
    ">>> softplus([0.0, 1000.0])\nArray([6.93147181e-01, 1.00000000e+03])",
)
log_sigmoid = _smooth(
    "log_sigmoid",
    lambda x: b.negate(_softplus(b.negate(x))),
    "Return ``log(sigmoid(x))``.",
    ">>> log_sigmoid([0.0, -1000.0])\nArray([-6.93147181e-01, -1.00000000e+03])",
)
mish = _smooth(
    "mish",
    lambda x: b.multiply(x, bind1(ops.TANH, _softplus(x))),
    "Return ``x tanh(softplus(x))``.",
    ">>> mish([0.0, 1.0])\nArray([0.        , 0.86509839])",
)
soft_sign = _smooth(
    "soft_sign",
    lambda x: b.divide(x, convert(b.add(b.absolute(x), 1.0), x.dtype)),
    "Return ``x / (1 + abs(x))``.",
    ">>> soft_sign([-1.0, 3.0])\nArray([-0.5 ,  0.75])",
)


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
