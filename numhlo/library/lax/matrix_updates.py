"""Reflectors, rank-one updates and tridiagonal systems, under the names of `jax.lax.linalg`.

Sources: Golub and Van Loan, "Matrix computations", 4th edition, 5.1 (reflectors), 6.5.4 (updating Cholesky factors);
LAPACK's gtsv (elimination with row exchanges).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.lax import slices as lax_slices
from numhlo.library.numpy import axis_order, elementwise
from numhlo.library.numpy.linalg.factoring import as_matrices, inexact
from numhlo.library.numpy.searching import where
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError, UnsupportedError
from numhlo.tracer.building import (
    broadcast_to_shape,
    concatenate_arrays,
    expand,
    fori_loop,
    operations,
    runs_anywhere,
    scan,
    shape_of,
)
from numhlo.tracer.building import matrices as m

__all__ = ["cholesky_update", "householder_product", "ormqr", "symmetric_product", "tridiagonal_solve"]


@runs_anywhere
def cholesky_update(r_matrix: Any, w_vector: Any) -> Any:
    """Return the upper Cholesky factor of ``R^T R + w w^T``, in n² steps.

    Parameters
    ----------
    r_matrix : (n, n) array_like
        Upper triangular.
    w_vector : (n,) array_like

    Returns
    -------
    (n, n) array
        Upper triangular.

    Raises
    ------
    ShapeError
        If the shapes don't fit each other.

    Notes
    -----
    Source: `jax.lax.linalg.cholesky_update`; by rotations, Golub and Van Loan, 6.5.4.

    Examples
    --------
    >>> cholesky_update(np.eye(2) * 3, [4.0, 0.0])
    Array([[5., 0.],
           [0., 3.]])
    """
    factor, vector = inexact(r_matrix, w_vector)
    n = len(shape_of(vector)) == 1 and shape_of(vector)[0]
    if shape_of(factor) != (n, n):
        raise ShapeError(
            f"cholesky_update of {shape_of(factor)} and {shape_of(vector)}",
            where=capture_location(),
            why="it takes one square matrix and one vector of as many elements",
            fix="vmap it over batches",
        )
    places = operations.iota(n)

    def rotate(k: Any, state: Any) -> Any:
        factor, vector = state
        row = lax_slices.dynamic_index_in_dim(factor, k, 0, False)
        x, y = (lax_slices.dynamic_index_in_dim(v, k, 0, False) for v in (row, vector))
        length = elementwise.hypot(x, y)
        c, s = elementwise.divide(x, length), elementwise.divide(y, length)
        new = elementwise.add(elementwise.multiply(c, row), elementwise.multiply(s, vector))
        rest = elementwise.subtract(elementwise.multiply(c, vector), elementwise.multiply(s, row))
        rest = where(elementwise.greater(places, k), rest, 0.0)
        return lax_slices.dynamic_update_index_in_dim(factor, new, k, 0), m.as_dtype_of(rest, vector)

    return fori_loop(0, n, rotate, (m.triangle(factor, "LE"), vector))[0]


def _reflect(a: Any, taus: Any, c: Any, *, adjoint: bool) -> Any:
    """Return ``H_0 H_1 ... c``, or with the adjoints in the other order; ``H_i = 1 - tau_i v_i v_i^H``."""
    if not shape_of(taus):
        raise ShapeError(
            f"reflectors in an array of shape {shape_of(a)}, with one number as taus",
            where=capture_location(),
            fix="give a line of factors, one for each reflector",
        )
    rows, count = shape_of(a)[-2], shape_of(taus)[-1]
    places = expand(operations.iota(rows), -1)

    def step(number: Any, found: Any) -> Any:
        k = number if adjoint else elementwise.subtract(count - 1, number)
        stored = lax_slices.dynamic_index_in_dim(a, k, -1)
        tau = lax_slices.dynamic_index_in_dim(taus, k, -1)
        tau = m.conjugate(tau) if adjoint else tau
        vector = where(elementwise.greater(places, k), stored, where(elementwise.equal(places, k), 1.0, 0.0))
        vector = m.as_dtype_of(vector, found)
        change = m.product(vector, m.product(m.adjoint(vector), found))
        return elementwise.subtract(found, elementwise.multiply(expand(tau, -1), change))

    return fori_loop(0, count, step, c)


@runs_anywhere
def householder_product(a: Any, taus: Any) -> Any:
    """Return the first columns of the product of reflectors, as LAPACK's geqrf stores them.

    Parameters
    ----------
    a : (..., m, n) array_like
        Column i holds vector i below the diagonal.
    taus : (..., k) array_like

    Returns
    -------
    (..., m, n) array
        With orthonormal columns.

    Notes
    -----
    Source: `jax.lax.linalg.householder_product`, LAPACK's orgqr.

    Examples
    --------
    >>> householder_product([[9.0], [1.0]], [1.0])
    Array([[ 0.],
           [-1.]])
    """
    array, scales = inexact(a, taus)
    (array,) = as_matrices(array)
    rows, columns = shape_of(array)[-2:]
    start = operations.select(
        m.mask(shape_of(array), "EQ"), operations.constant(1, array), operations.constant(0, array)
    )
    return _reflect(array, scales, start, adjoint=False) if rows and columns else start


@runs_anywhere
def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Any:
    """Return a matrix multiplied by the Q whose reflectors are given, without forming Q.

    Parameters
    ----------
    a : (..., m, n) array_like
        Column i holds vector i below the diagonal, as LAPACK's geqrf stores them.
    taus : (..., k) array_like
    c : (..., m, p) array_like, or (..., p, m) for ``left=False``
    left : bool, optional
        ``Q c``; else ``c Q``.
    transpose : bool, optional
        The adjoint of Q instead.

    Returns
    -------
    Array
        Of the shape of ``c``.

    Notes
    -----
    Source: `jax.lax.linalg.ormqr`, LAPACK's ormqr and unmqr.

    Examples
    --------
    >>> ormqr([[9.0], [1.0]], [1.0], np.eye(2))
    Array([[ 0., -1.],
           [-1.,  0.]])
    """
    array, scales, other = inexact(a, taus, c)
    if left:
        return _reflect(array, scales, other, adjoint=transpose)
    return m.adjoint(_reflect(array, scales, m.adjoint(other), adjoint=not transpose))


@runs_anywhere
def symmetric_product(
    a_matrix: Any, c_matrix: Any, *, alpha: float = 1.0, beta: float = 0.0, symmetrize_output: bool = False
) -> Any:
    """Return ``alpha A A^T + beta C`` for a symmetric C; the whole matrix is always right.

    Parameters
    ----------
    a_matrix : (..., m, n) array_like
    c_matrix : (..., m, m) array_like
    alpha, beta : float, optional
    symmetrize_output : bool, optional
        Accepted: both triangles are computed anyway.

    Returns
    -------
    (..., m, m) array

    Notes
    -----
    Source: `jax.lax.linalg.symmetric_product`.

    Examples
    --------
    >>> symmetric_product([[1.0], [2.0]], np.eye(2), beta=1.0)
    Array([[2., 2.],
           [2., 5.]])
    """
    left, right = as_matrices(a_matrix, c_matrix)
    square = m.product(left, m.transpose(left))
    both = operations.add(m.triangle(right, "GE"), m.transpose(m.triangle(right, "GE", -1)))
    return operations.add(operations.multiply(square, alpha), operations.multiply(both, beta))


@runs_anywhere
def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Any:
    """Return x with ``A x = b`` for a tridiagonal A, by elimination with row exchanges.

    Parameters
    ----------
    dl, d, du : (..., m) array_like
        The diagonals below, on and above: ``dl[i] = A[i, i - 1]``, ``du[i] = A[i, i + 1]``.
    b : (..., m, n) array_like
    perturb_singular : bool, optional
        Only False.

    Returns
    -------
    (..., m, n) array
        Infinities or NaN where A is singular.

    Raises
    ------
    UnsupportedError
        If singular matrices are to be perturbed.

    Notes
    -----
    Source: `jax.lax.linalg.tridiagonal_solve`, LAPACK's gtsv.

    Examples
    --------
    >>> tridiagonal_solve([0.0, 1.0], [2.0, 2.0], [1.0, 0.0], [[3.0], [3.0]])
    Array([[1.],
           [1.]])
    """
    if perturb_singular:
        raise UnsupportedError(
            "tridiagonal_solve with perturb_singular=True", where=capture_location(), fix="add to the diagonal yourself"
        )
    below, middle, above, right = inexact(dl, d, du, b)
    if shape_of(right)[-2] == 0:
        return right
    low, centre, high = (_rows_first(expand(x, -1)) for x in (below, middle, above))
    return axis_order.moveaxis(_eliminate(low, centre, high, _rows_first(right)), 0, -2)


def _rows_first(x: Any) -> Any:
    return axis_order.moveaxis(x, -2, 0)


def _eliminate(below: Any, middle: Any, above: Any, right: Any) -> Any:
    """Solve, with rows along the first axis: eliminate downwards, a row at a time, then substitute upwards."""
    zero = elementwise.multiply(middle[0], 0.0)
    shape = np.broadcast_shapes(shape_of(middle)[1:], shape_of(right)[1:])
    narrow = (*shape[:-1], 1)

    def down(current: Any, following: Any) -> Any:
        p, q, r, side = current
        low, mid, high, other = following
        stays = elementwise.greater_equal(elementwise.abs(p), elementwise.abs(low))
        out = [where(stays, x, y) for x, y in ((p, low), (q, mid), (r, high), (side, other))]
        factor = elementwise.divide(where(stays, low, p), out[0])
        rest = [where(stays, x, y) for x, y in ((mid, q), (high, r), (other, side))]
        left = [elementwise.subtract(x, elementwise.multiply(factor, y)) for x, y in zip(rest, out[1:], strict=True)]
        return (left[0], left[1], zero_row, left[2]), out

    zero_row = broadcast_to_shape(zero, narrow)
    start = (
        broadcast_to_shape(middle[0], narrow),
        broadcast_to_shape(above[0], narrow),
        zero_row,
        broadcast_to_shape(right[0], shape),
    )
    last, rows = scan(down, start, (below[1:], middle[1:], above[1:], right[1:]))
    final = elementwise.divide(last[3], last[0])

    def up(after: Any, row: Any) -> Any:
        near, far = after
        p, q, r, side = row
        rest = elementwise.subtract(side, elementwise.multiply(q, near))
        found = elementwise.divide(elementwise.subtract(rest, elementwise.multiply(r, far)), p)
        return (found, near), found

    nothing = elementwise.multiply(final, 0.0)
    _, others = scan(up, (final, where(elementwise.isfinite(nothing), nothing, 0.0)), rows, reverse=True)
    return concatenate_arrays([others, expand(final, 0)], 0)
