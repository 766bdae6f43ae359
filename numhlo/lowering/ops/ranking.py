"""The composite ``numhlo.top_k``: the largest elements of the last axis, in descending order, and where they were.

Floats are in IEEE 754 total order (so a positive NaN comes first); equal elements keep their order. Indices are int32,
as in CHLO.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, TensorType, Value
from numhlo.lowering.ir.errors import ShapeError
from numhlo.lowering.ir.types import FLOATS
from numhlo.lowering.ops import comparison, creation, layout
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.composites import CompositeDefinition, register
from numhlo.lowering.ops.primitive import Arrays, RegionFunction
from numhlo.lowering.ops.sort_keys import ordered_keys
from numhlo.lowering.ops.sorting import SORT

INDEX = np.dtype(np.int32)


def make_top_k(type: TensorType, k: int) -> dict[str, Any]:
    """Return the attributes of the composite op that takes the ``k`` largest elements of the last axis.

    Parameters
    ----------
    type : TensorType
        ``(..., n)``, of integers, booleans or floats.
    k : int
        From 0 to n.

    Raises
    ------
    ShapeError
        If ``k`` is out of range, or the operand is a scalar.

    Examples
    --------
    >>> make_top_k(TensorType((4,), np.dtype("float32")), 2)["decomposition"]
    <function @top_k(tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)>
    """
    if not type.shape or not 0 <= k <= type.shape[-1]:
        raise ShapeError(f"top_k: k is {k}", why=f"it lies between 0 and the extent of the last axis of {type.short()}")
    return {
        "name": "numhlo.top_k",
        "composite_attributes": {"k": k},
        "decomposition": _decompose(type, k),
        "version": 0,
    }


@lru_cache(maxsize=256)
def _decompose(type: TensorType, k: int) -> Function:
    b = FunctionBuilder("top_k", [type])
    axis = type.ndim - 1
    places = b.op(creation.IOTA, result=type.with_dtype(INDEX), iota_dimension=axis)
    element, place = TensorType((), type.dtype), TensorType((), INDEX)
    kind = "TOTALORDER" if type.dtype in FLOATS else None

    def greater(x: Value, y: Value, *_: Value) -> list[Value]:
        return [b.op(comparison.COMPARE, x, y, comparison_direction="GT", compare_type=kind)]

    comparator = b.region([element, element, place, place], greater)
    results = b.ops(SORT, b.arguments[0], places, regions=[comparator], dimension=axis, is_stable=True)
    start, limit, strides = (0,) * type.ndim, (*type.shape[:-1], k), (1,) * type.ndim
    return b.finish(
        [b.op(layout.SLICE, value, start_indices=start, limit_indices=limit, strides=strides) for value in results]
    )


def evaluate_top_k(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Sort integer keys of all elements."""
    (x,) = arrays
    keys = [~key for key in ordered_keys(x, total=True)]
    order = np.lexsort(keys[::-1], axis=-1)[..., : attributes["composite_attributes"]["k"]]
    return [np.take_along_axis(x, order, axis=-1), order.astype(INDEX)]


TOP_K = register(
    CompositeDefinition("numhlo.top_k", evaluate_top_k, 1, 2, "The k largest elements of the last axis, and where.")
)
