"""Differentiation of custom calls: those of a named axis are linear, some are LAPACK's; others are not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, TensorType
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.custom_calls import target_of
from numhlo.tracer.core.arrangement import dynamic_row, move_axis
from numhlo.tracer.core.named_axes import Collective, bind_collective, collective_of
from numhlo.tracer.core.operands import shape_of
from numhlo.tracer.differentiation.lapack import lapack_rule
from numhlo.tracer.differentiation.table import JVP, TRANSPOSE

LINEAR = ("psum", "all_gather", "all_to_all", "ppermute")


def _linear_collective(op: Op) -> Collective:
    found = collective_of(op)
    if found is None or found.kind not in LINEAR:
        what = op.attributes["call_target_name"] if found is None else found.kind
        raise UnsupportedError(
            f"the derivative of {what}",
            where=op.location,
            why="what a custom call computes is not known here" if found is None else "it has none that is implemented",
            fix="wrap it in a custom_jvp function, whose rule calls none with tangents, or a custom_vjp function",
        )
    return found


def _own_part_of_sum(gathered: Collective, cotangent: Any) -> Any:
    """Return the part that this lane gave to an `all_gather`, of the sum of all lanes' cotangents."""
    axis = gathered.dimensions[0]
    sums = replace(gathered, kind="psum", dimensions=())
    total = bind_collective(sums, cotangent, TensorType(shape_of(cotangent), cotangent.dtype))
    number = replace(gathered, kind="axis_index", dimensions=())
    return dynamic_row(move_axis(total, axis, 0), bind_collective(number, None, TensorType((), np.dtype(np.int64))))


@JVP.register(control_flow.CUSTOM_CALL)
def _jvp_custom_call(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    target = target_of(op)
    rule = lapack_rule(op) if target is None or target.rules.jvp is None else target.rules.jvp
    if rule is not None:
        return rule(op, primals, tangents, outputs)
    return [bind_collective(_linear_collective(op), tangents[0], op.results[0].tensor)]


@TRANSPOSE.register(control_flow.CUSTOM_CALL)
def _transpose_custom_call(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    target = target_of(op)
    if target is not None and target.rules.transpose is not None:
        return list(target.rules.transpose(op, operands, cotangents))
    collective, cotangent = _linear_collective(op), cotangents[0]
    type = op.operands[0].tensor
    if collective.kind == "all_gather":
        return [_own_part_of_sum(collective, cotangent)]
    if collective.kind == "all_to_all":
        split, made = collective.dimensions
        return [bind_collective(replace(collective, dimensions=(made, split)), cotangent, type)]
    back = tuple((target, source) for source, target in collective.pairs)
    return [bind_collective(replace(collective, pairs=back), cotangent, type)]
