"""The composite ``numhlo.order_statistics``: elements of the last axis as they would stand if it were sorted.

Medians and quantiles look at a few places of a sorted row; finding them takes time in proportion to its length. The
order is NumPy's: NaN last, equal elements (zeros of either sign too) as they come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, TensorType, Value
from numhlo.lowering.ir.types import EXTENSIONS, FLOATS
from numhlo.lowering.ops import comparison, elementwise, indexing, layout
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.composites import CompositeDefinition, register
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers
from numhlo.lowering.ops.primitive import Arrays, RegionFunction
from numhlo.lowering.ops.sort_keys import ordered_keys
from numhlo.lowering.ops.sorting import SORT

SHORT_ROW = 128
"""Length up to which sorting a row is faster."""

MOST_PLACES = 16
"""Places up to which finding them one by one is faster than sorting."""


def make_order_statistics(type: TensorType, places: TensorType) -> dict[str, Any]:
    """Return the attributes of the composite op that picks elements of the last axis by their place in sorted order.

    Parameters
    ----------
    type : TensorType
        ``(..., n)``, of integers, booleans or floats; n is not 0.
    places : TensorType
        ``(m,)``, of integers; places beyond the ends are the ends. Results are ``(..., m)``.

    Examples
    --------
    >>> type, places = TensorType((2, 9), np.dtype("float32")), TensorType((1,), np.dtype("int64"))
    >>> make_order_statistics(type, places)["decomposition"]
    <function @order_statistics(tensor<2x9xf32>, tensor<1xi64>) -> (tensor<2x1xf32>)>
    """
    return {"name": "numhlo.order_statistics", "decomposition": _decompose(type, places)}


@lru_cache(maxsize=256)
def _decompose(type: TensorType, places: TensorType) -> Function:
    b = FunctionBuilder("order_statistics", [type, places])
    axis = type.ndim - 1
    element = TensorType((), type.dtype)

    def less(x: Value, y: Value) -> list[Value]:
        below = b.op(comparison.COMPARE, x, y, comparison_direction="LT")
        if type.dtype not in FLOATS:
            return [below]
        number = b.op(comparison.COMPARE, x, x, comparison_direction="EQ")
        nan = b.op(comparison.COMPARE, y, y, comparison_direction="NE")
        return [b.op(elementwise.OR, below, b.op(elementwise.AND, number, nan))]

    comparator = b.region([element, element], less)
    (ordered,) = b.ops(SORT, b.arguments[0], regions=[comparator], dimension=axis, is_stable=True)
    vectors = b.op(layout.RESHAPE, b.arguments[1], result=places.with_shape((*places.shape, 1)))
    numbers = GatherDimensionNumbers(
        offset_dims=tuple(range(axis)), collapsed_slice_dims=(axis,), start_index_map=(axis,), index_vector_dim=1
    )
    sizes = (*type.shape[:-1], 1)
    return b.finish([b.op(indexing.GATHER, ordered, vectors, dimension_numbers=numbers, slice_sizes=sizes)])


def evaluate_order_statistics(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> Arrays:
    """Let NumPy partition the rows; sort keys where bits depend on which of equal elements is meant."""
    x, places = arrays
    where = np.clip(places, 0, x.shape[-1] - 1)
    if x.dtype not in EXTENSIONS:
        found = np.take(np.partition(x, np.unique(where), axis=-1), where, axis=-1)
        if x.dtype.kind != "f" or not np.any((found == 0) | np.isnan(found)):
            return [found]
    (keys,) = ordered_keys(x, total=False)
    order = np.argsort(keys, axis=-1, kind="stable")
    return [np.take_along_axis(x, np.take(order, where, axis=-1), axis=-1)]


ORDER_STATISTICS = register(
    CompositeDefinition(
        "numhlo.order_statistics",
        evaluate_order_statistics,
        2,
        1,
        "Elements of the last axis at places of its sorted order.",
    )
)
