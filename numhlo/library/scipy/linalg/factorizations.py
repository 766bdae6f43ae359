"""SciPy's factorizations, matrix functions and special matrices, with SciPy's signatures.

They run outside tracing too, on NumPy's and SciPy's LAPACK. Options that only save memory or check inputs
(``overwrite_a``, ``check_finite``) are accepted and ignored. Linear equations are in `scipy_solving`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.lax.pivoting import columns_by_length
from numhlo.library.numpy import elementwise, reductions
from numhlo.library.numpy.linalg import factoring
from numhlo.library.numpy.linalg.factoring import as_matrices, inexact
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.building import (
    Tracer,
    as_traced,
    asarray,
    broadcast_to_shape,
    concatenate_arrays,
    convert,
    reshape_to,
    result_dtype,
    runs_anywhere,
    shape_of,
)
from numhlo.tracer.building import matrices as m
from numhlo.tracer.building import operations as b

__all__ = [
    "block_diag", "eigh", "eigh_tridiagonal", "expm",
    "qr", "schur", "svd", "toeplitz",
]  # fmt: skip


@runs_anywhere
def eigh(a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False, **options: Any) -> Any:
    """Return eigenvalues in ascending order and eigenvectors of Hermitian matrices, or eigenvalues alone.

    Parameters
    ----------
    a : (..., n, n) array_like
    b : optional
        Only None.
    lower : bool, optional
        Which triangle is read.
    eigvals_only : bool, optional
    **options
        ``overwrite_a``, ``overwrite_b``, ``check_finite`` and ``driver``, ignored.

    Returns
    -------
    tuple of two Arrays, or Array

    Raises
    ------
    UnsupportedError
        If there is a ``b`` or another option.

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
def eigh_tridiagonal(
    d: Any, e: Any, eigvals_only: bool = False, select: str = "a", select_range: Sequence[float] | None = None
) -> Any:
    """Return eigenvalues and eigenvectors of a symmetric tridiagonal matrix, given its diagonals.

    Parameters
    ----------
    d : (n,) array_like
    e : (n - 1,) array_like
    eigvals_only : bool, optional
    select : {"a", "i", "v"}, optional
        All, or those whose numbers, counted from the least, lie in ``select_range``, its ends included, or that are
        themselves above the first of it and not above the second.
    select_range : tuple of two numbers, optional

    Returns
    -------
    tuple of two Arrays, or Array
        Found from the full matrix, in ``n ** 3`` steps.

    Raises
    ------
    UnsupportedError
        If they are selected by value, and values are not known: their number would depend on them.
    ValueError
        If the range is not inside the matrix, or not one.

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
    values, vectors = (factoring.eigvalsh(full), None) if eigvals_only else factoring.eigh(full)
    chosen = _selection(select, select_range, as_traced(values))
    values = as_traced(values)[chosen]  # type: ignore[index]
    return values if vectors is None else (values, as_traced(vectors)[:, chosen])  # type: ignore[index]


def _selection(select: str, select_range: Sequence[float] | None, values: Tracer) -> slice:
    if select in ("a", "all"):
        return slice(None)
    if select not in ("i", "index", "v", "value"):
        raise ValueError(f'invalid argument for select: {select!r}; use "a", "i" or "v"')
    by_value, n = select[0] == "v", values.size
    bounds = () if select_range is None else tuple(select_range)
    if len(bounds) != 2 or not (bounds[0] < bounds[1] if by_value else 0 <= bounds[0] <= bounds[1] < n):
        meant = "two numbers in rising order" if by_value else f"two indices in order, within 0 and {n - 1}"
        raise ValueError(f"select_range must be {meant}, not {select_range}")
    if not by_value:
        return slice(int(bounds[0]), int(bounds[1]) + 1)
    known = values.known()
    if known is None:
        raise UnsupportedError(
            f"scipy.linalg.eigh_tridiagonal(select={select!r})",
            where=capture_location(),
            why="how many eigenvalues there are would depend on values",
            fix="take all of them, and a mask",
        )
    return slice(*np.searchsorted(known, bounds, "right").tolist())


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

    Parameters
    ----------
    a : (..., m, n) array_like
    full_matrices, compute_uv : bool, optional
        As those of `numhlo.numpy.linalg.svd`.
    overwrite_a, check_finite, lapack_driver : optional

    Returns
    -------
    tuple of three Arrays, or Array

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

    Parameters
    ----------
    a : (..., m, n) array_like
    overwrite_a, lwork, check_finite : optional
    mode : {"full", "economic", "r"}, optional
    pivoting : bool, optional
        Take the columns in an order that makes the diagonal of R fall, and return that order, too.

    Returns
    -------
    tuple of Array
        Q, R and, with pivoting, P of int32: ``a[:, P] = Q R``.

    Raises
    ------
    ValueError
        If the mode is another.

    Examples
    --------
    >>> qr([[3.0], [4.0]], mode="r")[0].shape
    (2, 1)
    """
    if mode not in ("full", "r", "economic"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic'] here")
    (array,) = as_matrices(a)
    array, *order = columns_by_length(array) if pivoting else (array,)
    q, r = m.factor("qr", array, full=mode != "economic")
    return (r, *order) if mode == "r" else (q, r, *order)


@runs_anywhere
def schur(a: Any, output: str = "real") -> Any:
    """Return ``T, Z`` with ``a = Z T Z^H``: T is triangular, of real matrices with blocks of two unless "complex".

    Parameters
    ----------
    a : (..., n, n) array_like
    output : {"real", "complex"}, optional

    Returns
    -------
    tuple of two Arrays

    Raises
    ------
    ValueError
        If ``output`` is another.
    numpy.linalg.LinAlgError
        If ``a`` is not square.

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

    Parameters
    ----------
    A : (..., n, n) array_like

    Returns
    -------
    Array
        NaN where the norm would take more than 16 squarings.

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``A`` is not square.

    Notes
    -----
    Matrices of a 1-norm beyond ``5 * 2**16``, whose exponential overflows for nearly all of them, give NaN.

    Higham: The scaling and squaring method for the matrix exponential revisited (2005), algorithm 2.3.

    Examples
    --------
    >>> expm(np.zeros((2, 2)))
    Array([[1., 0.],
           [0., 1.]])
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

    Parameters
    ----------
    *arrs : array_like
        Vectors are rows.

    Returns
    -------
    Array
        Of the common dtype.

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

    Parameters
    ----------
    c : array_like
        Flattened.
    r : array_like, optional
        Its first element is not read; the conjugate of ``c`` by default.

    Returns
    -------
    Array
        Of shape ``(c.size, r.size)``.

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
