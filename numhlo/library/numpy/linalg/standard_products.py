"""Functions of `numhlo.numpy.linalg` that have the standard's signature, and another one in `numhlo.numpy`."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy import axis_order, elementwise, reshaping
from numhlo.library.numpy.linalg import cross_products, matrix_products
from numhlo.library.numpy.linalg import products as linear_algebra
from numhlo.tracer.building import as_traced, asarray, expand, implements, normalize_axis, shape_of

__all__ = ["cross", "diagonal", "matmul", "matrix_transpose", "outer", "tensordot", "trace", "vecdot"]


@implements(np.linalg.cross)
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return the cross product of vectors of three components along an axis.

    Parameters
    ----------
    x1, x2 : array_like
        The other axes broadcast.
    axis : int, optional
        Where the vectors stand.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        If there are not three components.

    Examples
    --------
    >>> cross([1, 0, 0], [0, 1, 0])
    Array([0, 0, 1])
    """
    for x in (asarray(x1), asarray(x2)):
        if (extent := shape_of(x)[normalize_axis(axis, len(shape_of(x)))]) != 3:
            raise ValueError(f"cross of vectors of {extent} components: both operands must have 3 along axis {axis}")
    return cross_products.cross(x1, x2, axis=axis)


@implements(np.linalg.diagonal)
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Return the diagonals of the matrices in the last two axes.

    Parameters
    ----------
    x : (..., m, n) array_like
    offset : int, optional
        Positive above the main diagonal, negative below.

    Returns
    -------
    Array
        A view.

    Examples
    --------
    >>> diagonal(np.arange(8).reshape(2, 2, 2)).tolist()
    [[0, 3], [4, 7]]
    """
    return reshaping.diagonal(x, offset, -2, -1)


@implements(np.linalg.matmul)
def matmul(x1: Any, x2: Any, /) -> Any:
    """Return the matrix product.

    Parameters
    ----------
    x1, x2 : array_like
        As those of `numhlo.numpy.matmul`.

    Returns
    -------
    Array

    Raises
    ------
    ShapeError
        If the contracted extents differ.

    Examples
    --------
    >>> matmul([[1, 2], [3, 4]], [1, 1])
    Array([3, 7])
    """
    return matrix_products.matmul(x1, x2)


@implements(np.linalg.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    """Return the last two axes swapped.

    Parameters
    ----------
    x : (..., m, n) array_like

    Returns
    -------
    Array
        A view of shape ``(..., n, m)``.

    Raises
    ------
    ValueError
        If ``x`` has fewer than two dimensions.

    Examples
    --------
    >>> matrix_transpose(np.ones((4, 2, 3))).shape
    (4, 3, 2)
    """
    return axis_order.matrix_transpose(x)


@implements(np.linalg.outer)
def outer(x1: Any, x2: Any, /) -> Any:
    """Return the outer product of two vectors.

    Parameters
    ----------
    x1, x2 : array_like
        Vectors.

    Returns
    -------
    Array
        Of shape ``(x1.size, x2.size)``.

    Raises
    ------
    ValueError
        If one is no vector.

    Examples
    --------
    >>> outer([1, 2], [3, 4]).tolist()
    [[3, 4], [6, 8]]
    """
    first, second = as_traced(asarray(x1)), as_traced(asarray(x2))
    if first.ndim != 1 or second.ndim != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are {first.ndim} and {second.ndim} dimensional."
        )
    return elementwise.multiply(expand(first, 1), second)


@implements(np.linalg.tensordot)
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Return the product summed over the given axes.

    Parameters
    ----------
    x1, x2, axes : optional
        As those of `numhlo.numpy.tensordot`.

    Returns
    -------
    Array

    Raises
    ------
    ShapeError
        If the contracted extents differ.

    Examples
    --------
    >>> tensordot(np.ones((2, 3, 4)), np.ones((3, 4)), axes=2)
    Array([12., 12.])
    """
    return linear_algebra.tensordot(x1, x2, axes)


@implements(np.linalg.trace)
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Return the sums along the diagonals of the matrices in the last two axes.

    Parameters
    ----------
    x : (..., m, n) array_like
    offset : int, optional
        Positive above the main diagonal, negative below.
    dtype : dtype, optional
        In which is added up.

    Returns
    -------
    Array
        Of shape ``(...)``.

    Examples
    --------
    >>> trace([[1, 2], [3, 4]])
    Array(5)
    """
    return linear_algebra.trace(x, offset, -2, -1, dtype)


@implements(np.linalg.vecdot)
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return dot products of vectors along an axis, the first one conjugated.

    Parameters
    ----------
    x1, x2 : array_like
        Of shapes ``(..., n)``; the other axes broadcast.
    axis : int, optional
        Of the vectors.

    Returns
    -------
    Array

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.

    Examples
    --------
    >>> vecdot([[1, 2], [3, 4]], [1, 1])
    Array([3, 7])
    """
    return matrix_products.vecdot(x1, x2, axis=axis)
