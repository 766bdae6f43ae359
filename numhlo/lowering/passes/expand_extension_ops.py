"""Users' ops as calls of what they mean in other ops: for programs that go to tools which don't know them."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.ir import Function, Op, Value
from numhlo.lowering.ops.control_flow import CALL
from numhlo.lowering.ops.extension_ops import ExtensionOp
from numhlo.lowering.passes.legalizer import Builder, Legalizer, Rule


class _Expander(Legalizer):
    def _rule_of(self, op: Op) -> Rule | None:
        definition = op.definition
        return self._call if isinstance(definition, ExtensionOp) and definition.decompose is not None else None

    def _call(self, b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
        assert isinstance(op.definition, ExtensionOp)
        assert op.definition.decompose is not None
        meaning = op.definition.decompose([v.tensor for v in op.operands], op.attributes)
        return b.ops(CALL, *operands, callee=self.function(meaning), results=meaning.result_types)


def expand_extension_ops(function: Function) -> Function:
    """Return a function with users' ops replaced by calls, where they mean something in other ops.

    Parameters
    ----------
    function : Function
        Left unchanged, and returned as it is where there is nothing to replace.
    """
    return _Expander().function(function)
