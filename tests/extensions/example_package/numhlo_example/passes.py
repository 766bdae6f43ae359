"""A pass: rotations of rotations become one."""

from numhlo.extending import add_pass
from numhlo.lowering.ir import Function, Op
from numhlo.lowering.ops.primitive import make_op
from numhlo_example.ops import rotate


def join_rotations(function: Function) -> None:
    """rotate(rotate(x, a), b) -> rotate(x, a + b)."""
    body = function.body
    replaced = {}
    for number, op in enumerate(body.ops):
        op.operands = [replaced.get(v, v) for v in op.operands]
        inner = op.operands[0].owner if op.definition is rotate.definition else None
        if isinstance(inner, Op) and inner.definition is rotate.definition:
            steps = inner.attributes["steps"] + op.attributes["steps"]
            joined = make_op(rotate.definition, inner.operands, {"steps": steps}, location=op.location)
            replaced[op.result] = joined.result
            body.ops[number] = joined
    body.returns = [replaced.get(v, v) for v in body.returns]


add_pass("example.join_rotations", join_rotations)
