"""Polynomials as vectors of coefficients, the highest power first: polyval, polyadd, polymul, polyder and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import sliding_products
from numhlo.library.numpy.joining import concatenate
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError
from numhlo.tracer.building import (
    Tracer,
    as_traced,
    asarray,
    convert,
    full_of,
    implements,
    reshape_to,
    result_dtype,
    shape_of,
    spelling,
)

__all__ = ["poly", "polyadd", "polyder", "polydiv", "polyint", "polymul", "polysub", "polyval"]


def line_of(p: Any) -> Tracer:
    """Return coefficients as a vector."""
    array = as_traced(asarray(p))
    return as_traced(reshape_to(array, (1,))) if array.ndim == 0 else array


@implements(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Return a polynomial's values, by Horner's rule.

    Parameters
    ----------
    p : array_like
        Coefficients; none for the polynomial 0.
    x : array_like
        Of any shape.

    Returns
    -------
    Array
        Of the shape of ``x`` and the common dtype.

    Examples
    --------
    >>> polyval([3, 0, 1], 2.0)
    Array(13.)
    """
    coefficients, at = line_of(p), asarray(x)
    wanted = result_dtype(coefficients, at) if coefficients.size else result_dtype(at)
    at = convert(at, wanted)
    total = full_of(0, shape_of(at), wanted)
    for k in range(coefficients.shape[0]):
        total = ufuncs.add(ufuncs.multiply(total, at), coefficients[k])  # type: ignore[index]
    return total


def _padded(x: Tracer, size: int) -> Any:
    return concatenate([full_of(0, (size - x.size,), x.dtype), x], 0) if size > x.size else x


def _same_length(a1: Any, a2: Any) -> tuple[Any, Any]:
    first, second = line_of(a1), line_of(a2)
    size = max(first.size, second.size)
    return _padded(first, size), _padded(second, size)


@implements(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    """Return the sum of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like
        Coefficients.

    Returns
    -------
    Array
        As long as the longer one: leading zeros stay.

    Examples
    --------
    >>> polyadd([1, 2], [1, 0, 0])
    Array([1, 1, 2])
    """
    return ufuncs.add(*_same_length(a1, a2))


@implements(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    """Return the difference of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like
        Coefficients.

    Returns
    -------
    Array
        As long as the longer one: leading zeros stay.

    Examples
    --------
    >>> polysub([1, 2], [1, 0])
    Array([0, 2])
    """
    return ufuncs.subtract(*_same_length(a1, a2))


@implements(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    """Return the product of two polynomials; leading zeros are kept while tracing.

    Parameters
    ----------
    a1, a2 : array_like
        Coefficients.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        If one has more than one dimension.

    Examples
    --------
    >>> polymul([1, 1], [1, -1])
    Array([ 1,  0, -1])
    """
    lines = [line_of(p) for p in (a1, a2)]
    if any(x.ndim > 1 for x in lines):
        raise ValueError("Polynomial must be 1d only.")
    return sliding_products.convolve(*[x if x.size else full_of(0, (1,), x.dtype) for x in lines])


@implements(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    """Return the m-th derivative of a polynomial.

    Parameters
    ----------
    p : array_like
        Coefficients.
    m : int, optional
        Known while tracing.

    Returns
    -------
    Array
        Shorter by ``m``.

    Raises
    ------
    ValueError
        If ``m`` is negative.

    Examples
    --------
    >>> polyder([3, 2, 1])
    Array([6, 2])
    """
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    line = line_of(p)
    for _ in range(m):
        powers = np.arange(line.size - 1, 0, -1)
        line = as_traced(ufuncs.multiply(line[:-1], powers))  # type: ignore[index]
    return line


@implements(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """Return the m-th antiderivative of a polynomial; ``k`` holds the constants of integration.

    Parameters
    ----------
    p : array_like
        Coefficients.
    m : int, optional
        Known while tracing.
    k : array_like, optional
        One constant, or one for each integration; 0 by default.

    Returns
    -------
    Array
        Longer by ``m``, and of floats.

    Raises
    ------
    ValueError
        If ``m`` is negative.

    Examples
    --------
    >>> polyint([6, 2])
    Array([3., 2., 0.])
    """
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    line = line_of(p)
    constants = np.zeros(m) if k is None else asarray(k)
    if shape_of(constants) in ((), (1,)) and m:
        constants = ufuncs.multiply(np.ones(m), constants)
    for step in range(m):
        powers = np.arange(line.size, 0, -1)
        last = reshape_to(asarray(constants[step]), (1,))
        line = as_traced(concatenate([ufuncs.divide(line, powers), last], 0))
    return line


@implements(np.polydiv)
def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """Return quotient and remainder of two polynomials; leading zeros of the remainder are kept while tracing.

    Parameters
    ----------
    u, v : array_like
        Coefficients; a leading 0 in ``v`` gives infinities.

    Returns
    -------
    tuple of two Arrays
        Of floats.

    Examples
    --------
    >>> polydiv([1.0, 0.0, -1.0], [1.0, 1.0])
    (Array([ 1., -1.]), Array([0.]))
    """
    top, bottom = line_of(u), line_of(v)
    wanted = result_dtype(top, bottom)
    wanted = np.dtype(np.float64) if wanted.kind in "biu" else wanted
    if top.ndim > 1 or bottom.ndim > 1:
        what = f"polydiv of {spelling(u)} by {spelling(v)}"
        raise ShapeError(what, where=capture_location(), why="a polynomial's coefficients are a vector")
    top, bottom = as_traced(convert(top, wanted)), as_traced(convert(bottom, wanted))
    count = max(top.size - bottom.size + 1, 1)
    quotient = []
    rest = top
    for k in range(top.size - bottom.size + 1):
        factor = ufuncs.divide(rest[k], bottom[0])  # type: ignore[index]
        quotient.append(reshape_to(factor, (1,)))
        product = ufuncs.multiply(factor, bottom)
        parts = [rest[:k], ufuncs.subtract(rest[k : k + bottom.size], product), rest[k + bottom.size :]]  # type: ignore[index]
        rest = as_traced(concatenate(parts, 0))
    found = concatenate(quotient, 0) if quotient else full_of(0, (count,), wanted)
    if bottom.size == 1:
        return found, rest[-1:]  # type: ignore[index]
    return found, rest[max(top.size - bottom.size + 1, 0) :]  # type: ignore[index]


@implements(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """Return the coefficients of the polynomial with the given zeros.

    Parameters
    ----------
    seq_of_zeros : array_like
        A vector; outside tracing also a square matrix, for its characteristic polynomial.

    Returns
    -------
    Array
        Longer by one, and of floats; complex for complex zeros, also where they come in conjugate pairs, while tracing.

    Raises
    ------
    ValueError
        If it is a matrix, while tracing.

    Examples
    --------
    >>> poly([1, 2])
    Array([ 1., -3.,  2.])
    """
    zeros = line_of(seq_of_zeros)
    if zeros.ndim != 1:
        raise ValueError("input must be 1d sequence of zeros while tracing")
    if zeros.size == 0:
        return full_of(1, (), np.float64)
    keeps = zeros.dtype.kind in "fcV" and zeros.dtype != np.float16  # NumPy computes in float64 then
    wanted = zeros.dtype if keeps else np.dtype(np.float64)
    line = full_of(1, (1,), wanted)
    one = full_of(1, (1,), wanted)
    for k in range(zeros.size):
        factor = concatenate([one, reshape_to(ufuncs.negative(convert(zeros[k], wanted)), (1,))], 0)  # type: ignore[index]
        line = sliding_products.convolve(line, factor)
    return line
