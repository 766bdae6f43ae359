"""Stored elements and the places that they lie at: what sums, sorts, pads and rearranges them.

An array has batch axes first, each batch with as many elements; then sparse axes, whose places are listed; then dense
ones, of which each stored element has all. Values are ``(*batch, nse, *dense)``, places ``(*batch, nse, sparse axes)``,
where batch axes of extent 1 stand for any. A place out of bounds stands for no element, which pads.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax import lax
from numhlo.compat.jax.experimental.sparse.base import (
    JAXSparse,
    SparseEfficiencyError,
    SparseEfficiencyWarning,
    SparseInfo,
    misfit,
)
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.core.trace import Tracer


class StoredElements(JAXSparse):
    """The parts of `BCOO`: values, and places that are listed.

    Parameters
    ----------
    args : tuple of (array_like, array_like)
    shape : tuple of int
    indices_sorted, unique_indices : bool, optional
        What is known of the places.
    """

    def __init__(
        self,
        args: tuple[Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices = (jnp.asarray(x) for x in args)
        self.shape = tuple(map(operator.index, shape))
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        require_fitting(self.data, self.indices, self.shape)

    @property
    def _info(self) -> SparseInfo:
        return SparseInfo(self.shape, self.indices_sorted, self.unique_indices)

    @property
    def nse(self) -> int:
        """Return how many elements each batch stores."""
        return int(self.indices.shape[-2])

    @property
    def n_batch(self) -> int:
        """Return the number of batch axes."""
        return int(self.indices.ndim) - 2

    @property
    def n_sparse(self) -> int:
        """Return the number of sparse axes."""
        return int(self.indices.shape[-1])

    @property
    def n_dense(self) -> int:
        """Return the number of dense axes."""
        return int(self.data.ndim) - 1 - self.n_batch

    @property
    def sparse_shape(self) -> tuple[int, ...]:
        """Return the extents of sparse axes."""
        return self.shape[self.n_batch : self.n_batch + self.n_sparse]

    def _layout(self) -> str:
        found = {"n_batch": self.n_batch, "n_dense": self.n_dense}
        return "".join(f", {name}={count}" for name, count in found.items() if count)

    def like(self, data: Any, indices: Any = None, shape: Any = None, **known: bool) -> Any:
        """Return an array of the same class, of other parts."""
        places = self.indices if indices is None else indices
        return type(self)((data, places), shape=self.shape if shape is None else shape, **known)

    def tree_flatten(self) -> tuple[tuple[Any, Any], Any]:
        """Return the values and the places, and the rest."""
        batch = getattr(self.indices, "ndim", 2) - 2
        return (self.data, self.indices), (*self._info, batch)

    @classmethod
    def tree_unflatten(cls, rest: Any, parts: Any) -> Any:
        """Return the array of parts that may be anything; a leading axis more or less is one of batches."""
        made = object.__new__(cls)
        made.data, made.indices = parts
        shape, made.indices_sorted, made.unique_indices, batch = rest
        made.shape = with_leading_axis(shape, batch, made.indices, made.data, 2)
        return made


def with_leading_axis(shape: tuple[int, ...], batch: int, indices: Any, data: Any, own: int) -> tuple[int, ...]:
    """Return the shape of an array whose parts may have got, or lost, leading axes of batches.

    Parameters
    ----------
    shape : tuple of int
        Before.
    batch : int
        How many batch axes there were.
    indices, data : object
    own : int
        How many axes the places have behind those of batches.
    """
    if not (hasattr(indices, "ndim") and hasattr(data, "ndim")):
        return shape
    more = indices.ndim - own - batch
    if batch + more < 0:
        raise misfit(
            f"a sparse array {shape} mapped over axis 0, which is no batch axis",
            why=f"it has {batch} batch axes, and in_axes must correspond to one",
            fix="use m.update_layout(n_batch=1)",
        )
    return (*np.broadcast_shapes(indices.shape[:more], data.shape[:more]), *shape) if more > 0 else shape[-more:]


def require_fitting(data: Any, indices: Any, shape: Sequence[int]) -> None:
    """Raise where parts do not make an array of a shape.

    Raises
    ------
    ShapeError
        If they do not fit.
    """
    parts = f"BCOO of values {tuple(data.shape)} at indices {tuple(indices.shape)} in {tuple(shape)}"
    if indices.ndim < 2 or indices.dtype.kind not in "iu":
        raise misfit(parts, why="indices are integers (*batch, nse, number of sparse axes)")
    n_batch, (nse, n_sparse) = indices.ndim - 2, indices.shape[-2:]
    dense = shape[n_batch + n_sparse :]
    fits = n_batch + n_sparse <= len(shape) and data.ndim >= n_batch
    extents = zip(data.shape[:n_batch], indices.shape[:n_batch], shape, strict=False)
    if not fits or any(a not in (1, n) or b not in (1, n) for a, b, n in extents):
        raise misfit(parts, why="batch axes of both have the array's extents, or 1")
    if tuple(data.shape[n_batch:]) != (nse, *dense):
        raise misfit(parts, why="there is one row of indices for each value, with one column for each sparse axis")


def places(indices: Any, shape: Sequence[int]) -> tuple[Any, ...]:
    """Return what indexes the batch and sparse axes of an array; all broadcast to ``(*batch, nse)``."""
    n_batch = indices.ndim - 2
    columns = tuple([indices[..., k] for k in range(indices.shape[-1])])
    return (*_numbers(shape[:n_batch]), *columns)


def _numbers(extents: Sequence[int]) -> tuple[np.ndarray, ...]:
    count = len(extents)
    return tuple([np.arange(n).reshape((-1, *[1] * (count - k))) for k, n in enumerate(extents)])


def dense_of(data: Any, indices: Any, shape: Sequence[int]) -> Any:
    """Return all elements as an array; those of one place are added."""
    n_batch, at = indices.ndim - 2, places(indices, shape)
    if not indices.shape[-1]:
        data = data.sum(n_batch, keepdims=n_batch > 0, dtype=data.dtype)
    if not at:
        return data
    return jnp.zeros(shape, data.dtype).at[at].add(data)


def extract(indices: Any, array: Any, assume_unique: bool = True) -> Any:
    """Return the values of an array at places; nothing where they are out of bounds.

    Parameters
    ----------
    indices : (*batch, nse, n) Array
    array : Array
    assume_unique : bool, optional
        Otherwise a place that is listed several times has its value once, and zero then.
    """
    n_batch, (nse, n_sparse) = indices.ndim - 2, indices.shape[-2:]
    at = places(indices, array.shape)
    found = array.at[at].get(mode="fill", fill_value=0) if at else array[None]
    if not n_sparse:
        found = jnp.broadcast_to(found, (*found.shape[:n_batch], nse, *found.shape[n_batch + 1 :]))
    if assume_unique:
        return found
    first = _first_of_each(indices, array.shape[n_batch : n_batch + n_sparse])
    return jnp.where(first.reshape((*first.shape, *[1] * (found.ndim - first.ndim))), found, 0)


def _first_of_each(indices: Any, extents: Sequence[int]) -> Any:
    _, order, group = grouped(indices, extents)
    fresh = jnp.concatenate([jnp.ones_like(group[..., :1], bool), group[..., 1:] != group[..., :-1]], -1)
    at = (*_numbers(indices.shape[:-2]), order)
    return jnp.zeros(order.shape, bool).at[at].set(fresh)


def grouped(indices: Any, extents: Sequence[int]) -> tuple[Any, Any, Any]:
    """Return places in their order, those out of bounds last and alike; which row each was; and its group's number.

    Parameters
    ----------
    indices : (*batch, nse, n) Array
    extents : sequence of int
        Of the sparse axes.
    """
    nse, n = indices.shape[-2:]
    order = lax.broadcasted_iota("int32", indices.shape[:-1], indices.ndim - 2)
    if not n:
        return indices, order, jnp.zeros_like(order)
    ends = jnp.asarray(extents, indices.dtype)
    rows = jnp.where((indices >= ends).any(-1, keepdims=True), ends, indices)
    *columns, order = lax.sort([*[rows[..., k] for k in range(n)], order], dimension=indices.ndim - 2, num_keys=n)
    rows = jnp.stack(columns, -1)
    fresh = (rows[..., 1:, :] != rows[..., :-1, :]).any(-1)
    first = jnp.zeros((*indices.shape[:-2], min(nse, 1)), "int32")
    return rows, order, jnp.cumsum(jnp.concatenate([first, fresh.astype("int32")], -1), -1)


def taken(data: Any, order: Any) -> Any:
    """Return values in another order along the axis of elements."""
    batch = [n if n == 1 else None for n in data.shape[: order.ndim - 1]]
    at = [np.zeros_like(k) if one else k for k, one in zip(_numbers(data.shape[: len(batch)]), batch, strict=True)]
    return data[(*at, order)]


def summed(data: Any, indices: Any, extents: Sequence[int], nse: int | None) -> tuple[Any, Any]:
    """Return values and places with one element for each place, in their order.

    Parameters
    ----------
    data, indices : Array
    extents : sequence of int
        Of the sparse axes.
    nse : int or None
        How many to store; as many as there are where nothing is traced.

    Raises
    ------
    ArgumentError
        If their number is not known while tracing.
    """
    n_batch, dense = indices.ndim - 2, data.shape[indices.ndim - 1 :]
    rows, order, group = grouped(indices, extents)
    count = _count_of(rows, group, extents) if nse is None else operator.index(nse)
    batch = np.broadcast_shapes(data.shape[:n_batch], indices.shape[:n_batch])
    ends = jnp.broadcast_to(jnp.asarray(extents, indices.dtype), (*indices.shape[:n_batch], count, len(extents)))
    made = ends.at[(*_numbers(indices.shape[:n_batch]), group)].set(rows, mode="drop")
    total = jnp.zeros((*batch, count, *dense), data.dtype)
    return total.at[(*_numbers(batch), group)].add(taken(data, order), mode="drop"), made


def _count_of(rows: Any, group: Any, extents: Sequence[int]) -> int:
    if isinstance(rows, Tracer):
        raise ArgumentError(
            "sum_duplicates of a traced sparse array",
            where=capture_location(),
            why="nse must be specified when using the function within jit, vmap, and other transformations",
            fix="pass nse=, the most elements that there can be",
        )
    if not len(extents):
        return 1
    if not group.size:
        return 0
    outside = (rows[..., -1, :] >= jnp.asarray(extents)).any(-1)
    return int((group[..., -1] + 1 - outside).max())


def sum_duplicates(mat: Any, nse: int | None = None) -> Any:
    """Return a sparse array with one element for each place, in their order."""
    parts = summed(mat.data, mat.indices, mat.sparse_shape, nse)
    return mat.like(*parts, indices_sorted=True, unique_indices=True)


def eliminate_zeros(mat: Any, nse: int | None = None) -> Any:
    """Return a sparse array with one element for each place, and none for zeros."""
    nothing = (mat.data == 0).all(tuple(range(mat.n_batch + 1, mat.data.ndim)))
    shared = tuple([k for k, n in enumerate(mat.indices.shape[: mat.n_batch]) if n == 1])
    nothing = nothing.all(shared, keepdims=True) if shared else nothing
    indices = jnp.where(nothing[..., None], jnp.asarray(mat.sparse_shape, mat.indices.dtype), mat.indices)
    return sum_duplicates(mat.like(mat.data, indices), nse)


def sort_indices(mat: Any) -> Any:
    """Return a sparse array with its elements in the order of their places."""
    if not mat.n_sparse:
        return mat.like(mat.data, indices_sorted=True, unique_indices=mat.unique_indices)
    order = lax.broadcasted_iota("int32", mat.indices.shape[:-1], mat.n_batch)
    columns = [mat.indices[..., k] for k in range(mat.n_sparse)]
    *columns, order = lax.sort([*columns, order], dimension=mat.n_batch, num_keys=mat.n_sparse)
    indices = jnp.stack(columns, -1)
    return mat.like(taken(mat.data, order), indices, indices_sorted=True, unique_indices=mat.unique_indices)


def with_nse(mat: Any, nse: int) -> Any:
    """Return a sparse array that stores more elements, which pad, or the first ones alone."""
    n = mat.n_batch
    if nse <= mat.nse:
        return mat.like(lax.slice_in_dim(mat.data, 0, nse, axis=n), mat.indices[..., :nse, :])
    more = nse - mat.nse
    zeros = jnp.zeros((*mat.data.shape[:n], more, *mat.data.shape[n + 1 :]), mat.dtype)
    ends = jnp.asarray(mat.sparse_shape, mat.indices.dtype)
    pads = jnp.broadcast_to(ends, (*mat.indices.shape[:n], more, mat.n_sparse))
    return mat.like(jnp.concatenate([mat.data, zeros], n), jnp.concatenate([mat.indices, pads], n))


def update_layout(
    mat: Any, *, n_batch: int | None = None, n_dense: int | None = None, on_inefficient: str | None = "error"
) -> Any:
    """Return a sparse array with other numbers of batch and dense axes.

    Parameters
    ----------
    mat : BCOO
    n_batch, n_dense : int, optional
        As many as there are by default.
    on_inefficient : {"error", "warn", None}
        What to do where far more elements would be stored.

    Raises
    ------
    ArgumentError
        If there are no such numbers.
    SparseEfficiencyError
        If far more elements would be stored.
    """
    batch = mat.n_batch if n_batch is None else operator.index(n_batch)
    dense = mat.n_dense if n_dense is None else operator.index(n_dense)
    if on_inefficient not in ("error", "warn", None):
        raise _bad_layout(f"on_inefficient={on_inefficient!r}", "use 'error', 'warn' or None")
    if batch < 0 or dense < 0 or batch + dense > mat.ndim:
        raise _bad_layout(f"n_batch={batch}, n_dense={dense}", f"there are {mat.ndim} axes")
    if (batch, dense) == (mat.n_batch, mat.n_dense):
        return mat
    grown = [*mat.shape[mat.n_batch : batch], *mat.shape[mat.ndim - dense : mat.ndim - mat.n_dense]]
    if any(n > 1 for n in grown):
        _say_inefficient(mat, batch, dense, on_inefficient)
    if dense < mat.n_dense:
        mat = _dense_to_sparse(mat, mat.n_dense - dense)
    if batch < mat.n_batch:
        mat = _batch_to_sparse(mat, mat.n_batch - batch)
    if dense > mat.n_dense:
        mat = _sparse_to_dense(mat, dense - mat.n_dense)
    return _sparse_to_batch(mat, batch - mat.n_batch) if batch > mat.n_batch else mat


def _bad_layout(what: str, fix: str) -> ArgumentError:
    return ArgumentError(f"bcoo_update_layout: {what}", where=capture_location(), fix=fix)


def _say_inefficient(mat: Any, batch: int, dense: int, how: str | None) -> None:
    message = (
        f"For matrix of shape {mat.shape}, n_batch={batch} and n_dense={dense} result in inefficient storage. "
        f"To disable this {'error' if how == 'error' else 'warning'}, set on_inefficient to None."
    )
    if how == "error":
        raise SparseEfficiencyError(message)
    if how == "warn":
        warnings.warn(message, SparseEfficiencyWarning, stacklevel=4)


def _columns_of(extents: Sequence[int], dtype: Any) -> np.ndarray:
    grid = np.indices(extents).reshape(len(extents), math.prod(extents))
    return grid.T.astype(dtype)


def _dense_to_sparse(mat: Any, count: int) -> Any:
    n, extents = mat.n_batch, mat.data.shape[mat.n_batch + 1 : mat.n_batch + 1 + count]
    own = _columns_of(extents, mat.indices.dtype)
    wide = (*mat.indices.shape[:-1], len(own))
    columns = [
        jnp.broadcast_to(mat.indices[..., None, :], (*wide, mat.n_sparse)),
        jnp.broadcast_to(own, (*wide, count)),
    ]
    total = mat.nse * len(own)
    indices = jnp.concatenate(columns, -1).reshape((*mat.indices.shape[:n], total, mat.n_sparse + count))
    return mat.like(mat.data.reshape((*mat.data.shape[:n], total, *mat.data.shape[n + 1 + count :])), indices)


def _batch_to_sparse(mat: Any, count: int) -> Any:
    kept, extents = mat.n_batch - count, mat.shape[mat.n_batch - count : mat.n_batch]
    own = _columns_of(extents, mat.indices.dtype)
    places_of_batch = np.broadcast_to(own.reshape((*extents, 1, count)), (*extents, mat.nse, count))
    first, total = mat.indices.shape[:kept], len(own) * mat.nse
    wide = (*first, *extents, mat.nse)
    indices = jnp.concatenate(
        [
            jnp.broadcast_to(places_of_batch, (*wide, count)),
            jnp.broadcast_to(mat.indices, (*wide, mat.n_sparse)),
        ],
        -1,
    )
    rest = mat.data.shape[mat.n_batch :]
    data = jnp.broadcast_to(mat.data, (*mat.data.shape[:kept], *extents, *rest))
    return mat.like(
        data.reshape((*mat.data.shape[:kept], total, *rest[1:])), indices.reshape((*first, total, count + mat.n_sparse))
    )


def _sparse_to_dense(mat: Any, count: int) -> Any:
    n, split = mat.n_batch, mat.n_sparse - count
    batch = np.broadcast_shapes(mat.data.shape[:n], mat.indices.shape[:n])
    extents, dense = mat.sparse_shape[split:], mat.data.shape[n + 1 :]
    columns = [mat.indices[..., split + k] for k in range(count)]
    zeros = jnp.zeros((*batch, mat.nse, *extents, *dense), mat.dtype)
    data = zeros.at[(*_numbers(batch), np.arange(mat.nse), *columns)].set(mat.data)
    return mat.like(data, mat.indices[..., :split])


def _sparse_to_batch(mat: Any, count: int) -> Any:
    n = mat.n_batch
    batch, extents = np.broadcast_shapes(mat.data.shape[:n], mat.indices.shape[:n]), mat.sparse_shape[:count]
    columns = [mat.indices[..., k] for k in range(count)]
    zeros = jnp.zeros((*batch, *extents, mat.nse, *mat.data.shape[n + 1 :]), mat.dtype)
    data = zeros.at[(*_numbers(batch), *columns, np.arange(mat.nse))].set(mat.data)
    rest = mat.indices[..., count:]
    one = rest.reshape((*rest.shape[:n], *[1] * count, *rest.shape[n:]))
    return mat.like(data, jnp.broadcast_to(one, (*rest.shape[:n], *extents, *rest.shape[n:])))
