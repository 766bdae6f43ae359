"""Polynomials by linear algebra: fits by least squares, and roots as eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import reductions
from numhlo.library.numpy.axis_order import matrix_transpose
from numhlo.library.numpy.cumulative import cumprod
from numhlo.library.numpy.joining import concatenate
from numhlo.library.numpy.linalg import solving
from numhlo.library.numpy.linalg.factoring import eigvals
from numhlo.library.numpy.linalg.matrix_products import matmul
from numhlo.library.numpy.polynomial.coefficients import line_of
from numhlo.library.numpy.rearranging import roll
from numhlo.library.numpy.sorting import sort_together
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DataDependentShapeError
from numhlo.tracer.building import (
    as_traced,
    asarray,
    convert,
    expand,
    full_of,
    implements,
    result_dtype,
    runs_anywhere,
    shape_of,
    spelling,
)
from numhlo.tracer.building import operations as b

__all__ = ["polyfit", "roots"]


def _float(x: Any) -> Any:
    array = as_traced(asarray(x))
    return array if array.dtype.kind in "fcV" else as_traced(convert(array, np.float64))


def _column(x: Any, like: Any) -> Any:
    """Return a vector with axes added so that it multiplies the rows of ``like``."""
    return expand(x, *range(1, len(shape_of(like))))


@implements(np.polyfit)
def polyfit(
    x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None, cov: bool | str = False
) -> Any:
    """Return the polynomial of a degree that fits points best, in least squares; the highest power first.

    Parameters
    ----------
    x : array_like, shape (m,)
    y : array_like, shape (m,) or (m, k)
    deg : int
    rcond : float, optional
        Singular values below this share of the greatest are taken for 0.
    full : bool, optional
        Return residuals, rank, singular values and ``rcond`` too.
    w : array_like, shape (m,), optional
        Weights of the points' distances.
    cov : bool or "unscaled", optional
        Return the coefficients' covariance too.

    Returns
    -------
    array, shape (deg + 1,) or (deg + 1, k)

    Raises
    ------
    TypeError
        If the operands' shapes do not fit.
    ValueError
        If ``deg`` is negative, or there are too few points for a covariance.

    Notes
    -----
    While tracing no warning is given for points of too low rank, and residuals are always returned.

    Examples
    --------
    >>> [round(float(c), 6) for c in polyfit([0.0, 1.0, 2.0], [1.0, 4.0, 11.0], 2)]
    [2.0, 1.0, 1.0]
    """
    if deg < 0:
        raise ValueError("expected deg >= 0")
    points, values = _float(x), _float(y)
    if points.ndim != 1 or points.size == 0:
        raise TypeError("expected non-empty vector for x" if points.ndim == 1 else "expected 1D vector for x")
    if values.ndim not in (1, 2) or values.shape[0] != points.size:
        raise TypeError(
            "expected x and y to have same length" if values.ndim in (1, 2) else "expected 1D or 2D array for y"
        )
    cutoff = points.size * float(b.finfo(points.dtype).eps) if rcond is None else rcond
    # powers from the highest to 0, as products, whose derivatives are finite at 0
    columns = [full_of(1, points.shape, points.dtype)]
    for _ in range(deg):
        columns.append(ufuncs.multiply(columns[-1], points))
    matrix = concatenate([expand(c, 1) for c in columns[::-1]], 1)
    if w is not None:
        weights = _float(w)
        if weights.ndim != 1 or weights.size != points.size:
            raise TypeError("expected a 1-d array for weights, of the length of x")
        matrix = ufuncs.multiply(matrix, _column(weights, matrix))
        values = as_traced(ufuncs.multiply(values, _column(weights, values)))
    scale = ufuncs.sqrt(reductions.sum(ufuncs.square(matrix), 0))
    matrix = ufuncs.divide(matrix, scale)
    found, residuals, rank, singular = solving.lstsq(matrix, values, cutoff)
    found = ufuncs.divide(found, _column(scale, found))
    if full:
        return found, residuals, rank, singular, cutoff
    if not cov:
        return found
    return found, _covariance(matrix, scale, residuals, cov, values.ndim)


def _covariance(matrix: Any, scale: Any, residuals: Any, cov: bool | str, ndim: int) -> Any:
    count, order = shape_of(matrix)
    base = solving.inv(matmul(matrix_transpose(matrix), matrix))
    base = ufuncs.divide(base, ufuncs.multiply(expand(scale, 1), expand(scale, 0)))
    if cov != "unscaled":
        if count <= order:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = ufuncs.divide(residuals, float(count - order))
        return ufuncs.multiply(base, factor) if ndim == 1 else ufuncs.multiply(expand(base, 2), factor)
    return base if ndim == 1 else expand(base, 2)


def _eager_roots(p: Any, *, strip_zeros: bool = True) -> Any:
    return np.roots(p) if strip_zeros else _all_roots(p)


@implements(np.roots, eager=_eager_roots)
def roots(p: Any, *, strip_zeros: bool = True) -> Any:
    """Return the zeros of a polynomial, given by its coefficients, the highest power first.

    Parameters
    ----------
    p : array_like, shape (n,)
    strip_zeros : bool, optional
        Whether leading zeros are left out, so that there are fewer roots; while tracing, they can't. Otherwise there
        are always ``n - 1``, and as many NaN at the end as there were leading zeros.

    Returns
    -------
    array of complex, shape (n - 1,)

    Raises
    ------
    DataDependentShapeError
        While tracing, unless ``strip_zeros=False``.

    Examples
    --------
    >>> import numhlo.numpy  # gives traced arrays their operators
    >>> roots([1.0, -3.0, 2.0])
    Array([2., 1.])
    >>> roots([0.0, 1.0, -3.0], strip_zeros=False)
    Array([ 3. +0.j, nan+nanj])
    """
    if strip_zeros:
        known = as_traced(asarray(p)).concrete
        if known is None:
            raise DataDependentShapeError(
                f"roots of a traced array {spelling(asarray(p))}",
                where=capture_location(),
                why="leading zeros make roots fewer",
                fix="write numhlo.numpy.roots(p, strip_zeros=False), which has NaN for those that are missing",
            )
        return asarray(np.roots(known))
    return _all_roots(p)


@runs_anywhere
def _all_roots(p: Any) -> Any:
    """Return roots as eigenvalues of the companion matrix, NaN for leading zeros."""
    line = line_of(_float(p))
    if line.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    wanted = result_dtype(line, np.complex64(0))
    if line.size < 2:
        return full_of(0, (0,), wanted)
    size = line.size - 1
    zero = ufuncs.equal(line, 0)
    leading = reductions.sum(cumprod(convert(zero, np.int64)))
    safe = ufuncs.add(line, convert(ufuncs.greater(leading, size), line.dtype))  # all zero: any numbers will do
    moved = as_traced(roll(safe, ufuncs.negative(leading)))
    top = ufuncs.negative(ufuncs.divide(moved[1:], moved[:1]))  # type: ignore[index]
    below = np.eye(size - 1, size).astype(line.dtype)
    matrix = concatenate([expand(top, 0), below], 0)
    found = convert(eigvals(matrix), wanted)
    # roots at zero, of trailing zeros and of the leading ones moved there, last
    _, ordered = sort_together([ufuncs.equal(found, 0), found], 0)
    count = ufuncs.subtract(size, leading)
    kept = ufuncs.less(np.arange(size), count)
    return b.select(kept, ordered, full_of(complex(np.nan, np.nan), (size,), wanted))
