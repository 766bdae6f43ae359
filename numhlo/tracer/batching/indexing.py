"""Batching of slices with traced starts, gather and scatter, all as gather and scatter with batching dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op
from numhlo.lowering.ops import indexing
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers, ScatterDimensionNumbers
from numhlo.tracer.batching.control_flow import map_lanes
from numhlo.tracer.batching.table import BATCHING, Environment, Lanes, all_mapped, spread
from numhlo.tracer.core.arrangement import concatenate_arrays
from numhlo.tracer.core.bind import bind, bind1
from numhlo.tracer.core.operands import convert, expand
from numhlo.tracer.core.replay import replay_region


def _starts_matrix(starts: Sequence[Lanes], size: int) -> Any:
    """Return scalar starts of all lanes as one (size, axes) array."""
    columns = [expand(convert(spread(s, size), np.int64), 1) for s in starts]
    return concatenate_arrays(columns, 1)


@BATCHING.register(indexing.DYNAMIC_SLICE)
def _batch_dynamic_slice(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    operand, *starts = operands
    sizes = op.attributes["slice_sizes"]
    if not any(s.mapped for s in starts):
        zero = np.zeros((), op.operands[1].tensor.dtype) if starts else np.zeros((), np.int64)
        attributes = {"slice_sizes": (size, *sizes)}
        plain = [s.array for s in starts]
        return all_mapped(bind(op.definition, operand.array, zero, *plain, attributes=attributes))
    rank = len(sizes)
    numbers = GatherDimensionNumbers(
        offset_dims=tuple(range(1, rank + 1)),
        collapsed_slice_dims=(),
        operand_batching_dims=(0,) if operand.mapped else (),
        start_indices_batching_dims=(0,) if operand.mapped else (),
        start_index_map=tuple(k + operand.mapped for k in range(rank)),
        index_vector_dim=1,
    )
    gathering: dict[str, Any] = {
        "dimension_numbers": numbers,
        "slice_sizes": ((1,) if operand.mapped else ()) + tuple(sizes),
        "indices_are_sorted": False,
    }
    matrix = _starts_matrix(starts, size)
    return [Lanes(bind1(indexing.GATHER, operand.array, matrix, attributes=gathering), True)]


@BATCHING.register(indexing.DYNAMIC_UPDATE_SLICE)
def _batch_update(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    operand, update, *starts = operands
    if any(s.mapped for s in starts):
        return map_lanes(op, operands, size, environment)
    zero = np.zeros((), op.operands[2].tensor.dtype) if starts else np.zeros((), np.int64)
    arrays = [spread(operand, size), spread(update, size), zero, *[s.array for s in starts]]
    return all_mapped(bind(op.definition, *arrays))


@BATCHING.register(indexing.GATHER)
def _batch_gather(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    operand, starts = operands
    old: GatherDimensionNumbers = op.attributes["dimension_numbers"]
    sizes = tuple(op.attributes["slice_sizes"])
    if operand.mapped and not starts.mapped:
        numbers = replace(
            old,
            offset_dims=(0, *[d + 1 for d in old.offset_dims]),
            collapsed_slice_dims=_up(old.collapsed_slice_dims),
            operand_batching_dims=_up(old.operand_batching_dims),
            start_index_map=_up(old.start_index_map),
        )
        sizes = (size, *sizes)
    elif operand.mapped:
        numbers = replace(
            old,
            offset_dims=_up(old.offset_dims),
            collapsed_slice_dims=_up(old.collapsed_slice_dims),
            operand_batching_dims=(0, *_up(old.operand_batching_dims)),
            start_indices_batching_dims=(0, *_up(old.start_indices_batching_dims)),
            start_index_map=_up(old.start_index_map),
            index_vector_dim=old.index_vector_dim + 1,
        )
        sizes = (1, *sizes)
    else:
        numbers = replace(
            old,
            offset_dims=_up(old.offset_dims),
            start_indices_batching_dims=_up(old.start_indices_batching_dims),
            index_vector_dim=old.index_vector_dim + 1,
        )
    attributes = {**op.attributes, "dimension_numbers": numbers, "slice_sizes": sizes, "indices_are_sorted": False}
    return [Lanes(bind1(indexing.GATHER, operand.array, starts.array, attributes=attributes), True)]


def _up(axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(a + 1 for a in axes)


@BATCHING.register(indexing.SCATTER)
def _batch_scatter(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    """Every operand, the indices and every update get a lane axis that is a batching dimension of the scatter."""
    outer = free_values(op)
    if any(environment[v].mapped for v in outer):
        return map_lanes(op, operands, size, environment)
    old: ScatterDimensionNumbers = op.attributes["scatter_dimension_numbers"]
    numbers = replace(
        old,
        update_window_dims=_up(old.update_window_dims),
        inserted_window_dims=_up(old.inserted_window_dims),
        input_batching_dims=(0, *_up(old.input_batching_dims)),
        scatter_indices_batching_dims=(0, *_up(old.scatter_indices_batching_dims)),
        scatter_dims_to_operand_dims=_up(old.scatter_dims_to_operand_dims),
        index_vector_dim=old.index_vector_dim + 1,
    )
    attributes = {**op.attributes, "scatter_dimension_numbers": numbers, "indices_are_sorted": False}
    region = replay_region(op.regions[0], {v: environment[v].array for v in outer})
    arrays = [spread(x, size) for x in operands]
    return all_mapped(bind(indexing.SCATTER, *arrays, attributes=attributes, regions=[region]))
