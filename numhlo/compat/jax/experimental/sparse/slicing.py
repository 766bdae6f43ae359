"""Parts of sparse arrays: slices at places that are known or not, gathers, and what ``m[...]`` means."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax import lax
from numhlo.compat.jax.experimental.sparse.base import misfit, refuse
from numhlo.compat.jax.experimental.sparse.elements import StoredElements, summed, update_layout
from numhlo.compat.jax.experimental.sparse.rearranging import (
    bcoo_broadcast_in_dim,
    bcoo_reshape,
    bcoo_rev,
    bcoo_squeeze,
    bcoo_transpose,
)
from numhlo.compat.jax.transformations import vmap
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, InvalidIndexError


def _require_sparse(name: str, mat: Any) -> None:
    if not isinstance(mat, StoredElements):
        raise DTypeError(f"{name}: input should be BCOO array, got {type(mat)}", where=capture_location())


def bcoo_slice(
    mat: Any, *, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None
) -> Any:
    """Return a part of a sparse array; see `lax.slice`.

    Parameters
    ----------
    mat : BCOO
    start_indices, limit_indices : sequence of int
        One for each axis.
    strides : sequence of int, optional

    Raises
    ------
    ShapeError
        If they are out of bounds.
    """
    _require_sparse("bcoo_slice", mat)
    starts, ends = ([operator.index(i) for i in x] for x in (start_indices, limit_indices))
    steps = [1] * mat.ndim if strides is None else [operator.index(i) for i in strides]
    if not len(starts) == len(ends) == len(steps) == mat.ndim:
        raise misfit(f"bcoo_slice: indices must have size mat.ndim={mat.ndim}")
    if any(s <= 0 for s in steps):
        raise misfit(f"bcoo_slice: strides must be a sequence of positive integers; got {steps}")
    if not all(0 <= a <= b <= n for a, b, n in zip(starts, ends, mat.shape, strict=True)):
        raise misfit(f"bcoo_slice: invalid indices. Got {starts} to {ends} of {mat.shape}")
    n, last = mat.n_batch, mat.n_batch + mat.n_sparse
    whole = [slice(a, b, s) for a, b, s in zip(starts, ends, steps, strict=True)]
    own = [
        [w if part.shape[k] != 1 else slice(None) for k, w in enumerate(whole[:n])] for part in (mat.data, mat.indices)
    ]
    data, indices = mat.data[(*own[0], slice(None), *whole[last:])], mat.indices[tuple(own[1])]
    shape = [-(-(b - a) // s) for a, b, s in zip(starts, ends, steps, strict=True)]
    if not mat.n_sparse:
        return mat.like(data, indices, shape)
    low, high, step = (jnp.asarray(x[n:last], indices.dtype) for x in (starts, ends, steps))
    kept = ((indices >= low) & (indices < high) & ((indices - low) % step == 0)).all(-1, keepdims=True)
    moved = jnp.where(kept, (indices - low) // step, jnp.asarray(shape[n:last], indices.dtype))
    return _of_part(mat, data, moved, kept, shape)


def _of_part(mat: Any, data: Any, indices: Any, kept: Any, shape: Sequence[int]) -> Any:
    """Return a part: elements outside pad, and no more are stored than there can be."""
    n = mat.n_batch
    inside = kept[..., 0].reshape((*kept.shape[:-1], *[1] * mat.n_dense))
    data = jnp.where(inside, data, 0)
    extents = shape[n : n + mat.n_sparse]
    if mat.nse > math.prod(extents):
        data, indices = summed(data, indices, extents, math.prod(extents))
    return mat.like(data, indices, shape)


def bcoo_dynamic_slice(mat: Any, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> Any:
    """Return a part of a sparse array at a place that is known only when it runs; see `lax.dynamic_slice`.

    Parameters
    ----------
    mat : BCOO
    start_indices : sequence of () int array_like
    slice_sizes : sequence of int
    """
    _require_sparse("bcoo_dynamic_slice", mat)
    sizes = tuple(map(operator.index, slice_sizes))
    starts = [jnp.asarray(i) for i in start_indices]
    if not len(starts) == len(sizes) == mat.ndim:
        raise misfit(f"bcoo_dynamic_slice: indices must have size mat.ndim={mat.ndim}")
    if not all(0 <= a <= b for a, b in zip(sizes, mat.shape, strict=True)):
        raise DTypeError(
            f"bcoo_dynamic_slice: slice_sizes must be less than or equal to operand shape, got {sizes} of {mat.shape}",
            where=capture_location(),
        )
    n, last = mat.n_batch, mat.n_batch + mat.n_sparse
    zero = jnp.zeros_like(starts[0]) if starts else jnp.int32(0)
    batches = [
        [(zero, 1) if part.shape[k] != mat.shape[k] else (starts[k], sizes[k]) for k in range(n)]
        for part in (mat.data, mat.indices)
    ]
    dense = list(zip(starts[last:], sizes[last:], strict=True))
    data = _dynamic(mat.data, [*batches[0], (zero, mat.nse), *dense])
    indices = _dynamic(mat.indices, [*batches[1], (zero, mat.nse), (zero, mat.n_sparse)])
    if not mat.n_sparse:
        return mat.like(data, indices, sizes)
    extents, extent = (jnp.asarray(x, indices.dtype) for x in (mat.sparse_shape, sizes[n:last]))
    first = jnp.stack([s.astype(indices.dtype) for s in starts[n:last]])
    first = jnp.clip(jnp.where(first < 0, first + extents, first), 0, extents - extent)
    kept = ((indices >= first) & (indices < first + extent)).all(-1, keepdims=True)
    return _of_part(mat, data, jnp.where(kept, indices - first, extent), kept, sizes)


def _dynamic(array: Any, parts: Sequence[tuple[Any, int]]) -> Any:
    return lax.dynamic_slice(array, [p[0] for p in parts], [p[1] for p in parts])


def bcoo_gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: Any,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Any:
    """Return slices of a sparse array at places that are listed; see `lax.gather`.

    Parameters
    ----------
    operand : BCOO
    start_indices : (..., n) Array
    dimension_numbers : GatherDimensionNumbers
    slice_sizes : sequence of int
    unique_indices, indices_are_sorted, fill_value : optional
        Accepted.
    mode : optional
        That indices are promised to be in bounds, or moved there.

    Raises
    ------
    UnsupportedError
        If out-of-bounds indices are to be dealt with.
    """
    del unique_indices, indices_are_sorted, fill_value
    _require_sparse("bcoo_gather", operand)
    if mode is not None and not any(x in str(getattr(mode, "name", mode)).lower() for x in ("promise", "clip")):
        refuse(f"bcoo_gather: mode={mode}", "clip the indices, and leave mode out")
    starts = jnp.asarray(start_indices)
    numbers, ndim = dimension_numbers, operand.ndim
    sizes, columns = list(operand.shape), {}
    for k, axis in enumerate(numbers.start_index_map):
        columns[axis], sizes[axis] = starts[..., k].ravel(), slice_sizes[axis]

    def one(*first: Any) -> Any:
        chosen = dict(zip(columns, first, strict=True))
        at = [chosen.get(axis, jnp.zeros((), starts.dtype)) for axis in range(ndim)]
        return bcoo_squeeze(bcoo_dynamic_slice(operand, at, sizes), dimensions=numbers.collapsed_slice_dims)

    found = vmap(one)(*columns.values())
    outer = starts.shape[:-1]
    found = bcoo_reshape(found, new_sizes=(*outer, *found.shape[1:]))
    order = _offset_order(found.ndim, len(outer), numbers.offset_dims)
    if order == [*range(found.ndim)]:
        return found
    if any(k >= len(outer) for k in order[: found.n_batch]):
        found = update_layout(found, n_batch=0)
    return bcoo_transpose(found, permutation=order)


def _offset_order(ndim: int, outer: int, offsets: Sequence[int]) -> list[int]:
    """Return which axis goes where: those of the slices to theirs, the others in between."""
    order = [-1] * ndim
    for k, place in enumerate(offsets):
        order[place] = outer + k
    rest = iter(range(outer))
    return [next(rest) if k < 0 else k for k in order]


def index(mat: Any, key: Any) -> Any:
    """Return ``mat[key]``: numbers, slices, ``None``, ``...``, and one array of integers."""
    parts = list(key) if isinstance(key, tuple) else [key]
    parts = _with_all_axes(mat, parts)
    arrays = [k for k, p in enumerate(parts) if _is_array(p)]
    if len(arrays) > 1:
        refuse("a sparse array indexed by several arrays", "use bcoo_extract, or m.todense()[...]")
    axis = 0
    for part in list(parts):
        if part is None:
            mat = _with_new_axis(mat, axis)
            axis += 1
        elif isinstance(part, slice):
            mat = _sliced(mat, axis, part)
            axis += 1
        elif _is_array(part):
            mat, axis = _by_array(mat, axis, part), axis + part.ndim
        else:
            mat = _at_number(mat, axis, part)
    return mat


def _is_array(part: Any) -> bool:
    return getattr(part, "ndim", 0) > 0 or isinstance(part, list)


def _with_all_axes(mat: Any, parts: list[Any]) -> list[Any]:
    parts = [jnp.asarray(p) if isinstance(p, list) else p for p in parts]
    if any(_is_array(p) and p.dtype.kind == "b" for p in parts) or any(isinstance(p, bool) for p in parts):
        refuse("a sparse array indexed by booleans", "use m * mask, or m.todense()[mask]")
    used = sum(p is not None and p is not Ellipsis for p in parts)
    if used > mat.ndim:
        raise InvalidIndexError(f"too many indices for a sparse array {mat.shape}", where=capture_location())
    dots = [k for k, p in enumerate(parts) if p is Ellipsis]
    if len(dots) > 1:
        raise InvalidIndexError("an index can only have a single ellipsis ('...')", where=capture_location())
    at = dots[0] if dots else len(parts)
    return [*parts[:at], *[slice(None)] * (mat.ndim - used), *parts[at + 1 :]]


def _with_new_axis(mat: Any, axis: int) -> Any:
    shape = (*mat.shape[:axis], 1, *mat.shape[axis:])
    dims = [k + (k >= axis) for k in range(mat.ndim)]
    return bcoo_broadcast_in_dim(mat, shape=shape, broadcast_dimensions=dims)


def _sliced(mat: Any, axis: int, part: slice) -> Any:
    if part == slice(None):
        return mat
    start, stop, step = part.indices(mat.shape[axis])
    if step < 0:
        count = len(range(start, stop, step))
        low = start + (count - 1) * step
        return bcoo_rev(_sliced(mat, axis, slice(low, start + 1, -step) if count else slice(0, 0)), [axis])
    return _along(mat, axis, start, max(start, stop), step)


def _along(mat: Any, axis: int, start: int, stop: int, step: int = 1) -> Any:
    starts, ends, steps = [0] * mat.ndim, list(mat.shape), [1] * mat.ndim
    starts[axis], ends[axis], steps[axis] = start, stop, step
    return bcoo_slice(mat, start_indices=starts, limit_indices=ends, strides=steps)


def _at_number(mat: Any, axis: int, part: Any) -> Any:
    if isinstance(part, int | np.integer):
        extent = mat.shape[axis]
        if not -extent <= part < extent:
            part = min(max(part + extent * (part < 0), 0), extent - 1)  # as JAX's arrays: the nearest one
        at = part + extent * (part < 0)
        found = _along(mat, axis, at, at + 1)
    else:
        if getattr(getattr(part, "dtype", None), "kind", "") not in ("i", "u"):
            raise InvalidIndexError(f"a sparse array indexed by {part!r}", where=capture_location())
        starts = [jnp.zeros((), part.dtype) if k != axis else part for k in range(mat.ndim)]
        found = bcoo_dynamic_slice(mat, starts, [1 if k == axis else n for k, n in enumerate(mat.shape)])
    return bcoo_squeeze(found, dimensions=(axis,))


def _by_array(mat: Any, axis: int, part: Any) -> Any:
    if part.dtype.kind not in "iu":
        raise ArgumentError(f"a sparse array indexed by an array of {part.dtype}", where=capture_location())
    inside = jnp.where(part < 0, part + mat.shape[axis], part)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple([k + part.ndim * (k >= axis) for k in range(mat.ndim - 1)]),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
    )
    sizes = [1 if k == axis else n for k, n in enumerate(mat.shape)]
    return bcoo_gather(mat, inside[..., None], numbers, sizes)
