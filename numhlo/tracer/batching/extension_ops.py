"""Batching of users' ops: by the rule that they bring along, else as what they mean in other ops, else lane by lane."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.ir import Op
from numhlo.lowering.ops.extension_ops import ExtensionOp
from numhlo.tracer.batching.control_flow import map_lanes
from numhlo.tracer.batching.table import BATCHING, Environment, Lanes, batch_function


@BATCHING.register_family(ExtensionOp)
def _batch_extension(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    definition = op.definition
    assert isinstance(definition, ExtensionOp)
    if definition.rules.batch is not None:
        return list(definition.rules.batch(op, operands, size))
    if definition.decompose is not None:
        return batch_function(definition.decompose([v.tensor for v in op.operands], op.attributes), operands, size)
    return map_lanes(op, operands, size, environment)
