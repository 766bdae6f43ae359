"""Index grids: meshgrid, indices, ix_, triangles and diagonals of indices.

What depends on shapes alone is computed by NumPy while tracing; only `meshgrid` and `ix_` take arrays.
`r_`, `mgrid` and what else is made by indexing is in `index_brackets`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy.joining import concatenate
from numhlo.library.numpy.reshaping import broadcast_arrays, reshape, shape_tuple
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DataDependentShapeError
from numhlo.tracer.building import (
    Tracer,
    as_traced,
    asarray,
    broadcast_all,
    convert,
    expand,
    implements,
    new_array,
    reshape_to,
    shape_of,
)
from numhlo.tracer.building import operations as b

__all__ = [
    "diag_indices",
    "diag_indices_from",
    "indices",
    "ix_",
    "mask_indices",
    "meshgrid",
    "ravel_multi_index",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "unravel_index",
]

_TRIANGLE = """
Parameters
----------
n, m : int
    Rows and columns, as many columns as rows by default.
k : int, optional
    The triangle's last diagonal: positive above the main one, negative below.
arr : array_like
    A matrix, of which only the shape counts.

Returns
-------
tuple of two Arrays
    Rows and columns, in row-major order.
"""


def _eager_meshgrid(*xi: Any, **options: Any) -> list[Any]:
    return list(np.meshgrid(*xi, **options))


@implements(np.meshgrid, eager=_eager_meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Any]:
    """Return coordinate arrays from coordinate vectors.

    Parameters
    ----------
    *xi : array_like
        Vectors; other shapes are flattened.
    copy : bool, optional
        Else results are views, of which only those that are not broadcast can be written.
    sparse : bool, optional
        Leave extents at 1 along the other axes, for broadcasting.
    indexing : "xy" or "ij", optional
        Whether the first vector runs along the second axis or the first.

    Returns
    -------
    list of Array

    Raises
    ------
    ValueError
        If ``indexing`` is another.

    Examples
    --------
    >>> [grid.tolist() for grid in meshgrid([1, 2, 3], [4, 5])]
    [[[1, 2, 3], [1, 2, 3]], [[4, 4, 4], [5, 5, 5]]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    lines = [as_traced(asarray(x)) for x in xi]
    order = list(range(len(lines)))
    if indexing == "xy" and len(lines) > 1:
        order[:2] = [1, 0]
    grids = []
    for line, axis in zip(lines, order, strict=True):
        shape = tuple(line.size if k == axis else 1 for k in range(len(lines)))
        grids.append(reshape(line, shape))
    if not copy:
        return grids if sparse else list(broadcast_arrays(*grids))
    return [new_array(g) for g in (grids if sparse else broadcast_all(*grids))]


@implements(np.indices)
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """Return the index of every element along each axis, stacked.

    Parameters
    ----------
    dimensions : sequence of int
        Known while tracing.
    dtype : dtype, optional
    sparse : bool, optional
        A tuple of arrays that broadcast to the shape, instead of one.

    Returns
    -------
    Array or tuple of Array
        Of shape ``(len(dimensions), *dimensions)``.

    Examples
    --------
    >>> indices((2, 2))[0].tolist()
    [[0, 0], [1, 1]]
    """
    shape = shape_tuple(dimensions)
    wanted = np.dtype(dtype)
    if sparse:
        shapes = [tuple(n if j == k else 1 for j, n in enumerate(shape)) for k in range(len(shape))]
        return tuple(new_array(reshape_to(b.iota(n, wanted), s)) for n, s in zip(shape, shapes, strict=True))
    rows = [expand(b.iota_along(shape, k, wanted), 0) for k in range(len(shape))]
    return concatenate(rows, 0) if rows else new_array(np.empty((0,), wanted))


@implements(np.ix_)
def ix_(*args: Any) -> tuple[Any, ...]:
    """Return vectors shaped so that together they index every combination of their elements.

    Parameters
    ----------
    *args : array_like
        Vectors of integers, or masks.

    Returns
    -------
    tuple of Array

    Raises
    ------
    ValueError
        If an argument is not one-dimensional.
    DataDependentShapeError
        If a mask is traced.

    Examples
    --------
    >>> [part.shape for part in ix_([0, 1], [0, 1, 2])]
    [(2, 1), (1, 3)]
    """
    found = []
    for k, x in enumerate(args):
        line = asarray(x)
        if len(shape_of(line)) != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if line.dtype.kind == "b":
            line = np.nonzero(_known(line, "ix_ of a traced mask"))[0]
        line = convert(line, np.int64) if line.size == 0 else line
        found.append(reshape_to(line, (1,) * k + (line.size,) + (1,) * (len(args) - k - 1)))
    return tuple(found)


def _known(x: Any, what: str) -> np.ndarray:
    known = x.known() if isinstance(x, Tracer) else np.asarray(x)
    if known is None:
        raise DataDependentShapeError(
            what,
            where=capture_location(),
            why="the extent of the result would depend on values that are not known while tracing",
            fix="use a concrete mask, or where(mask, x, fill) on the whole array",
        )
    return known


@implements(np.diag_indices)
def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """Return the indices of the main diagonal of an array of ``ndim`` axes of extent ``n``.

    Parameters
    ----------
    n, ndim : int

    Returns
    -------
    tuple of Array
        One for each axis.

    Examples
    --------
    >>> diag_indices(2)
    (Array([0, 1]), Array([0, 1]))
    """
    return tuple(b.iota(n) for _ in range(ndim))


@implements(np.diag_indices_from)
def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """Return the indices of an array's main diagonal.

    Parameters
    ----------
    arr : array_like
        Only its shape counts.

    Returns
    -------
    tuple of Array
        One for each axis.

    Raises
    ------
    ValueError
        If extents differ, or there is one axis only.

    Examples
    --------
    >>> diag_indices_from(np.ones((2, 2)))
    (Array([0, 1]), Array([0, 1]))
    """
    shape = shape_of(asarray(arr))
    if len(shape) < 2 or len(set(shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length, and there must be at least two")
    return diag_indices(shape[0], len(shape))


@implements(np.tril_indices)
@described(_TRIANGLE)
def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, ...]:
    """Return the indices of the lower triangle of an n by m array.

    Examples
    --------
    >>> tril_indices(2)
    (Array([0, 1, 1]), Array([0, 0, 1]))
    """
    return tuple(as_traced(i) for i in np.tril_indices(n, k, m))


@implements(np.triu_indices)
@described(_TRIANGLE)
def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, ...]:
    """Return the indices of the upper triangle of an n by m array.

    Examples
    --------
    >>> triu_indices(2, 1)
    (Array([0]), Array([1]))
    """
    return tuple(as_traced(i) for i in np.triu_indices(n, k, m))


def _extents_of_matrix(arr: Any) -> tuple[int, ...]:
    shape = shape_of(asarray(arr))
    if len(shape) != 2:
        raise ValueError(f"input array must be 2-d, not of shape {shape}")
    return shape


@implements(np.tril_indices_from)
@described(_TRIANGLE)
def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """Return the indices of a matrix's lower triangle.

    Parameters
    ----------
    k : int, optional
        The triangle's last diagonal.

    Examples
    --------
    >>> tril_indices_from(np.ones((2, 2)), -1)
    (Array([1]), Array([0]))
    """
    rows, columns = _extents_of_matrix(arr)
    return tril_indices(rows, k, columns)


@implements(np.triu_indices_from)
@described(_TRIANGLE)
def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """Return the indices of a matrix's upper triangle.

    Parameters
    ----------
    k : int, optional
        The triangle's last diagonal.

    Examples
    --------
    >>> triu_indices_from(np.ones((2, 2)))
    (Array([0, 0, 1]), Array([0, 1, 1]))
    """
    rows, columns = _extents_of_matrix(arr)
    return triu_indices(rows, k, columns)


@implements(np.mask_indices)
def mask_indices(n: int, mask_func: Any, k: Any = 0) -> tuple[Any, ...]:
    """Return the indices that ``mask_func``, such as `triu`, keeps of an n by n array.

    Parameters
    ----------
    n : int
    mask_func : callable
        Takes an array and ``k``, and returns an array.
    k : object, optional
        For ``mask_func``.

    Returns
    -------
    tuple of two Arrays
        Where what it returns for an array of ones is not zero.

    Raises
    ------
    DataDependentShapeError
        If that is not known while tracing.

    Examples
    --------
    >>> mask_indices(2, np.triu)
    (Array([0, 0, 1]), Array([0, 1, 1]))
    """
    mask = mask_func(np.ones((n, n), int), k)
    return tuple(as_traced(i) for i in np.nonzero(_known(mask, "mask_indices of a traced mask")))


@implements(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """Return the coordinates of flat indices; traced ones out of bounds wrap along the first axis.

    Parameters
    ----------
    indices : array_like
        Of integers.
    shape : int or sequence of int
        Known while tracing.
    order : "C" or "F", optional
        Whether the last index runs fastest or the first.

    Returns
    -------
    tuple of Array
        One for each axis, of int64.

    Raises
    ------
    ValueError
        If an index is out of bounds, outside tracing.

    Examples
    --------
    >>> unravel_index(4, (2, 3))
    (Array(1), Array(1))
    """
    extents = shape_tuple(shape)
    flat = asarray(indices)
    if flat.dtype.kind not in "biu":
        raise TypeError("only int indices permitted")
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    rest = convert(flat, np.int64)
    coordinates = []
    for extent in extents[::-1] if order == "C" else extents:
        coordinates.append(b.remainder(rest, b.constant(max(extent, 1), rest)))
        rest = b.divide(rest, b.constant(max(extent, 1), rest))
    return tuple(coordinates[::-1] if order == "C" else coordinates)


@implements(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """Return flat indices of coordinates; out of bounds by ``mode`` ``"clip"`` or ``"wrap"``.

    Parameters
    ----------
    multi_index : sequence of array_like
        One for each axis; they broadcast.
    dims : sequence of int
        Known while tracing.
    mode : "raise", "clip" or "wrap", or a sequence of them, optional
        "raise" is not checked while tracing: such an index gives what the sum of products gives.
    order : "C" or "F", optional
        Whether the last index runs fastest or the first.

    Returns
    -------
    Array
        Of int64.

    Raises
    ------
    ArgumentError
        If a mode is another.
    ValueError
        If an index is out of bounds under "raise", outside tracing.

    Examples
    --------
    >>> ravel_multi_index(([0, 1], [1, 2]), (2, 3))
    Array([1, 5])
    """
    extents = shape_tuple(dims)
    modes = (mode,) * len(extents) if isinstance(mode, str) else tuple(mode)
    parts = broadcast_all(*[convert(asarray(i), np.int64) for i in multi_index], name="ravel_multi_index")
    pairs = list(zip(parts, extents, modes, strict=True))
    flat = None
    for part, extent, how in pairs if order == "C" else pairs[::-1]:
        inside = _inside(part, extent, how)
        flat = inside if flat is None else b.add(b.multiply(flat, b.constant(extent, flat)), inside)
    return flat


def _inside(index: Any, extent: int, mode: str) -> Any:
    if mode == "clip":
        return b.minimum(b.maximum(index, b.constant(0, index)), b.constant(extent - 1, index))
    if mode == "wrap":
        rest = b.remainder(index, b.constant(extent, index))
        return b.select(b.less(rest, 0), b.add(rest, b.constant(extent, index)), rest)
    if mode != "raise":
        raise ArgumentError(f"ravel_multi_index(mode={mode!r})", where=capture_location(), fix="use clip or wrap")
    return index
