"""What LAPACK's pivots mean: rows exchanged one after the other, and the permutation that comes of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.tracer.loops import fori_loop
from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace.core import broadcast_to_shape, convert, shape_of
from numhlo.tracer.namespace.reductions import sum as sum_over


def permutation_of(pivots: Any, size: int) -> Any:
    """Return where each row comes from, after row k has been exchanged with row ``pivots[..., k]`` for each k.

    Parameters
    ----------
    pivots : (..., k) array of int32
        Counted from 0.
    size : int
        The number of rows.

    Returns
    -------
    (..., size) array of int32
    """
    extents = shape_of(pivots)
    places = b.iota_along((*extents[:-1], size), len(extents) - 1, np.int32)
    steps = b.iota_along(extents, len(extents) - 1, np.int32)

    def picked(mask: Any, x: Any) -> Any:
        return sum_over(b.select(mask, x, 0), -1, dtype=np.int32, keepdims=True)

    def step(counter: Any, rows: Any) -> Any:
        k = convert(counter, np.int32)
        pivot = picked(b.equal(steps, broadcast_to_shape(k, extents)), pivots)
        here = b.equal(places, broadcast_to_shape(k, shape_of(places)))
        there = b.equal(places, broadcast_to_shape(pivot, shape_of(places)))
        first, second = (broadcast_to_shape(picked(mask, rows), shape_of(rows)) for mask in (here, there))
        return b.select(here, second, b.select(there, first, rows))

    return fori_loop(0, extents[-1], step, places) if extents[-1] else places
