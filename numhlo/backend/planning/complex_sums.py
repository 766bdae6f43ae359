"""Sums of complex numbers as two sums of floats: of the real and of the imaginary parts, which don't meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numhlo.backend.planning.writing import Writer
from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ir.types import COMPLEX
from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.region_function import single_op


def is_complex_sum(op: Op) -> bool:
    """Return whether a reduce op adds complex numbers."""
    if len(op.results) != 1 or not isinstance(op.results[0].type, TensorType):
        return False
    added = single_op(op.regions[0])
    dtypes = {v.tensor.dtype for v in (*op.operands, *op.results)}
    return added is not None and added.definition is elementwise.ADD and len(dtypes) == 1 and dtypes <= COMPLEX


def expand_complex_sums(op: Op, operands: Sequence[Value], append: Callable[[Op], object]) -> list[Value]:
    """Append the ops of the two sums and return the complex result.

    Parameters
    ----------
    op : Op
        One that `is_complex_sum` accepts.
    operands : sequence of Value
        What takes the place of its operands.
    append : callable
    """
    writer = Writer(append, op.location)
    sums = []
    for part in (elementwise.REAL, elementwise.IMAG):
        values, zero = (writer.op(part, operand) for operand in operands)
        sums.append(writer.sum(values, zero, op.attributes["dimensions"]))
    return [writer.op(elementwise.COMPLEX, *sums)]
