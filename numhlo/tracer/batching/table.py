"""The contract of batching rules, and the walk that applies them to a graph.

A *lane* is one example; a mapped array carries all lanes along its leading axis, of extent ``size``. A rule gets the
op, its operands, which of them are mapped (at least one is) and ``size``; it binds ops and returns the results, each
with whether it is mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Function, Op, Region, Value
from numhlo.lowering.ops.rule_table import RuleTable
from numhlo.tracer.core.lanes import Lanes as Lanes
from numhlo.tracer.core.named_axes import uses_batched_axis
from numhlo.tracer.core.operands import broadcast_to_shape, expand, shape_of
from numhlo.tracer.core.replay import replay_op

Environment = dict[Value, Lanes]
BatchRule = Callable[[Op, list[Lanes], int, Environment], Sequence[Lanes]]
BATCHING: RuleTable[BatchRule] = RuleTable("batch", "numhlo/tracer/batching")


def spread(operand: Lanes, size: int) -> Any:
    """Return an operand with the leading lane axis, broadcast if it was not mapped."""
    if operand.mapped:
        return operand.array
    return broadcast_to_shape(expand(operand.array, 0), (size, *shape_of(operand.array)))


def all_mapped(arrays: Sequence[Any]) -> list[Lanes]:
    """Return arrays marked as mapped."""
    return [Lanes(a, True) for a in arrays]


def batch_op(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    """Run an op on lanes; where nothing is mapped it runs once for all of them."""
    mapped = any(x.mapped for x in operands)
    if not mapped and op.regions:
        mapped = any(environment[v].mapped for v in free_values(op))
    if not mapped and not uses_batched_axis(op):
        plain = {v: environment[v].array for v in free_values(op)} if op.regions else {}
        return [Lanes(a, False) for a in replay_op(op, [x.array for x in operands], plain)]
    return BATCHING[op.definition](op, operands, size, environment)


def batch_body(region: Region, arguments: Sequence[Lanes], size: int, environment: Environment) -> list[Lanes]:
    """Run a body on lanes."""
    inner: Environment = {v: environment[v] for v in free_values(region)}
    inner.update(zip(region.arguments, arguments, strict=True))
    for op in region.ops:
        outputs = batch_op(op, [inner[v] for v in op.operands], size, inner)
        inner.update(zip(op.results, outputs, strict=True))
    return [inner[v] for v in region.returns]


def batch_function(function: Function, arguments: Sequence[Lanes], size: int) -> list[Lanes]:
    """Run a function on lanes, in the current trace."""
    return batch_body(function.body, arguments, size, {})
