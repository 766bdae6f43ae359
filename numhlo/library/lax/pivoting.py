"""What LAPACK's pivots mean: the permutation that comes of rows or columns exchanged one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy.indexing.brackets import take_along_axis
from numhlo.library.numpy.reductions import sum as sum_over
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.factorization_decompositions import lapack_attributes
from numhlo.tracer.building import bind, broadcast_to_shape, convert, fori_loop, full_of, reshape_to, shape_of
from numhlo.tracer.building import matrices as m
from numhlo.tracer.building import operations as b


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


def columns_by_length(a: Any) -> tuple[Any, Any]:
    """Return a matrix with its columns in the order in which LAPACK's geqp3 takes them, and that order.

    Each time it is the column with the longest part outside of what the columns before it span. The order is a constant
    for derivatives.

    Parameters
    ----------
    a : (..., m, n) array

    Returns
    -------
    tuple of array and (..., n) array of int32
    """
    type = m.type_of(a)
    lines = TensorType((*type.shape[:-2], type.shape[-1]), np.dtype(np.int32))
    scales = TensorType((*type.shape[:-2], min(type.shape[-2:])), type.dtype)
    attributes = lapack_attributes("geqp3", [type, lines], [type, lines, scales], type.ndim - 2)
    free = full_of(0, lines.shape, np.int32)
    found = bind(control_flow.CUSTOM_CALL, b.fixed(a), free, attributes=attributes, results=[type, lines, scales])
    order = b.subtract(found[1], b.constant(1, found[1]))
    places = broadcast_to_shape(reshape_to(order, (*lines.shape[:-1], 1, lines.shape[-1])), type.shape)
    return take_along_axis(a, places, -1), order
