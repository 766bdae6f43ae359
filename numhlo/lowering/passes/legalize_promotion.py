"""Operands of reductions and scatters that a body takes in its own element types: converted first, so that all agree.

The specification promotes what is combined to the types of the body; every room but this then sees one type for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ir.types import FLOATS
from numhlo.lowering.ops import conversion, indexing, windows
from numhlo.lowering.passes.legalizer import Builder, legalization


def combined(op: Op) -> list[int]:
    """Return which operands a body combines: inputs, and what they are combined with. Of others, indices are left."""
    count = len(op.operands)
    if op.definition is windows.SELECT_AND_SCATTER:
        return [1, 2]  # its operand is for the other body alone, which selects
    return [k for k in range(count) if op.definition is not indexing.SCATTER or k != count // 2]


def is_mixed(op: Op) -> bool:
    """Return whether a body takes an operand in another element type than the operand's own."""
    if op.definition is windows.SELECT_AND_SCATTER and op.operands[0].tensor.dtype not in FLOATS:  # all are of one type
        return False
    types = cycle(op.regions[-1].returns)
    given = [op.operands[k] for k in combined(op)]
    return any(v.tensor.dtype != inside.tensor.dtype for v, inside in zip(given, types, strict=False))


@legalization("stablehlo.reduce", "stablehlo.reduce_window", "stablehlo.scatter", when=is_mixed)
@legalization("stablehlo.select_and_scatter", when=is_mixed)
def legalize_mixed(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Convert what the body combines."""
    operands = list(operands)
    for k, inside in zip(combined(op), cycle(op.regions[-1].returns), strict=False):
        x = operands[k]
        if x.tensor.dtype != inside.tensor.dtype:
            operands[k] = b.op(conversion.CONVERT, x, result=TensorType(x.tensor.shape, inside.tensor.dtype))
    return b.ops(op.definition, *operands, regions=op.regions, **op.attributes)
