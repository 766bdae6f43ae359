"""The ``sort`` op: any number of operands moved together, any axis, any comparator; always stable.

A comparator made of elementwise ops runs on whole arrays. `sort_keys` guesses what it sorts by; NumPy sorts by the
guess; and the comparator itself, run once on all neighbours, accepts or rejects the outcome. Where no guess holds, a
merge sort calls the comparator on whole arrays, ``log2(n) ** 2`` times. Other comparators run pair by pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cmp_to_key
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Type
from numhlo.lowering.ir.types import BOOL
from numhlo.lowering.ops.extents import declared_or, same_shape
from numhlo.lowering.ops.primitive import Arrays, Attribute, Primitive, RegionFunction, Signature
from numhlo.lowering.ops.region_function import region_of, takes_arrays
from numhlo.lowering.ops.sort_keys import candidate_keys

SORTED_BY_NUMPY = frozenset(map(np.dtype, ("?", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")))
"""Element types that NumPy sorts by itself, NaNs last."""


class Sorting(Primitive):
    """An op that puts elements in order."""

    __slots__ = ()


def infer_sort(signature: Signature) -> Sequence[Type]:
    """Check (C1), (C3) to (C5); (C2) results have the inputs' types."""
    require = signature.require
    inputs = signature.tensors
    require(len(inputs) > 0, "(C1) needs at least one input")
    require(all(same_shape(t.shape, inputs[0].shape) for t in inputs), "(C3) inputs must have one shape")
    rank = inputs[0].ndim
    dimension = signature.attributes["dimension"]
    require(-rank <= dimension < rank, f"(C4) dimension must be in [{-rank}, {rank}), not {dimension}")
    require(len(signature.regions) == 1, "needs a comparator")
    (comparator,) = signature.regions
    expected = [TensorType((), t.dtype) for t in inputs for _ in range(2)]
    require(
        [v.type for v in comparator.arguments] == expected
        and [v.type for v in comparator.returns] == [TensorType((), BOOL)],
        "(C5) the comparator must take two scalars of each input's element type and return one tensor<i1>",
    )
    return declared_or(signature, inputs)


def evaluate_sort(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Sort slices along ``dimension``, all operands together."""
    (comparator,) = regions
    axis = attributes["dimension"]
    rows = [np.moveaxis(a, axis, -1) for a in arrays]
    if rows[0].shape[-1] < 2 or rows[0].size == 0:
        return list(arrays)
    values = _sort_values(comparator, rows[0]) if len(rows) == 1 else None
    if values is not None:
        return [np.moveaxis(values, -1, axis)]
    order = _find_order(comparator, rows)
    return [np.moveaxis(np.take_along_axis(a, order, axis=-1), -1, axis) for a in rows]


def _sort_values(comparator: RegionFunction, values: np.ndarray) -> np.ndarray | None:
    """Return ``values`` as NumPy sorts them, or that from behind, if the comparator agrees; else None.

    Neighbours that neither is less have the same bits, so that nobody sees which was first. NaNs are not left to NumPy,
    whose SIMD code writes one NaN in the place of all of them.
    """
    region = region_of(comparator)
    if region is None or values.dtype not in SORTED_BY_NUMPY or not takes_arrays(region):
        return None
    if values.dtype.kind == "f" and np.isnan(values).any():
        return None
    ascending = np.sort(values, axis=-1)
    for found in (ascending, ascending[..., ::-1]):
        before, after = found[..., :-1], found[..., 1:]
        if not np.any(_less(comparator, [after], [before])):
            rises = _less(comparator, [before], [after])
            words = found.view(f"u{found.dtype.itemsize}")
            return found if np.all(rises | (words[..., :-1] == words[..., 1:])) else None
    return None


def _find_order(comparator: RegionFunction, rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return the stable permutation along the last axis that sorts ``rows`` by ``comparator``."""
    region = region_of(comparator)
    if region is None or not takes_arrays(region):
        return _sort_pairs(comparator, rows)
    shape = rows[0].shape
    for keys in candidate_keys(region, rows):
        order = np.lexsort(keys[::-1], axis=-1) if keys else np.broadcast_to(np.arange(shape[-1]), shape)
        if _is_sorted(comparator, rows, order):
            return order
    return _merge_sort(comparator, rows)


def _is_sorted(comparator: RegionFunction, rows: Sequence[np.ndarray], order: np.ndarray) -> bool:
    """Return whether ``order`` sorts: no element is less than the one before it, and equal ones keep their order.

    For a strict weak order it is enough to look at neighbours.
    """
    taken = [np.take_along_axis(a, order, axis=-1) for a in rows]
    before, after = [a[..., :-1] for a in taken], [a[..., 1:] for a in taken]
    if np.any(_less(comparator, after, before)):
        return False
    kept = order[..., :-1] < order[..., 1:]
    return bool(np.all(kept | _less(comparator, before, after)))


def _less(comparator: RegionFunction, lhs: Sequence[np.ndarray], rhs: Sequence[np.ndarray]) -> np.ndarray:
    pairs = [array for pair in zip(lhs, rhs, strict=True) for array in pair]
    return np.broadcast_to(comparator(*pairs)[0], lhs[0].shape)


def _merge_sort(comparator: RegionFunction, rows: Sequence[np.ndarray]) -> np.ndarray:
    """Merge runs of 1, 2, 4, ... elements; an element's place is its own rank plus its rank in the other run.

    Only elements of left runs are ranked, and none before those that precede it in its run; the right runs fill the
    other places. So the result is a permutation even if the comparator is no order.
    """
    n = rows[0].shape[-1]
    flat = [a.reshape(-1, n) for a in rows]
    lines = np.arange(len(flat[0]))[:, None]
    order = np.broadcast_to(np.arange(n), flat[0].shape)
    width = 1
    while width < n:
        place = np.arange(n)
        is_left = place % (2 * width) < width
        left, right = place[is_left], order[:, ~is_left]
        middle = np.minimum(left // (2 * width) * (2 * width) + width, n)
        stop = np.minimum(middle + width, n)
        found = _find_first_after(comparator, [a[lines, order] for a in flat], left, (middle, stop))
        target = left + np.maximum.accumulate(found, axis=-1) - middle
        is_free = np.ones(order.shape, bool)
        is_free[lines, target] = False
        merged = np.empty_like(order)
        merged[lines, target] = order[:, is_left]
        merged[is_free] = right.ravel()
        order, width = merged, 2 * width
    return order.reshape(rows[0].shape)


def _find_first_after(
    comparator: RegionFunction, taken: Sequence[np.ndarray], left: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return, for elements of left runs, the first place within bounds of an element that is not less."""
    lines = np.arange(len(taken[0]))[:, None]
    low, high = (np.broadcast_to(bound, (len(taken[0]), len(left))) for bound in bounds)
    last = taken[0].shape[-1] - 1
    own = [a[:, left] for a in taken]
    while np.any(low < high):
        middle = (low + high) // 2
        probe = [a[lines, np.minimum(middle, last)] for a in taken]
        goes_after = _less(comparator, probe, own)
        searching = low < high
        low = np.where(searching & goes_after, middle + 1, low)
        high = np.where(searching & ~goes_after, middle, high)
    return low


def _sort_pairs(comparator: RegionFunction, rows: Sequence[np.ndarray]) -> np.ndarray:
    """Sort by calling the comparator on pairs of scalars."""
    shape = rows[0].shape
    order = np.empty(shape, np.int64)
    for index in np.ndindex(shape[:-1]):

        def compare(i: int, j: int, index: tuple[int, ...] = index) -> int:
            lhs, rhs = [a[index][i, ...] for a in rows], [a[index][j, ...] for a in rows]
            if _less(comparator, lhs, rhs):
                return -1
            return 1 if _less(comparator, rhs, lhs) else 0

        order[index] = sorted(range(shape[-1]), key=cmp_to_key(compare))
    return order


SORT = Sorting(
    "sort",
    infer_sort,
    evaluate_sort,
    ("*inputs",),
    (Attribute("dimension", "i64", -1), Attribute("is_stable", "bool", False)),
    regions=("comparator",),
)
