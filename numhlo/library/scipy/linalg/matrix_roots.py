"""The square root of matrices.

Source: Björck and Hammarling, "A Schur method for the square root of a matrix", Linear Algebra and its Applications 52
(1983).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.lax.slices import dynamic_index_in_dim
from numhlo.library.numpy.linalg.factoring import as_matrices
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.building import asarray, broadcast_to_shape, convert, expand, fori_loop, runs_anywhere, shape_of
from numhlo.tracer.building import matrices as m
from numhlo.tracer.building import operations as b

__all__ = ["sqrtm"]


@runs_anywhere
def sqrtm(A: Any, blocksize: int = 1) -> Any:
    """Return the principal square root of square matrices.

    Parameters
    ----------
    A : (..., n, n) array_like
    blocksize : int, optional
        Only 1: columns are computed one by one.

    Returns
    -------
    (..., n, n) array of complex64 or complex128
        Always complex, since a dtype can't follow values; NaN where there is no square root.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square.

    Notes
    -----
    Source: `jax.scipy.linalg.sqrtm`; the algorithm is Björck and Hammarling's, on the complex Schur form.

    Examples
    --------
    >>> sqrtm([[4.0, 0.0], [0.0, -9.0]]).round(6)
    Array([[2.+0.j, 0.+0.j],
           [0.+0.j, 0.+3.j]])
    """
    if blocksize != 1:
        raise UnsupportedError(f"sqrtm with {blocksize=}", where=capture_location(), fix="leave it out")
    (array,) = as_matrices(A, square=True)
    if array.dtype.kind != "c":
        array = convert(array, np.dtype(f"c{2 * array.dtype.itemsize}"))
    form, vectors = m.factor("schur", array)
    return m.product(vectors, _root_of_triangle(form), m.adjoint(vectors))


def _root_of_triangle(form: Any) -> Any:
    """Return the upper triangular U with ``U U = form``, column by column.

    Above the diagonal column j solves ``(U[:j, :j] + U[j, j]) u = form[:j, j]``.
    """
    shape = shape_of(form)
    n = shape[-1]
    if n == 0:
        return form
    roots = b.sqrt(m.diagonal(form))
    rows, columns = (b.iota_along(shape, len(shape) - k, np.int64) for k in (2, 1))
    on_diagonal = b.equal(rows, columns)
    row_of = b.iota_along((*shape[:-1], 1), len(shape) - 2, np.int64)
    spread = broadcast_to_shape(expand(roots, -1), shape)

    def column(number: Any, found: Any) -> Any:
        index = convert(asarray(number), np.int64)
        own = dynamic_index_in_dim(roots, index, -1)
        above = b.less(rows, broadcast_to_shape(index, shape))
        sums = b.add(spread, broadcast_to_shape(expand(own, -1), shape))
        is_zero = b.equal(sums, 0)
        pivots = b.select(b.both(above, b.invert(is_zero)), sums, b.constant(1, sums))
        matrix = b.select(on_diagonal, pivots, found)
        right = dynamic_index_in_dim(form, index, -1)
        here = broadcast_to_shape(index, shape_of(row_of))
        right = b.select(b.less(row_of, here), right, b.constant(0, right))
        solved = m.substitute(matrix, right, lower=False)
        zero = _column_of_flags(b.both(above, b.both(on_diagonal, is_zero)))
        impossible = b.both(zero, b.compare("NE", solved, b.constant(0, solved)))
        solved = b.select(impossible, b.constant(np.nan, solved), solved)
        own_column = broadcast_to_shape(expand(own, -1), shape_of(solved))
        solved = b.select(b.equal(row_of, here), own_column, solved)
        wide = broadcast_to_shape(solved, shape)
        return b.select(b.equal(columns, broadcast_to_shape(index, shape)), wide, found)

    return fori_loop(0, n, column, b.constant(0, form))


def _column_of_flags(flags: Any) -> Any:
    """Return in which rows any flag is set, as columns."""
    counts = convert(flags, np.float32)
    ones = b.constant(1, m.column_of(m.diagonal(counts)))
    return b.greater(m.product(counts, ones), 0)
