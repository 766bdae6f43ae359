"""Activation functions made of straight or exponential pieces, under JAX's names: relu and its kin."""

from __future__ import annotations

from typing import Any

from numhlo.library.documentation import described
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.scipy.special.widely_used import inexact
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building import asarray, bind1, convert, runs_anywhere
from numhlo.tracer.building import operations as b

__all__ = [
    "celu",
    "elu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "leaky_relu",
    "relu",
    "relu6",
    "selu",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
]

_REAL = """
Parameters
----------
x : array_like
    Of real numbers.
alpha, negative_slope : array_like, optional
    It broadcasts.

Returns
-------
Array
    Of the shape of ``x``, and its dtype where that is a float.
"""

_BROADCASTS = """
Returns
-------
Array
    Of the dtype of ``x`` where that is a float.
"""


@runs_anywhere
@described(_REAL)
def relu(x: Any) -> Any:
    """Return ``max(x, 0)``; its derivative at 0 is 0.

    Returns
    -------
    Array
        Of the shape and dtype of ``x``; NaN stays.

    Examples
    --------
    >>> relu([-1.0, 2.0])
    Array([0., 2.])
    """
    array = asarray(x)
    return b.select(b.at_most(array, 0), 0, array)


@runs_anywhere
@described(_REAL)
def relu6(x: Any) -> Any:
    """Return ``min(max(x, 0), 6)``.

    Returns
    -------
    Array
        Of the shape and dtype of ``x``; NaN stays. The slope at 0 and 6 is 0.

    Examples
    --------
    >>> relu6([-1.0, 3.0, 9.0])
    Array([0., 3., 6.])
    """
    array = asarray(x)
    return b.select(b.at_most(array, 0), 0, b.select(b.at_least(array, 6), 6, array))


@runs_anywhere
@described(_BROADCASTS, _REAL)
def elu(x: Any, alpha: Any = 1.0) -> Any:
    """Return ``x`` above 0, ``alpha (exp(x) - 1)`` below.

    Examples
    --------
    >>> elu([-1.0, 2.0])
    Array([-0.63212056,  2.        ])
    """
    return _exponential_below(x, alpha, 1.0)


@runs_anywhere
@described(_BROADCASTS, _REAL)
def celu(x: Any, alpha: Any = 1.0) -> Any:
    """Return ``x`` above 0, ``alpha (exp(x / alpha) - 1)`` below.

    Examples
    --------
    >>> celu([-1.0, 2.0], 2.0)
    Array([-0.78693868,  2.        ])
    """
    return _exponential_below(x, alpha, alpha)


def _exponential_below(x: Any, scale: Any, width: Any) -> Any:
    (value,) = inexact(x)
    positive = b.greater(value, 0)
    safe = ufuncs.divide(b.select(positive, 0, value), width)
    below = ufuncs.multiply(scale, bind1(ops.EXPONENTIAL_MINUS_ONE, safe))
    return b.select(positive, value, convert(below, value.dtype))


@runs_anywhere
@described(_REAL)
def selu(x: Any) -> Any:
    """Return the self-normalizing `elu`: ``alpha`` and a scale that keep mean 0 and variance 1 from layer to layer.

    Notes
    -----
    Klambauer, Unterthiner, Mayr, Hochreiter: Self-Normalizing Neural Networks (2017), equation 2.

    Examples
    --------
    >>> selu([-1.0, 1.0])
    Array([-1.11133074,  1.05070099])
    """
    scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
    return b.multiply(_exponential_below(x, alpha, 1.0), scale)


@runs_anywhere
@described(_BROADCASTS, _REAL)
def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Any:
    """Return ``x`` above 0, ``negative_slope x`` below.

    Examples
    --------
    >>> leaky_relu([-1.0, 2.0])
    Array([-0.01,  2.  ])
    """
    (value,) = inexact(x)
    return b.select(b.at_least(value, 0), value, convert(ufuncs.multiply(negative_slope, value), value.dtype))


@runs_anywhere
@described(_REAL)
def hard_tanh(x: Any) -> Any:
    """Return ``x`` limited to [-1, 1].

    Returns
    -------
    Array
        Of the shape and dtype of ``x``; NaN stays. The slope at -1 and 1 is 1.

    Examples
    --------
    >>> hard_tanh([-3.0, 0.5, 3.0])
    Array([-1. ,  0.5,  1. ])
    """
    array = asarray(x)
    below = array if array.dtype.kind in "bu" else b.select(b.less(array, -1), -1, array)
    return b.select(b.greater(array, 1), 1, below)


@runs_anywhere
@described(_REAL)
def hard_sigmoid(x: Any) -> Any:
    """Return ``relu6(x + 3) / 6``.

    Examples
    --------
    >>> hard_sigmoid([-3.0, 0.0, 3.0])
    Array([0. , 0.5, 1. ])
    """
    (value,) = inexact(x)
    return b.divide(relu6(b.add(value, 3.0)), 6.0)


@runs_anywhere
@described(_REAL)
def hard_silu(x: Any) -> Any:
    """Return ``x hard_sigmoid(x)``.

    Examples
    --------
    >>> hard_silu([-3.0, 0.0, 3.0])
    Array([-0.,  0.,  3.])
    """
    (value,) = inexact(x)
    return b.multiply(value, hard_sigmoid(value))


hard_swish = hard_silu


@runs_anywhere
def squareplus(x: Any, b: Any = 4) -> Any:
    """Return ``(x + sqrt(x^2 + b)) / 2``.

    Parameters
    ----------
    x : array_like
        Of real numbers.
    b : array_like, optional
        The curvature: 0 for `relu`. It broadcasts.

    Returns
    -------
    Array
        Of floats.

    Examples
    --------
    >>> squareplus([0.0, 3.0], 16)
    Array([2., 4.])
    """
    value, curvature = inexact(x, b)
    return _squareplus(value, curvature)


def _squareplus(x: Any, curvature: Any) -> Any:
    """Return it without squares of large numbers; below 0 as ``b / 2 / (sqrt(x^2 + b) - x)``, where nothing cancels."""
    negative = b.less(x, 0)
    size = b.select(negative, b.negate(x), x)
    near = b.less(size, 1.0)
    large, small = b.select(near, 1, size), b.select(near, size, 1)
    far = b.multiply(large, b.sqrt(b.add(b.divide(b.divide(curvature, large), large), 1.0)))
    root = b.select(near, b.sqrt(b.add(b.multiply(small, small), curvature)), far)
    mean = b.add(b.multiply(size, 0.5), b.multiply(root, 0.5))
    return b.select(negative, b.divide(b.multiply(curvature, 0.25), mean), mean)


@runs_anywhere
@described(_REAL)
def sparse_plus(x: Any) -> Any:
    """Return 0 up to -1, ``x`` from 1 up, and ``(x + 1) ** 2 / 4`` between.

    Examples
    --------
    >>> sparse_plus([-2.0, 0.0, 2.0])
    Array([0.  , 0.25, 2.  ])
    """
    (value,) = inexact(x)
    raised = b.add(value, 1.0)
    middle = b.multiply(b.multiply(raised, raised), 0.25)
    return b.select(b.at_most(value, -1.0), 0, b.select(b.at_least(value, 1.0), value, middle))


@runs_anywhere
@described(_REAL)
def sparse_sigmoid(x: Any) -> Any:
    """Return ``(x + 1) / 2`` limited to [0, 1]: the derivative of `sparse_plus`.

    Examples
    --------
    >>> sparse_sigmoid([-2.0, 0.0, 2.0])
    Array([0. , 0.5, 1. ])
    """
    (value,) = inexact(x)
    return b.multiply(b.minimum(b.maximum(b.add(value, 1.0), 0.0), 2.0), 0.5)
