"""Differentiation of named composites: special functions by their derivative, running sums, `stop_gradient`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.annotations import ANNOTATIONS, STOP_GRADIENT
from numhlo.lowering.ops.cumulative import make_cumulative
from numhlo.lowering.passes.outlining import inlined_callee
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.core.custom_rules import linear_rule
from numhlo.tracer.differentiation.calls import transpose_callee
from numhlo.tracer.differentiation.elementwise import SPECIAL_DERIVATIVES, mul
from numhlo.tracer.differentiation.factorizations import FACTOR_DERIVATIVES, transpose_solve
from numhlo.tracer.differentiation.loops import Loop, transpose_scan
from numhlo.tracer.differentiation.special_functions import PARTIALS, jvp_special
from numhlo.tracer.differentiation.table import ADDING, TRANSPOSE, add_results, transpose_body


def has_derivative(name: str) -> bool:
    """Return whether a composite is differentiated as a whole rather than through its decomposition."""
    short = name.removeprefix("numhlo.")
    tables = SPECIAL_DERIVATIVES, FACTOR_DERIVATIVES, PARTIALS
    return name in ANNOTATIONS or name == "numhlo.cumsum" or any(short in table for table in tables)


def jvp_composite(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """Differentiate a special function by its derivative, a running sum by the running sum of the tangent."""
    name = op.attributes["name"]
    if name == STOP_GRADIENT.name:
        return [None]
    if name in ANNOTATIONS:
        return list(tangents)
    if name == "numhlo.cumsum":
        return [bind1(op.definition, tangents[0], attributes=op.attributes, results=[op.results[0].type])]
    short = name.removeprefix("numhlo.")
    if short in FACTOR_DERIVATIVES:
        return FACTOR_DERIVATIVES[short](op, primals, tangents, outputs)
    if short in PARTIALS:
        return jvp_special(op, primals, tangents, outputs)
    return [mul(tangents[0], SPECIAL_DERIVATIVES[short](primals[0], outputs[0]))]


@TRANSPOSE.register(control_flow.COMPOSITE)
def _transpose_composite(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    """Transpose by the rule that it brings along; a running sum is the running sum from the other end."""
    name, rule = op.attributes["name"], linear_rule(op)
    if rule is not None:
        return rule.transpose(op, operands, cotangents)
    if name == "numhlo.solve":
        return transpose_solve(op, operands, cotangents)
    if name != "numhlo.cumsum":
        return transpose_body(op.attributes["decomposition"].body, operands, cotangents)
    parameters = op.attributes["composite_attributes"]
    type = op.results[0].tensor
    attributes = make_cumulative("cumsum", type, parameters["axis"], not parameters["reverse"])
    return [bind1(op.definition, cotangents[0], attributes=attributes, results=[type])]


@ADDING.register(control_flow.COMPOSITE)
def _add_composite(
    op: Op, operands: list[Any], cotangents: list[Any], known: Mapping[Value, Any], totals: Mapping[Value, Any]
) -> Mapping[Value, Any]:
    """Transpose; the cotangents of a scan's constants go on from what they are."""
    if inlined_callee(op) is not None and linear_rule(op) is None:
        return transpose_callee(op, op.attributes["decomposition"], operands, cotangents, known, totals)
    found = dict(totals)
    if op.attributes["name"] != "numhlo.scan" or linear_rule(op) is not None:
        add_results(op, _transpose_composite(op, operands, cotangents), known, found)
        return found
    places = {v: k for k, v in enumerate(op.operands[: Loop.of(op).num_consts]) if v in found}
    sums = {k: found.pop(v) for v, k in places.items()}
    add_results(op, transpose_scan(op, operands, cotangents, sums), known, found)
    return found
