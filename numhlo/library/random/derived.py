"""Continuous distributions made of uniform, normal and exponential numbers: lognormal, pareto and their kin."""

from __future__ import annotations

from typing import Any

from numhlo.library.documentation import described
from numhlo.library.numpy import elementwise
from numhlo.library.numpy.linalg import norms
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.library.random.continuous import (
    OF_PARAMETERS,
    SAMPLES,
    draw_exponential,
    draw_normal,
    draw_uniform,
    float_dtype,
    parameter,
    sample_shape,
)
from numhlo.library.random.keys import as_key, several_keys
from numhlo.tracer.building import asarray, convert, runs_anywhere
from numhlo.tracer.building import operations as b

__all__ = ["lognormal", "maxwell", "pareto", "rayleigh", "triangular", "wald", "weibull_min"]


@runs_anywhere
@described(OF_PARAMETERS)
def lognormal(key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None) -> Any:
    """Return exponentials of normal numbers of deviation ``sigma``.

    Parameters
    ----------
    sigma : array_like, optional

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> lognormal(key(0), 0.5, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "lognormal"), float_dtype("lognormal", dtype)
    size = sample_shape("lognormal", shape, sigma)
    return b.exp(b.multiply(draw_normal(own, size, wanted), parameter(sigma, size, wanted)))


@runs_anywhere
@described(SAMPLES)
def maxwell(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return lengths of vectors of three standard normal numbers.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> maxwell(key(0), (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "maxwell"), float_dtype("maxwell", dtype)
    return norms.norm(draw_normal(own, (*shape_tuple(shape), 3), wanted), axis=-1)


@runs_anywhere
@described(OF_PARAMETERS)
def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return Pareto numbers of shape parameter ``b`` and scale 1.

    Parameters
    ----------
    b : array_like
        Positive.

    Returns
    -------
    Array
        From 1 up.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> pareto(key(0), 2.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "pareto"), float_dtype("pareto", dtype)
    size = sample_shape("pareto", shape, b)
    return elementwise.exp(elementwise.divide(draw_exponential(own, size, wanted), parameter(b, size, wanted)))


@runs_anywhere
@described(OF_PARAMETERS)
def rayleigh(key: Any, scale: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return Rayleigh numbers.

    Parameters
    ----------
    scale : array_like

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> rayleigh(key(0), 2.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "rayleigh"), float_dtype("rayleigh", dtype)
    size = sample_shape("rayleigh", shape, scale)
    logs = b.log(draw_uniform(own, size, wanted))
    return b.multiply(parameter(scale, size, wanted), b.sqrt(b.multiply(logs, -2)))


@runs_anywhere
@described(OF_PARAMETERS)
def triangular(key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return numbers of the triangular distribution between ``left`` and ``right`` with its peak at ``mode``.

    Parameters
    ----------
    left, mode, right : array_like
        Rising; that is not checked.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> triangular(key(0), 0.0, 1.0, 3.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "triangular"), float_dtype("triangular", dtype)
    size = sample_shape("triangular", shape, left, mode, right)
    low, peak, high = (parameter(x, size, wanted) for x in (left, mode, right))
    u = draw_uniform(own, size, wanted)
    whole, rising, falling = b.subtract(high, low), b.subtract(peak, low), b.subtract(high, peak)
    first = b.add(low, b.sqrt(b.multiply(b.multiply(u, whole), rising)))
    rest = b.subtract(b.constant(1, u), u)
    second = b.subtract(high, b.sqrt(b.multiply(b.multiply(rest, whole), falling)))
    return b.select(b.less(u, b.divide(rising, whole)), first, second)


@runs_anywhere
@described(OF_PARAMETERS)
def wald(key: Any, mean: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return numbers of the inverse Gaussian distribution of scale 1 (Michael, Schucany, Haas, 1976).

    Parameters
    ----------
    mean : array_like
        Positive.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> wald(key(0), 1.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "wald"), float_dtype("wald", dtype)
    size = sample_shape("wald", shape, mean)
    center = parameter(mean, size, wanted)
    first, second = several_keys(own, 2)
    v = draw_normal(first, size, wanted)
    y, square = b.multiply(v, v), b.multiply(center, center)
    root = b.sqrt(b.add(b.multiply(b.multiply(b.multiply(center, 4), y), 1), b.multiply(square, b.multiply(y, y))))
    half = b.divide(center, b.constant(2, center))
    x = b.subtract(b.add(center, b.divide(b.multiply(square, y), b.constant(2, y))), b.multiply(half, root))
    kept = b.at_most(draw_uniform(second, size, wanted), b.divide(center, b.add(center, x)))
    return b.select(kept, x, b.divide(square, x))


@runs_anywhere
@described(SAMPLES)
def weibull_min(key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return Weibull numbers.

    Parameters
    ----------
    scale, concentration : array_like
        They broadcast with the samples.
    shape : int or tuple of int, optional
        How many numbers are drawn.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> weibull_min(key(0), 1.0, 2.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "weibull_min"), float_dtype("weibull_min", dtype)
    size = shape_tuple(shape)
    power = elementwise.divide(1.0, convert(asarray(concentration), wanted))
    root = elementwise.power(draw_exponential(own, size, wanted), power)
    return elementwise.multiply(root, convert(asarray(scale), wanted))
