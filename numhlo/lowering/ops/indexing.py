"""Ops that read or write at positions known only at run time: dynamic_slice, dynamic_update_slice, gather, scatter.

This file has the records, and the two slices; the rules of the other two are in `gather` and `scatter`. Out of range,
slices and gather clamp their start, scatter drops the whole window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Type
from numhlo.lowering.ir.types import INTEGERS
from numhlo.lowering.ops.extents import at_most, declared_or
from numhlo.lowering.ops.gather import evaluate_gather, infer_gather
from numhlo.lowering.ops.primitive import Arrays, Attribute, Primitive, RegionFunction, Signature
from numhlo.lowering.ops.scatter import evaluate_scatter, infer_scatter

BEYOND = np.iinfo(np.int64).max // 2
"""A position outside every array, for what scatter is meant to drop: checks of bounds let it pass."""


class Indexing(Primitive):
    """An op that moves elements to or from positions given by operands."""

    __slots__ = ()


def _check_starts(signature: Signature, starts: Sequence[TensorType], count: int, rules: tuple[str, str]) -> None:
    signature.require(len(starts) == count, f"({rules[0]}) needs one start index a dimension")
    signature.require(len(set(starts)) <= 1, f"({rules[1]}) start indices must have one type")
    signature.require(
        all(t.shape == () and t.dtype in INTEGERS for t in starts), "start indices must be integer scalars"
    )


def infer_dynamic_slice(signature: Signature) -> Sequence[Type]:
    """Check (C2) to (C4); (C1), (C5) the result has the operand's element type and ``slice_sizes`` as its shape."""
    operand, *starts = signature.tensors
    sizes: tuple[int, ...] = signature.attributes["slice_sizes"]
    _check_starts(signature, starts, operand.ndim, ("C2", "C3"))
    signature.require(len(sizes) == operand.ndim, "(C2) needs one slice size a dimension")
    signature.require(
        all(size >= 0 and at_most(size, extent) for size, extent in zip(sizes, operand.shape, strict=True)),
        f"(C4) slice_sizes {list(sizes)} must lie between 0 and the operand's extents",
    )
    return declared_or(signature, [operand.with_shape(tuple(sizes))])


def clamped_start(start: np.ndarray, limit: int) -> int:
    """Return a start index of any integer type, clamped to ``[0, limit]``.

    Examples
    --------
    >>> clamped_start(np.array(-3), 5), clamped_start(np.array(2**64 - 1, np.uint64), 5)
    (0, 5)
    """
    return max(0, min(int(start), limit))


def window_of(shape: Sequence[int], sizes: Sequence[int], starts: Arrays) -> tuple[Any, ...]:
    """Return an index that reads a view, also of a 0-d array."""
    window: list[Any] = []
    for extent, size, start in zip(shape, sizes, starts, strict=True):
        first = clamped_start(start, extent - size)
        window.append(slice(first, first + size))
    return (*window, ...)


def evaluate_dynamic_slice(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> tuple[np.ndarray]:
    """Return the window as a view."""
    operand, *starts = arrays
    return (operand[window_of(operand.shape, attributes["slice_sizes"], starts)],)


def infer_dynamic_update_slice(signature: Signature) -> Sequence[Type]:
    """Check (C2) to (C6); (C1) the result has the operand's type."""
    signature.require(len(signature.operands) >= 2, "needs an operand and an update")
    operand, update, *starts = signature.tensors
    signature.require(update.dtype == operand.dtype, "(C2) update and operand must have one element type")
    signature.require(update.ndim == operand.ndim, "(C3) update and operand must have one rank")
    _check_starts(signature, starts, operand.ndim, ("C4", "C5"))
    signature.require(
        all(map(at_most, update.shape, operand.shape)), "(C6) update's extents must be at most the operand's"
    )
    return declared_or(signature, [operand])


def evaluate_dynamic_update_slice(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> tuple[np.ndarray]:
    """Return a copy of the operand with the window overwritten."""
    operand, update, *starts = arrays
    result = operand.copy()
    result[window_of(operand.shape, update.shape, starts)] = update
    return (result,)


DYNAMIC_SLICE = Indexing(
    "dynamic_slice",
    infer_dynamic_slice,
    evaluate_dynamic_slice,
    ("operand", "*start_indices"),
    (Attribute("slice_sizes", "array<i64>"),),
)
DYNAMIC_UPDATE_SLICE = Indexing(
    "dynamic_update_slice",
    infer_dynamic_update_slice,
    evaluate_dynamic_update_slice,
    ("operand", "update", "*start_indices"),
)
GATHER = Indexing(
    "gather",
    infer_gather,
    evaluate_gather,
    ("operand", "start_indices"),
    (
        Attribute("dimension_numbers", "record:gather"),
        Attribute("slice_sizes", "array<i64>"),
        Attribute("indices_are_sorted", "bool", False),
    ),
)
SCATTER = Indexing(
    "scatter",
    infer_scatter,
    evaluate_scatter,
    ("*inputs", "scatter_indices", "*updates"),
    (
        Attribute("scatter_dimension_numbers", "record:scatter"),
        Attribute("indices_are_sorted", "bool", False),
        Attribute("unique_indices", "bool", False),
    ),
    regions=("update_computation",),
)
