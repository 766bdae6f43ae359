"""Continuous distributions that are functions of uniform numbers: uniform, normal, exponential, and their kin.

Formulas and order of operations are JAX's, so the same key gives the same numbers up to rounding of the elementary
functions. Shapes default to what the parameters broadcast to.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError
from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace import elementwise, lax_ops, matrix_products, norms, standard_products
from numhlo.tracer.namespace import matrices as m
from numhlo.tracer.namespace.axis_order import matrix_transpose
from numhlo.tracer.namespace.core import (
    asarray,
    broadcast_shapes,
    broadcast_to_shape,
    convert,
    expand,
    shape_of,
)
from numhlo.tracer.namespace.eager import runs_anywhere
from numhlo.tracer.namespace.factoring import cholesky, eigh, qr, svd
from numhlo.tracer.namespace.index_items import as_traced
from numhlo.tracer.namespace.manipulation import shape_tuple
from numhlo.tracer.sampling.keys import as_key, draw_bits, several_keys

__all__ = [
    "cauchy", "exponential", "gumbel", "laplace", "logistic", "lognormal", "maxwell", "multivariate_normal", "normal",
    "orthogonal", "pareto", "rayleigh", "triangular", "truncated_normal", "uniform", "wald", "weibull_min",
]  # fmt: skip


def float_dtype(name: str, dtype: Any) -> np.dtype:
    """Return a float dtype, float64 for None.

    Raises
    ------
    ValueError
        If it is none.
    """
    wanted = np.dtype(np.float64 if dtype is None else dtype)
    if wanted.kind not in "fV":
        raise ValueError(f"dtype argument to `{name}` must be a float dtype, got {wanted}")
    return wanted


def sample_shape(name: str, shape: Any, *parameters: Any) -> tuple[int, ...]:
    """Return the shape of the samples: the one that is given, or what the parameters broadcast to.

    Raises
    ------
    ShapeError
        If the parameters don't broadcast to it.
    """
    own = broadcast_shapes(*[shape_of(asarray(x)) for x in parameters], name=f"random.{name}") if parameters else ()
    if shape is None:
        return own
    given = shape_tuple(shape)
    if broadcast_shapes(given, own, name=f"random.{name}") != given:
        raise ShapeError(
            f"random.{name}: parameters of shape {own} don't broadcast to shape {given}", where=capture_location()
        )
    return given


def parameter(x: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Return a parameter in the samples' dtype and shape."""
    return broadcast_to_shape(convert(asarray(x), dtype), shape)


def draw_uniform(key: Any, shape: tuple[int, ...], dtype: np.dtype, low: Any = 0.0, high: Any = 1.0) -> Any:
    """Return numbers in ``[low, high)``: random mantissas of numbers in [1, 2), minus 1, scaled and shifted."""
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    width, mantissa = 8 * dtype.itemsize, int(info.nmant)
    drawn = 8 if mantissa < 8 else width
    unsigned = np.dtype(f"u{dtype.itemsize}")
    words = convert(draw_bits(key, shape, drawn), unsigned)
    one = int(np.ones((), dtype).view(unsigned))
    pattern = b.either(b.shift_right_logical(words, drawn - mantissa), b.constant(one, words))
    floats = b.subtract(b.bitcast(pattern, dtype), 1.0)
    if type(low) is float and type(high) is float and (low, high) == (0.0, 1.0):
        return floats
    bottom, top = parameter(low, shape, dtype), parameter(high, shape, dtype)
    return b.maximum(bottom, b.add(b.multiply(floats, b.subtract(top, bottom)), bottom))


def draw_normal(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Return standard normal numbers: the inverse distribution function of uniform ones."""
    low = np.nextafter(np.asarray(-1, dtype), np.asarray(0, dtype))
    u = draw_uniform(key, shape, dtype, low, 1.0)
    return b.multiply(b.constant(np.sqrt(2), u), lax_ops.erf_inv(u))


def draw_exponential(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Return exponential numbers of rate 1."""
    return b.negate(b.log1p(b.negate(draw_uniform(key, shape, dtype))))


def draw_gumbel(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Return Gumbel numbers of location 0 and scale 1."""
    tiny = float(b.finfo(dtype).smallest_normal)
    return b.negate(b.log(b.negate(b.log(draw_uniform(key, shape, dtype, tiny, 1.0)))))


@runs_anywhere
def uniform(key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    """Return numbers in ``[minval, maxval)``, all equally likely.

    Parameters
    ----------
    key : (2,) uint32
    shape : tuple of int, optional
    dtype : dtype, optional
        float64 by default.
    minval, maxval : array_like, optional
        They broadcast to ``shape``.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> uniform(key(0), (2,), np.float32)
    Array([0.947667 , 0.9785799], dtype=float32)
    """
    own, wanted = as_key(key, "uniform"), float_dtype("uniform", dtype)
    return draw_uniform(own, sample_shape("uniform", shape, minval, maxval), wanted, minval, maxval)


@runs_anywhere
def normal(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return numbers of mean 0 and variance 1; complex ones have half the variance in each part.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> normal(key(0), (2,)).shape
    (2,)
    """
    own, size = as_key(key, "normal"), shape_tuple(shape)
    if dtype is None or np.dtype(dtype).kind != "c":
        return draw_normal(own, size, float_dtype("normal", dtype))
    wanted = np.dtype(dtype)
    part = np.dtype(f"f{wanted.itemsize // 2}")
    z = b.as_complex(*[draw_normal(k, size, part) for k in several_keys(own, 2)])
    return b.divide(z, b.constant(np.sqrt(2), z))


@runs_anywhere
def exponential(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return exponential numbers of mean 1.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> exponential(key(0), (2,)).shape
    (2,)
    """
    return draw_exponential(as_key(key, "exponential"), shape_tuple(shape), float_dtype("exponential", dtype))


@runs_anywhere
def gumbel(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return Gumbel numbers of location 0 and scale 1.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> gumbel(key(0), (2,)).shape
    (2,)
    """
    return draw_gumbel(as_key(key, "gumbel"), shape_tuple(shape), float_dtype("gumbel", dtype))


@runs_anywhere
def laplace(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return Laplace numbers of mean 0 and scale 1.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> laplace(key(0), (2,)).shape
    (2,)
    """
    wanted = float_dtype("laplace", dtype)
    low = -1.0 + float(b.finfo(wanted).epsneg)
    u = draw_uniform(as_key(key, "laplace"), shape_tuple(shape), wanted, low, 1.0)
    return b.multiply(elementwise.sign(u), b.log1p(b.negate(b.absolute(u))))


@runs_anywhere
def logistic(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return logistic numbers of mean 0 and scale 1.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> logistic(key(0), (2,)).shape
    (2,)
    """
    wanted = float_dtype("logistic", dtype)
    tiny = float(b.finfo(wanted).smallest_normal)
    x = draw_uniform(as_key(key, "logistic"), shape_tuple(shape), wanted, tiny, 1.0)
    return b.subtract(b.log(x), b.log1p(b.negate(x)))


@runs_anywhere
def cauchy(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return Cauchy numbers of location 0 and scale 1.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> cauchy(key(0), (2,)).shape
    (2,)
    """
    wanted = float_dtype("cauchy", dtype)
    u = draw_uniform(as_key(key, "cauchy"), shape_tuple(shape), wanted, float(b.finfo(wanted).eps), 1.0)
    return elementwise.tan(b.multiply(b.subtract(u, 0.5), np.pi))


@runs_anywhere
def truncated_normal(key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return standard normal numbers that lie between two bounds.

    Parameters
    ----------
    key : (2,) uint32
    lower, upper : array_like
    shape : tuple of int, optional
    dtype : dtype, optional

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> truncated_normal(key(0), -1.0, 1.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "truncated_normal"), float_dtype("truncated_normal", dtype)
    size = sample_shape("truncated_normal", shape, lower, upper)
    low, high = parameter(lower, size, wanted), parameter(upper, size, wanted)
    root = b.constant(np.sqrt(2), low)
    u = draw_uniform(own, size, wanted, *[lax_ops.erf(b.divide(x, root)) for x in (low, high)])
    result = b.multiply(root, lax_ops.erf_inv(u))
    inside = [elementwise.nextafter(x, b.constant(end, x)) for x, end in ((low, np.inf), (high, -np.inf))]
    return b.minimum(b.maximum(result, inside[0]), inside[1])


@runs_anywhere
def multivariate_normal(
    key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = None, method: str = "cholesky"
) -> Any:
    """Return normal vectors of a mean and a covariance.

    Parameters
    ----------
    key : (2,) uint32
    mean : (..., n) array_like
    cov : (..., n, n) array_like
    shape : tuple of int, optional
        Of the samples without the vectors' axis.
    dtype : dtype, optional
    method : {"cholesky", "eigh", "svd"}, optional
        How the covariance is factored; the latter two allow singular ones.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> multivariate_normal(key(0), np.zeros(2), np.eye(2), (5,)).shape
    (5, 2)
    """
    if method not in ("cholesky", "eigh", "svd"):
        raise ValueError("method must be one of {'svd', 'eigh', 'cholesky'}")
    own, wanted = as_key(key, "multivariate_normal"), float_dtype("multivariate_normal", dtype)
    center, spread = convert(asarray(mean), wanted), as_traced(convert(asarray(cov), wanted))
    n = shape_of(center)[-1:]
    if not n or spread.shape[-2:] != (*n, *n):
        raise ValueError(f"multivariate_normal: mean of shape {shape_of(center)}, cov of shape {spread.shape}")
    batch = broadcast_shapes(shape_of(center)[:-1], spread.shape[:-2], name="random.multivariate_normal")
    size = batch if shape is None else shape_tuple(shape)
    if method == "cholesky":
        factor = cholesky(spread)
    elif method == "eigh":
        w, v = eigh(spread)
        factor = elementwise.multiply(v, elementwise.sqrt(m.row_of(w)))
    else:
        u, s, _ = svd(spread)
        factor = elementwise.multiply(u, elementwise.sqrt(m.row_of(s)))
    samples = draw_normal(own, (*size, *n), wanted)
    return elementwise.add(center, matrix_products.matvec(factor, samples))


@runs_anywhere
def lognormal(key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None) -> Any:
    """Return exponentials of normal numbers of deviation ``sigma``.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> lognormal(key(0), 0.5, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "lognormal"), float_dtype("lognormal", dtype)
    size = sample_shape("lognormal", shape, sigma)
    return b.exp(b.multiply(draw_normal(own, size, wanted), parameter(sigma, size, wanted)))


@runs_anywhere
def maxwell(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return lengths of vectors of three standard normal numbers.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> maxwell(key(0), (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "maxwell"), float_dtype("maxwell", dtype)
    return norms.norm(draw_normal(own, (*shape_tuple(shape), 3), wanted), axis=-1)


@runs_anywhere
def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return Pareto numbers of shape parameter ``b`` and scale 1.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> pareto(key(0), 2.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "pareto"), float_dtype("pareto", dtype)
    size = sample_shape("pareto", shape, b)
    return elementwise.exp(elementwise.divide(draw_exponential(own, size, wanted), parameter(b, size, wanted)))


@runs_anywhere
def rayleigh(key: Any, scale: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return Rayleigh numbers.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> rayleigh(key(0), 2.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "rayleigh"), float_dtype("rayleigh", dtype)
    size = sample_shape("rayleigh", shape, scale)
    logs = b.log(draw_uniform(own, size, wanted))
    return b.multiply(parameter(scale, size, wanted), b.sqrt(b.multiply(logs, -2)))


@runs_anywhere
def triangular(key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return numbers of the triangular distribution between ``left`` and ``right`` with its peak at ``mode``.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
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
def wald(key: Any, mean: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return numbers of the inverse Gaussian distribution of scale 1 (Michael, Schucany, Haas, 1976).

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
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
def weibull_min(key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return Weibull numbers.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> weibull_min(key(0), 1.0, 2.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "weibull_min"), float_dtype("weibull_min", dtype)
    size = shape_tuple(shape)
    power = elementwise.divide(1.0, convert(asarray(concentration), wanted))
    root = elementwise.power(draw_exponential(own, size, wanted), power)
    return elementwise.multiply(root, convert(asarray(scale), wanted))


@runs_anywhere
def orthogonal(key: Any, n: int, shape: Any = (), dtype: Any = None, m: int | None = None) -> Any:
    """Return random orthogonal matrices, all rotations equally likely; ``n`` by ``m`` ones have orthonormal columns.

    Examples
    --------
    >>> from numhlo.tracer.sampling.keys import key
    >>> orthogonal(key(0), 3).shape
    (3, 3)
    """
    own, wanted = as_key(key, "orthogonal"), float_dtype("orthogonal", dtype)
    other = n if m is None else m
    z = draw_normal(own, (*shape_tuple(shape), max(n, other), min(n, other)), wanted)
    q, r = qr(z)
    signs = elementwise.sign(standard_products.diagonal(r))
    result = elementwise.multiply(q, expand(signs, len(shape_of(signs)) - 1))
    return matrix_transpose(result) if n < other else result
