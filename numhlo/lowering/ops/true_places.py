"""The composite ``numhlo.true_places``: where the last axis of booleans is true, as many places as are asked for.

What `nonzero` and `compress` of a traced array are made of. Places are in order; those that are missing are the axis'
extent, which is none of its places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, TensorType, Value
from numhlo.lowering.ops import comparison, creation, elementwise, layout
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.composites import CompositeDefinition, register
from numhlo.lowering.ops.primitive import Arrays, RegionFunction
from numhlo.lowering.ops.sorting import SORT

PLACE = np.dtype(np.int64)


def make_true_places(mask: TensorType, size: int) -> dict[str, Any]:
    """Return the attributes of the composite op that gives the first ``size`` places where a mask is true.

    Parameters
    ----------
    mask : TensorType
        ``(..., n)``, of booleans.
    size : int
        Results are ``(..., size)``, of int64.

    Examples
    --------
    >>> make_true_places(TensorType((2, 9), np.dtype("bool")), 3)["decomposition"]
    <function @true_places(tensor<2x9xi1>) -> (tensor<2x3xi64>)>
    """
    return {
        "name": "numhlo.true_places",
        "composite_attributes": {"size": size},
        "decomposition": _decompose(mask, size),
    }


@lru_cache(maxsize=256)
def _decompose(mask: TensorType, size: int) -> Function:
    b = FunctionBuilder("true_places", [mask])
    axis, places = mask.ndim - 1, mask.with_dtype(PLACE)
    element, place = TensorType((), mask.dtype), TensorType((), PLACE)

    def less(x: Value, y: Value, *_: Value) -> list[Value]:
        return [b.op(comparison.COMPARE, x, y, comparison_direction="LT")]

    comparator = b.region([element, element, place, place], less)
    keys = b.op(elementwise.NOT, b.arguments[0]), b.op(creation.IOTA, result=places, iota_dimension=axis)
    wrong, order = b.ops(SORT, *keys, regions=[comparator], dimension=axis, is_stable=True)
    extent = b.constant(PLACE.type(mask.shape[-1]))
    missing = b.op(layout.BROADCAST_IN_DIM, extent, broadcast_dimensions=(), result=places)
    found = b.op(comparison.SELECT, wrong, missing, order)
    more = max(size - mask.shape[-1], 0)
    found = b.op(
        layout.PAD,
        found,
        extent,
        edge_padding_low=(0,) * mask.ndim,
        edge_padding_high=(0,) * axis + (more,),
        interior_padding=(0,) * mask.ndim,
    )
    limit = (*mask.shape[:-1], size)
    return b.finish(
        [b.op(layout.SLICE, found, start_indices=(0,) * mask.ndim, limit_indices=limit, strides=(1,) * mask.ndim)]
    )


def evaluate_true_places(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Let NumPy find them; those of many rows at once."""
    (mask,) = arrays
    size, extent = attributes["composite_attributes"]["size"], mask.shape[-1]
    found = np.full((*mask.shape[:-1], size), extent, PLACE)
    if mask.ndim == 1:
        places = np.flatnonzero(mask)[:size]
        found[: places.size] = places
    elif mask.size and size:
        row, place = np.nonzero(mask.reshape(-1, extent))
        first = np.searchsorted(row, np.arange(mask.size // extent))
        rank = np.arange(row.size) - first[row]
        kept = rank < size
        found.reshape(-1, size)[row[kept], rank[kept]] = place[kept]
    return [found]


TRUE_PLACES = register(
    CompositeDefinition(
        "numhlo.true_places", evaluate_true_places, 1, 1, "The first places of the last axis where a mask is true."
    )
)
