"""Elements along the first axis combined by the number of the segment that each belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.indexing.index_items import Points, whole
from numhlo.lowering.ops.cumulative import initial_value
from numhlo.tracer.building import COMBINERS, broadcast_to_shape, full_of, new_array, reduce_with, shape_of

INITIAL = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}
"""The cumulative operation by whose first value an empty segment is filled."""


def combine_segments(combiner: str, values: Any, index: Any, count: int, bucket: int | None = None) -> Any:
    """Return what the elements of each segment give together.

    Parameters
    ----------
    combiner : str
        A key of `INITIAL`.
    values : array, shape (n, ...)
    index : array of int64, shape (n,)
        The segment of each element; those behind the last one are dropped.
    count : int
        Of segments.
    bucket : int, optional
        Elements that are combined first, before the results of these groups are.
    """
    tail = shape_of(values)[1:]
    updates = broadcast_to_shape(values, (*shape_of(index), *tail))
    initial = initial_value(INITIAL[combiner], values.dtype)
    filling = abs(initial) if combiner == "add" else initial  # an empty sum is 0.0, not the neutral -0.0
    rest = [whole(n) for n in tail]
    if bucket is None:
        target = new_array(full_of(filling, (count, *tail), values.dtype))
        advanced.scatter_points(target, [Points(index), *rest], updates, combiner)
        return target
    length = shape_of(index)[0]
    buckets = -(-length // bucket)
    target = new_array(full_of(filling, (buckets, count, *tail), values.dtype))
    rows = np.arange(length) // bucket
    advanced.scatter_points(target, [Points(rows), Points(index), *rest], updates, combiner)
    return reduce_with(COMBINERS[combiner], target, filling, (0,))
