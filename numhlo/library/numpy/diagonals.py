"""Matrices by their diagonals: eye, diag, tri, tril, triu, and vander, of a vector's powers."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from numhlo.library.numpy import reshaping
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.lowering.ops import layout
from numhlo.tracer.building import (
    as_dtype,
    bind1,
    broadcast_to_shape,
    convert,
    expand,
    full_of,
    implements,
    new_array,
    reshape_to,
    result_dtype,
    shape_of,
    traces_narrow_floats,
)
from numhlo.tracer.building import asarray as to_array
from numhlo.tracer.building import operations as b

__all__ = [
    "diag",
    "diagflat",
    "eye",
    "identity",
    "tri",
    "tril",
    "triu",
    "vander",
]


@implements(np.eye)
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = float,
    order: str = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """Return a 2-d array with ones on the k-th diagonal.

    Parameters
    ----------
    N, M : int
        Rows and columns, as many columns as rows by default.
    k : int, optional
        Positive above the main diagonal, negative below.
    dtype : dtype, optional
    order, device, like : optional
        NumPy's; without a meaning while tracing.

    Returns
    -------
    Array
        Of shape ``(N, M)``.

    Examples
    --------
    >>> eye(2, 3, 1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    rows, columns = shape_tuple((N, N if M is None else M))
    return new_array(convert(_diagonal_mask(rows, columns, k, "EQ"), as_dtype(dtype)))


@implements(np.identity)
def identity(n: int, dtype: Any = None, *, like: Any = None) -> Any:
    """Return the n by n identity matrix.

    Parameters
    ----------
    n : int
    dtype : dtype, optional
        float64 by default.
    like : optional
        NumPy's; without a meaning while tracing.

    Returns
    -------
    Array
        Of shape ``(n, n)``.

    Examples
    --------
    >>> identity(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return eye(n, dtype=float if dtype is None else dtype)


def _diagonal_mask(rows: int, columns: int, k: Any, direction: str) -> Any:
    """Return the mask ``column <direction> row + k``."""
    if shape_of(k):
        raise ValueError(f"k is the number of one diagonal, not an array of shape {shape_of(k)}")
    shape = (rows, columns)
    offset = broadcast_to_shape(convert(to_array(k), np.int64), shape)
    return b.compare(direction, b.iota_along(shape, 1), b.add(b.iota_along(shape, 0), offset))


@implements(np.tri)
def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float, *, like: Any = None) -> Any:
    """Return ones at and below the k-th diagonal.

    Parameters
    ----------
    N, M : int
        Rows and columns, as many columns as rows by default.
    k : int, optional
        Positive above the main diagonal, negative below.
    dtype : dtype, optional
    like : optional
        NumPy's; without a meaning while tracing.

    Returns
    -------
    Array
        Of shape ``(N, M)``.

    Examples
    --------
    >>> tri(2, 3).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    rows, columns = (max(n, 0) for n in shape_tuple((N, N if M is None else M)))
    return new_array(convert(_diagonal_mask(rows, columns, k, "LE"), as_dtype(dtype)))


@implements(np.tril)
def tril(m: Any, k: int = 0) -> Any:
    """Return the lower triangle, zeros above the k-th diagonal.

    Parameters
    ----------
    m : array_like
        Of shape ``(..., rows, columns)``; a vector stands for a matrix with that row repeated.
    k : int, optional
        Positive above the main diagonal, negative below.

    Returns
    -------
    Array
        Of the dtype of ``m``; what is left out is 0 even where ``m`` holds NaN.

    Examples
    --------
    >>> tril([[1, 2], [3, 4]]).tolist()
    [[1, 0], [3, 4]]
    """
    return _masked_triangle(to_array(m), k, "LE")


@implements(np.triu)
def triu(m: Any, k: int = 0) -> Any:
    """Return the upper triangle, zeros below the k-th diagonal.

    Parameters
    ----------
    m : array_like
        Of shape ``(..., rows, columns)``; a vector stands for a matrix with that row repeated.
    k : int, optional
        Positive above the main diagonal, negative below.

    Returns
    -------
    Array
        Of the dtype of ``m``; what is left out is 0 even where ``m`` holds NaN.

    Examples
    --------
    >>> triu([[1, 2], [3, 4]]).tolist()
    [[1, 2], [0, 4]]
    """
    return _masked_triangle(to_array(m), k, "GE")


def _masked_triangle(m: Any, k: int, direction: str) -> Any:
    shape = shape_of(m)
    if not shape:
        raise TypeError(f"a scalar {m.dtype.name} has no triangle: give a matrix")
    if len(shape) == 1:
        m = broadcast_to_shape(m, (shape[0], shape[0]))
        shape = shape_of(m)
    mask = broadcast_to_shape(_diagonal_mask(shape[-2], shape[-1], k, direction), shape)
    return b.select(mask, m, b.constant(0, m))


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    """Return a diagonal, or a matrix with ``v`` on its k-th diagonal.

    Parameters
    ----------
    v : array_like
        A vector to put on a diagonal, or a matrix to take one from.
    k : int, optional
        Positive above the main diagonal, negative below.

    Returns
    -------
    Array
        A view of a matrix's diagonal, or a new matrix of extent ``n + abs(k)``.

    Raises
    ------
    ValueError
        If ``v`` has neither one nor two dimensions.

    Examples
    --------
    >>> diag([1, 2])
    Array([[1, 0], [0, 2]])
    """
    array = to_array(v)
    shape = shape_of(array)
    if len(shape) == 2:
        return reshaping.diagonal(array, k)
    if len(shape) != 1:
        raise ValueError("Input must be 1- or 2-d.")
    size = shape[0] + abs(operator.index(k))
    low = max(-k, 0)
    attributes = {"edge_padding_low": (max(k, 0),), "edge_padding_high": (low,), "interior_padding": (0,)}
    padded = bind1(layout.PAD, array, np.zeros((), array.dtype), attributes=attributes)
    row = broadcast_to_shape(padded, (size, size))
    return b.select(_diagonal_mask(size, size, k, "EQ"), row, b.constant(0, row))


@implements(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    """Return a matrix with the flattened ``v`` on its k-th diagonal.

    Parameters
    ----------
    v : array_like
        Of any shape.
    k : int, optional
        Positive above the main diagonal, negative below.

    Returns
    -------
    Array
        Square, of extent ``v.size + abs(k)``.

    Examples
    --------
    >>> diagflat([[1, 2]]).tolist()
    [[1, 0], [0, 2]]
    """
    array = to_array(v)
    return diag(reshape_to(array, (math.prod(shape_of(array)),)), k)


@traces_narrow_floats
@implements(np.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Return the powers of a vector's elements as columns, falling unless ``increasing``.

    Parameters
    ----------
    x : array_like
        One-dimensional.
    N : int, optional
        The number of columns, as many as elements by default.
    increasing : bool, optional
        Begin with the power 0.

    Returns
    -------
    Array
        Of shape ``(x.size, N)``, and at least int64.

    Raises
    ------
    ValueError
        If ``x`` is not one-dimensional.

    Examples
    --------
    >>> vander([2, 3], 3).tolist()
    [[4, 2, 1], [9, 3, 1]]
    """
    line = to_array(x)
    if len(shape_of(line)) != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = line.size if N is None else N
    wanted = result_dtype(line, np.int64(0))
    columns = [full_of(1, (line.size, 1), wanted)] if count else []
    column = expand(convert(line, wanted), 1)
    for _ in range(count - 1):
        columns.append(b.multiply(columns[-1], column))
    if not columns:
        return new_array(np.empty((line.size, 0), wanted))
    return bind1(layout.CONCATENATE, *(columns if increasing else columns[::-1]), attributes={"dimension": 1})
