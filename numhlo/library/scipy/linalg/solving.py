"""SciPy's solutions of linear equations, with SciPy's signatures: by kept factors, of triangular matrices, inverses.

They run outside tracing too, on NumPy's and SciPy's LAPACK. Options that only save memory or check inputs
(``overwrite_a``, ``check_finite``) are accepted and ignored.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.lax.pivoting import permutation_of
from numhlo.library.numpy import elementwise
from numhlo.library.numpy.linalg import solving
from numhlo.library.numpy.linalg.factoring import as_matrices, inexact
from numhlo.library.numpy.searching import where
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.building import (
    as_traced,
    asarray,
    broadcast_shapes,
    broadcast_to_shape,
    convert,
    reshape_to,
    runs_anywhere,
    shape_of,
)
from numhlo.tracer.building import matrices as m
from numhlo.tracer.building import operations as b

__all__ = [
    "cho_factor",
    "cho_solve",
    "cholesky",
    "det",
    "inv",
    "lu",
    "lu_factor",
    "lu_solve",
    "solve",
    "solve_triangular",
]


TURNS: dict[Any, str] = {
    0: "NO_TRANSPOSE",
    "N": "NO_TRANSPOSE",
    1: "TRANSPOSE",
    "T": "TRANSPOSE",
    2: "ADJOINT",
    "C": "ADJOINT",
}


def _turn(trans: Any) -> str:
    if trans not in TURNS:
        raise ValueError(f"trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    return TURNS[trans]


def _right_sides(a: Any, right: Any) -> tuple[Any, Any, bool]:
    """Return a matrix and right-hand sides of one dtype and batch, and whether those were vectors."""
    left, sides = inexact(a, right)
    (left,) = as_matrices(left, square=True)
    is_vector = sides.ndim == 1
    columns = as_traced(m.column_of(sides)) if is_vector else sides
    if left.shape[-1] != columns.shape[-2]:
        raise ValueError(f"Shapes of a {left.shape} and b {sides.shape} are incompatible")
    batch = broadcast_shapes(left.shape[:-2], columns.shape[:-2], name="solve")
    left = broadcast_to_shape(left, (*batch, *left.shape[-2:]))
    return left, broadcast_to_shape(columns, (*batch, *columns.shape[-2:])), is_vector


def _as_given(x: Any, is_vector: bool) -> Any:
    return reshape_to(x, shape_of(x)[:-1]) if is_vector else x


@runs_anywhere
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Return the triangular factor: ``U^H U = a``, or ``L L^H = a``.

    Parameters
    ----------
    a : (..., n, n) array_like
        Hermitian and positive definite; one triangle is read. Matrices that are not give NaN.
    lower : bool, optional
        L instead of U.
    overwrite_a, check_finite : optional
        Ignored, here as in all functions of this module.

    Returns
    -------
    Array
        With zeros in the other triangle.

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``a`` is not square.

    Examples
    --------
    >>> cholesky([[4.0, 2.0], [2.0, 5.0]])
    Array([[2., 1.],
           [0., 2.]])
    """
    (array,) = as_matrices(a, square=True)
    return m.cholesky(array, bool(lower))


@runs_anywhere
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Return the Cholesky factor and whether it is the lower one, for `cho_solve`.

    Parameters
    ----------
    a, lower, overwrite_a, check_finite : optional
        As those of `cholesky`.

    Returns
    -------
    tuple of Array and bool

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``a`` is not square.

    Examples
    --------
    >>> cho_solve(cho_factor([[4.0, 0.0], [0.0, 5.0]]), [4.0, 10.0])
    Array([1., 2.])
    """
    (array,) = as_matrices(a, square=True)
    return m.cholesky(array, bool(lower)), bool(lower)


@runs_anywhere
def cho_solve(c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """Return x with ``a x = b``, given the result of `cho_factor`.

    Parameters
    ----------
    c_and_lower : tuple of array_like and bool
    b : (n,) or (..., n, k) array_like
    overwrite_b, check_finite : optional

    Returns
    -------
    Array
        Of the shape of ``b``, whose leading axes broadcast.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> cho_solve((np.eye(2), True), [4.0, 10.0])
    Array([ 4., 10.])
    """
    factor, lower = c_and_lower
    left, right, is_vector = _right_sides(factor, b)
    turns = ("NO_TRANSPOSE", "ADJOINT") if lower else ("ADJOINT", "NO_TRANSPOSE")
    for turn in turns:
        right = m.substitute(left, right, lower=bool(lower), transpose_a=turn)
    return _as_given(right, is_vector)


@runs_anywhere
def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """Return x with ``op(a) x = b`` for a triangular matrix; ``op`` transposes where ``trans`` says so.

    Parameters
    ----------
    a : (..., n, n) array_like
        The other triangle is not read.
    b : (n,) or (..., n, k) array_like
    trans : {0, 1, 2, "N", "T", "C"}, optional
        As it is, transposed, or transposed and conjugated.
    lower : bool, optional
    unit_diagonal : bool, optional
        Take the diagonal for ones, whatever it holds.
    overwrite_b, check_finite : optional

    Returns
    -------
    Array
        Of the shape of ``b``; infinite or NaN where ``a`` is singular.

    Raises
    ------
    ValueError
        If ``trans`` is another, or the shapes do not fit.

    Notes
    -----
    StableHLO specification, section ``triangular_solve``.

    Examples
    --------
    >>> solve_triangular([[2.0, 0.0], [0.0, 4.0]], [2.0, 8.0])
    Array([1., 2.])
    """
    turn = _turn(trans)
    left, right, is_vector = _right_sides(a, b)
    options: Any = {"lower": bool(lower), "unit_diagonal": bool(unit_diagonal), "transpose_a": turn}
    return _as_given(m.substitute(left, right, **options), is_vector)


@runs_anywhere
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Return both triangular factors in one matrix, and the rows that were exchanged, for `lu_solve`.

    Parameters
    ----------
    a : (..., m, n) array_like
    overwrite_a, check_finite : optional

    Returns
    -------
    tuple of two Arrays
        Of shapes ``(..., m, n)`` and ``(..., min(m, n))``; the second of int32.

    Examples
    --------
    >>> lu_factor([[1.0, 2.0], [2.0, 2.0]])[1]
    Array([1, 1], dtype=int32)
    """
    (array,) = as_matrices(a)
    packed, pivots, _ = m.factor("lu", array)
    return packed, pivots


@runs_anywhere
def lu_solve(
    lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """Return x with ``op(a) x = b``, given the result of `lu_factor`.

    Parameters
    ----------
    lu_and_piv : tuple of two array_like
    b : (n,) or (..., n, k) array_like
    trans : {0, 1, 2}, optional
        As that of `solve_triangular`.
    overwrite_b, check_finite : optional

    Returns
    -------
    Array
        Of the shape of ``b``.

    Raises
    ------
    ValueError
        If ``trans`` is another, or the shapes do not fit.

    Examples
    --------
    >>> lu_solve(lu_factor([[0.0, 2.0], [4.0, 0.0]]), [2.0, 4.0])
    Array([1., 1.])
    """
    turn = _turn(trans)
    packed, right, is_vector = _right_sides(lu_and_piv[0], b)
    pivots = asarray(lu_and_piv[1])
    batch = shape_of(packed)[:-2]
    pivots = broadcast_to_shape(convert(pivots, np.int32), (*batch, shape_of(packed)[-1]))
    permutation = permutation_of(pivots, shape_of(packed)[-1])
    if turn == "NO_TRANSPOSE":
        right = m.permuted_rows(right, permutation)
        right = m.substitute(packed, right, unit_diagonal=True)
        return _as_given(m.substitute(packed, right, lower=False), is_vector)
    right = m.substitute(packed, right, lower=False, transpose_a=turn)
    right = m.substitute(packed, right, unit_diagonal=True, transpose_a=turn)
    return _as_given(m.permuted_rows(right, m.inverse_permutation(permutation)), is_vector)


@runs_anywhere
def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True, p_indices: bool = False
) -> Any:
    """Return ``P, L, U`` with ``a = P L U``; ``P L`` and U with ``permute_l``; P as indices with ``p_indices``.

    Parameters
    ----------
    a : (..., m, n) array_like
    permute_l, p_indices : bool, optional
    overwrite_a, check_finite : optional

    Returns
    -------
    tuple of two or three Arrays
        L of shape ``(..., m, k)`` and U of shape ``(..., k, n)`` with ``k = min(m, n)``.

    Examples
    --------
    >>> lu([[1.0, 2.0], [2.0, 2.0]])[2]
    Array([[2., 2.],
           [0., 1.]])
    """
    (array,) = as_matrices(a)
    packed, _, permutation = m.factor("lu", array)
    rows, columns = array.shape[-2:]
    few = slice(min(rows, columns))
    lower = m.triangle(m.part(packed, slice(None), few), "GT")
    lower = b.select(m.mask(shape_of(lower), "EQ"), b.constant(1, lower), lower)
    upper = m.triangle(m.part(packed, few, slice(None)), "LE")
    inverse = m.inverse_permutation(permutation)
    if permute_l:
        return m.permuted_rows(lower, inverse), upper
    if p_indices:
        return inverse, lower, upper
    numbers = b.iota_along((*array.shape[:-2], rows, rows), array.ndim - 1, np.int32)
    places = b.equal(broadcast_to_shape(m.column_of(inverse), shape_of(numbers)), numbers)
    real = np.dtype(f"f{array.dtype.itemsize // 2}") if array.dtype.kind == "c" else array.dtype
    return convert(places, real), lower, upper


@runs_anywhere
def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Return the inverse.

    Parameters
    ----------
    a : (..., n, n) array_like
    overwrite_a, check_finite : optional

    Returns
    -------
    Array
        A singular matrix gives infinities or NaN, and the determinant 0.

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``a`` is not square.

    Examples
    --------
    >>> inv([[2.0, 0.0], [0.0, 4.0]])
    Array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return solving.inv(a)


@runs_anywhere
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Return the determinant.

    Parameters
    ----------
    a : (..., n, n) array_like
    overwrite_a, check_finite : optional

    Returns
    -------
    Array
        A singular matrix gives infinities or NaN, and the determinant 0.

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``a`` is not square.

    Examples
    --------
    >>> det([[2.0, 0.0], [0.0, 4.0]])
    Array(8.)
    """
    return solving.det(a)


@runs_anywhere
def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: str | None = None,
    transposed: bool = False,
) -> Any:
    """Return x with ``a x = b``; positive definite matrices (``assume_a="pos"``) by their Cholesky factor.

    Parameters
    ----------
    a : (..., n, n) array_like
    b : (n,) or (..., n, k) array_like
    lower : bool, optional
        Which triangle is read, where ``assume_a`` says that one is enough.
    overwrite_a, overwrite_b, check_finite : optional
    assume_a : str, optional
        "gen", "pos", "sym" or "her", or in full words.
    transposed : bool, optional
        Solve for the transposed matrix.

    Returns
    -------
    Array
        Of the shape of ``b``; infinite or NaN where ``a`` is singular.

    Raises
    ------
    UnsupportedError
        If ``assume_a`` is another: "diagonal", "tridiagonal", "banded" and so on.
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 8.0])
    Array([1., 2.])
    """
    left, right, is_vector = _right_sides(a, b)
    if assume_a in ("pos", "positive definite"):
        factor = m.cholesky(left, bool(lower))
        turns = ("NO_TRANSPOSE", "ADJOINT") if lower else ("ADJOINT", "NO_TRANSPOSE")
        for turn in turns:
            right = m.substitute(factor, right, lower=bool(lower), transpose_a=turn)
        return _as_given(right, is_vector)
    if assume_a not in (None, "gen", "general", "sym", "symmetric", "her", "hermitian"):
        raise UnsupportedError(
            f"scipy.linalg.solve(assume_a={assume_a!r})",
            where=capture_location(),
            fix='use "gen", "pos", or solve_triangular',
        )
    if assume_a in ("sym", "symmetric", "her", "hermitian"):
        half = m.triangle(left, "GE" if lower else "LE")
        other = m.transpose(half) if assume_a.startswith("sym") else m.adjoint(half)
        left = where(m.mask(shape_of(half), "EQ"), half, elementwise.add(half, other))
    left = m.transpose(left) if transposed else left
    return _as_given(m.factor("solve", left, right)[0], is_vector)
