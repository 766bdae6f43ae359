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
from numhlo.tracer.core.named_axes import CORRECTIONS, Collective, bind_collective, collective_of
from numhlo.tracer.core.operands import broadcast_to_shape, full_of, shape_of
from numhlo.tracer.core.operations import compare, select
from numhlo.tracer.differentiation.lapack import lapack_rule
from numhlo.tracer.differentiation.table import JVP, TRANSPOSE

LINEAR = ("psum", "all_gather", "psum_scatter", "all_to_all", "ppermute", "pbroadcast", "pvary", *CORRECTIONS)

TRANSPOSED = {"psum": "psum", "all_gather": "psum_scatter", "psum_scatter": "all_gather"}
"""What the transposes of collectives are that are no permutations, along the same dimensions.

A lane's cotangent is the derivative of the sum of all lanes' results by what this lane has; so `psum` is its own.
"""


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


def _of_source(collective: Collective, cotangent: Any) -> Any:
    """Return the sum of all lanes' cotangents in the lane that was the source, and zeros in the others."""
    type = TensorType(shape_of(cotangent), cotangent.dtype)
    total = bind_collective(replace(collective, kind="psum", pairs=()), cotangent, type)
    number = replace(collective, kind="axis_index", pairs=())
    index = bind_collective(number, None, TensorType((), np.dtype(np.int64)))
    is_source = broadcast_to_shape(compare("EQ", index, np.int64(collective.pairs[0][0])), type.shape)
    return select(is_source, total, full_of(0, type.shape, type.dtype))


@JVP.register(control_flow.CUSTOM_CALL)
def _jvp_custom_call(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    target = target_of(op)
    rule = lapack_rule(op) if target is None or target.rules.jvp is None else target.rules.jvp
    if rule is not None:
        return rule(op, primals, tangents, outputs)
    collective = _linear_collective(op)
    return [
        None if tangents[0] is None else bind_collective(collective, tangents[0], op.results[0].tensor, *primals[1:])
    ]


@TRANSPOSE.register(control_flow.CUSTOM_CALL)
def _transpose_custom_call(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    target = target_of(op)
    if target is not None and target.rules.transpose is not None:
        return list(target.rules.transpose(op, operands, cotangents))
    collective, cotangent = _linear_collective(op), cotangents[0]
    type = op.operands[0].tensor
    if collective.kind in CORRECTIONS:
        return [bind_collective(collective, cotangent, type, operands[1]), None]
    if collective.kind == "pvary":
        return [cotangent]
    if collective.kind == "pbroadcast":
        return [_of_source(collective, cotangent)]
    if collective.kind in TRANSPOSED:
        return [bind_collective(replace(collective, kind=TRANSPOSED[collective.kind]), cotangent, type)]
    if collective.kind == "all_to_all":
        split, made = collective.dimensions
        return [bind_collective(replace(collective, dimensions=(made, split)), cotangent, type)]
    back = tuple((target, source) for source, target in collective.pairs)
    return [bind_collective(replace(collective, pairs=back), cotangent, type)]
