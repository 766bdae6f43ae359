"""Continuous distributions that are functions of uniform numbers: uniform, normal, exponential, and their kin.

Formulas and order of operations are JAX's, so the same key gives the same numbers up to rounding of the elementary
functions. Shapes default to what the parameters broadcast to.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from numhlo.library.documentation import described
from numhlo.library.lax import elementwise as lax_ops
from numhlo.library.numpy import elementwise
from numhlo.library.numpy.axis_order import matrix_transpose
from numhlo.library.numpy.linalg import matrix_products, standard_products
from numhlo.library.numpy.linalg.factoring import cholesky, eigh, qr, svd
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.library.random.keys import as_key, draw_bits, several_keys
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.building import (
    as_traced,
    asarray,
    broadcast_shapes,
    broadcast_to_shape,
    convert,
    expand,
    runs_anywhere,
    shape_of,
    usual_dtype,
)
from numhlo.tracer.building import matrices as m
from numhlo.tracer.building import operations as b

__all__ = [
    "cauchy", "exponential", "gumbel", "laplace", "logistic", "multivariate_normal", "normal",
    "orthogonal", "truncated_normal", "uniform",
]  # fmt: skip

SAMPLES = """
Parameters
----------
key : (2,) uint32
shape : int or tuple of int, optional
dtype : dtype, optional
    A float one, float64 by default.

Returns
-------
Array
"""

OF_PARAMETERS = """
Parameters
----------
key : (2,) uint32
shape : int or tuple of int, optional
    By default that of the parameters, which broadcast to it.
dtype : dtype, optional
    A float one, float64 by default.
df : array_like
    Positive.

Returns
-------
Array
"""


def float_dtype(name: str, dtype: Any) -> np.dtype:
    """Return a float dtype, float64 for None.

    Raises
    ------
    ValueError
        If it is none.
    """
    wanted = usual_dtype(np.float64) if dtype is None else np.dtype(dtype)
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


def is_high(function: str, mode: str | None) -> bool:
    """Return whether twice the bits are to be drawn; None is "low".

    Raises
    ------
    ArgumentError
        If there is no such mode.
    """
    if mode not in (None, "low", "high"):
        raise ArgumentError(f"{function}(mode={mode!r})", where=capture_location(), fix="use low or high")
    return mode == "high"


def draw_gumbel(key: Any, shape: tuple[int, ...], dtype: np.dtype, mode: str | None = None) -> Any:
    """Return Gumbel numbers of location 0 and scale 1; ``mode="high"`` reaches twice as far into the upper tail."""
    if is_high("gumbel", mode):
        info = b.finfo(dtype)
        halves: Any = as_traced(draw_uniform(key, (2, *shape), dtype))
        high, low = halves[0], halves[1]
        sum_ = b.add(b.add(high, b.multiply(low, 2.0**-info.nmant)), float(info.smallest_normal))
        u = b.select(b.at_least(high, 0.5), high, sum_)
        return b.negate(b.log(b.negate(b.log1p(b.negate(u)))))
    tiny = float(b.finfo(dtype).smallest_normal)
    return b.negate(b.log(b.negate(b.log(draw_uniform(key, shape, dtype, tiny, 1.0)))))


@runs_anywhere
@described(SAMPLES)
def uniform(key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    """Return numbers in ``[minval, maxval)``, all equally likely.

    Parameters
    ----------
    shape : tuple of int, optional
    dtype : dtype, optional
        float64 by default.
    minval, maxval : array_like, optional
        They broadcast to ``shape``.

    Raises
    ------
    ValueError
        If the dtype is no float: so for all functions here.
    ShapeError
        If the bounds don't broadcast to ``shape``.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> uniform(key(0), (2,), np.float32)
    Array([0.947667 , 0.9785799], dtype=float32)
    """
    own, wanted = as_key(key, "uniform"), float_dtype("uniform", dtype)
    return draw_uniform(own, sample_shape("uniform", shape, minval, maxval), wanted, minval, maxval)


@runs_anywhere
@described(SAMPLES)
def normal(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return numbers of mean 0 and variance 1; complex ones have half the variance in each part.

    Parameters
    ----------
    dtype : dtype, optional
        A float or complex one, float64 by default.

    Notes
    -----
    By the inverse distribution function, as all numbers here, so that one uniform number makes one sample.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
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
@described(SAMPLES)
def exponential(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return exponential numbers of mean 1.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> exponential(key(0), (2,)).shape
    (2,)
    """
    return draw_exponential(as_key(key, "exponential"), shape_tuple(shape), float_dtype("exponential", dtype))


@runs_anywhere
@described(SAMPLES)
def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: str | None = None) -> Any:
    """Return Gumbel numbers of location 0 and scale 1.

    Parameters
    ----------
    mode : "low" or "high", optional
        "high" draws twice the bits: of float32, numbers beyond 16 are right, too, up to 32.

    Raises
    ------
    ValueError
        If there is no such mode.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> gumbel(key(0), (2,)).shape
    (2,)
    """
    return draw_gumbel(as_key(key, "gumbel"), shape_tuple(shape), float_dtype("gumbel", dtype), mode)


@runs_anywhere
@described(SAMPLES)
def laplace(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return Laplace numbers of mean 0 and scale 1.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> laplace(key(0), (2,)).shape
    (2,)
    """
    wanted = float_dtype("laplace", dtype)
    low = -1.0 + float(b.finfo(wanted).epsneg)
    u = draw_uniform(as_key(key, "laplace"), shape_tuple(shape), wanted, low, 1.0)
    return b.multiply(elementwise.sign(u), b.log1p(b.negate(b.absolute(u))))


@runs_anywhere
@described(SAMPLES)
def logistic(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return logistic numbers of mean 0 and scale 1.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> logistic(key(0), (2,)).shape
    (2,)
    """
    wanted = float_dtype("logistic", dtype)
    tiny = float(b.finfo(wanted).smallest_normal)
    x = draw_uniform(as_key(key, "logistic"), shape_tuple(shape), wanted, tiny, 1.0)
    return b.subtract(b.log(x), b.log1p(b.negate(x)))


@runs_anywhere
@described(SAMPLES)
def cauchy(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return Cauchy numbers of location 0 and scale 1.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
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
        A float one, float64 by default.

    Returns
    -------
    Array
        Strictly between the bounds.

    Raises
    ------
    ShapeError
        If the bounds don't broadcast to ``shape``.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
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
        A float one, float64 by default.
    method : {"cholesky", "eigh", "svd"}, optional
        How the covariance is factored; the latter two allow singular ones.

    Returns
    -------
    Array
        Of shape ``(*shape, n)``; NaN where "cholesky" meets a covariance that is not positive definite.

    Raises
    ------
    ValueError
        If the method is another, or shapes do not fit.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
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
def orthogonal(key: Any, n: int, shape: Any = (), dtype: Any = None, m: int | None = None) -> Any:
    """Return random orthogonal matrices, all rotations equally likely; ``n`` by ``m`` ones have orthonormal columns.

    Parameters
    ----------
    key : (2,) uint32
    n, m : int
        Rows and columns, as many columns as rows by default.
    shape : int or tuple of int, optional
        How many matrices.
    dtype : dtype, optional
        A float one, float64 by default.

    Returns
    -------
    Array
        Of shape ``(*shape, n, m)``.

    Notes
    -----
    Mezzadri: How to generate random matrices from the classical compact groups (2007).

    Examples
    --------
    >>> from numhlo.library.random.keys import key
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
