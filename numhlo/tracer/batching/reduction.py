"""Batching of reductions and sorts: the same body, axes shifted by the lane axis."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op
from numhlo.lowering.ops import reduction, sorting
from numhlo.tracer.batching.control_flow import map_lanes
from numhlo.tracer.batching.table import BATCHING, Environment, Lanes, all_mapped, spread
from numhlo.tracer.core.bind import bind
from numhlo.tracer.core.replay import replay_region


@BATCHING.register(reduction.REDUCE)
def _batch_reduce(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    count = len(op.results)
    inits = operands[count:]
    outer = free_values(op)
    if any(x.mapped for x in inits) or any(environment[v].mapped for v in outer):
        return map_lanes(op, operands, size, environment)
    region = replay_region(op.regions[0], {v: environment[v].array for v in outer})
    arrays = [spread(x, size) for x in operands[:count]]
    axes = tuple(a + 1 for a in op.attributes["dimensions"])
    plain = [x.array for x in inits]
    return all_mapped(bind(reduction.REDUCE, *arrays, *plain, attributes={"dimensions": axes}, regions=[region]))


@BATCHING.register(sorting.SORT)
def _batch_sort(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    outer = free_values(op)
    if any(environment[v].mapped for v in outer):
        return map_lanes(op, operands, size, environment)
    region = replay_region(op.regions[0], {v: environment[v].array for v in outer})
    arrays = [spread(x, size) for x in operands]
    dimension = op.attributes["dimension"]
    attributes = {**op.attributes, "dimension": dimension + 1 if dimension >= 0 else dimension}
    return all_mapped(bind(sorting.SORT, *arrays, attributes=attributes, regions=[region]))
