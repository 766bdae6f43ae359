"""SciPy's linear algebra with SciPy's signatures: kept factors, matrix functions, special matrices.

They run outside tracing too, on NumPy's and SciPy's LAPACK. Options that only save memory or check inputs
(``overwrite_a``, ``check_finite``) are accepted and ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace import elementwise, factoring, reductions, solving
from numhlo.tracer.namespace import matrices as m
from numhlo.tracer.namespace.core import (
    asarray,
    broadcast_shapes,
    broadcast_to_shape,
    convert,
    reshape_to,
    result_dtype,
    shape_of,
)
from numhlo.tracer.namespace.eager import runs_anywhere
from numhlo.tracer.namespace.factoring import as_matrices, inexact
from numhlo.tracer.namespace.index_items import as_traced
from numhlo.tracer.namespace.joining import concatenate_arrays
from numhlo.tracer.namespace.searching import where
from numhlo.tracer.pivoting import permutation_of

__all__ = [
    "block_diag", "cho_factor", "cho_solve", "cholesky", "det", "eigh", "eigh_tridiagonal", "expm", "inv", "lu",
    "lu_factor", "lu_solve", "qr", "schur", "solve", "solve_triangular", "svd", "toeplitz",
]  # fmt: skip

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


@runs_anywhere
def eigh(a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False, **options: Any) -> Any:
    """Return eigenvalues in ascending order and eigenvectors of Hermitian matrices, or eigenvalues alone.

    Examples
    --------
    >>> eigh([[0.0, 2.0], [2.0, 0.0]], eigvals_only=True)
    Array([-2.,  2.])
    """
    unknown = {k: v for k, v in options.items() if k not in ("overwrite_a", "overwrite_b", "check_finite", "driver")}
    if b is not None or unknown:
        raise UnsupportedError(
            f"scipy.linalg.eigh with {'b' if b is not None else ', '.join(unknown)}",
            where=capture_location(),
            fix="factor b by cholesky and transform the matrix, or slice the result",
        )
    if eigvals_only:
        return factoring.eigvalsh(a, "L" if lower else "U")
    return tuple(factoring.eigh(a, "L" if lower else "U"))


@runs_anywhere
def eigh_tridiagonal(d: Any, e: Any, eigvals_only: bool = False) -> Any:
    """Return eigenvalues and eigenvectors of a symmetric tridiagonal matrix, given its diagonals.

    Examples
    --------
    >>> eigh_tridiagonal([0.0, 0.0], [2.0], eigvals_only=True)
    Array([-2.,  2.])
    """
    middle, beside = inexact(d, e)
    n = middle.shape[-1]
    full = b.select(m.mask((n, n), "EQ"), broadcast_to_shape(middle, (n, n)), b.constant(0, _square(middle, n)))
    if n > 1:
        wide = as_traced(concatenate_arrays([beside, b.constant(0, middle[:1])], 0))
        full = b.select(m.mask((n, n), "EQ", -1), broadcast_to_shape(wide, (n, n)), full)
    if eigvals_only:
        return factoring.eigvalsh(full)
    return tuple(factoring.eigh(full))


def _square(x: Any, n: int) -> Any:
    return broadcast_to_shape(x, (n, n))


@runs_anywhere
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """Return ``U, s, Vh`` with ``a = U diag(s) Vh``, or s alone.

    Examples
    --------
    >>> svd([[3.0, 0.0], [0.0, 4.0]], compute_uv=False)
    Array([4., 3.])
    """
    result = factoring.svd(a, full_matrices, compute_uv)
    return tuple(result) if compute_uv else result


@runs_anywhere
def qr(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    """Return ``Q, R``, or R alone in a tuple for mode "r"; "economic" leaves out what R does not meet.

    Examples
    --------
    >>> qr([[3.0], [4.0]], mode="r")[0].shape
    (2, 1)
    """
    if mode not in ("full", "r", "economic"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic'] here")
    if pivoting:
        raise UnsupportedError("scipy.linalg.qr(pivoting=True)", where=capture_location(), fix="use svd for the rank")
    (array,) = as_matrices(a)
    q, r = m.factor("qr", array, full=mode != "economic")
    return (r,) if mode == "r" else (q, r)


@runs_anywhere
def schur(a: Any, output: str = "real") -> Any:
    """Return ``T, Z`` with ``a = Z T Z^H``: T is triangular, of real matrices with blocks of two unless "complex".

    Examples
    --------
    >>> schur([[2.0, 1.0], [0.0, 3.0]])[0]
    Array([[2., 1.],
           [0., 3.]])
    """
    if output not in ("real", "complex"):
        raise ValueError(f"Expected 'output' to be either 'real' or 'complex', got {output=}.")
    (array,) = as_matrices(a, square=True)
    if output == "complex" and array.dtype.kind != "c":
        array = convert(array, np.dtype(f"c{2 * array.dtype.itemsize}"))
    form, vectors = m.factor("schur", array)
    return form, vectors


PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
"""Coefficients of the (13, 13) Padé approximant of exp."""

LARGEST_NORM = {"float64": 5.371920351148152, "float32": 3.925724783138660}
"""1-norm up to which the approximant is accurate: Higham, "The scaling and squaring method", 2005, table 2.3."""

MOST_SQUARINGS = 16


@runs_anywhere
def expm(A: Any) -> Any:
    """Return the exponential of square matrices, by scaling, a Padé approximant, and squaring.

    Examples
    --------
    >>> expm(np.zeros((2, 2)))
    Array([[1., 0.],
           [0., 1.]])

    Notes
    -----
    Matrices of a 1-norm beyond ``5 * 2**16``, whose exponential overflows for nearly all of them, give NaN.
    """
    (x,) = as_matrices(A, square=True)
    if x.size == 0:
        return x
    real = np.dtype(f"f{x.dtype.itemsize // 2}") if x.dtype.kind == "c" else x.dtype
    size = reductions.max(reductions.sum(elementwise.absolute(x), -2), -1)
    needed = elementwise.ceil(elementwise.log2(elementwise.divide(size, LARGEST_NORM[real.name])))
    squarings = elementwise.maximum(needed, 0)
    scale = m.column_of(m.column_of(elementwise.exp2(elementwise.negative(squarings))))
    result = _pade(as_traced(elementwise.multiply(x, convert(scale, x.dtype))))
    turns = broadcast_to_shape(m.column_of(m.column_of(squarings)), shape_of(x))
    for k in range(MOST_SQUARINGS):
        result = b.select(b.greater(turns, k), m.product(result, result), result)
    return b.select(b.greater(turns, MOST_SQUARINGS), b.constant(np.nan, result), result)


def _pade(x: Any) -> Any:
    """Return ``(V - U)^-1 (V + U)``, U the odd and V the even powers."""
    one = m.identity_like(x)
    x2 = m.product(x, x)
    x4 = m.product(x2, x2)
    x6 = m.product(x4, x2)

    def combined(coefficients: Sequence[float], *powers: Any) -> Any:
        total = b.multiply(powers[0], coefficients[0])
        for coefficient, power in zip(coefficients[1:], powers[1:], strict=True):
            total = b.add(total, b.multiply(power, coefficient))
        return total

    p = PADE
    high = m.product(x6, combined(p[9::2], x2, x4, x6))
    odd = m.product(x, b.add(high, combined(p[1:9:2], one, x2, x4, x6)))
    even = b.add(m.product(x6, combined(p[8::2], x2, x4, x6)), combined(p[0:8:2], one, x2, x4, x6))
    return m.factor("solve", b.subtract(even, odd), b.add(even, odd))[0]


@runs_anywhere
def block_diag(*arrs: Any) -> Any:
    """Return matrices put along the diagonal of one.

    Examples
    --------
    >>> block_diag([1, 2], [[3], [4]])
    Array([[1, 2, 0],
           [0, 0, 3],
           [0, 0, 4]])
    """
    arrays = [asarray(x) for x in arrs] or [np.zeros((1, 0))]
    blocks = [x if len(shape_of(x)) == 2 else reshape_to(x, (1, *(shape_of(x) or (1,)))) for x in arrays]
    common = result_dtype(*blocks)
    width, rows, before = sum(shape_of(x)[1] for x in blocks), [], 0
    for block in blocks:
        height, own = shape_of(block)
        zeros = [np.zeros((height, n), common) for n in (before, width - before - own)]
        rows.append(concatenate_arrays([zeros[0], convert(block, common), zeros[1]], 1))
        before += own
    return concatenate_arrays(rows, 0)


@runs_anywhere
def toeplitz(c: Any, r: Any = None) -> Any:
    """Return the matrix with constant diagonals whose first column is ``c`` and first row ``r``.

    Examples
    --------
    >>> toeplitz([1, 2, 3])
    Array([[1, 2, 3],
           [2, 1, 2],
           [3, 2, 1]])
    """
    column = as_traced(asarray(c))
    row = as_traced(m.conjugate(column)) if r is None else as_traced(asarray(r))
    column, row = (reshape_to(x, (x.size,)) for x in (column, row))
    common = result_dtype(column, row)
    n, width = shape_of(column)[0], shape_of(row)[0]
    values: Any = as_traced(concatenate_arrays([convert(x, common) for x in (_reversed(column), _after_first(row))], 0))
    index = np.arange(width)[None, :] - np.arange(n)[:, None] + n - 1
    return values[index]


def _reversed(x: Any) -> Any:
    return as_traced(asarray(x))[::-1]  # type: ignore[index]


def _after_first(x: Any) -> Any:
    return as_traced(asarray(x))[1:]  # type: ignore[index]
