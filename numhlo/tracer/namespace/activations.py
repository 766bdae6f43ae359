"""Activation functions and their kin, under JAX's names; integers are computed in float64.

They run outside tracing too, on the same definitions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.bind import bind1
from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace import elementwise as ufuncs
from numhlo.tracer.namespace import joining, reductions
from numhlo.tracer.namespace import special_functions as special
from numhlo.tracer.namespace.core import (
    as_dtype,
    asarray,
    broadcast_to_shape,
    convert,
    expand,
    normalize_axes,
    normalize_axis,
    shape_of,
)
from numhlo.tracer.namespace.eager import runs_anywhere
from numhlo.tracer.namespace.reductions import NO_VALUE
from numhlo.tracer.namespace.special import composite
from numhlo.tracer.namespace.special_functions import inexact, logsumexp

__all__ = [
    "celu", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "identity", "leaky_relu",
    "log1mexp", "log_sigmoid", "log_softmax", "logmeanexp", "logsumexp", "mish", "one_hot", "relu", "relu6", "selu",
    "sigmoid", "silu", "soft_sign", "softmax", "softplus", "sparse_plus", "sparse_sigmoid", "squareplus", "standardize",
    "swish", "tanh",
]  # fmt: skip


@runs_anywhere
def relu(x: Any) -> Any:
    """Return ``max(x, 0)``; its derivative at 0 is 0.

    Examples
    --------
    >>> relu([-1.0, 2.0])
    Array([0., 2.])
    """
    array = asarray(x)
    return b.select(b.at_most(array, 0), 0, array)


@runs_anywhere
def relu6(x: Any) -> Any:
    """Return ``min(max(x, 0), 6)``.

    Examples
    --------
    >>> relu6([-1.0, 3.0, 9.0])
    Array([0., 3., 6.])
    """
    array = asarray(x)
    return b.minimum(b.maximum(array, 0), 6)


@runs_anywhere
def sigmoid(x: Any) -> Any:
    """Return ``1 / (1 + exp(-x))``.

    Examples
    --------
    >>> sigmoid(0.0)
    Array(0.5)
    """
    return bind1(ops.LOGISTIC, *inexact(x))


@runs_anywhere
def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent.

    Examples
    --------
    >>> tanh([0.0, 100.0])
    Array([0., 1.])
    """
    return bind1(ops.TANH, *inexact(x))


@runs_anywhere
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
def softplus(x: Any) -> Any:
    """Return ``log(1 + exp(x))``.

    Examples
    --------
    >>> softplus([0.0, 1000.0])
    Array([6.93147181e-01, 1.00000000e+03])
    """
    return ufuncs.logaddexp(*inexact(x), 0.0)


@runs_anywhere
def log_sigmoid(x: Any) -> Any:
    """Return ``log(sigmoid(x))``.

    Examples
    --------
    >>> log_sigmoid([0.0, -1000.0])
    Array([-6.93147181e-01, -1.00000000e+03])
    """
    (value,) = inexact(x)
    return b.negate(ufuncs.logaddexp(b.negate(value), 0.0))


@runs_anywhere
def elu(x: Any, alpha: Any = 1.0) -> Any:
    """Return ``x`` above 0, ``alpha (exp(x) - 1)`` below.

    Examples
    --------
    >>> elu([-1.0, 2.0])
    Array([-0.63212056,  2.        ])
    """
    return _exponential_below(x, alpha, 1.0)


@runs_anywhere
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
def selu(x: Any) -> Any:
    """Return the self-normalizing `elu` (Klambauer et al., 2017).

    Examples
    --------
    >>> selu([-1.0, 1.0])
    Array([-1.11133074,  1.05070099])
    """
    scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
    return b.multiply(_exponential_below(x, alpha, 1.0), scale)


@runs_anywhere
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
def gelu(x: Any, approximate: bool = True) -> Any:
    """Return ``x`` times the normal distribution function, by default its approximation with a tanh.

    Examples
    --------
    >>> gelu(1.0, approximate=False)
    Array(0.84134475)
    """
    (value,) = inexact(x)
    if approximate:
        cube = b.multiply(b.multiply(value, value), value)
        inner = b.multiply(b.add(value, b.multiply(cube, 0.044715)), math.sqrt(2 / math.pi))
        return b.multiply(value, b.multiply(b.add(bind1(ops.TANH, inner), 1.0), 0.5))
    share = composite("erfc", b.multiply(value, -math.sqrt(0.5)))
    return b.multiply(b.multiply(value, 0.5), share)


@runs_anywhere
def glu(x: Any, axis: int = -1) -> Any:
    """Return the first half along an axis times the sigmoid of the second.

    Examples
    --------
    >>> glu([1.0, 2.0, 0.0, 1000.0])
    Array([0.5, 2. ])
    """
    (value,) = inexact(x)
    halves = joining.split(value, 2, axis)
    return b.multiply(halves[0], bind1(ops.LOGISTIC, halves[1]))


@runs_anywhere
def hard_tanh(x: Any) -> Any:
    """Return ``x`` limited to [-1, 1].

    Examples
    --------
    >>> hard_tanh([-3.0, 0.5, 3.0])
    Array([-1. ,  0.5,  1. ])
    """
    array = asarray(x)
    return b.minimum(b.maximum(array, -1), 1)


@runs_anywhere
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
def mish(x: Any) -> Any:
    """Return ``x tanh(softplus(x))``.

    Examples
    --------
    >>> mish([0.0, 1.0])
    Array([0.        , 0.86509839])
    """
    (value,) = inexact(x)
    return b.multiply(value, bind1(ops.TANH, ufuncs.logaddexp(value, 0.0)))


@runs_anywhere
def soft_sign(x: Any) -> Any:
    """Return ``x / (1 + abs(x))``.

    Examples
    --------
    >>> soft_sign([-1.0, 3.0])
    Array([-0.5 ,  0.75])
    """
    (value,) = inexact(x)
    return b.divide(value, b.add(b.absolute(value), 1.0))


@runs_anywhere
def squareplus(x: Any, b: Any = 4) -> Any:
    """Return ``(x + sqrt(x^2 + b)) / 2``.

    Examples
    --------
    >>> squareplus([0.0, 3.0], 16)
    Array([2., 4.])
    """
    (value,) = inexact(x)
    root = ufuncs.sqrt(ufuncs.add(ufuncs.multiply(value, value), b))
    return ufuncs.multiply(ufuncs.add(value, root), 0.5)


@runs_anywhere
def identity(x: Any) -> Any:
    """Return the operand.

    Examples
    --------
    >>> identity([1, 2])
    Array([1, 2])
    """
    return asarray(x)


@runs_anywhere
def softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """Return exponentials that sum to 1 along an axis; elements outside a mask become 0.

    Examples
    --------
    >>> softmax([0.0, 0.0])
    Array([0.5, 0.5])
    """
    (values,) = inexact(x)
    if where is None:
        return special.softmax(values, axis)
    kept = special.masked_out(asarray(where, np.dtype(bool)), values)
    return special.softmax(kept, axis)


@runs_anywhere
def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """Return the logarithm of `softmax`.

    Examples
    --------
    >>> log_softmax([0.0, 0.0])
    Array([-0.69314718, -0.69314718])
    """
    (values,) = inexact(x)
    if where is None:
        return special.log_softmax(values, axis)
    return special.log_softmax(special.masked_out(asarray(where, np.dtype(bool)), values), axis)


@runs_anywhere
def log1mexp(x: Any) -> Any:
    """Return ``log(1 - exp(-x))`` for positive ``x``, accurate near 0 and far from it.

    Examples
    --------
    >>> log1mexp([1e-20, 50.0])
    Array([-4.60517019e+01, -1.92874985e-22])
    """
    (value,) = inexact(x)
    near = b.less(value, math.log(2))
    small = b.log(b.negate(bind1(ops.EXPONENTIAL_MINUS_ONE, b.negate(b.select(near, value, 1)))))
    large = b.log1p(b.negate(b.exp(b.negate(b.select(near, 1, value)))))
    return b.select(near, small, large)


@runs_anywhere
def logmeanexp(x: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Any:
    """Return the logarithm of the mean of exponentials over axes, without overflow.

    Examples
    --------
    >>> logmeanexp([1000.0, 1000.0])
    Array(1000.)
    """
    (values,) = inexact(x)
    total = logsumexp(values, axis, None, keepdims, False, where)
    mask = np.ones((), bool) if where is None else asarray(where, np.dtype(bool))
    counted = convert(broadcast_to_shape(mask, np.broadcast_shapes(shape_of(mask), shape_of(values))), total.dtype)
    return ufuncs.subtract(total, ufuncs.log(reductions.sum(counted, axis, keepdims=keepdims)))


@runs_anywhere
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
def sparse_sigmoid(x: Any) -> Any:
    """Return ``(x + 1) / 2`` limited to [0, 1]: the derivative of `sparse_plus`.

    Examples
    --------
    >>> sparse_sigmoid([-2.0, 0.0, 2.0])
    Array([0. , 0.5, 1. ])
    """
    (value,) = inexact(x)
    return b.multiply(b.minimum(b.maximum(b.add(value, 1.0), 0.0), 2.0), 0.5)


@runs_anywhere
def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Any:
    """Return a new axis that holds 1 at the place each integer names, 0 elsewhere.

    Examples
    --------
    >>> one_hot([1, 0], 3)
    Array([[0., 1., 0.], [1., 0., 0.]])
    """
    array = asarray(x)
    shape = shape_of(array)
    place = normalize_axis(axis, len(shape) + 1)
    wide = (*shape[:place], num_classes, *shape[place:])
    classes = b.iota_along(wide, place, array.dtype)
    return convert(b.equal(broadcast_to_shape(expand(array, place), wide), classes), as_dtype(dtype))


@runs_anywhere
def standardize(
    x: Any, axis: Any = -1, mean: Any = None, variance: Any = None, epsilon: Any = 1e-5, where: Any = None
) -> Any:
    """Return elements with mean 0 and variance 1 along axes.

    Examples
    --------
    >>> standardize([1.0, 3.0], epsilon=0.0)
    Array([-1.,  1.])
    """
    (values,) = inexact(x)
    axes = normalize_axes(axis, len(shape_of(values)))
    mask = NO_VALUE if where is None else where
    center = reductions.mean(values, axes, keepdims=True, where=mask) if mean is None else mean
    if variance is None:
        square = reductions.mean(b.multiply(values, values), axes, keepdims=True, where=mask)
        variance = ufuncs.subtract(square, ufuncs.square(center))
    scale = bind1(ops.RSQRT, ufuncs.add(variance, epsilon))
    return ufuncs.multiply(ufuncs.subtract(values, center), scale)
