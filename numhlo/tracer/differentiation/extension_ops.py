"""Differentiation of users' ops: by the rules that they bring along, else as what they mean in other ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numhlo.lowering.ir import Op
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops.extension_ops import ExtensionOp
from numhlo.tracer.core.bind import bind_again
from numhlo.tracer.differentiation.table import JOINT, TRANSPOSE, Dual, Environment, Walker


@JOINT.register_family(ExtensionOp)
def _jvp_extension(
    walker: Walker, op: Op, primals: list[Any], tangents: list[Any], environment: Environment
) -> tuple[Sequence[Any], Sequence[Any]]:
    definition = op.definition
    assert isinstance(definition, ExtensionOp)
    if definition.rules.jvp is not None:
        outputs = list(bind_again(op, primals, walker.primal_trace))
        return outputs, definition.rules.jvp(op, primals, tangents, outputs)
    if definition.decompose is not None:
        duals = [Dual(*pair) for pair in zip(primals, tangents, strict=True)]
        function = definition.decompose([v.tensor for v in op.operands], op.attributes)
        found = walker.function(function, duals)
        return [d.primal for d in found], [d.tangent for d in found]
    raise _missing("derivative", op, "jvp, or a transpose if it is linear")


@TRANSPOSE.register_family(ExtensionOp)
def _transpose_extension(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    definition = op.definition
    assert isinstance(definition, ExtensionOp)
    if definition.rules.transpose is None:
        raise _missing("transpose", op, "transpose, or a jvp that does not call it with tangents")
    return list(definition.rules.transpose(op, operands, cotangents))


def _missing(what: str, op: Op, fix: str) -> UnsupportedError:
    found = f"the {what} of {op.definition.dialect}.{op.definition.name}, which was defined without one"
    return UnsupportedError(found, where=op.location, fix=f"give define_op a {fix}")
