"""Norms of vectors and matrices, powers of matrices, and products of several."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.numpy import axis_order, elementwise, reductions, reshaping
from numhlo.library.numpy.diagonals import eye
from numhlo.library.numpy.linalg import matrix_products, products
from numhlo.library.numpy.out_arrays import store
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError
from numhlo.tracer.building import (
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    implements,
    normalize_axes,
    reshape_to,
    shape_of,
)
from numhlo.tracer.building import matrices as m
from numhlo.tracer.building import operations as b

__all__ = [
    "matrix_norm",
    "matrix_power",
    "multi_dot",
    "norm",
    "vector_norm",
]


def _inexact(x: Any) -> Any:
    array = as_traced(asarray(x))
    return array if array.dtype.kind in "fcV" else convert(array, np.float64)


def squares(x: Any) -> Any:
    """Return the squared absolute values."""
    if x.dtype.kind != "c":
        return b.multiply(x, x)
    re, im = b.real(x), b.imag(x)
    return b.add(b.multiply(re, re), b.multiply(im, im))


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return a vector or matrix norm.

    Parameters
    ----------
    x : array_like
    ord : number or {"fro", "nuc"}, optional
        The Frobenius (or Euclidean) norm by default; of matrices also 1, -1, 2, -2, inf, -inf and "nuc".
    axis : int or pair of int, optional
    keepdims : bool, optional

    Returns
    -------
    Array
        Real, and a scalar for all axes.

    Raises
    ------
    ValueError
        If there is no such norm, or there are neither one nor two axes.

    Examples
    --------
    >>> norm([3.0, 4.0])
    Array(5.)
    """
    array = _inexact(x)
    if axis is None and ord is None:
        result = b.sqrt(reductions.sum(squares(array)))
        return reshape_to(result, (1,) * array.ndim) if keepdims else result
    axes = normalize_axes(axis, array.ndim)
    if len(axes) == 1:
        return _vector_norm(array, 2 if ord is None else ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(array, "fro" if ord is None else ord, axes, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def _vector_norm(x: Any, ord: Any, axes: Any, keepdims: bool) -> Any:
    size = elementwise.absolute(x)
    if ord in (math.inf, -math.inf):
        return (_largest if ord > 0 else reductions.min)(size, axes, keepdims=keepdims)
    if ord == 0:
        return reductions.sum(convert(b.unequal(x, 0), size.dtype), axes, keepdims=keepdims)
    if ord == 1:
        return reductions.sum(size, axes, keepdims=keepdims)
    if ord == 2:
        return b.sqrt(reductions.sum(squares(x), axes, keepdims=keepdims))
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order {ord!r} for vectors")
    total = reductions.sum(elementwise.power(size, ord), axes, keepdims=keepdims)
    return elementwise.power(total, elementwise.reciprocal(convert(asarray(ord), size.dtype)))


def _largest(sizes: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    """Return the largest of what is never negative: 0 where there are none."""
    is_empty = any(sizes.shape[axis] == 0 for axis in axes)
    return reductions.max(sizes, axes, keepdims=keepdims, **({"initial": 0} if is_empty else {}))


def _matrix_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if axes[0] == axes[1]:
        raise ValueError("Duplicate axes given.")
    if ord in ("fro", "f"):
        return b.sqrt(reductions.sum(squares(x), axes, keepdims=keepdims))
    if ord in (2, -2, "nuc"):
        return _spectral_norm(x, ord, axes, keepdims)
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError("Invalid norm order for matrices.")
    summed, kept = axes if abs(ord) == 1 else axes[::-1]
    sums = reductions.sum(elementwise.absolute(x), summed, keepdims=True)
    result = (_largest if ord > 0 else reductions.min)(sums, (kept,), keepdims=True)
    return result if keepdims else reshaping.squeeze(result, axes)


def _spectral_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return the greatest singular value, the least, or the sum of all."""
    (values,) = m.factor("svdvals", asarray(axis_order.moveaxis(x, axes, (-2, -1))))
    reduce: Any = {2: _largest, -2: reductions.min, "nuc": reductions.sum}[ord]
    result = reduce(values, (values.ndim - 1,))
    kept = tuple(1 if k in axes else n for k, n in enumerate(shape_of(x)))
    return reshape_to(result, kept) if keepdims else result


@implements(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Return the norm of vectors along axes, of all elements for None.

    Parameters
    ----------
    x : array_like
    axis : int or sequence of int, optional
    keepdims : bool, optional
        Keep the axes, with extent 1.
    ord : number, optional
        2, inf, -inf, 0 (the number of nonzero elements) or any p.

    Returns
    -------
    Array
        Real.

    Raises
    ------
    ValueError
        If ``ord`` is a word.

    Examples
    --------
    >>> vector_norm([3.0, 4.0])
    Array(5.)
    """
    array = _inexact(x)
    axes = normalize_axes(axis, array.ndim)
    return _vector_norm(array, ord, axes, keepdims)


@implements(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Return the norm of the matrices in the last two axes.

    Parameters
    ----------
    x : (..., m, n) array_like
    keepdims : bool, optional
        Keep the axes, with extent 1.
    ord : number or {"fro", "nuc"}, optional
        1, -1, 2, -2, inf or -inf.

    Returns
    -------
    Array
        Real.

    Raises
    ------
    ValueError
        If there is no such norm.

    Examples
    --------
    >>> matrix_norm(np.array([[3.0, 0.0], [0.0, 4.0]]))
    Array(5.)
    """
    array = _inexact(x)
    return _matrix_norm(array, ord, (array.ndim - 2, array.ndim - 1), keepdims)


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    """Return a square matrix to an integer power, by squaring; negative powers are those of the inverse.

    Parameters
    ----------
    a : (..., n, n) array_like
    n : int
        Known while tracing.

    Returns
    -------
    Array
        Of the dtype of ``a``, float64 for integers to negative powers.

    Raises
    ------
    ShapeError
        If ``a`` is not square.

    Examples
    --------
    >>> matrix_power(np.array([[1, 1], [1, 0]]), 10).tolist()
    [[89, 55], [55, 34]]
    """
    array = as_traced(asarray(a))
    _require_square("matrix_power", array)
    if n < 0:
        array = _inexact(array)
        (inverse,) = m.factor("solve", array, m.identity_like(array))
        return matrix_power(inverse, -n)
    if n == 0:
        return broadcast_to_shape(eye(array.shape[-1], dtype=array.dtype), array.shape)
    result, square = None, array
    while n:
        if n & 1:
            result = square if result is None else matrix_products.matmul(result, square)
        n >>= 1
        square = matrix_products.matmul(square, square) if n else square
    return as_traced(result).copy()  # type: ignore[attr-defined]


def _require_square(name: str, array: Any) -> None:
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        raise ShapeError(f"{name}: {array.aval.short()} is no square matrix", where=capture_location())


@implements(np.linalg.multi_dot)
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """Return the product of several matrices, in the order that takes the fewest multiplications.

    Parameters
    ----------
    arrays : sequence of array_like
        Two or more matrices; first and last may be vectors. Two arrays of any shapes are multiplied by `dot`.
    out : Array, optional
        Where the result is written.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        If there are less than two.
    ShapeError
        If neighbours do not fit, or one of three or more is no matrix.

    Notes
    -----
    Cormen, Leiserson, Rivest, Stein: Introduction to Algorithms, section 15.2.

    Examples
    --------
    >>> multi_dot([np.ones((2, 3)), np.ones((3, 4)), np.ones((4, 1))]).tolist()
    [[12.0], [12.0]]
    """
    arrays = list(arrays)
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(arrays) == 2:
        return products.dot(arrays[0], arrays[1], out)
    parts = [as_traced(asarray(a)) for a in arrays]
    row, column = parts[0].ndim == 1, parts[-1].ndim == 1
    parts[0] = reshape_to(parts[0], (1, parts[0].size)) if row else parts[0]
    parts[-1] = reshape_to(parts[-1], (parts[-1].size, 1)) if column else parts[-1]
    for part in parts:
        if part.ndim != 2:
            raise ShapeError(
                f"multi_dot of {len(parts)} arrays, one of them {part.aval.short()}",
                where=capture_location(),
                why="all have to be matrices, but for the first and last, which may be vectors",
                fix="write a @ b @ c for stacks of matrices",
            )
    result = _multiply_chain(parts, _best_splits([p.shape[0] for p in parts] + [parts[-1].shape[1]]), 0, len(parts) - 1)
    shape = shape_of(result)[1 if row else 0 : 1 if column else 2]
    return store("multi_dot", reshape_to(result, shape), out, exact=True)


def _best_splits(extents: list[int]) -> dict[tuple[int, int], int]:
    """Return where to split each run of matrices (Cormen et al., "Matrix-chain multiplication")."""
    count = len(extents) - 1
    cost = {(k, k): 0 for k in range(count)}
    splits = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            options = {
                k: cost[i, k] + cost[k + 1, j] + extents[i] * extents[k + 1] * extents[j + 1] for k in range(i, j)
            }
            splits[i, j] = min(options, key=lambda k: options[k])
            cost[i, j] = options[splits[i, j]]
    return splits


def _multiply_chain(parts: list[Any], splits: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return parts[i]
    k = splits[i, j]
    return matrix_products.matmul(_multiply_chain(parts, splits, i, k), _multiply_chain(parts, splits, k + 1, j))
