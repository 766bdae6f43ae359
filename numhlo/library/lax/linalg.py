"""Linear algebra, Fourier transforms and random bits under the names of `jax.lax`: strict, one operation each."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from numhlo.library.lax.pivoting import columns_by_length, permutation_of
from numhlo.library.numpy import elementwise
from numhlo.library.numpy.linalg import norms
from numhlo.library.numpy.linalg.factoring import as_matrices
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops.random_bits import RNG_BIT_GENERATOR
from numhlo.tracer.building import asarray, bind, convert, reshape_to, runs_anywhere, shape_of
from numhlo.tracer.building import matrices as m
from numhlo.tracer.building import operations as b

__all__ = ["FftType", "RandomAlgorithm", "fft", "rng_bit_generator"]


class FftType(Enum):
    """Kinds of Fourier transforms.

    Examples
    --------
    >>> FftType.RFFT.value
    'RFFT'
    """

    FFT = "FFT"
    IFFT = "IFFT"
    RFFT = "RFFT"
    IRFFT = "IRFFT"


class RandomAlgorithm(Enum):
    """Algorithms of `rng_bit_generator`.

    Examples
    --------
    >>> RandomAlgorithm.RNG_PHILOX.value
    'PHILOX'
    """

    RNG_DEFAULT = "DEFAULT"
    RNG_THREE_FRY = "THREE_FRY"
    RNG_PHILOX = "PHILOX"


@runs_anywhere
def fft(x: Any, fft_type: FftType | str, fft_lengths: Any) -> Any:
    """Return the discrete Fourier transform of the last one, two or three axes.

    Parameters
    ----------
    x : array_like
        Complex, to which real numbers are converted; real for RFFT.
    fft_type : FftType or str
    fft_lengths : int or sequence of int
        The last one, two or three extents: those of the result for IRFFT, else of the operand.

    Returns
    -------
    Array
        Complex; real for IRFFT. Inverses are divided by the number of elements.

    Raises
    ------
    VerificationError
        If extents or dtype do not fit.

    Notes
    -----
    StableHLO specification, section ``fft``.

    Examples
    --------
    >>> fft(np.array([1.0, 2.0, 3.0, 4.0]), FftType.RFFT, (4,))
    Array([10.+0.j, -2.+2.j, -2.+0.j])
    """
    kind = fft_type if isinstance(fft_type, FftType) else FftType.__members__.get(str(fft_type).upper())
    if kind is None:
        raise ArgumentError(f"fft of type {fft_type!r}", where=capture_location(), fix="use FFT, IFFT, RFFT or IRFFT")
    array = asarray(x)
    if array.dtype.kind in "biu":
        array = convert(array, np.float64)
    if array.dtype.kind == "f" and kind is not FftType.RFFT:
        array = convert(array, np.result_type(array.dtype, np.complex64))
    return m.fourier_transform(array, kind.value, shape_tuple(fft_lengths))


@runs_anywhere
def rng_bit_generator(
    key: Any, shape: Any, dtype: Any = np.uint32, algorithm: RandomAlgorithm = RandomAlgorithm.RNG_DEFAULT
) -> Any:
    """Return the state after drawing, and random bits.

    Parameters
    ----------
    key : (4,) uint32 or (2,) or (3,) uint64
        The generator's state.
    shape : tuple of int
    dtype : dtype, optional
        An unsigned integer.
    algorithm : RandomAlgorithm, optional

    Returns
    -------
    tuple of two Arrays
        The state that follows, and bits of the dtype.

    Raises
    ------
    ArgumentError
        If the dtype is no unsigned integer.

    Notes
    -----
    StableHLO specification, section ``rng_bit_generator``; Salmon et al., Parallel random numbers: as easy
    as 1, 2, 3 (2011).

    Examples
    --------
    >>> rng_bit_generator(np.array([1, 2], np.uint64), (2,))[1].shape
    (2,)
    """
    state, wanted = asarray(key), np.dtype(dtype)
    if wanted.kind != "u":
        raise ArgumentError(f"rng_bit_generator(dtype={wanted.name})", where=capture_location(), fix="use uint32")
    narrow = state.dtype == np.uint32
    if narrow:
        pairs = convert(reshape_to(state, (shape_of(state)[0] // 2, 2)), np.uint64)
        state = b.either(_column(pairs, 0), b.shift_left(_column(pairs, 1), 32))
    results = [m.type_of(state), TensorType(shape_tuple(shape), wanted)]
    attributes = {"rng_algorithm": algorithm.value}
    after, words = bind(RNG_BIT_GENERATOR, state, attributes=attributes, results=results)
    if narrow:
        low, high = convert(after, np.uint32), convert(b.shift_right_logical(after, 32), np.uint32)
        after = reshape_to(m.transpose(_stacked(low, high)), shape_of(asarray(key)))
    return after, words


def _column(x: Any, number: int) -> Any:
    part = m.part(x, slice(None), slice(number, number + 1))
    return reshape_to(part, shape_of(part)[:-1])


def _stacked(x: Any, y: Any) -> Any:
    rows = b.iota_along((2, shape_of(x)[0]), 0, np.int32)
    return b.select(b.equal(rows, 0), m.widened(m.row_of(x), rows), m.widened(m.row_of(y), rows))


@runs_anywhere
def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """Return the lower Cholesky factor, of ``(x + x^H) / 2`` unless told otherwise.

    Parameters
    ----------
    x : (..., n, n) array_like
        Positive definite; others give NaN.
    symmetrize_input : bool, optional
        Else the lower triangle alone is read.

    Returns
    -------
    Array

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``x`` is not square.

    Notes
    -----
    StableHLO specification, section ``cholesky``.

    Examples
    --------
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    (array,) = as_matrices(x, square=True)
    return m.cholesky(m.hermitian_part(array) if symmetrize_input else array)


@runs_anywhere
def eigh(x: Any, *, lower: bool = True, symmetrize_input: bool = True, sort_eigenvalues: bool = True) -> Any:
    """Return eigenvectors, then eigenvalues, of Hermitian matrices.

    Parameters
    ----------
    x : (..., n, n) array_like
    lower : bool, optional
        Which triangle is read, unless symmetrized.
    symmetrize_input : bool, optional
    sort_eigenvalues : bool, optional
        They are always sorted, in ascending order.

    Returns
    -------
    tuple of two Arrays

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``x`` is not square.

    Examples
    --------
    >>> eigh(np.array([[0.0, 2.0], [2.0, 0.0]]))[1]
    Array([-2.,  2.])
    """
    (array,) = as_matrices(x, square=True)
    w, v = m.factor("eigh", m.hermitian_part(array) if symmetrize_input else array, lower=lower)
    return v, w


@runs_anywhere
def eig(x: Any, *, compute_left_eigenvectors: bool = True, compute_right_eigenvectors: bool = True) -> Any:
    """Return complex eigenvalues in a list, then left and right eigenvectors as columns, where asked for.

    Parameters
    ----------
    x : (..., n, n) array_like
    compute_left_eigenvectors, compute_right_eigenvectors : bool, optional

    Returns
    -------
    list of array
        Eigenvalues ``w``; ``vl`` with ``vl^H x = w vl^H``; ``vr`` with ``x vr = vr w``; of length 1.

    Notes
    -----
    Source: `jax.lax.linalg.eig`. Left eigenvectors are the rows of ``inv(vr)``; they are not finite where the matrix
    has too few eigenvectors.

    Examples
    --------
    >>> w, vl, vr = eig(np.array([[2.0, 0.0], [1.0, 3.0]]))
    >>> np.allclose(np.conj(vl.T) @ [[2.0, 0.0], [1.0, 3.0]], np.diag(w) @ np.conj(vl.T))
    True
    """
    (array,) = as_matrices(x, square=True)
    if not compute_left_eigenvectors and not compute_right_eigenvectors:
        return m.factor("eigvals", array)
    values, right = m.factor("eig", array)
    found = [values]
    if compute_left_eigenvectors:
        (left,) = m.factor("solve", m.adjoint(right), m.identity_like(right))
        found.append(elementwise.divide(left, norms.vector_norm(left, axis=-2, keepdims=True)))
    return [*found, right] if compute_right_eigenvectors else found


@runs_anywhere
def lu(x: Any) -> Any:
    """Return packed LU factors, pivots and the permutation of rows.

    Parameters
    ----------
    x : (..., m, n) array_like

    Returns
    -------
    tuple of three Arrays
        L without its diagonal of ones, and U, in one; which row each one was exchanged with; where each row came from.

    Examples
    --------
    >>> lu(np.array([[0.0, 1.0], [2.0, 3.0]]))[2]
    Array([1, 0], dtype=int32)
    """
    (array,) = as_matrices(x)
    return tuple(m.factor("lu", array))


@runs_anywhere
def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Any:
    """Return the permutation that comes of rows exchanged one after the other.

    Parameters
    ----------
    pivots : (..., k) array_like of int
    permutation_size : int
        The number of rows.

    Returns
    -------
    Array
        Of int32 and shape ``(..., permutation_size)``.

    Examples
    --------
    >>> lu_pivots_to_permutation(np.array([1, 2, 2]), 3)
    Array([1, 2, 0], dtype=int32)
    """
    return permutation_of(convert(asarray(pivots), np.int32), permutation_size)


@runs_anywhere
def qr(x: Any, *, pivoting: bool = False, full_matrices: bool = True) -> Any:
    """Return an orthonormal basis and the triangular factor.

    Parameters
    ----------
    x : (..., m, n) array_like
    pivoting : bool, optional
        Take the columns in an order that makes the triangle's diagonal fall, and return that order, too.
    full_matrices : bool, optional
        m columns, and not only ``min(m, n)``.

    Returns
    -------
    tuple of two Arrays, or three

    Examples
    --------
    >>> abs(qr(np.array([[3.0], [4.0]]), full_matrices=False)[1])
    Array([[5.]])
    """
    (array,) = as_matrices(x)
    array, *order = columns_by_length(array) if pivoting else (array,)
    return (*m.factor("qr", array, full=full_matrices), *order)


@runs_anywhere
def schur(x: Any, *, compute_schur_vectors: bool = True) -> Any:
    """Return the Schur form, and its basis where asked for.

    Parameters
    ----------
    x : (..., n, n) array_like
    compute_schur_vectors : bool, optional

    Returns
    -------
    tuple of one or two Arrays

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``x`` is not square.

    Examples
    --------
    >>> schur(np.array([[2.0, 1.0], [0.0, 3.0]]))[0].tolist()
    [[2.0, 1.0], [0.0, 3.0]]
    """
    (array,) = as_matrices(x, square=True)
    form, vectors = m.factor("schur", array)
    return (form, vectors) if compute_schur_vectors else (form,)


@runs_anywhere
def svd(x: Any, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Return left singular vectors, singular values, right ones; or the values alone.

    Parameters
    ----------
    x : (..., m, n) array_like
    full_matrices, compute_uv : bool, optional
        As those of `numhlo.numpy.linalg.svd`.

    Returns
    -------
    tuple of three Arrays, or Array

    Examples
    --------
    >>> svd(np.diag([3.0, 4.0]), compute_uv=False)
    Array([4., 3.])
    """
    (array,) = as_matrices(x)
    return tuple(m.factor("svd", array, full=full_matrices)) if compute_uv else m.factor("svdvals", array)[0]


@runs_anywhere
def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """Return x with ``x op(a) = b``, or ``op(a) x = b`` on the left side; b may be a vector there.

    Parameters
    ----------
    a : (..., n, n) array_like
        The other triangle is not read.
    b : (..., m, n) array_like, or (..., n, m) on the left side
        Of the dtype of ``a``.
    left_side, lower : bool, optional
    transpose_a, conjugate_a : bool, optional
        What ``op`` does.
    unit_diagonal : bool, optional
        Take the diagonal for ones.

    Returns
    -------
    Array
        Of the shape of ``b``.

    Raises
    ------
    VerificationError
        If shapes or dtypes do not fit.

    Notes
    -----
    StableHLO specification, section ``triangular_solve``.

    Examples
    --------
    >>> triangular_solve(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([[4.0, 1.0]]), lower=True)
    Array([[1.5, 1. ]])
    """
    left, right = asarray(a), asarray(b)
    is_vector = len(shape_of(right)) == len(shape_of(left)) - 1
    if is_vector:
        right = m.column_of(right) if left_side else m.row_of(right)
    turn = "NO_TRANSPOSE" if not transpose_a else "ADJOINT" if conjugate_a else "TRANSPOSE"
    left = m.conjugate(left) if conjugate_a and not transpose_a else left
    options: Any = {"lower": lower, "unit_diagonal": unit_diagonal, "transpose_a": turn}
    result = m.substitute(left, right, left_side=left_side, **options)
    return reshape_to(result, shape_of(asarray(b))) if is_vector else result
