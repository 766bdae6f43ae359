"""Index grids: meshgrid, indices, ix_, triangles and diagonals of indices, and the bracket helpers r_, c_, s_, mgrid.

What depends on shapes alone is computed by NumPy while tracing; only `meshgrid`, `ix_`, `r_` and `c_` take arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DataDependentShapeError
from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace.core import (
    as_arrays,
    asarray,
    broadcast_all,
    contains_tracer,
    convert,
    expand,
    implements,
    reshape_to,
    shape_of,
)
from numhlo.tracer.namespace.index_items import as_traced, new_array
from numhlo.tracer.namespace.joining import concatenate
from numhlo.tracer.namespace.manipulation import shape_tuple
from numhlo.tracer.namespace.sequences import arange, linspace
from numhlo.tracer.trace import Tracer, current_trace

__all__ = [
    "c_",
    "diag_indices",
    "diag_indices_from",
    "index_exp",
    "indices",
    "ix_",
    "mask_indices",
    "meshgrid",
    "mgrid",
    "ogrid",
    "r_",
    "ravel_multi_index",
    "s_",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "unravel_index",
]

index_exp = np.index_exp
s_ = np.s_


def _eager_meshgrid(*xi: Any, **options: Any) -> list[Any]:
    return list(np.meshgrid(*xi, **options))


@implements(np.meshgrid, eager=_eager_meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Any]:
    """Return coordinate arrays from coordinate vectors.

    Examples
    --------
    >>> [grid.tolist() for grid in meshgrid([1, 2, 3], [4, 5])]
    [[[1, 2, 3], [1, 2, 3]], [[4, 4, 4], [5, 5, 5]]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    lines = [asarray(x) for x in xi]
    order = list(range(len(lines)))
    if indexing == "xy" and len(lines) > 1:
        order[:2] = [1, 0]
    grids = []
    for line, axis in zip(lines, order, strict=True):
        shape = tuple(line.size if k == axis else 1 for k in range(len(lines)))
        grids.append(reshape_to(line, shape))
    return [new_array(g) for g in (grids if sparse else broadcast_all(*grids))]


@implements(np.indices)
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """Return the index of every element along each axis, stacked.

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

    Examples
    --------
    >>> diag_indices(2)
    (Array([0, 1]), Array([0, 1]))
    """
    return tuple(b.iota(n) for _ in range(ndim))


@implements(np.diag_indices_from)
def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """Return the indices of an array's main diagonal.

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
def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, ...]:
    """Return the indices of the lower triangle of an n by m array.

    Examples
    --------
    >>> tril_indices(2)
    (Array([0, 1, 1]), Array([0, 0, 1]))
    """
    return tuple(as_traced(i) for i in np.tril_indices(n, k, m))


@implements(np.triu_indices)
def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, ...]:
    """Return the indices of the upper triangle of an n by m array.

    Examples
    --------
    >>> triu_indices(2, 1)
    (Array([0]), Array([1]))
    """
    return tuple(as_traced(i) for i in np.triu_indices(n, k, m))


@implements(np.tril_indices_from)
def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """Return the indices of a matrix's lower triangle.

    Examples
    --------
    >>> tril_indices_from(np.ones((2, 2)), -1)
    (Array([1]), Array([0]))
    """
    return tril_indices(shape_of(asarray(arr))[0], k, shape_of(asarray(arr))[1])


@implements(np.triu_indices_from)
def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, ...]:
    """Return the indices of a matrix's upper triangle.

    Examples
    --------
    >>> triu_indices_from(np.ones((2, 2)))
    (Array([0, 0, 1]), Array([0, 1, 1]))
    """
    return triu_indices(shape_of(asarray(arr))[0], k, shape_of(asarray(arr))[1])


@implements(np.mask_indices)
def mask_indices(n: int, mask_func: Any, k: Any = 0) -> tuple[Any, ...]:
    """Return the indices that ``mask_func``, such as `triu`, keeps of an n by n array.

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

    Examples
    --------
    >>> unravel_index(4, (2, 3))
    (Array(1), Array(1))
    """
    extents = shape_tuple(shape)
    rest = convert(asarray(indices), np.int64)
    coordinates = []
    for extent in extents[::-1] if order == "C" else extents:
        coordinates.append(b.remainder(rest, b.constant(max(extent, 1), rest)))
        rest = b.divide(rest, b.constant(max(extent, 1), rest))
    return tuple(coordinates[::-1] if order == "C" else coordinates)


@implements(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """Return flat indices of coordinates; out of bounds by ``mode`` ``"clip"`` or ``"wrap"``.

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


class _Grid:
    """``mgrid`` and ``ogrid``: index with slices ``start:stop:step``, a complex step counting points."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse
        self._numpy = np.ogrid if sparse else np.mgrid

    def __getitem__(self, key: Any) -> Any:
        made = as_arrays(self._numpy[key])
        if current_trace() is None:
            return made
        return tuple(new_array(x) for x in made) if isinstance(made, tuple) else new_array(made)


mgrid = _Grid(False)
ogrid = _Grid(True)


class _Joiner:
    """``r_`` and ``c_``: arrays, numbers and slices joined by indexing."""

    def __init__(self, numpy_object: Any, axis: int, columns: bool) -> None:
        self._numpy, self._axis, self._columns = numpy_object, axis, columns

    def __getitem__(self, key: Any) -> Any:
        if current_trace() is None:
            return as_arrays(self._numpy[key])
        entries = list(key) if isinstance(key, tuple) else [key]
        if not contains_tracer(entries):
            return new_array(self._numpy[key])
        if isinstance(entries[0], str):
            raise ArgumentError(
                f"r_[{entries[0]!r}, ...] of traced arrays", where=capture_location(), fix="use concatenate or stack"
            )
        parts = [self._part(entry) for entry in entries]
        return concatenate(parts, self._axis)

    def _part(self, entry: Any) -> Any:
        if isinstance(entry, slice):
            entry = _points(entry)
        array = asarray(entry)
        if len(shape_of(array)) == 0:
            array = reshape_to(array, (1,))
        if self._columns and len(shape_of(array)) == 1:
            array = reshape_to(array, (array.size, 1))
        return array


def _points(item: slice) -> Any:
    start = 0 if item.start is None else item.start
    step = 1 if item.step is None else item.step
    if isinstance(step, complex):
        return linspace(start, item.stop, int(abs(step)))
    return arange(start, item.stop, step)


r_ = _Joiner(np.r_, 0, columns=False)
c_ = _Joiner(np.c_, -1, columns=True)
