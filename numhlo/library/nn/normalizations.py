"""What works along an axis, under JAX's names: softmax, standardize, one_hot, glu and means of exponentials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import moments, reductions, splitting
from numhlo.library.numpy.reductions import NO_VALUE
from numhlo.library.scipy.special import widely_used as special
from numhlo.library.scipy.special.widely_used import inexact, logsumexp
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building import (
    SCALARS,
    as_dtype,
    asarray,
    bind1,
    broadcast_to_shape,
    convert,
    expand,
    normalize_axes,
    normalize_axis,
    runs_anywhere,
    shape_of,
)
from numhlo.tracer.building import operations as b

__all__ = ["glu", "log1mexp", "log_softmax", "logmeanexp", "one_hot", "softmax", "standardize"]


@runs_anywhere
def glu(x: Any, axis: int = -1) -> Any:
    """Return the first half along an axis times the sigmoid of the second.

    Parameters
    ----------
    x : array_like
    axis : int, optional
        Of an even extent.

    Returns
    -------
    Array
        With half the extent along the axis.

    Raises
    ------
    ValueError
        If the extent is odd.

    Notes
    -----
    Dauphin, Fan, Auli, Grangier: Language Modeling with Gated Convolutional Networks (2017).

    Examples
    --------
    >>> glu([1.0, 2.0, 0.0, 1000.0])
    Array([0.5, 2. ])
    """
    (value,) = inexact(x)
    halves = splitting.split(value, 2, axis)
    return b.multiply(halves[0], bind1(ops.LOGISTIC, halves[1]))


@runs_anywhere
def softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """Return exponentials that sum to 1 along an axis; elements outside a mask become 0.

    Parameters
    ----------
    x : array_like
        Of real numbers.
    axis : int or sequence of int, optional
        Over which elements add up to 1; None for all.
    where : array_like of bool, optional
        Which elements take part.

    Returns
    -------
    Array
        Of the shape of ``x``, and its dtype where that is a float. The greatest element is subtracted first, so that
        nothing overflows.

    Examples
    --------
    >>> softmax([0.0, 0.0])
    Array([0.5, 0.5])
    >>> softmax([[0.0, 0.0], [0.0, 0.0]], where=[[True, False], [False, False]])
    Array([[1., 0.],
           [0., 0.]])
    """
    (values,) = inexact(x)
    if where is None:
        return special.softmax(values, axis)
    mask = asarray(where, np.dtype(bool))
    return _outside(mask, special.softmax(special.masked_out(mask, values), axis), 0)


@runs_anywhere
def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """Return the logarithm of `softmax`.

    Parameters
    ----------
    x : array_like
        Of real numbers.
    axis, where : optional
        As those of `softmax`; outside the mask the result is negative infinity.

    Returns
    -------
    Array
        Of the shape of ``x``, and its dtype where that is a float.

    Examples
    --------
    >>> log_softmax([0.0, 0.0])
    Array([-0.69314718, -0.69314718])
    """
    (values,) = inexact(x)
    if where is None:
        return special.log_softmax(values, axis)
    mask = asarray(where, np.dtype(bool))
    return _outside(mask, special.log_softmax(special.masked_out(mask, values), axis), -np.inf)


def _outside(mask: Any, values: Any, fill: float) -> Any:
    """Return values with ``fill`` outside a mask, also where the mask leaves no element and they are NaN."""
    return b.select(broadcast_to_shape(mask, values.shape), values, fill)


@runs_anywhere
def log1mexp(x: Any) -> Any:
    """Return ``log(1 - exp(-x))`` for positive ``x``, accurate near 0 and far from it.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    Array
        NaN where ``x`` is negative, negative infinity at 0.

    Notes
    -----
    Maechler: Accurately computing log(1 - exp(-abs(a))) (2012).

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

    Parameters
    ----------
    x : array_like
    axis : int or sequence of int, optional
        All by default.
    where : array_like of bool, optional
        Which elements count.
    keepdims : bool, optional
        Keep the axes, with extent 1.

    Returns
    -------
    Array

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
def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Any:
    """Return a new axis that holds 1 at the place each integer names, 0 elsewhere.

    Parameters
    ----------
    x : array_like
        Of integers; those outside ``[0, num_classes)`` give zeros only.
    num_classes : int
        Known while tracing.
    dtype : dtype, optional
        float64 by default.
    axis : int, optional
        Where the new axis stands in the result.

    Returns
    -------
    Array

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

    Parameters
    ----------
    x : array_like
    axis : int or sequence of int, optional
        Over which mean and variance are taken.
    mean, variance : array_like, optional
        Known already; they broadcast.
    epsilon : float, optional
        Added to the variance.
    where : array_like of bool, optional
        Which elements mean and variance count; all are standardized.

    Returns
    -------
    Array
        Of floats.

    Examples
    --------
    >>> standardize([1.0, 3.0], epsilon=0.0)
    Array([-1.,  1.])
    """
    (values,) = inexact(x)
    axes = normalize_axes(axis, len(shape_of(values)))
    mask = NO_VALUE if where is None else where
    center = moments.mean(values, axes, keepdims=True, where=mask) if mean is None else mean
    if variance is None:
        square = moments.mean(b.multiply(values, values), axes, keepdims=True, where=mask)
        variance = ufuncs.subtract(square, ufuncs.square(center))
    elif type(variance) in SCALARS:
        variance = convert(variance, values.dtype)
    scale = bind1(ops.RSQRT, ufuncs.add(variance, epsilon))
    return ufuncs.multiply(ufuncs.subtract(values, center), scale)
