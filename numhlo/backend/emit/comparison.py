"""Text of compare, select and clamp."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.backend.emit.elementwise import register_of
from numhlo.backend.emit.registers import Register
from numhlo.backend.emit.tables import ELEMENT, UNEMITTED
from numhlo.lowering.ir import Op
from numhlo.lowering.ops import comparison as ops

OPERATORS = {"EQ": "==", "NE": "!=", "GE": ">=", "GT": ">", "LE": "<=", "LT": "<"}

_BOOLEAN = {
    "EQ": "({0} == {1})",
    "NE": "({0} != {1})",
    "GE": "{0} | ({1} ^ True)",
    "GT": "{0} & ({1} ^ True)",
    "LE": "{1} | ({0} ^ True)",
    "LT": "{1} & ({0} ^ True)",
}


def total_order(value: str, register: Register) -> str:
    """Return an integer ordered as totalOrder orders the float: negative floats' bits descend, so they are flipped."""
    name, word = register.name, f"i{register.name[1:]}"
    bits = f"bits_of_{name}({value})"
    sign = f"shift_right_arithmetic({bits}, to_{word}({int(name[1:]) - 1}))"
    return f"to_{word}({bits} ^ shift_right_logical({sign}, to_{word}(1)))"


@ELEMENT.register(ops.COMPARE)
def emit_compare(op: Op, operands: Sequence[str]) -> str:
    """Return a comparison: IEEE's quiet ones, the total order, or integers by their own sign."""
    register = register_of(op)
    lhs, rhs = operands
    direction = op.attributes["comparison_direction"]
    operator = OPERATORS[direction]
    if register.kind == "b":
        return _BOOLEAN[direction].format(lhs, rhs)
    if register.kind == "c" and direction not in ("EQ", "NE"):  # as pairs, by the real parts first
        same = f"({lhs}.real == {rhs}.real) & ({lhs}.imag {operator} {rhs}.imag)"
        return f"(({lhs}.real {operator[0]} {rhs}.real) | ({same}))"
    if op.attributes["compare_type"] != "TOTALORDER":
        return f"({lhs} {operator} {rhs})"
    if register.dtype.itemsize * 8 != register.bits or register.storage == "f8e8m0fnu":
        return UNEMITTED
    return f"({total_order(lhs, register)} {operator} {total_order(rhs, register)})"


@ELEMENT.register(ops.SELECT)
def emit_select(op: Op, operands: Sequence[str]) -> str:
    """Return a branch-free choice."""
    return f"select({', '.join(operands)})"


@ELEMENT.register(ops.CLAMP)
def emit_clamp(op: Op, operands: Sequence[str]) -> str:
    """Return ``minimum(maximum(operand, min), max)``."""
    least, operand, most = operands
    kind = register_of(op).kind
    if kind == "b":
        return f"({operand} | {least}) & {most}"
    return f"minimum(maximum({operand}, {least}), {most})"
