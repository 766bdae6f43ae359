"""Functions of matrices that only JAX has: Hessenberg and tridiagonal forms, Sylvester's equation, Parlett's functions.

Sources: Golub and Van Loan, Matrix Computations, 4th ed.: algorithms 7.4.2 (Hessenberg), 7.6.2 (Sylvester), 9.1.1
(functions, by Parlett's recurrence). Reflectors are LAPACK's: ``I - tau v v^H`` with 1 as the first element of v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.compat.jax import lax
from numhlo.compat.jax import numpy as jnp
from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.transformations import jvp
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.scipy.linalg import expm, qr

_qr = immutably(qr)


def _floats(*arrays: Any) -> list[Any]:
    dtype = jnp.result_type(*arrays)
    wanted = dtype if dtype.kind in "fc" else jnp.result_type(dtype, 1.0)
    return [jnp.asarray(x).astype(wanted) for x in arrays]


def _square(name: str, a: Any) -> Any:
    (array,) = _floats(a)
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        raise ShapeError(f"{name} of shape {array.shape}", where=capture_location(), fix="give square matrices")
    return array


def _reflected(a: Any, k: Any) -> tuple[Any, Any]:
    """Return a matrix with one column reduced, and the factor of the reflector, which lies below the subdiagonal."""
    rows = jnp.arange(a.shape[-1])
    column = a[..., :, k]
    alpha = jnp.take_along_axis(column, jnp.full((*column.shape[:-1], 1), k + 1), -1)[..., 0]
    rest = jnp.where(rows > k + 1, column, 0)
    size = jnp.sqrt(jnp.abs(alpha) ** 2 + (jnp.abs(rest) ** 2).sum(-1))
    flat = (jnp.abs(rest).sum(-1) == 0) & (jnp.imag(alpha) == 0)
    beta = jnp.where(flat, jnp.real(alpha), -jnp.copysign(size, jnp.real(alpha)))
    tau = jnp.where(flat, 0, (beta - alpha) / jnp.where(flat, 1, beta)).astype(a.dtype)
    scale = jnp.where(flat, 1, alpha - beta)
    v = jnp.where(rows == k + 1, 1, rest / scale[..., None]).astype(a.dtype)
    left = jnp.einsum("...i,...ij->...j", v.conj(), a)
    a = a - jnp.conj(tau)[..., None, None] * v[..., :, None] * left[..., None, :]
    right = jnp.einsum("...ij,...j->...i", a, v)
    a = a - tau[..., None, None] * right[..., :, None] * v.conj()[..., None, :]
    reduced = jnp.where(rows > k + 1, v, jnp.where(rows == k + 1, beta[..., None].astype(a.dtype), a[..., :, k]))
    return a.at[..., :, k].set(reduced), tau


def _reduce(a: Any) -> tuple[Any, Any]:
    """Return the Hessenberg form with the reflectors below it, and their factors."""
    count = max(a.shape[-1] - 1, 0)
    taus = jnp.zeros((*a.shape[:-2], count), a.dtype)
    if count < 2:
        return a, taus

    def step(k: Any, state: Any) -> Any:
        # earlier reflectors lie in columns that later ones leave alone
        kept, taus = state
        rows, columns = jnp.arange(a.shape[-1])[:, None], jnp.arange(a.shape[-1])[None, :]
        below = (rows > columns + 1) & (columns < k)
        reduced, tau = _reflected(jnp.where(below, 0, kept), k)
        return jnp.where(below, kept, reduced), taus.at[..., k].set(tau)

    found: tuple[Any, Any] = lax.fori_loop(0, count - 1, step, (a, taus))
    return found


def _last_reflector(a: Any, taus: Any) -> tuple[Any, Any]:
    """Return a reduced matrix whose last subdiagonal element is real, as LAPACK makes it by a reflector of one row."""
    if a.shape[-1] < 2 or a.dtype.kind != "c":
        return a, taus
    n = a.shape[-1]
    rows, columns = np.arange(n)[:, None], np.arange(n)[None, :]
    below = (rows > columns + 1) & (columns < n - 2)
    reduced, tau = _reflected(jnp.where(below, 0, a), n - 2)
    return jnp.where(below, a, reduced), taus.at[..., n - 2].set(tau)


def hessenberg_reflectors(a: Any) -> tuple[Any, Any]:
    """Return the Hessenberg form of matrices, the reflectors below its subdiagonal, and their factors.

    Parameters
    ----------
    a : (..., n, n) array_like

    Returns
    -------
    (..., n, n) Array, (..., n - 1) Array

    Examples
    --------
    >>> hessenberg_reflectors(np.eye(3, dtype=np.float32))[1].shape
    (2,)
    """
    return _last_reflector(*_reduce(_square("hessenberg", a)))


def hessenberg(a: Any, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Return ``H`` with ``a = Q H Q^H``, zero below the subdiagonal; and ``Q`` if it is asked for.

    Parameters
    ----------
    a : (n, n) array_like
    calc_q : bool, optional
    overwrite_a, check_finite : bool, optional
        Accepted.

    Returns
    -------
    Array, or tuple of two Arrays

    Examples
    --------
    >>> h, q = hessenberg(np.array([[2.0, 1, 3], [1, 3, 0], [5, 2, 1]], np.float32), calc_q=True)
    >>> bool(abs(h[2, 0]) == 0)
    True
    """
    array = _square("hessenberg", a)
    n = array.shape[-1]
    packed, taus = hessenberg_reflectors(array)
    form = jnp.triu(packed, -1) if n else packed
    if not calc_q:
        return form
    if n < 2:
        return form, jnp.broadcast_to(jnp.eye(n, dtype=array.dtype), array.shape)
    inner = lax.linalg.householder_product(packed[..., 1:, :-1], taus)
    identity = jnp.broadcast_to(jnp.eye(n, dtype=array.dtype), array.shape)
    return form, identity.at[..., 1:, 1:].set(inner)


def tridiagonal(a: Any, *, lower: bool = True) -> tuple[Any, Any, Any, Any]:
    """Return the tridiagonal form of Hermitian matrices: reflectors, diagonal, off-diagonal, the reflectors' factors.

    Parameters
    ----------
    a : (..., n, n) array_like
        One triangle is read.
    lower : bool, optional
        Which.

    Returns
    -------
    tuple of four Arrays

    Examples
    --------
    >>> tridiagonal(np.eye(3, dtype=np.float32))[1].shape
    (3,)
    """
    array = _square("tridiagonal", a)
    if not lower:  # the same of the matrix with its rows and columns in reverse
        packed, diagonal, beside, taus = tridiagonal(array[..., ::-1, ::-1])
        return packed[..., ::-1, ::-1], diagonal[..., ::-1], beside[..., ::-1], taus[..., ::-1]
    strict = jnp.tril(array, -1)
    middle = jnp.real(jnp.diagonal(array, axis1=-2, axis2=-1))
    whole = strict + strict.mT.conj() + jnp.eye(array.shape[-1], dtype=array.dtype) * middle[..., None, :]
    packed, taus = hessenberg_reflectors(whole)
    diagonal = jnp.real(jnp.diagonal(packed, axis1=-2, axis2=-1))
    beside = jnp.real(jnp.diagonal(packed, -1, axis1=-2, axis2=-1))
    return jnp.tril(packed) + jnp.triu(array, 1), diagonal, beside, taus


def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """Return a complex Schur form from a real one: Givens rotations take its blocks of two apart.

    Parameters
    ----------
    T, Z : (n, n) array_like
        As `schur` gives them.
    check_finite : bool, optional
        Accepted.

    Returns
    -------
    tuple of two Arrays

    Examples
    --------
    >>> rsf2csf(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32))[0].dtype
    dtype('complex64')
    """
    form, vectors = (jnp.asarray(x).astype(jnp.result_type(x, 1j)) for x in _floats(T, Z))
    n, eps = form.shape[-1], jnp.finfo(form.dtype).eps
    for k in range(n - 1, 0, -1):
        below, corner = form[k, k - 1], form[k, k]
        rotates = jnp.abs(below) > eps * (jnp.abs(form[k - 1, k - 1]) + jnp.abs(corner))
        first = jnp.linalg.eigvals(form[k - 1 : k + 1, k - 1 : k + 1])[0] - corner
        size = jnp.sqrt(jnp.abs(first) ** 2 + jnp.abs(below) ** 2)
        safe = jnp.where(rotates, size, 1)
        c, s = jnp.where(rotates, first / safe, 1), jnp.where(rotates, below / safe, 0)
        turn = jnp.array([[c.conj(), s], [-s, c]])
        form = form.at[k - 1 : k + 1, k - 1 :].set(turn @ form[k - 1 : k + 1, k - 1 :])
        back = turn.conj().T
        form = form.at[: k + 1, k - 1 : k + 1].set(form[: k + 1, k - 1 : k + 1] @ back)
        vectors = vectors.at[:, k - 1 : k + 1].set(vectors[:, k - 1 : k + 1] @ back)
        form = form.at[k, k - 1].set(0)
    return form, vectors


def funm(A: Any, func: Callable[[Any], Any], disp: bool = True) -> Any:
    """Return a function of a matrix, by its complex Schur form and Parlett's recurrence; eigenvalues must differ.

    Parameters
    ----------
    A : (n, n) array_like
    func : callable
        Of eigenvalues.
    disp : bool, optional
        If not, an estimate of the relative error is returned, too.

    Returns
    -------
    Array, or tuple of two Arrays

    Examples
    --------
    >>> funm(np.diag(np.array([1.0, 4.0], np.float32)), jnp.sqrt).real.round(3)
    Array([[1., 0.],
           [0., 2.]], dtype=float32)
    """
    array = _square("funm", A)
    form, vectors = rsf2csf(*_schur(array))
    n = form.shape[-1]
    diagonal = jnp.diag(form)
    values = jnp.diag(func(diagonal).astype(form.dtype))
    least = jnp.min(jnp.abs(diagonal)) if n == 1 else jnp.asarray(jnp.inf, jnp.real(diagonal).dtype)
    for p in range(1, n):
        sums = jnp.diagonal(form @ values - values @ form, p)
        apart = diagonal[p:] - diagonal[:-p]
        least = jnp.minimum(least, jnp.min(jnp.abs(apart)))
        values = values + jnp.diag(jnp.where(apart != 0, sums / jnp.where(apart != 0, apart, 1), sums), p)
    result = vectors @ values @ vectors.conj().T
    if disp:
        return result
    eps = jnp.finfo(result.dtype).eps
    least = jnp.where(least == 0, eps, least)
    upper = jnp.linalg.norm(jnp.triu(form, 1), 1)
    error = jnp.minimum(1, jnp.maximum(eps, (eps / least) * upper))
    return result, jnp.where(jnp.isfinite(result).all(), error, jnp.inf)


def _schur(array: Any) -> tuple[Any, Any]:
    form, vectors = lax.linalg.schur(array)
    return form, vectors


def solve_sylvester(A: Any, B: Any, C: Any, *, method: str = "schur", tol: float = 1e-8) -> Any:
    """Return ``X`` with ``A X + X B = C``.

    Parameters
    ----------
    A : (m, m) array_like
    B : (n, n) array_like
    C : (m, n) array_like
    method : {"schur", "eigen"}, optional
        By Schur forms, column by column, or by eigenvectors.
    tol : float, optional
        Sums of eigenvalues below it have no solution: the result is NaN there.

    Returns
    -------
    (m, n) Array

    Examples
    --------
    >>> one = np.ones((1, 1), np.float32)
    >>> float(solve_sylvester(one, one, one)[0, 0])
    0.5
    """
    a, b, c = _floats(A, B, C)
    if a.ndim != 2 or b.ndim != 2 or c.shape != (a.shape[0], b.shape[0]):
        raise ShapeError(
            f"solve_sylvester of shapes {a.shape}, {b.shape} and {c.shape}",
            where=capture_location(),
            fix="give (m, m), (n, n) and (m, n)",
        )
    if method not in ("schur", "eigen"):
        raise ArgumentError(f"solve_sylvester: method={method!r}", where=capture_location(), fix="use schur or eigen")
    if method == "eigen":
        (first, u), (second, v) = jnp.linalg.eig(a), jnp.linalg.eig(b)
        inner = jnp.linalg.solve(u, c.astype(u.dtype)) @ v
        sums = first[:, None] + second[None, :]
        inner = jnp.where(jnp.abs(sums) < tol, jnp.nan, inner / jnp.where(jnp.abs(sums) < tol, 1, sums))
        found = jnp.linalg.solve(v.T, (u @ inner).T).T
    else:
        (form, u), (other, v) = rsf2csf(*_schur(a)), rsf2csf(*_schur(b))
        inner = u.conj().T @ c.astype(u.dtype) @ v
        columns: list[Any] = []
        for k in range(b.shape[0]):
            rest = inner[:, k] - sum((y * other[j, k] for j, y in enumerate(columns)), jnp.zeros((), u.dtype))
            shifted = form + other[k, k] * jnp.eye(a.shape[0], dtype=u.dtype)
            solution = lax.linalg.triangular_solve(shifted, rest[:, None], left_side=True)[:, 0]
            columns.append(jnp.where((jnp.abs(jnp.diag(shifted)) < tol).any(), jnp.nan, solution))
        found = u @ jnp.stack(columns, 1) @ v.conj().T
    return found if c.dtype.kind == "c" else jnp.real(found)


def expm_frechet(A: Any, E: Any, *, method: str | None = None, compute_expm: bool = True) -> Any:
    """Return the exponential of a matrix, and its derivative in a direction.

    Parameters
    ----------
    A, E : (n, n) array_like
    method : optional
        Accepted.
    compute_expm : bool, optional
        If not, the derivative alone is returned.

    Returns
    -------
    Array, or tuple of two Arrays

    Examples
    --------
    >>> expm_frechet(np.zeros((2, 2), np.float32), np.eye(2, dtype=np.float32), compute_expm=False)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    a, direction = _floats(A, E)
    if a.ndim != 2 or a.shape[0] != a.shape[1] or a.shape != direction.shape:
        raise ShapeError(
            f"expm_frechet of shapes {a.shape} and {direction.shape}",
            where=capture_location(),
            fix="give two square matrices of one shape",
        )
    found = jvp(expm, (a,), (direction,))
    return found if compute_expm else found[1]


def qr_multiply(
    a: Any,
    c: Any,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> Any:
    """Return the product of ``Q`` and a matrix, and ``R``, of the QR factorization of another one.

    Parameters
    ----------
    a : (m, n) array_like
    c : array_like
        Of one or two dimensions.
    mode : {"right", "left"}, optional
        ``c @ Q`` or ``Q @ c``.
    pivoting : bool, optional
        Factor with the columns in an order of falling norms, which is returned, too.
    conjugate : bool, optional
        Multiply by the conjugate of ``Q``.
    overwrite_a, overwrite_c : bool, optional
        Accepted.

    Returns
    -------
    tuple of Array

    Examples
    --------
    >>> qr_multiply(np.eye(2, dtype=np.float32), np.ones(2, np.float32))[0].shape
    (2,)
    """
    if mode not in ("left", "right"):
        raise ArgumentError(f"qr_multiply: mode={mode!r}", where=capture_location(), fix="use left or right")
    matrix, other = _floats(a, c)
    k = min(matrix.shape[-2:])
    rows = other[None, :] if other.ndim == 1 and mode == "right" else other[:, None] if other.ndim == 1 else other
    wanted, found = (k, rows.shape[-2]) if mode == "left" else (matrix.shape[-2], rows.shape[-1])
    if found != wanted:
        raise ArgumentError(
            f"qr_multiply: Array shapes are not compatible: {matrix.shape} and {other.shape}",
            where=capture_location(),
            fix=f"give {wanted} {'rows' if mode == 'left' else 'columns'}",
        )
    q, r, *order = _qr(matrix, mode="economic", pivoting=pivoting)
    q = q.conj() if conjugate else q
    product = q @ rows if mode == "left" else rows @ q
    return (product.ravel() if other.ndim == 1 else product, r, *order)
