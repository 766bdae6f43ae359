"""Gamma numbers by rejection, and what is made of them. All samples loop together until each is accepted.

Algorithms and the use of keys are JAX's. Source: Marsaglia and Tsang, "A simple method for generating gamma variables"
(2000). Gamma numbers have a derivative by their parameter. Poisson numbers are in `poisson`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy import elementwise, reductions
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
from numhlo.library.random.discrete import rademacher
from numhlo.library.random.keys import as_key, several_keys, split_key
from numhlo.library.transformations.custom_forward import custom_jvp
from numhlo.tracer.building import (
    asarray,
    broadcast_to_shape,
    composite,
    convert,
    expand,
    full_of,
    reshape_to,
    runs_anywhere,
    shape_of,
    vmap,
    while_loop,
)
from numhlo.tracer.building import operations as b

__all__ = [
    "ball", "beta", "chisquare", "dirichlet", "double_sided_maxwell", "f", "gamma", "generalized_normal", "loggamma",
    "t",
]  # fmt: skip

SQUEEZE = 0.0331
"""Marsaglia and Tsang's bound that accepts most samples without a logarithm."""


LOG_OF_SMALL = -40.0
"""Logarithms of gamma numbers below which the distribution function's first term is exact in double precision."""


def _lane_keys(keys: Any, count: int) -> list[Any]:
    """Return new keys of every key: ``count`` arrays of keys."""
    new = vmap(lambda key: split_key(key, (count,)))(keys)
    return [new[:, k] for k in range(count)]


def _chosen(mask: Any, new: Any, old: Any) -> Any:
    """Return new values where a mask holds; keys, which have an axis more, as a whole."""
    if len(shape_of(new)) > len(shape_of(mask)):
        mask = broadcast_to_shape(expand(mask, -1), shape_of(new))
    return b.select(mask, new, old)


def _normal_above(keys: Any, c: Any, active: Any) -> tuple[Any, Any]:
    """Return normal numbers x, drawn again until ``1 + c x > 0``, and that; inactive lanes are left as they are."""
    one = b.constant(1, c)
    start = b.select(active, b.negate(one), one)

    def again(state: Any) -> Any:
        return reductions.any(b.at_most(state[2], 0))

    def step(state: Any) -> Any:
        own, x, v = state
        open_lanes = b.at_most(v, 0)
        after, subkeys = _lane_keys(own, 2)
        drawn = vmap(lambda key: draw_normal(key, (), c.dtype))(subkeys)
        new = after, drawn, b.add(one, b.multiply(drawn, c))
        return tuple(_chosen(open_lanes, x, y) for x, y in zip(new, (own, x, v), strict=True))

    _, x, v = while_loop(again, step, (keys, b.constant(0, c), start))
    return x, v


def _draw_gamma(keys: Any, alpha: Any, log_space: bool) -> Any:
    """Return gamma numbers, or their logarithms, one for each key and shape parameter."""
    zero, one = b.constant(0, alpha), b.constant(1, alpha)
    is_large = b.at_least(alpha, 1)
    raised = b.select(is_large, alpha, b.add(alpha, one))
    d = b.subtract(raised, 1 / 3)
    c = b.divide(b.constant(1 / 3, d), b.sqrt(d))

    def rejected(state: Any) -> Any:
        _, x, v, u = state
        outside = b.at_least(u, b.subtract(one, b.multiply(b.multiply(x, x), SQUEEZE)))
        bound = b.add(b.multiply(x, 0.5), b.multiply(d, b.add(b.subtract(one, v), b.log(v))))
        return b.both(outside, b.at_least(b.log(u), bound))

    def step(state: Any) -> Any:
        active = rejected(state)
        after, first, second = _lane_keys(state[0], 3)
        x, v = _normal_above(first, c, active)
        u = vmap(lambda key: draw_uniform(key, (), alpha.dtype))(second)
        new = after, b.multiply(x, x), b.multiply(b.multiply(v, v), v), u
        return tuple(_chosen(active, x, y) for x, y in zip(new, state, strict=True))

    keys, subkeys = _lane_keys(keys, 2)
    start = keys, zero, one, b.constant(2, alpha)
    _, _, v, _ = while_loop(lambda state: reductions.any(rejected(state)), step, start)
    if log_space:
        logs = b.negate(vmap(lambda key: draw_exponential(key, (), alpha.dtype))(subkeys))
        boost = b.multiply(logs, b.divide(one, alpha))
        skipped = b.either(is_large, b.equal(logs, 0))
        return b.add(b.add(b.log(d), b.log(v)), b.select(skipped, zero, boost))
    drawn = b.subtract(one, vmap(lambda key: draw_uniform(key, (), alpha.dtype))(subkeys))
    boost = b.select(is_large, one, b.power(drawn, b.divide(one, alpha)))
    return b.multiply(b.multiply(d, v), boost)


def _slope(a: Any, log_x: Any) -> Any:
    """Return the derivative of a gamma number's logarithm by its shape parameter, at a fixed quantile.

    Notes
    -----
    ``-(dP/da) / (x dP/dx)`` with P the distribution function; for small x, P is ``x**a / gamma(a + 1)``. Source:
    Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients" (2018).
    """
    x = b.exp(log_x)
    density = b.exp(b.subtract(b.subtract(b.multiply(a, log_x), x), composite("lgamma", a)))
    small = b.less(log_x, LOG_OF_SMALL)
    exact = b.divide(b.negate(composite("igamma_slope", a, x)), b.select(small, 1, density))
    limit = b.divide(b.subtract(composite("digamma", b.add(a, 1.0)), log_x), a)
    return b.select(small, limit, exact)


def _gamma_array(key: Any, a: Any, shape: tuple[int, ...], dtype: np.dtype, log_space: bool) -> Any:
    alpha = parameter(a, shape, dtype)
    count = math.prod(shape)
    if count == 0:
        return full_of(0, shape, dtype)

    @custom_jvp
    def draw(key: Any, flat: Any) -> Any:  # what a rule closes over is of the first derivative's trace
        return _draw_gamma(split_key(key, (count,)), flat, log_space)

    def slope(tangent: Any, drawn: Any, _key: Any, flat: Any) -> Any:
        exact = convert(drawn, np.float64)
        log_x = exact if log_space else b.log(b.select(b.equal(exact, 0), 1, exact))  # times 0, where it underflowed
        log_slope = _slope(convert(flat, np.float64), log_x)
        factor = log_slope if log_space else b.multiply(exact, log_slope)
        return b.multiply(tangent, convert(factor, dtype))

    draw.defjvps(None, slope)
    return reshape_to(draw(key, reshape_to(alpha, (count,))), shape)


@runs_anywhere
@described(OF_PARAMETERS)
def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return gamma numbers of shape parameter ``a`` and scale 1.

    Parameters
    ----------
    a : array_like
        Positive. The samples have a derivative by it.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> gamma(key(0), 2.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "gamma"), float_dtype("gamma", dtype)
    return _gamma_array(own, a, sample_shape("gamma", shape, a), wanted, False)


@runs_anywhere
@described(OF_PARAMETERS)
def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return logarithms of gamma numbers, accurate for small ``a`` too.

    Parameters
    ----------
    a : array_like
        Positive. The samples have a derivative by it.

    Notes
    -----
    Where gamma numbers underflow, their logarithms do not: `beta` and `dirichlet` are made of these.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> loggamma(key(0), 1e-3, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "loggamma"), float_dtype("loggamma", dtype)
    return _gamma_array(own, a, sample_shape("loggamma", shape, a), wanted, True)


@runs_anywhere
@described(OF_PARAMETERS)
def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return beta numbers.

    Parameters
    ----------
    a, b : array_like
        Positive.

    Returns
    -------
    Array
        In [0, 1].

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> beta(key(0), 2.0, 3.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "beta"), float_dtype("beta", dtype)
    size = sample_shape("beta", shape, a, b)
    first, second = several_keys(own, 2)
    logs = _gamma_array(first, a, size, wanted, True), _gamma_array(second, b, size, wanted, True)
    top = elementwise.maximum(*logs)
    x, y = (elementwise.exp(elementwise.subtract(log, top)) for log in logs)
    return elementwise.divide(x, elementwise.add(x, y))


@runs_anywhere
def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return vectors of positive numbers that sum to 1.

    Parameters
    ----------
    key : (2,) uint32
    alpha : (..., n) array_like
        Positive.
    shape : int or tuple of int, optional
        Without the last axis.
    dtype : dtype, optional
        A float one, float64 by default.

    Returns
    -------
    Array
        Of shape ``(*shape, n)``.

    Raises
    ------
    ValueError
        If ``alpha`` is a scalar.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> dirichlet(key(0), np.ones(3), (2,)).shape
    (2, 3)
    """
    own, wanted = as_key(key, "dirichlet"), float_dtype("dirichlet", dtype)
    extents = shape_of(asarray(alpha))
    if not extents:
        raise ValueError("dirichlet requires alpha.ndim >= 1, got alpha.ndim == 0")
    size = extents[:-1] if shape is None else shape_tuple(shape)
    logarithms = _gamma_array(own, alpha, (*size, extents[-1]), wanted, True)
    parts = elementwise.exp(elementwise.subtract(logarithms, reductions.max(logarithms, -1, keepdims=True)))
    return elementwise.divide(parts, reductions.sum(parts, -1, keepdims=True))


def _chisquare(key: Any, df: Any, size: tuple[int, ...], dtype: np.dtype) -> Any:
    half = elementwise.divide(convert(asarray(df), dtype), 2)
    return elementwise.multiply(elementwise.exp(_gamma_array(key, half, size, dtype, True)), 2)


@runs_anywhere
@described(OF_PARAMETERS)
def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return chi-squared numbers of ``df`` degrees of freedom.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> chisquare(key(0), 3.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "chisquare"), float_dtype("chisquare", dtype)
    return _chisquare(own, df, sample_shape("chisquare", shape, df), wanted)


@runs_anywhere
@described(OF_PARAMETERS)
def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return numbers of the F distribution.

    Parameters
    ----------
    dfnum, dfden : array_like
        Degrees of freedom, positive.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> f(key(0), 3.0, 5.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "f"), float_dtype("f", dtype)
    size = sample_shape("f", shape, dfnum, dfden)
    keys = several_keys(own, 2)
    parts = [
        elementwise.divide(_chisquare(k, df, size, wanted), convert(asarray(df), wanted))
        for k, df in ((keys[1], dfnum), (keys[0], dfden))
    ]
    return elementwise.divide(*parts)


@runs_anywhere
@described(OF_PARAMETERS)
def t(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return numbers of Student's t distribution.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> t(key(0), 3.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "t"), float_dtype("t", dtype)
    size = sample_shape("t", shape, df)
    first, second = several_keys(own, 2)
    half = b.divide(parameter(df, size, wanted), full_of(2, size, wanted))
    g = _gamma_array(second, half, size, wanted, False)
    return b.multiply(draw_normal(first, size, wanted), b.sqrt(b.divide(half, g)))


@runs_anywhere
@described(SAMPLES)
def generalized_normal(key: Any, p: float, shape: Any = (), dtype: Any = None) -> Any:
    """Return numbers whose density falls as ``exp(-|x| ** p)``.

    Parameters
    ----------
    p : float
        Positive: 2 for a normal distribution of variance 1/2, 1 for Laplace's.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> generalized_normal(key(0), 3.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "generalized_normal"), float_dtype("generalized_normal", dtype)
    size = shape_tuple(shape)
    first, second = several_keys(own, 2)
    g = _gamma_array(first, 1 / p, size, wanted, False)
    return elementwise.multiply(rademacher(second, size, wanted), elementwise.power(g, 1 / p))


@runs_anywhere
def ball(key: Any, d: int, p: float = 2, shape: Any = (), dtype: Any = None) -> Any:
    """Return points of the unit ball of the p-norm in ``d`` dimensions, all places equally likely.

    Parameters
    ----------
    key : (2,) uint32
    d : int
        Known while tracing.
    p : float, optional
    shape : int or tuple of int, optional
    dtype : dtype, optional
        A float one, float64 by default.

    Returns
    -------
    Array
        Of shape ``(*shape, d)``.

    Notes
    -----
    Barthe, Guédon, Mendelson, Naor: A probabilistic approach to the geometry of the l_p^n-ball (2005).

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> ball(key(0), 3, shape=(2,)).shape
    (2, 3)
    """
    own, wanted = as_key(key, "ball"), float_dtype("ball", dtype)
    size = shape_tuple(shape)
    first, second = several_keys(own, 2)
    g = generalized_normal(first, p, (*size, d), wanted)
    total = reductions.sum(elementwise.power(elementwise.absolute(g), p), -1)
    radius = elementwise.power(elementwise.add(total, draw_exponential(second, size, wanted)), 1 / p)
    return elementwise.divide(g, expand(radius, -1))


@runs_anywhere
@described(SAMPLES)
def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return Maxwell numbers of either sign, scaled and shifted; ``shape`` stands before the parameters' shape.

    Parameters
    ----------
    loc, scale : array_like
        They broadcast with each other.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> double_sided_maxwell(key(0), 0.0, 1.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "double_sided_maxwell"), float_dtype("double_sided_maxwell", dtype)
    inner = sample_shape("double_sided_maxwell", None, loc, scale)
    size = (*(shape_tuple(shape) or inner), *inner)
    first, second = several_keys(own, 2)
    lengths = norms.norm(draw_normal(first, (*size, 3), wanted), axis=-1)
    signed = elementwise.multiply(rademacher(second, size, wanted), lengths)
    scaled = elementwise.multiply(signed, convert(asarray(scale), wanted))
    return elementwise.add(scaled, convert(asarray(loc), wanted))
