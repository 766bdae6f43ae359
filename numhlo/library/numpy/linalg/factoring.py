"""NumPy's matrix factorizations: cholesky, qr, svd, eigh, eig and their kin, on stacks of matrices.

Outside tracing NumPy's own functions run and raise `LinAlgError`; traced, a matrix that can't be factored gives NaN.
Eigenvalues of a traced general matrix are always complex, since whether they are real depends on values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy import elementwise
from numhlo.tracer.building import as_traced, asarray, common_dtype, convert, implements
from numhlo.tracer.building import matrices as m
from numhlo.tracer.building import operations as b

__all__ = ["cholesky", "eig", "eigh", "eigvals", "eigvalsh", "qr", "svd", "svdvals"]

_TRIANGLE = """
Parameters
----------
a : (..., n, n) array_like
UPLO : {"L", "U"}, optional
    The triangle that is read.

Raises
------
ValueError
    If ``UPLO`` is another.
numpy.linalg.LinAlgError
    If ``a`` is not square.
"""

_SQUARE = """
Parameters
----------
a : (..., n, n) array_like

Raises
------
numpy.linalg.LinAlgError
    If ``a`` is not square.
"""

LAPACK_TYPES = frozenset(map(np.dtype, ("float32", "float64", "complex64", "complex128")))
_ONE = np.eye(1)
QRResult: Any = type(np.linalg.qr(_ONE))
SVDResult: Any = type(np.linalg.svd(_ONE))
EighResult: Any = type(np.linalg.eigh(_ONE))
EigResult: Any = type(np.linalg.eig(_ONE))


def as_matrices(*arrays: Any, square: bool = False) -> list[Any]:
    """Return traced stacks of matrices of one type that LAPACK has; integers become float64, as in NumPy.

    Raises
    ------
    TypeError
        If LAPACK has no such type: float16 and the like.
    numpy.linalg.LinAlgError
        If one has fewer than two dimensions, or must be square and is not.
    """
    found = inexact(*arrays)
    for x in found:
        if x.ndim < 2:
            raise np.linalg.LinAlgError(f"{x.ndim}-dimensional array given. Array must be at least two-dimensional")
        if square and x.shape[-1] != x.shape[-2]:
            raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return found


def inexact(*arrays: Any) -> list[Any]:
    """Return traced arrays of one type that LAPACK has."""
    found = [as_traced(asarray(x)) for x in arrays]
    dtypes = [x.dtype if x.dtype.kind not in "biu" else np.dtype(np.float64) for x in found]
    for dtype in dtypes:
        if dtype not in LAPACK_TYPES:
            raise TypeError(f"array type {dtype} is unsupported in linalg")
    common = common_dtype(dtypes)
    return [as_traced(convert(x, common)) for x in found]


def _is_lower(uplo: Any) -> bool:
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise ValueError(f"UPLO argument must be 'L' or 'U', not {uplo!r}")
    return uplo.upper() == "L"


@implements(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """Return the triangular L with ``a = L L^H``, or U with ``a = U^H U``.

    Parameters
    ----------
    a : (..., n, n) array_like
        Hermitian and positive definite; one triangle is read. Traced matrices that are not give NaN.
    upper : bool, optional

    Returns
    -------
    Array
        With zeros in the other triangle.

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``a`` is not square; outside tracing also if it is not positive definite.
    TypeError
        If LAPACK has no such type: float16 and the like. So for all functions here.

    Examples
    --------
    >>> cholesky([[4.0, 2.0], [2.0, 5.0]])
    Array([[2., 0.],
           [1., 2.]])
    """
    (array,) = as_matrices(a, square=True)
    return m.cholesky(array, not upper)


@implements(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    """Return ``(Q, R)`` with orthonormal columns Q and upper triangular R, or R alone.

    Parameters
    ----------
    a : (..., m, n) array_like
    mode : {"reduced", "complete", "r", "raw"}, optional

    Returns
    -------
    QRResult, or Array
        Of shapes ``(..., m, k)`` and ``(..., k, n)`` with ``k = min(m, n)``, or m where complete. Raw: what LAPACK's
        geqrf packs, transposed, of shape ``(..., n, m)``, and the k factors of its reflectors.

    Raises
    ------
    ValueError
        If the mode is another.

    Examples
    --------
    >>> q, r = qr(np.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> np.allclose(q @ r, [[3.0, 1.0], [4.0, 2.0]])
    True
    """
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    (array,) = as_matrices(a)
    if mode == "raw":
        packed, factors = m.reflectors(array)
        return m.transpose(packed), factors
    q, r = m.factor("qr", array, full=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


@implements(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Return ``(U, S, Vh)`` with ``a = U diag(S) Vh``, S descending; S alone without ``compute_uv``.

    Parameters
    ----------
    a : (..., m, n) array_like
    full_matrices, compute_uv : bool, optional
    hermitian : bool, optional
        Accepted: the result is the same, found from eigenvalues by NumPy.

    Returns
    -------
    SVDResult, or Array
        Of shapes ``(..., m, m)``, ``(..., k)`` and ``(..., n, n)`` with ``k = min(m, n)``; ``k`` columns and rows only
        without ``full_matrices``. Signs of vectors are LAPACK's.

    Raises
    ------
    numpy.linalg.LinAlgError
        If it is hermitian and not square; outside tracing also if the iteration does not converge.

    Examples
    --------
    >>> svd(np.array([[3.0, 0.0], [0.0, 4.0]])).S
    Array([4., 3.])
    """
    (array,) = as_matrices(a, square=hermitian)
    if not compute_uv:
        return m.factor("svdvals", array)[0]
    return SVDResult(*m.factor("svd", array, full=bool(full_matrices)))


@implements(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    """Return singular values in descending order.

    Parameters
    ----------
    x : (..., m, n) array_like

    Returns
    -------
    Array
        Of shape ``(..., min(m, n))``, and real.

    Examples
    --------
    >>> svdvals([[3.0, 0.0], [0.0, 4.0]])
    Array([4., 3.])
    """
    (array,) = as_matrices(x)
    return m.factor("svdvals", array)[0]


@implements(np.linalg.eigh)
@described(_TRIANGLE)
def eigh(a: Any, UPLO: str = "L") -> Any:
    """Return ``(w, v)``: eigenvalues of Hermitian matrices in ascending order, eigenvectors in columns.

    Returns
    -------
    EighResult
        Of shapes ``(..., n)``, real, and ``(..., n, n)``.

    Examples
    --------
    >>> eigh(np.array([[0.0, 2.0], [2.0, 0.0]])).eigenvalues
    Array([-2.,  2.])
    """
    lower = _is_lower(UPLO)
    (array,) = as_matrices(a, square=True)
    return EighResult(*m.factor("eigh", array, lower=lower))


@implements(np.linalg.eigvalsh)
@described(_TRIANGLE)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """Return eigenvalues of Hermitian matrices in ascending order.

    Returns
    -------
    Array
        Of shape ``(..., n)``, and real.

    Examples
    --------
    >>> eigvalsh([[0.0, 2.0], [2.0, 0.0]])
    Array([-2.,  2.])
    """
    lower = _is_lower(UPLO)
    (array,) = as_matrices(a, square=True)
    return m.factor("eigvalsh", array, lower=lower)[0]


@implements(np.linalg.eig)
@described(_SQUARE)
def eig(a: Any) -> Any:
    """Return ``(w, v)``: eigenvalues and right eigenvectors, complex where traced.

    Returns
    -------
    EigResult
        Of shapes ``(..., n)`` and ``(..., n, n)``, in no particular order. Outside tracing real where all are.

    Examples
    --------
    >>> np.sort(eig(np.array([[2.0, 1.0], [0.0, 3.0]])).eigenvalues)
    Array([2., 3.])
    """
    (array,) = as_matrices(a, square=True)
    return EigResult(*m.factor("eig", array))


@implements(np.linalg.eigvals)
@described(_SQUARE)
def eigvals(a: Any) -> Any:
    """Return eigenvalues, complex where traced.

    Returns
    -------
    Array
        Of shape ``(..., n)``, in no particular order. Outside tracing real where all are.

    Examples
    --------
    >>> np.sort(eigvals(np.array([[2.0, 1.0], [0.0, 3.0]])))
    Array([2., 3.])
    """
    (array,) = as_matrices(a, square=True)
    return m.factor("eigvals", array)[0]


def determinant_by_rows(x: Any) -> Any:
    """Return determinants of matrices of at most three rows, as sums of products of their elements."""
    n = x.shape[-1]
    if n == 0:
        return b.constant(1, m.diagonal(x)[..., :1].sum(-1))
    entry = [[x[..., i, j] for j in range(n)] for i in range(n)]
    if n == 1:
        return elementwise.positive(entry[0][0])
    if n == 2:
        return entry[0][0] * entry[1][1] - entry[0][1] * entry[1][0]
    minors = [entry[1][j] * entry[2][k] - entry[1][k] * entry[2][j] for j, k in ((1, 2), (2, 0), (0, 1))]
    return entry[0][0] * minors[0] + entry[0][1] * minors[1] + entry[0][2] * minors[2]
