"""Patterns of control flow: branches on a constant, reductions of no axes."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import control_flow, layout, reduction
from numhlo.lowering.ops.region_function import single_op
from numhlo.lowering.passes.rewriting import Rewriter, constant_array, is_empty, pattern


@pattern(control_flow.IF)
def _if(rewriter: Rewriter, op: Op) -> Sequence[Value] | None:
    """An if on a constant -> the branch taken."""
    predicate = constant_array(op.operands[0])
    return None if predicate is None else rewriter.inline(op.regions[0 if predicate else 1], [])


@pattern(control_flow.CASE)
def _case(rewriter: Rewriter, op: Op) -> Sequence[Value] | None:
    """A case on a constant -> the branch taken, the last where the index lies outside."""
    index = constant_array(op.operands[0])
    if index is None:
        return None
    count = len(op.regions)
    return rewriter.inline(op.regions[int(index) if 0 <= int(index) < count else count - 1], [])


@pattern(reduction.REDUCE)
def _reduce(rewriter: Rewriter, op: Op) -> Sequence[Value] | None:
    """Reducing nothing -> the initial values; reducing no axes by one op -> that op on the initial value and x."""
    count = len(op.results)
    inputs, inits = op.operands[:count], op.operands[count:]
    if any(a.tensor.dtype != b.tensor.dtype for a, b in zip(inputs, op.results, strict=True)):
        return None
    nothing = is_empty(inputs[0])
    body = None if op.attributes["dimensions"] else single_op(op.regions[0])
    if not nothing and body is None:
        return None
    results = [
        rewriter.op(layout.BROADCAST_IN_DIM, init, result=v.type, broadcast_dimensions=())
        for init, v in zip(inits, op.results, strict=True)
    ]
    if nothing:
        return results
    assert body is not None
    return [rewriter.op(body.definition, results[0], inputs[0])]
