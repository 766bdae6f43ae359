"""Text of elementwise arithmetic: one expression per result element.

Operands arrive as names of register values; results are of the result's register type, not yet rounded to a narrow
element type (`expressions` does that once for all). Functions of calculus come from `numhlo.backend.vector_math`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.backend import vector_math
from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.backend.emit.tables import ELEMENT, UNEMITTED
from numhlo.lowering.ir import Op
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.primitive import Primitive


def register_of(op: Op) -> Register:
    """Return the register type of the first operand."""
    return REGISTERS[op.operands[0].tensor.dtype]


def _by_kind(definition: Primitive, **spellings: str) -> None:
    """Register the rule that fills in the spelling for the first operand's kind: ``b``, ``i``, ``u``, ``f``, ``c``."""

    def emit(op: Op, operands: Sequence[str]) -> str:
        register = register_of(op)
        spelling = spellings.get(register.kind)
        if spelling is None:
            return UNEMITTED
        return spelling.format(*operands, T=register.name)

    ELEMENT.register(definition)(emit)


def _calculus(definition: Primitive, function: str) -> None:
    """Register the rule that calls a function of vector math, named with the register type."""

    def emit(op: Op, operands: Sequence[str]) -> str:
        return _call(function, register_of(op), operands)

    ELEMENT.register(definition)(emit)


def _call(function: str, register: Register, operands: Sequence[str]) -> str:
    """Return a call of a function of vector math; complex64 goes through complex128."""
    if register.name == "c64":
        wide = _call(function, REGISTERS[np.dtype(np.complex128)], [f"to_c128({x})" for x in operands])
        return f"to_c64({wide})" if wide else UNEMITTED
    name = f"{function}_{register.name}"
    return f"{name}({', '.join(operands)})" if hasattr(vector_math, name) else UNEMITTED


_by_kind(ops.ADD, b="{0} | {1}", i="add({0}, {1})", u="add({0}, {1})", f="{0} + {1}", c="{0} + {1}")
_by_kind(ops.SUBTRACT, i="subtract({0}, {1})", u="subtract({0}, {1})", f="{0} - {1}", c="{0} - {1}")
_by_kind(
    ops.MULTIPLY,
    b="{0} & {1}",
    i="multiply({0}, {1})",
    u="multiply({0}, {1})",
    f="{0} * {1}",
    c="make_{T}({0}.real * {1}.real - {0}.imag * {1}.imag, {0}.real * {1}.imag + {0}.imag * {1}.real)",
)
_by_kind(
    ops.MAXIMUM,
    b="{0} | {1}",
    i="maximum({0}, {1})",
    u="maximum({0}, {1})",
    f="maximum({0}, {1})",
    c="maximum({0}, {1})",
)
_by_kind(
    ops.MINIMUM,
    b="{0} & {1}",
    i="minimum({0}, {1})",
    u="minimum({0}, {1})",
    f="minimum({0}, {1})",
    c="minimum({0}, {1})",
)
_by_kind(ops.NEGATE, i="negate({0})", u="negate({0})", f="-{0}", c="-{0}")
_by_kind(ops.AND, b="{0} & {1}", i="to_{T}({0} & {1})", u="to_{T}({0} & {1})")
_by_kind(ops.OR, b="{0} | {1}", i="to_{T}({0} | {1})", u="to_{T}({0} | {1})")
_by_kind(ops.XOR, b="{0} ^ {1}", i="to_{T}({0} ^ {1})", u="to_{T}({0} ^ {1})")
_by_kind(ops.NOT, b="{0} ^ True", i="to_{T}(~{0})", u="to_{T}(~{0})")
_by_kind(ops.CEIL, f="ceil({0})")
_by_kind(ops.FLOOR, f="floor({0})")
_by_kind(ops.ROUND_NEAREST_EVEN, f="round_even({0})")
_by_kind(ops.ROUND_NEAREST_AFZ, f="round_away({0})")
_by_kind(ops.IS_FINITE, f="is_finite({0})")
_by_kind(ops.REAL, f="{0}", c="{0}.real")
_by_kind(ops.IMAG, f="to_{T}(0.0)", c="{0}.imag")

_calculus(ops.EXPONENTIAL, "exp")
_calculus(ops.EXPONENTIAL_MINUS_ONE, "expm1")
_calculus(ops.LOG, "log")
_calculus(ops.LOG_PLUS_ONE, "log1p")
_calculus(ops.LOGISTIC, "logistic")
_calculus(ops.SINE, "sin")
_calculus(ops.COSINE, "cos")
_calculus(ops.TAN, "tan")
_calculus(ops.TANH, "tanh")
_calculus(ops.CBRT, "cbrt")
_calculus(ops.ATAN2, "atan2")


@ELEMENT.register(ops.SQRT)
def emit_sqrt(op: Op, operands: Sequence[str]) -> str:
    """Return a square root."""
    register = register_of(op)
    return _call("sqrt", register, operands) if register.kind == "c" else f"square_root({operands[0]})"


@ELEMENT.register(ops.RSQRT)
def emit_rsqrt(op: Op, operands: Sequence[str]) -> str:
    """Return the reciprocal of a square root."""
    register = register_of(op)
    if register.kind == "c":
        return _call("rsqrt", register, operands)
    return f"divide({register.convert}(1.0), square_root({operands[0]}))" if register.kind == "f" else UNEMITTED


@ELEMENT.register(ops.DIVIDE)
def emit_divide(op: Op, operands: Sequence[str]) -> str:
    """Return a quotient: IEEE for floats, truncated and total for integers, NumPy's own method for complex numbers."""
    register = register_of(op)
    lhs, rhs = operands
    if register.name == "c64":
        return f"to_c64(divide_complex(to_c128({lhs}), to_c128({rhs})))"
    if register.kind == "c":
        return f"divide_complex({lhs}, {rhs})"
    return UNEMITTED if register.kind == "b" else f"divide({lhs}, {rhs})"


@ELEMENT.register(ops.REMAINDER)
def emit_remainder(op: Op, operands: Sequence[str]) -> str:
    """Return what truncating division leaves; the sign of a NaN matters to floats below 16 bits that have none."""
    register = register_of(op)
    if register.kind == "f" and register.bits >= 16:
        return _call("fmod", register, operands)
    return f"remainder({', '.join(operands)})" if register.kind in "iuf" else UNEMITTED


@ELEMENT.register(ops.POWER)
def emit_power(op: Op, operands: Sequence[str]) -> str:
    """Return a power of floats, or of integers, which is computed with 64 bits."""
    register = register_of(op)
    if register.kind in "iu":
        return f"{register.convert}(pow_{register.kind}64(to_i64({operands[0]}), to_i64({operands[1]})))"
    name = f"pow_{register.name}"
    return f"{name}({operands[0]}, {operands[1]})" if hasattr(vector_math, name) else UNEMITTED


@ELEMENT.register(ops.ABS)
def emit_abs(op: Op, operands: Sequence[str]) -> str:
    """Return an absolute value; of unsigned integers themselves."""
    register = register_of(op)
    kind = register.kind
    if kind == "c":
        return f"abs_{register.name}({operands[0]})"
    if kind == "b":
        return UNEMITTED
    return operands[0] if kind == "u" else f"absolute({operands[0]})"


@ELEMENT.register(ops.SIGN)
def emit_sign(op: Op, operands: Sequence[str]) -> str:
    """Return -1, 0 or 1; a float that is NaN or a zero as it is."""
    register = register_of(op)
    (x,) = operands
    one = f"{register.convert}(1)"
    if register.kind == "f":
        return f"select(({x} == {register.convert}(0.0)) | is_nan({x}), {x}, copy_sign({register.convert}(1.0), {x}))"
    if register.kind == "i":
        zero = f"{register.convert}(0)"
        return f"select({x} > {zero}, {one}, select({x} < {zero}, {register.convert}(-1), {zero}))"
    return _call("sign", register, operands) if register.kind == "c" else UNEMITTED


@ELEMENT.register(ops.COMPLEX)
def emit_complex(op: Op, operands: Sequence[str]) -> str:
    """Return a complex number from its parts."""
    return f"make_{REGISTERS[op.result.tensor.dtype].name}({operands[0]}, {operands[1]})"


def _on_bits(definition: Primitive, function: str, narrow: str) -> None:
    """Register the rule that calls a primitive on bit patterns.

    Parameters
    ----------
    definition : Primitive
    function : str
        What patterns of at least eight bits need.
    narrow : str
        What narrower ones need, which a register holds as numbers of eight bits: ``x`` is the pattern with zeros above
        it, ``free`` how many these are. Results are cut to the type's bits afterwards.
    """

    def emit(op: Op, operands: Sequence[str]) -> str:
        register = register_of(op)
        if register.bits >= 8:
            return f"{function}({', '.join(operands)})"
        convert = register.convert
        pattern = f"{convert}({operands[0]} & {convert}({(1 << register.bits) - 1}))"
        return narrow.format(*operands, x=pattern, free=f"{convert}({8 - register.bits})")

    ELEMENT.register(definition)(emit)


_on_bits(ops.POPCNT, "count_ones", "count_ones({x})")
_on_bits(ops.COUNT_LEADING_ZEROS, "count_leading_zeros", "subtract(count_leading_zeros({x}), {free})")
_on_bits(ops.SHIFT_LEFT, "shift_left", "shift_left({0}, {1})")
_on_bits(ops.SHIFT_RIGHT_LOGICAL, "shift_right_logical", "shift_right_logical({x}, {1})")
_on_bits(
    ops.SHIFT_RIGHT_ARITHMETIC,
    "shift_right_arithmetic",
    "shift_right_logical(shift_right_arithmetic(shift_left({x}, {free}), {1}), {free})",
)

UNROUNDED = frozenset({ops.REAL, ops.NEGATE, ops.ABS, ops.MAXIMUM, ops.MINIMUM, ops.SIGN})
"""Ops whose result on narrow floats needs no rounding, since it is an operand's own value or a small whole number."""

COSTS: dict[Primitive, int] = {
    ops.EXPONENTIAL: 20,
    ops.EXPONENTIAL_MINUS_ONE: 20,
    ops.LOG: 20,
    ops.LOG_PLUS_ONE: 20,
    ops.LOGISTIC: 20,
    ops.TANH: 20,
    ops.SINE: 20,
    ops.COSINE: 20,
    ops.TAN: 30,
    ops.CBRT: 20,
    ops.POWER: 40,
    ops.ATAN2: 30,
    ops.DIVIDE: 4,
    ops.REMAINDER: 10,
    ops.SQRT: 6,
    ops.RSQRT: 10,
}
"""Operations that one element costs, where it is not one."""
