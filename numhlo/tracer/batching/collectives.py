"""Batching of collectives: the `vmap` that has their axis's name replaces them by ops on all lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.cumulative import initial_value
from numhlo.tracer.batching.table import Lanes, spread
from numhlo.tracer.core import operations as b
from numhlo.tracer.core.arrangement import move_axis, reduce_with, slice_axis, sum_over, take_rows
from numhlo.tracer.core.named_axes import Collective, bind_collective, is_batched_axis
from numhlo.tracer.core.operands import broadcast_to_shape, expand, full_of, reshape_to, shape_of


def batch_collective(op: Op, collective: Collective, operands: Sequence[Lanes], size: int) -> list[Lanes]:
    """Return a collective's result for all lanes of the axis that is being batched, which may be its own."""
    if not is_batched_axis(collective.name):
        return [_of_another_axis(op, collective, operands, size)]
    if collective.kind == "axis_index":
        return [Lanes(b.iota(size, op.results[0].tensor.dtype), True)]
    x, *_ = operands
    if collective.kind == "pvary":
        return [x]
    if collective.kind == "psum" and not x.mapped:
        return [Lanes(x.array * np.asarray(size).astype(x.array.dtype), False)]
    return [RULES[collective.kind](collective, spread(x, size))]


def _of_another_axis(op: Op, collective: Collective, operands: Sequence[Lanes], size: int) -> Lanes:
    """Apply a collective to an array that has all lanes of this axis as one more dimension in front."""
    type = op.results[0].tensor
    arrays = [x.array for x in operands] or [None]
    if not operands or not operands[0].mapped:
        return Lanes(bind_collective(collective, arrays[0], type, *arrays[1:]), False)
    shifted = replace(collective, dimensions=tuple(k + 1 for k in collective.dimensions))
    wide = type.with_shape((size, *type.shape))
    return Lanes(bind_collective(shifted, arrays[0], wide, *arrays[1:]), True)


def _psum(collective: Collective, x: Any) -> Lanes:
    return Lanes(sum_over(x, (0,)), False)


def _pmax(collective: Collective, x: Any) -> Lanes:
    return Lanes(reduce_with(ops.MAXIMUM, x, initial_value("cummax", x.dtype), (0,)), False)


def _pmin(collective: Collective, x: Any) -> Lanes:
    return Lanes(reduce_with(ops.MINIMUM, x, initial_value("cummin", x.dtype), (0,)), False)


def _all_gather(collective: Collective, x: Any) -> Lanes:
    return Lanes(move_axis(x, 0, collective.dimensions[0]), False)


def _psum_scatter(collective: Collective, x: Any) -> Lanes:
    return Lanes(move_axis(sum_over(x, (0,)), collective.dimensions[0], 0), True)


def _pbroadcast(collective: Collective, x: Any) -> Lanes:
    source = collective.pairs[0][0]
    return Lanes(reshape_to(slice_axis(x, source, source + 1), shape_of(x)[1:]), False)


def _all_to_all(collective: Collective, x: Any) -> Lanes:
    split, made = collective.dimensions
    lanes_first = move_axis(x, split + 1, 0)  # the receiving lane, then the sending one
    return Lanes(move_axis(lanes_first, 1, made + 1), True)


def _ppermute(collective: Collective, x: Any) -> Lanes:
    sources = np.zeros(collective.size, np.int64)
    gets = np.zeros(collective.size, bool)
    for source, target in collective.pairs:
        sources[target], gets[target] = source, True
    moved = take_rows(x, sources)
    if gets.all():
        return Lanes(moved, True)
    shape = shape_of(x)
    mask = expand(gets, *range(1, len(shape)))
    return Lanes(b.select(broadcast_to_shape(mask, shape), moved, full_of(0, shape, x.dtype)), True)


RULES = {
    "psum": _psum,
    "pmax": _pmax,
    "pmin": _pmin,
    "all_gather": _all_gather,
    "psum_scatter": _psum_scatter,
    "all_to_all": _all_to_all,
    "pbroadcast": _pbroadcast,
    "ppermute": _ppermute,
}
