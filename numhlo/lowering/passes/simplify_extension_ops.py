"""Patterns of users' ops: what means something in other ops, and has no kernel, becomes these."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.extension_ops import ExtensionOp
from numhlo.lowering.passes.rewriting import Rewriter, pattern


def inline_meaning(definition: ExtensionOp) -> None:
    """Let ops of a definition become what they mean.

    Parameters
    ----------
    definition : ExtensionOp
        With a meaning in other ops.
    """

    @pattern(definition)
    def _inline(rewriter: Rewriter, op: Op) -> Sequence[Value] | None:
        """op(x) -> its decomposition(x)."""
        if definition.decompose is None or rewriter.keeps_extensions:
            return None
        return rewriter.inline(definition.decompose([v.tensor for v in op.operands], op.attributes).body, op.operands)
