"""Sparse arrays broadcast, joined, reshaped, reversed, transposed and summed, as `lax` does with dense ones.

Batch, sparse and dense axes keep apart: what would mix them is refused, and `bcoo_update_layout` changes what axes are.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax import lax
from numhlo.compat.jax.experimental.sparse.base import misfit, refuse
from numhlo.compat.jax.experimental.sparse.elements import StoredElements, update_layout, with_nse
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.core.operands import normalize_axis


def bcoo_transpose(mat: Any, *, permutation: Sequence[int]) -> Any:
    """Return a sparse array with its axes in another order; batch, sparse and dense ones among themselves.

    Parameters
    ----------
    mat : BCOO
    permutation : sequence of int

    Raises
    ------
    UnsupportedError
        If axes of different kinds change places.
    """
    batch, sparse, dense = _split_permutation(mat, permutation)
    n = mat.n_batch
    data = jnp.transpose(mat.data, (*batch, n, *[k + n + 1 for k in dense]))
    indices = jnp.transpose(mat.indices, (*batch, n, n + 1))
    indices = indices[..., np.asarray(sparse)] if sparse else indices
    ordered = mat.indices_sorted and [*sparse] == sorted(sparse)
    shape = [mat.shape[k] for k in permutation]
    return mat.like(data, indices, shape, indices_sorted=ordered, unique_indices=mat.unique_indices)


def _split_permutation(mat: Any, permutation: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    order = [operator.index(k) for k in permutation]
    if sorted(order) != [*range(mat.ndim)]:
        raise misfit(f"bcoo: permutation {order} of {mat.ndim} axes")
    first, last = mat.n_batch, mat.n_batch + mat.n_sparse
    parts = order[:first], order[first:last], order[last:]
    for part, (low, high) in zip(parts, ((0, first), (first, last), (last, mat.ndim)), strict=True):
        if any(not low <= k < high for k in part):
            refuse(
                f"bcoo: permutation {order} of {first} batch, {mat.n_sparse} sparse and {mat.n_dense} dense axes",
                "use bcoo_update_layout first",
                "axes of different kinds do not change places",
            )
    return parts[0], [k - first for k in parts[1]], [k - last for k in parts[2]]


def bcoo_broadcast_in_dim(
    mat: Any, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> Any:
    """Return a sparse array repeated along axes; new ones before all sparse and dense axes are of batches.

    Parameters
    ----------
    mat : BCOO
    shape : sequence of int
    broadcast_dimensions : sequence of int
        Where each axis goes.
    sharding : optional
        There is one device.

    Raises
    ------
    UnsupportedError
        If sparse axes would grow.
    """
    del sharding
    n, own = mat.n_batch, tuple(broadcast_dimensions)
    if len(own) != mat.ndim:
        raise misfit(f"bcoo_broadcast_in_dim: dimensions {own} of a sparse array {mat.shape}")
    batch, sparse, dense = own[:n], own[n : n + mat.n_sparse], own[n + mat.n_sparse :]
    if max(batch, default=0) > min(sparse, default=len(shape)) or max(sparse, default=0) > min(
        dense, default=len(shape)
    ):
        raise misfit("bcoo_broadcast_in_dim: batch, sparse and dense dimensions are mixed")
    first = min(own[n:], default=len(shape))
    last = min(dense) if dense else len(shape)
    if math.prod(mat.sparse_shape) != math.prod(shape[first:last]):
        refuse(f"bcoo_broadcast_in_dim of {mat.shape} to {tuple(shape)}", "grow batch or dense axes alone")
    data, indices = mat.data, mat.indices
    if (first, len(shape) - last) != (n, mat.n_dense):
        places_of_dense = [first + 1 + k - last for k in dense]
        data = lax.broadcast_in_dim(data, (*shape[:first], mat.nse, *shape[last:]), (*batch, first, *places_of_dense))
        indices = lax.broadcast_in_dim(indices, (*shape[:first], mat.nse, mat.n_sparse), (*batch, first, first + 1))
    elif mat.n_dense:
        data = jnp.broadcast_to(data, (*data.shape[: n + 1], *shape[last:]))
    if last - first != mat.n_sparse:
        wide = jnp.zeros((*indices.shape[:-1], last - first), indices.dtype)
        indices = wide.at[..., np.asarray(sparse, int) - first].set(indices)
    return mat.like(data, indices, shape)


def bcoo_concatenate(operands: Sequence[Any], *, dimension: int) -> Any:
    """Return sparse arrays joined along a batch or sparse axis.

    Parameters
    ----------
    operands : sequence of BCOO
    dimension : int

    Raises
    ------
    ArgumentError
        If there is anything else than sparse arrays, or their layouts differ.
    UnsupportedError
        If the axis is a dense one.
    """
    axis = operator.index(dimension)
    if not all(isinstance(m, StoredElements) for m in operands):
        raise ArgumentError(
            f"bcoo_concatenate: expected operands to be a sequence of BCOO arrays, got {operands!r}",
            where=capture_location(),
        )
    others = {(m.shape[:axis], m.shape[axis + 1 :]) for m in operands}
    if len(others) != 1 or not 0 <= axis < operands[0].ndim:
        raise misfit(f"bcoo_concatenate of {[m.shape for m in operands]} along axis {axis}")
    operands = _of_one_layout(operands)
    first, n = operands[0], operands[0].n_batch
    shape = list(first.shape)
    shape[axis] = sum(m.shape[axis] for m in operands)
    if axis >= n + first.n_sparse:
        refuse("bcoo_concatenate along a dense axis", "use bcoo_update_layout, which makes it a sparse one")
    if axis < n:
        nse = max(m.nse for m in operands)
        operands = [_with_whole_batches(with_nse(m, nse) if m.nse != nse else m) for m in operands]
        parts = [lax.concatenate([getattr(m, part) for m in operands], axis) for part in ("data", "indices")]
        return first.like(*parts, shape)
    offsets = np.cumsum([0, *[m.shape[axis] for m in operands[:-1]]])
    data = lax.concatenate([m.data for m in operands], n)
    moved = [
        m.indices.at[..., axis - n].add(np.asarray(k, m.indices.dtype)) for m, k in zip(operands, offsets, strict=True)
    ]
    return first.like(data, lax.concatenate(moved, n), shape)


def _of_one_layout(operands: Sequence[Any]) -> Sequence[Any]:
    counts = {m.n_batch for m in operands}
    if counts == {0, 1}:
        wanted = 1 if all(m.shape[0] == 1 for m in operands if not m.n_batch) else 0
        if wanted or all(m.shape[0] == 1 for m in operands if m.n_batch):
            operands = [update_layout(m, n_batch=wanted) for m in operands]
    for what in ("n_batch", "n_dense"):
        if len({getattr(m, what) for m in operands}) != 1:
            kind = "batch" if what == "n_batch" else "dense"
            raise misfit(f"bcoo_concatenate requires inputs to have matching {kind} dimensions.")
    return operands


def _with_whole_batches(mat: Any) -> Any:
    batch = mat.shape[: mat.n_batch]
    data = jnp.broadcast_to(mat.data, (*batch, *mat.data.shape[mat.n_batch :]))
    return mat.like(data, jnp.broadcast_to(mat.indices, (*batch, *mat.indices.shape[mat.n_batch :])))


def bcoo_reshape(
    mat: Any, *, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None, sharding: Any = None
) -> Any:
    """Return a sparse array in another shape of the same size, batch, sparse and dense axes by themselves.

    Parameters
    ----------
    mat : BCOO
    new_sizes : sequence of int
    dimensions : sequence of int, optional
        An order that axes are brought into first.
    sharding : optional
        There is one device.

    Raises
    ------
    ShapeError
        If the new shape mixes axes of different kinds.
    """
    del sharding
    if dimensions is not None:
        mat = bcoo_transpose(mat, permutation=dimensions)
    sizes = tuple(map(operator.index, new_sizes))
    if math.prod(sizes) != mat.size:
        raise misfit(f"bcoo_reshape of {mat.shape} to {sizes}, which is of another size")
    batch, inner = math.prod(mat.shape[: mat.n_batch]), math.prod(mat.sparse_shape)
    products = np.cumprod(sizes) if sizes else np.zeros(0, int)
    for extent, kinds in ((batch, "batch and sparse"), (batch * inner, "sparse and dense")):
        if extent != 1 and extent not in products and not (extent == batch and kinds.startswith("sparse")):
            raise misfit(f"bcoo_reshape: new shape cannot mix {kinds} dimensions; {mat.shape} to {sizes}")
    first, last = (int(products.searchsorted(k, side="right")) for k in (batch, batch * inner))
    mat = _with_whole_batches(mat) if mat.n_batch else mat
    data = mat.data.reshape((*sizes[:first], mat.nse, *sizes[last:]))
    new = sizes[first:last]
    return mat.like(data, _renumbered(mat, new).reshape((*sizes[:first], mat.nse, len(new))), sizes)


def _renumbered(mat: Any, new: Sequence[int]) -> Any:
    """Return the places in sparse axes of other extents."""
    old, indices = mat.sparse_shape, mat.indices
    if not new or not old:
        return jnp.zeros((*indices.shape[:-1], len(new)), indices.dtype)
    inside = (indices < jnp.asarray(old, indices.dtype)).all(-1)
    flat = jnp.ravel_multi_index(tuple([indices[..., k] for k in range(len(old))]), old, mode="clip")
    columns = jnp.unravel_index(flat, tuple(new))
    return jnp.stack([jnp.where(inside, c, n).astype(indices.dtype) for c, n in zip(columns, new, strict=True)], -1)


def bcoo_rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """Return a sparse array in reverse along axes."""
    n, last = operand.n_batch, operand.n_batch + operand.n_sparse
    axes = [normalize_axis(d, operand.ndim) for d in dimensions]
    if len(set(axes)) != len(axes):
        raise ArgumentError(f"bcoo_rev: dimensions must be unique, got {tuple(dimensions)}", where=capture_location())
    batch, dense = [d for d in axes if d < n], [d + 1 - operand.n_sparse for d in axes if d >= last]
    data = lax.rev(operand.data, [*batch, *dense]) if batch or dense else operand.data
    indices = lax.rev(operand.indices, batch) if batch else operand.indices
    extents = operand.sparse_shape
    mirrored = [d - n for d in axes if n <= d < last]
    if mirrored:
        inside = (indices < jnp.asarray(extents, indices.dtype)).all(-1, keepdims=True)
        flips = np.isin(np.arange(len(extents)), mirrored)
        ends = jnp.asarray(extents, indices.dtype)
        indices = jnp.where(inside, jnp.where(flips, ends - 1 - indices, indices), ends)
    return operand.like(data, indices)


def bcoo_squeeze(arr: Any, *, dimensions: Sequence[int]) -> Any:
    """Return a sparse array without axes of extent 1."""
    axes = {normalize_axis(d, arr.ndim) for d in dimensions}
    if any(arr.shape[k] != 1 for k in axes):
        raise misfit(f"bcoo_squeeze: axes {sorted(axes)} of {arr.shape} are not all of extent 1")
    n, last = arr.n_batch, arr.n_batch + arr.n_sparse
    batch = [k for k in sorted(axes) if k < n]
    data = lax.squeeze(arr.data, [*batch, *[k - arr.n_sparse + 1 for k in sorted(axes) if k >= last]])
    kept = [k for k in range(arr.n_sparse) if k + n not in axes]
    indices = arr.indices if len(kept) == arr.n_sparse else _columns(arr.indices, kept)
    shape = [extent for k, extent in enumerate(arr.shape) if k not in axes]
    known = {"indices_sorted": arr.indices_sorted, "unique_indices": arr.unique_indices}
    return arr.like(data, lax.squeeze(indices, batch), shape, **known)


def _columns(indices: Any, kept: Sequence[int]) -> Any:
    if not kept:
        return jnp.zeros((*indices.shape[:-1], 0), indices.dtype)
    return indices[..., np.asarray(kept)]


def bcoo_reduce_sum(mat: Any, *, axes: Sequence[int]) -> Any:
    """Return the sums of a sparse array along axes: places lose columns, and batches become more elements.

    Parameters
    ----------
    mat : BCOO
    axes : sequence of int

    Returns
    -------
    BCOO
    """
    gone = sorted({normalize_axis(a, mat.ndim) for a in axes})
    n, last = mat.n_batch, mat.n_batch + mat.n_sparse
    data, indices = mat.data, mat.indices
    dense = tuple([a - mat.n_sparse + 1 for a in gone if a >= last])
    data = data.sum(dense) if dense else data
    if mat.n_sparse:
        inside = (indices < jnp.asarray(mat.sparse_shape, indices.dtype)).all(-1)
        data = jnp.where(inside.reshape((*inside.shape, *[1] * (data.ndim - inside.ndim))), data, 0)
    kept = [k for k in range(mat.n_sparse) if k + n not in gone]
    indices = _columns(indices, kept) if len(kept) != mat.n_sparse else indices
    batch = [a for a in gone if a < n]
    for a in batch:
        data, indices = _of_equal_extent(data, indices, a, mat.shape[a])
    rest = [k for k in range(n) if k not in batch]
    nse = mat.nse * math.prod(data.shape[a] for a in batch)
    if batch:
        data = jnp.transpose(data, (*rest, *batch, *range(n, data.ndim)))
        data = data.reshape((*data.shape[: len(rest)], nse, *data.shape[n + 1 :]))
        indices = jnp.transpose(indices, (*rest, *batch, n, n + 1))
        indices = indices.reshape((*indices.shape[: len(rest)], nse, len(kept)))
    return mat.like(data, indices, [extent for k, extent in enumerate(mat.shape) if k not in gone])


def _of_equal_extent(data: Any, indices: Any, axis: int, extent: int) -> tuple[Any, Any]:
    """Return the parts with as much of a batch axis that will be summed over."""
    wide, listed = data.shape[axis], indices.shape[axis]
    if wide == listed:
        return (data * np.asarray(extent, data.dtype) if wide == 1 else data), indices
    if listed == 1:
        return data.sum(axis, keepdims=True, dtype=data.dtype), indices
    return jnp.broadcast_to(data, (*data.shape[:axis], extent, *data.shape[axis + 1 :])), indices
