"""NumPy's functions that solve equations or sum up matrices: solve, inv, det, lstsq, pinv, cond, matrix_rank, ...

Traced, a singular matrix gives NaN or infinities; outside tracing NumPy raises `LinAlgError`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy import axis_order, elementwise, reductions
from numhlo.library.numpy.linalg import norms
from numhlo.library.numpy.linalg.factoring import as_matrices, determinant_by_rows, inexact
from numhlo.library.numpy.linalg.pseudo_inverses import above, pseudo_inverse
from numhlo.library.numpy.reductions import NO_VALUE
from numhlo.library.numpy.searching import where
from numhlo.tracer.building import (
    as_traced,
    asarray,
    broadcast_shapes,
    broadcast_to_shape,
    convert,
    full_of,
    implements,
    reshape_to,
    shape_of,
)
from numhlo.tracer.building import matrices as m
from numhlo.tracer.building import operations as b

__all__ = ["cond", "det", "inv", "lstsq", "matrix_rank", "pinv", "slogdet", "solve", "tensorinv", "tensorsolve"]

_SQUARE = """
Parameters
----------
a : (..., n, n) array_like

Raises
------
numpy.linalg.LinAlgError
    If ``a`` is not square.
"""

BY_ROWS = 3
"""Rows up to which a determinant is a sum of products, which is quick on stacks and smooth where it is zero."""

SlogdetResult: Any = type(np.linalg.slogdet(np.eye(1)))


@implements(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    """Return x with ``a @ x = b``.

    Parameters
    ----------
    a : (..., n, n) array_like
    b : (n,) or (..., n, k) array_like

    Returns
    -------
    Array
        Of the shape of ``b``, whose leading axes broadcast with those of ``a``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``a`` is not square; outside tracing also if it is singular.
    ValueError
        If there are not as many right-hand sides as equations.

    Notes
    -----
    By LU factorization with partial pivoting: LAPACK's ``gesv``.

    Examples
    --------
    >>> solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 8.0])
    Array([1., 2.])
    """
    left, right = inexact(a, b)
    (left,) = as_matrices(left, square=True)
    is_vector = right.ndim == 1
    columns = as_traced(m.column_of(right)) if is_vector else as_matrices(right)[0]
    if left.shape[-1] != columns.shape[-2]:
        raise ValueError(
            f"solve: mismatch in core dimension 0: {left.shape[-1]} equations, {columns.shape[-2]} right-hand sides"
        )
    batch = broadcast_shapes(left.shape[:-2], columns.shape[:-2], name="solve")
    left = broadcast_to_shape(left, (*batch, *left.shape[-2:]))
    columns = broadcast_to_shape(columns, (*batch, *columns.shape[-2:]))
    (result,) = m.factor("solve", left, columns)
    return reshape_to(result, shape_of(result)[:-1]) if is_vector else result


@implements(np.linalg.inv)
def inv(a: Any) -> Any:
    """Return the inverse of square matrices.

    Parameters
    ----------
    a : (..., n, n) array_like

    Returns
    -------
    Array
        Of that shape.

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``a`` is not square; outside tracing also if it is singular.

    Examples
    --------
    >>> inv([[2.0, 0.0], [0.0, 4.0]])
    Array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    (array,) = as_matrices(a, square=True)
    return m.factor("solve", array, m.identity_like(array))[0]


@implements(np.linalg.det)
@described(_SQUARE)
def det(a: Any) -> Any:
    """Return the determinant of square matrices.

    Returns
    -------
    Array
        Of shape ``(...)``; 1 for ``n == 0``.

    Examples
    --------
    >>> round(float(det([[1.0, 2.0], [3.0, 4.0]])), 6)
    -2.0
    """
    (array,) = as_matrices(a, square=True)
    return determinant_by_rows(array) if array.shape[-1] <= BY_ROWS else m.factor("det", array)[0]


@implements(np.linalg.slogdet)
@described(_SQUARE)
def slogdet(a: Any) -> Any:
    """Return the determinant's sign (or phase) and the logarithm of its absolute value.

    Returns
    -------
    SlogdetResult
        Of shapes ``(...)``, the logarithm real; 0 and negative infinity for a singular matrix.

    Examples
    --------
    >>> slogdet(np.diag([2.0, -3.0])).sign
    Array(-1.)
    """
    (array,) = as_matrices(a, square=True)
    return SlogdetResult(*m.factor("slogdet", array))


@implements(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """Return the least-squares solution, the sums of squared residuals, the rank, and singular values.

    Parameters
    ----------
    a : (m, n) array_like
    b : (m,) or (m, k) array_like
    rcond : float, optional
        Singular values below this part of the greatest count as zero; machine precision times ``max(m, n)`` by default.

    Returns
    -------
    tuple of four Arrays
        The solution has the shape ``(n,)`` or ``(n, k)``, and the least norm where there are several.

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``a`` is no matrix, or there are not as many right-hand sides as rows.

    Notes
    -----
    Whether NumPy returns residuals depends on the rank; traced, they are there whenever ``m > n``.

    Examples
    --------
    >>> lstsq(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0]))[0].round(6)
    Array([1., 2.])
    """
    left, right = inexact(a, b)
    if left.ndim != 2:
        raise np.linalg.LinAlgError(f"{left.ndim}-dimensional array given. Array must be two-dimensional")
    is_vector = right.ndim == 1
    if right.ndim not in (1, 2):
        raise np.linalg.LinAlgError(f"{right.ndim}-dimensional array given. Array must be two-dimensional")
    columns = as_traced(m.column_of(right)) if is_vector else right
    rows, width = left.shape
    if columns.shape[0] != rows:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    u, s, vh = (as_traced(x) for x in m.factor("svd", left, full=False))
    eps = float(np.finfo(left.dtype).eps)
    factor = eps * max(rows, width) if rcond is None else eps if type(rcond) in (int, float) and rcond < 0 else rcond
    kept = above(s, factor)
    safe = where(kept, s, 1)
    weights = where(kept, elementwise.divide(1, safe), 0)
    scaled = elementwise.multiply(m.column_of(convert(weights, left.dtype)), m.product(m.adjoint(u), columns))
    x = m.product(m.adjoint(vh), scaled)
    rest = as_traced(elementwise.subtract(columns, m.product(left, x)))
    squares = reductions.sum(norms.squares(rest), 0) if rows > width else full_of(0, (0,), s.dtype)
    rank = reductions.sum(kept, dtype=np.int32)
    return (reshape_to(x, shape_of(x)[:1]) if is_vector else x), squares, rank, s


@implements(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NO_VALUE) -> Any:
    """Return the Moore-Penrose inverse, from singular values above a part of the greatest one.

    Parameters
    ----------
    a : (..., m, n) array_like
    rcond : float or (...) array_like, optional
        Singular values below this part of the greatest count as zero; 1e-15 by default.
    hermitian : bool, optional
        Accepted: the result is the same, found from eigenvalues by NumPy.
    rtol : float or (...) array_like, optional
        Another name of ``rcond``; None for machine precision times ``max(m, n)``.

    Returns
    -------
    Array
        Of shape ``(..., n, m)``.

    Raises
    ------
    ValueError
        If both are given.

    Examples
    --------
    >>> pinv(np.array([[2.0], [0.0]]))
    Array([[0.5, 0. ]])
    """
    (array,) = as_matrices(a, square=hermitian)
    rows, columns = array.shape[-2:]
    if rcond is None:
        part = 1e-15 if rtol is NO_VALUE else rtol
        rcond = max(rows, columns) * float(np.finfo(array.dtype).eps) if part is None else part
    elif rtol is not NO_VALUE:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if array.size == 0:
        return full_of(0, (*array.shape[:-2], columns, rows), asarray(a).dtype)
    return pseudo_inverse(array, rcond)


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """Return how many singular values are above a tolerance.

    Parameters
    ----------
    A : (..., m, n) array_like
        A vector has rank 1, but for zeros.
    tol : float or (...) array_like, optional
        Absolute.
    hermitian : bool, optional
        Accepted: the result is the same, found from eigenvalues by NumPy.
    rtol : float or (...) array_like, optional
        In parts of the greatest singular value; machine precision times ``max(m, n)`` by default.

    Returns
    -------
    Array
        Of int64 and shape ``(...)``.

    Raises
    ------
    ValueError
        If both tolerances are given.

    Examples
    --------
    >>> int(matrix_rank(np.ones((3, 3))))
    1
    """
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    (array,) = inexact(A)
    if array.ndim < 2:
        return convert(elementwise.logical_not(reductions.all(elementwise.equal(array, 0))), np.int64)
    s = m.factor("svdvals", array)[0]
    if tol is None:
        eps = max(array.shape[-2:]) * float(np.finfo(array.dtype).eps)
        return reductions.sum(above(s, eps if rtol is None else _last(rtol)), -1)
    return reductions.sum(elementwise.greater(s, _last(tol)), -1)


def _last(x: Any) -> Any:
    """Return an array that broadcasts against singular values."""
    array = asarray(x)
    return m.column_of(array) if shape_of(array) else array


@implements(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    """Return the condition number in a norm, the ratio of singular values by default.

    Parameters
    ----------
    x : (..., m, n) array_like
        Square but for the default, 2 and -2.
    p : number or "fro" or "nuc", optional
        As ``ord`` of `norm`.

    Returns
    -------
    Array
        Real; infinite for a singular matrix, NaN where one has NaN.

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``x`` is empty, or must be square and is not.

    Examples
    --------
    >>> cond(np.diag([4.0, 2.0]))
    Array(2.)
    """
    (array,) = as_matrices(x)
    if 0 in array.shape[-2:]:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = m.factor("svdvals", array)[0]
        ratio = elementwise.divide(s[..., -1], s[..., 0]) if p == -2 else elementwise.divide(s[..., 0], s[..., -1])
    else:
        (array,) = as_matrices(array, square=True)
        inverse = as_traced(inv(array))
        ratio = elementwise.multiply(norms.norm(array, p, (-2, -1)), norms.norm(inverse, p, (-2, -1)))
    holes = reductions.any(elementwise.isnan(array), (-2, -1))
    broken = elementwise.logical_and(elementwise.isnan(ratio), elementwise.logical_not(holes))
    return where(broken, b.constant(math.inf, as_traced(asarray(ratio))), ratio)


@implements(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """Return x with ``tensordot(a, x, x.ndim) = b``.

    Parameters
    ----------
    a, b : array_like
        ``prod(a.shape[b.ndim:])`` equals the size of ``b``.
    axes : sequence of int, optional
        Of ``a``, moved to its end before.

    Returns
    -------
    Array
        Of shape ``a.shape[b.ndim:]``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the shapes do not fit.

    Examples
    --------
    >>> tensorsolve(np.eye(6).reshape(2, 3, 6) * 2, np.ones((2, 3)))
    Array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    """
    left, right = inexact(a, b)
    if axes is not None:
        order = [k for k in range(left.ndim) if k not in axes]
        left = as_traced(axis_order.transpose(left, (*order, *axes)))
    unknown = left.shape[right.ndim - left.ndim :] if left.ndim > right.ndim else ()
    count = math.prod(unknown)
    if left.size != count**2 or right.size != count:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    flat = as_traced(solve(reshape_to(left, (count, count)), reshape_to(right, (count,))))
    return reshape_to(flat, unknown)


@implements(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Any:
    """Return the inverse of ``tensordot(a, ., ind)``.

    Parameters
    ----------
    a : array_like
        ``prod(a.shape[:ind])`` equals the product of the other extents.
    ind : int, optional
        Positive.

    Returns
    -------
    Array
        Of shape ``(*a.shape[ind:], *a.shape[:ind])``.

    Raises
    ------
    ValueError
        If ``ind`` is not positive.
    numpy.linalg.LinAlgError
        If the products differ.

    Examples
    --------
    >>> tensorinv(np.eye(6).reshape(6, 2, 3), 1).shape
    (2, 3, 6)
    """
    (array,) = inexact(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = array.shape
    rows = math.prod(shape[:ind])
    square = inv(reshape_to(array, (rows, array.size // rows if rows else 0)))
    return reshape_to(square, (*shape[ind:], *shape[:ind]))
