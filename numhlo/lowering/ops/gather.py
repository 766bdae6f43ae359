"""The type rule and the meaning of ``gather``; its record is in `indexing`.

Also here, since scatter mirrors gather: reading the start of every window out of an index tensor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Type
from numhlo.lowering.ir.types import INTEGERS
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers
from numhlo.lowering.ops.extents import at_most, declared_or, in_range, is_sorted, is_unique, same_extent
from numhlo.lowering.ops.primitive import Arrays, RegionFunction, Signature


def combine(batch: Sequence[Any], window: Sequence[Any], window_axes: Sequence[int]) -> list[Any]:
    """Return ``window`` placed at ``window_axes`` and ``batch`` at all other places, in order.

    Examples
    --------
    >>> combine(["b0", "b1"], ["w0"], [1])
    ['b0', 'w0', 'b1']
    """
    rest, windows = iter(batch), iter(window)
    total = len(batch) + len(window)
    return [next(windows) if axis in window_axes else next(rest) for axis in range(total)]


def infer_gather(signature: Signature) -> Sequence[Type]:
    """Check (C1) to (C21); (C22), (C23) the result's shape follows from the dimension numbers."""
    operand, starts = signature.tensors
    numbers: GatherDimensionNumbers = signature.attributes["dimension_numbers"]
    sizes: tuple[int, ...] = signature.attributes["slice_sizes"]
    require, rank = signature.require, operand.ndim
    check_gather_numbers(signature, numbers)
    require(len(sizes) == rank, "(C20) needs one slice size a dimension of the operand")
    require(
        all(size >= 0 and at_most(size, extent) for size, extent in zip(sizes, operand.shape, strict=True)),
        "(C21) slice_sizes must lie between 0 and the operand's extents",
    )
    require(all(sizes[d] <= 1 for d in numbers.collapsed_slice_dims), "(C9) collapsed slices must be at most 1 wide")
    require(all(sizes[d] <= 1 for d in numbers.operand_batching_dims), "(C12) batching slices must be at most 1 wide")
    return declared_or(signature, [operand.with_shape(gathered_shape(starts, sizes, numbers))])


def gathered_shape(starts: TensorType, sizes: Sequence[int], numbers: GatherDimensionNumbers) -> tuple[int, ...]:
    """Return the result's shape (C22); ``sizes`` may be `DYNAMIC`."""
    dropped = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    batch = [n for axis, n in enumerate(starts.shape) if axis != numbers.index_vector_dim]
    window = [size for d, size in enumerate(sizes) if d not in dropped]
    return tuple(combine(batch, window, numbers.offset_dims))


def check_gather_numbers(signature: Signature, numbers: GatherDimensionNumbers) -> None:
    """Check what holds whatever the slices' sizes: (C1) to (C8), (C10), (C11), (C13) to (C19)."""
    operand, starts = signature.tensor(0), signature.tensor(1)
    require, rank = signature.require, operand.ndim
    require(starts.dtype in INTEGERS, "(I2) start_indices must be integers")
    dropped = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    vector = numbers.index_vector_dim
    require(
        rank == len(numbers.offset_dims) + len(dropped),
        "(C1) offset_dims, collapsed_slice_dims and operand_batching_dims must add up to the operand's rank",
    )
    require(0 <= vector <= starts.ndim, f"(C2) index_vector_dim must be in [0, {starts.ndim}]")
    count = starts.shape[vector] if vector < starts.ndim else 1
    require(
        same_extent(len(numbers.start_index_map), count),
        f"(C3) start_index_map must have {count} entries, one a component of an index vector",
    )
    batch = [n for axis, n in enumerate(starts.shape) if axis != vector]
    offsets = numbers.offset_dims
    require(is_unique(offsets) and is_sorted(offsets), "(C4) offset_dims must ascend")
    require(in_range(offsets, len(batch) + len(offsets)), "(C5) offset_dims must be axes of the result")
    _check_operand_dims(signature, numbers, rank)
    _check_batching(signature, numbers)


def _check_operand_dims(signature: Signature, numbers: GatherDimensionNumbers, rank: int) -> None:
    collapsed, batching = numbers.collapsed_slice_dims, numbers.operand_batching_dims
    mapped = numbers.start_index_map
    require = signature.require
    require(is_unique((*collapsed, *batching)), "(C6) collapsed_slice_dims and operand_batching_dims must not repeat")
    require(is_sorted(collapsed), "(C7) collapsed_slice_dims must ascend")
    require(in_range(collapsed, rank), "(C8) collapsed_slice_dims must be axes of the operand")
    require(is_sorted(batching), "(C10) operand_batching_dims must ascend")
    require(in_range(batching, rank), "(C11) operand_batching_dims must be axes of the operand")
    require(is_unique((*mapped, *batching)), "(C18) start_index_map and operand_batching_dims must not repeat")
    require(in_range(mapped, rank), "(C19) start_index_map must hold axes of the operand")


def _check_batching(signature: Signature, numbers: GatherDimensionNumbers) -> None:
    operand, starts = signature.tensor(0), signature.tensor(1)
    batching, paired = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    require = signature.require
    require(is_unique(paired), "(C13) start_indices_batching_dims must not repeat")
    require(in_range(paired, starts.ndim), "(C14) start_indices_batching_dims must be axes of start_indices")
    require(numbers.index_vector_dim not in paired, "(C15) index_vector_dim must not be a batching dim")
    require(
        len(batching) == len(paired),
        "(C16) operand_batching_dims and start_indices_batching_dims must be as many",
    )
    require(
        all(same_extent(operand.shape[d], starts.shape[s]) for d, s in zip(batching, paired, strict=True)),
        "(C17) batching dims must have the same extents in operand and start_indices",
    )


def start_positions(
    indices: np.ndarray,
    vector_dim: int,
    mapped: Sequence[int],
    batching: Sequence[tuple[int, int]],
) -> dict[int, np.ndarray]:
    """Return where windows start, for each dimension of the operand that an index or a batching dim decides.

    Parameters
    ----------
    indices : numpy.ndarray
        The index tensor; a ``vector_dim`` equal to its rank means that every element is an index by itself.
    vector_dim : int
    mapped : sequence of int
        The operand dimension of each component of an index vector.
    batching : sequence of (int, int)
        Pairs of a dimension of the operand and one of ``indices``.

    Returns
    -------
    dict
        int64 arrays, each of ``indices``' shape without ``vector_dim``. Indices from 2**63 up come out negative.
    """
    if vector_dim == indices.ndim:
        indices = indices[..., None]
    vectors = np.moveaxis(indices, vector_dim, -1)
    shape = vectors.shape[:-1]
    starts = {d: vectors[..., k].astype(np.int64) for k, d in enumerate(mapped)}
    for d, axis in batching:
        own = axis - (axis > vector_dim)
        line = np.arange(shape[own]).reshape([-1 if a == own else 1 for a in range(len(shape))])
        starts[d] = np.broadcast_to(line, shape)
    return starts


def evaluate_gather(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> tuple[np.ndarray]:
    """Gather by one fancy-indexing read; dimensions that no index moves stay slices."""
    operand, indices = arrays
    numbers: GatherDimensionNumbers = attributes["dimension_numbers"]
    sizes: tuple[int, ...] = attributes["slice_sizes"]
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    if _takes_rows(operand, indices, numbers, sizes):
        rows = indices if numbers.index_vector_dim == indices.ndim else indices[..., 0]
        return (operand.take(rows.astype(np.int64, copy=False), axis=0, mode="clip"),)
    batching = list(zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True))
    starts = start_positions(indices, numbers.index_vector_dim, numbers.start_index_map, batching)
    for d in numbers.start_index_map:
        starts[d] = np.clip(starts[d], 0, operand.shape[d] - sizes[d])
    windows = numbers.window_axes(operand.ndim)
    batch_rank = indices.ndim - (numbers.index_vector_dim < indices.ndim)
    batch_shape = [n for axis, n in enumerate(indices.shape) if axis != numbers.index_vector_dim]
    gathered, order = _read_windows(operand, sizes, starts, windows, batch_shape)
    axes = combine(range(batch_rank), [batch_rank + order.index(d) for d in windows], numbers.offset_dims)
    return (gathered.transpose(axes),)


def _takes_rows(
    operand: np.ndarray, indices: np.ndarray, numbers: GatherDimensionNumbers, sizes: tuple[int, ...]
) -> bool:
    """Return whether a gather is a plain look-up: whole rows of the operand, behind what the indices' shape is."""
    batch_rank = indices.ndim - (numbers.index_vector_dim < indices.ndim)
    return (
        numbers.start_index_map == (0,)
        and numbers.collapsed_slice_dims == (0,)
        and not numbers.operand_batching_dims
        and numbers.index_vector_dim >= batch_rank
        and sizes == (1, *operand.shape[1:])
        and numbers.offset_dims == tuple(range(batch_rank, batch_rank + operand.ndim - 1))
    )


def _read_windows(
    operand: np.ndarray,
    sizes: Sequence[int],
    starts: Mapping[int, np.ndarray],
    windows: Sequence[int],
    batch_shape: Sequence[int],
) -> tuple[np.ndarray, list[int]]:
    """Return an array of batch dims, then window dims, and the operand dims behind the latter in their order there."""
    moved = [d for d in range(operand.ndim) if d in starts or d not in windows]
    fixed = [d for d in range(operand.ndim) if d not in moved]
    spread = [d for d in windows if d in starts]
    index: list[Any] = []
    for d in moved:
        start = starts.get(d, np.zeros((), np.int64))
        start = np.broadcast_to(start, batch_shape).reshape((*batch_shape, *[1] * len(spread)))
        if d in spread:
            line = np.arange(sizes[d]).reshape([-1 if other == d else 1 for other in spread])
            start = start + line
        index.append(start)
    index += [slice(0, sizes[d]) for d in fixed]
    source = operand.transpose([*moved, *fixed])
    if not moved:
        shape = (*batch_shape, *[sizes[d] for d in fixed])
        return np.broadcast_to(source[tuple(index)], shape), fixed
    empty = 0 in [sizes[d] for d in moved if d not in spread]
    if empty:  # collapsed dimensions of extent 0 leave nothing to read
        shape = (*batch_shape, *[sizes[d] for d in spread], *[sizes[d] for d in fixed])
        return np.zeros(shape, operand.dtype), [*spread, *fixed]
    return np.asarray(source[tuple(index)]), [*spread, *fixed]
