"""The type rule and the meaning of ``scatter``; its record is in `indexing`.

The specification leaves the order of updates open; here it is fixed: windows in row-major order of the index tensor,
one after another. So with a body that keeps the update, the last window wins. A window that does not lie wholly
within the input is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Type
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, INTEGERS, NARROW_FLOATS
from numhlo.lowering.ops.bit_patterns import order_keys
from numhlo.lowering.ops.dimension_numbers import ScatterDimensionNumbers
from numhlo.lowering.ops.dtype_table import NARROW_INTEGERS
from numhlo.lowering.ops.extents import at_most, declared_or, in_range, is_sorted, is_unique, same_extent, same_shape
from numhlo.lowering.ops.gather import start_positions
from numhlo.lowering.ops.primitive import Arrays, RegionFunction, Signature
from numhlo.lowering.ops.region_function import (
    body_element_types,
    full,
    is_alike,
    promoted,
    region_of,
    returns_argument,
    single_op,
    takes_arrays,
)

UFUNCS = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""Bodies whose ``ufunc.at`` has the bits of one update after another; not all for every element type."""


def infer_scatter(signature: Signature) -> Sequence[Type]:
    """Check (C1) to (C23); (C24), (C25) results have the inputs' shape and the body's element types."""
    require = signature.require
    tensors = signature.tensors
    count = len(tensors) // 2
    require(len(tensors) % 2 == 1 and count > 0, "(C5) needs as many inputs as updates, and one index tensor")
    inputs, indices, updates = tensors[:count], tensors[count], tensors[count + 1 :]
    numbers: ScatterDimensionNumbers = signature.attributes["scatter_dimension_numbers"]
    require(indices.dtype in INTEGERS, "(I2) scatter_indices must be integers")
    require(all(same_shape(t.shape, inputs[0].shape) for t in inputs), "(C1) inputs must have one shape")
    require(all(same_shape(t.shape, updates[0].shape) for t in updates), "(C3) updates must have one shape")
    require(
        all(is_alike(a.dtype, b.dtype) for a, b in zip(inputs, updates, strict=True)),
        "(C6) updates must have the inputs' element types",
    )
    _check_input_dims(signature, numbers, inputs[0].ndim)
    _check_indices(signature, numbers, inputs[0], indices)
    _check_updates(signature, numbers, inputs[0], indices, updates[0])
    elements = body_element_types(signature, [t.dtype for t in (*inputs, *updates)], "C23")
    return declared_or(signature, [t.with_dtype(e) for t, e in zip(inputs, elements, strict=True)])


def _check_input_dims(signature: Signature, numbers: ScatterDimensionNumbers, rank: int) -> None:
    inserted, batching = numbers.inserted_window_dims, numbers.input_batching_dims
    mapped = numbers.scatter_dims_to_operand_dims
    require = signature.require
    require(
        rank == len(numbers.update_window_dims) + len(inserted) + len(batching),
        "(C2) update_window_dims, inserted_window_dims and input_batching_dims must add up to the inputs' rank",
    )
    require(is_unique((*inserted, *batching)), "(C9) inserted_window_dims and input_batching_dims must not repeat")
    require(is_sorted(inserted), "(C10) inserted_window_dims must ascend")
    require(in_range(inserted, rank), "(C11) inserted_window_dims must be axes of the inputs")
    require(is_sorted(batching), "(C12) input_batching_dims must ascend")
    require(in_range(batching, rank), "(C13) input_batching_dims must be axes of the inputs")
    require(
        is_unique((*mapped, *batching)), "(C20) scatter_dims_to_operand_dims and input_batching_dims must not repeat"
    )
    require(in_range(mapped, rank), "(C21) scatter_dims_to_operand_dims must hold axes of the inputs")


def _check_indices(
    signature: Signature, numbers: ScatterDimensionNumbers, operand: TensorType, indices: TensorType
) -> None:
    batching, paired = numbers.input_batching_dims, numbers.scatter_indices_batching_dims
    vector = numbers.index_vector_dim
    require = signature.require
    require(0 <= vector <= indices.ndim, f"(C22) index_vector_dim must be in [0, {indices.ndim}]")
    require(is_unique(paired), "(C14) scatter_indices_batching_dims must not repeat")
    require(in_range(paired, indices.ndim), "(C15) scatter_indices_batching_dims must be axes of scatter_indices")
    require(vector not in paired, "(C16) index_vector_dim must not be a batching dim")
    require(len(batching) == len(paired), "(C17) input_batching_dims and scatter_indices_batching_dims must be as many")
    require(
        all(same_extent(operand.shape[d], indices.shape[s]) for d, s in zip(batching, paired, strict=True)),
        "(C18) batching dims must have the same extents in inputs and scatter_indices",
    )
    count = indices.shape[vector] if vector < indices.ndim else 1
    require(
        same_extent(len(numbers.scatter_dims_to_operand_dims), count),
        f"(C19) scatter_dims_to_operand_dims must have {count} entries, one a component of an index vector",
    )


def _check_updates(
    signature: Signature,
    numbers: ScatterDimensionNumbers,
    operand: TensorType,
    indices: TensorType,
    update: TensorType,
) -> None:
    require = signature.require
    axes = numbers.update_window_dims
    require(is_unique(axes) and is_sorted(axes), "(C7) update_window_dims must ascend")
    require(in_range(axes, update.ndim), "(C8) update_window_dims must be axes of the updates")
    batch = [n for axis, n in enumerate(indices.shape) if axis != numbers.index_vector_dim]
    require(
        update.ndim == len(batch) + len(axes)
        and same_shape([n for axis, n in enumerate(update.shape) if axis not in axes], batch),
        "(C4) updates' other dimensions must be those of scatter_indices without index_vector_dim",
    )
    extents = [operand.shape[d] for d in numbers.window_axes(operand.ndim)]
    require(
        all(at_most(update.shape[axis], extent) for axis, extent in zip(axes, extents, strict=True)),
        "(C4) updates' windows must fit into the inputs",
    )


def update_positions(
    shape: Sequence[int], indices: np.ndarray, update_shape: Sequence[int], numbers: ScatterDimensionNumbers
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return where updates go.

    Parameters
    ----------
    shape : sequence of int
        The inputs' shape.
    indices : numpy.ndarray
        The index tensor.
    update_shape : sequence of int
        The updates' shape.
    numbers : ScatterDimensionNumbers

    Returns
    -------
    positions : numpy.ndarray
        ``(windows, elements)`` int64: row-major positions in the input.
    kept : numpy.ndarray
        ``(windows,)`` bool: which windows lie wholly within the input.
    axes : list of int
        The order in which updates are to be transposed and flattened to match.
    """
    batching = list(zip(numbers.input_batching_dims, numbers.scatter_indices_batching_dims, strict=True))
    starts = start_positions(indices, numbers.index_vector_dim, numbers.scatter_dims_to_operand_dims, batching)
    window_dims, sizes = numbers.window_axes(len(shape)), numbers.window(len(shape), update_shape)
    strides = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    batch_axes = [axis for axis in range(len(update_shape)) if axis not in numbers.update_window_dims]
    windows = math.prod(update_shape[axis] for axis in batch_axes)
    origin = np.zeros(windows, np.int64)
    kept = np.full(windows, all(n <= extent for n, extent in zip(sizes, shape, strict=True)))
    for d, start in starts.items():
        line = start.reshape(-1)
        kept &= (line >= 0) & (line <= shape[d] - sizes[d])
        origin += line * strides[d]
    offsets = np.zeros((), np.int64)
    for d in window_dims:
        offsets = np.add.outer(offsets, np.arange(sizes[d]) * strides[d])
    return origin[:, None] + offsets.reshape(1, -1), kept, [*batch_axes, *numbers.update_window_dims]


def evaluate_scatter(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Scatter with one fancy-indexing write, one ``ufunc.at``, or rounds in which no position occurs twice."""
    count = len(arrays) // 2
    indices = arrays[count]
    (body,) = regions
    region = region_of(body)
    inputs, updates = promoted(arrays[:count], region), promoted(arrays[count + 1 :], region)
    shape = inputs[0].shape
    numbers: ScatterDimensionNumbers = attributes["scatter_dimension_numbers"]
    positions, kept, axes = update_positions(shape, indices, updates[0].shape, numbers)
    where = positions[kept].reshape(-1)
    values = [u.transpose(axes).reshape(positions.shape)[kept].reshape(-1) for u in updates]
    results = [np.array(a, order="C").reshape(-1) for a in inputs]
    _update(results, where, values, body)
    return [r.reshape(shape) for r in results]


def _has_ufunc(name: str, dtype: np.dtype) -> bool:
    """Return whether the ufunc's arithmetic on ``dtype`` is StableHLO's."""
    if name in {"add", "multiply"}:
        return name == "add" or dtype not in COMPLEX
    return dtype in INTEGERS | {BOOL} and dtype not in NARROW_INTEGERS


def _update(results: list[np.ndarray], where: np.ndarray, values: list[np.ndarray], body: RegionFunction) -> None:
    """Apply ``body`` at each of the positions ``where``, in order, in place."""
    region = region_of(body)
    op = single_op(region)
    name = "" if op is None else op.definition.name
    dtype = results[0].dtype
    if len(results) == 1 and returns_argument(region, 1):
        results[0][where] = values[0]
    elif name in UFUNCS and _has_ufunc(name, dtype):
        UFUNCS[name].at(results[0], where, values[0])
    elif name in {"maximum", "minimum"} and dtype in FLOATS:
        _update_extremes(name, results[0], where, values[0])
    elif takes_arrays(region):
        for chosen in _rounds(where):
            places = where[chosen]
            new = full(body(*[r[places] for r in results], *[v[chosen] for v in values]), places.shape)
            for result, array in zip(results, new, strict=True):
                result[places] = array
    else:
        _update_one_by_one(results, where, values, body)


def _update_extremes(name: str, result: np.ndarray, where: np.ndarray, values: np.ndarray) -> None:
    """Apply a maximum or minimum of floats through integers in their order, since NumPy may return either zero."""
    wide = np.dtype(np.float32) if result.dtype in NARROW_FLOATS else result.dtype
    winner = np.copysign(np.array(np.nan, wide), 1 if name == "maximum" else -1)  # outermost in total order

    def keys_of(array: np.ndarray) -> np.ndarray:
        return order_keys(np.where(np.isnan(array), winner, array.astype(wide)))

    keys = keys_of(result)
    UFUNCS[name].at(keys, where, keys_of(values))
    bits = np.where(keys < 0, keys ^ np.iinfo(keys.dtype).max, keys)  # the keys of the keys are the bits
    result[:] = bits.astype(keys.dtype, copy=False).view(wide).astype(result.dtype)


def _rounds(where: np.ndarray) -> list[np.ndarray]:
    """Return selections of ``where``: first occurrences of every position, then second ones, and so on."""
    order = np.argsort(where, kind="stable")
    ordered = where[order]
    first = np.ones(len(where), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(first)
    occurrence = np.arange(len(where)) - np.repeat(starts, np.diff(np.append(starts, len(where))))
    by_round = np.argsort(occurrence, kind="stable")
    bounds = np.flatnonzero(np.diff(occurrence[by_round], prepend=-1))[1:]
    return [order[part] for part in np.split(by_round, bounds)] if len(where) else []


def _update_one_by_one(
    results: list[np.ndarray], where: np.ndarray, values: list[np.ndarray], body: RegionFunction
) -> None:
    for k, position in enumerate(where):
        old = [r[position, ...] for r in results]
        for result, scalar in zip(results, body(*old, *[v[k, ...] for v in values]), strict=True):
            result[position] = scalar
