"""Elementwise ops: one row per op with its element types and its function on NumPy arrays.

Comparison, selection and conversion have families of their own. What NumPy does not say the StableHLO way stands in
`integer_arithmetic`, `float_arithmetic` and `complex_arithmetic`; how element types reach those is `dtype_table`'s.
"""

from __future__ import annotations

import numpy as np

from numhlo.lowering.ir import TensorType, Type
from numhlo.lowering.ir.records import record
from numhlo.lowering.ir.types import FLOATS, INTEGERS, NARROW_FLOATS
from numhlo.lowering.ops import bit_patterns, complex_arithmetic, float_arithmetic, integer_arithmetic
from numhlo.lowering.ops.dtype_table import ArrayFunction, DTypeTable, binary_evaluate, by_kind, unary_evaluate
from numhlo.lowering.ops.primitive import Attribute, InferRule, Primitive, Signature
from numhlo.lowering.ops.type_rules import (
    ANY_DTYPE,
    BITWISE,
    INEXACT,
    NUMERIC,
    SIGNED_NUMERIC,
    merge_operands,
    refine,
    require_dtype,
    same_type_rule,
)

PART_DTYPE: dict[np.dtype, np.dtype] = {
    np.dtype(np.complex64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.float64),
}
"""Element type of the parts of a complex number."""

_KINDS: dict[frozenset[np.dtype], str] = {
    ANY_DTYPE: "any type",
    BITWISE: "booleans or integers",
    INTEGERS: "integers",
    FLOATS: "floats",
    INEXACT: "floats or complex numbers",
    NUMERIC: "integers, floats or complex numbers",
    SIGNED_NUMERIC: "signed integers, floats or complex numbers",
}


@record(frozen=True, slots=True, eq=False, repr=False)
class Elementwise(Primitive):
    """Ops whose result element depends on the operands' elements at the same index.

    Attributes
    ----------
    associative : bool
        On booleans and integers the bits do not depend on how ``x op y op z`` is bracketed.
    """

    associative: bool = False


_ACCURACY = (Attribute("result_accuracy", "accuracy", None),)


def _unary(
    name: str, allowed: frozenset[np.dtype], table: DTypeTable, attributes: tuple[Attribute, ...] = ()
) -> Elementwise:
    infer = same_type_rule(1, allowed, _KINDS[allowed])
    return Elementwise(name, infer, unary_evaluate(table), ("operand",), attributes, uniform=allowed)


def _on_bits(table: DTypeTable, function: ArrayFunction) -> DTypeTable:
    """Return a table with a function of bits for narrow floats: by way of float32, NaN would lose its payload."""
    table.update(dict.fromkeys(bit_patterns.SIGN_MAGNITUDE_FLOATS & NARROW_FLOATS, function))
    return table


def _binary(name: str, allowed: frozenset[np.dtype], table: DTypeTable) -> Elementwise:
    infer = same_type_rule(2, allowed, _KINDS[allowed])
    return Elementwise(name, infer, binary_evaluate(table), ("lhs", "rhs"), uniform=allowed)


def _symmetric(name: str, allowed: frozenset[np.dtype], table: DTypeTable) -> Elementwise:
    infer = same_type_rule(2, allowed, _KINDS[allowed])
    evaluate = binary_evaluate(table)
    return Elementwise(name, infer, evaluate, ("lhs", "rhs"), commutative=True, uniform=allowed, associative=True)


def _inexact(name: str, floating: ArrayFunction | np.ufunc, wide_complex: ArrayFunction | np.ufunc) -> Elementwise:
    return _unary(name, INEXACT, by_kind(name, floating=floating, wide_complex=wide_complex), _ACCURACY)


def _part_table(name: str, of_floats: ArrayFunction) -> DTypeTable:
    part = complex_arithmetic.real_part if name == "real" else complex_arithmetic.imaginary_part
    return DTypeTable(name, {**dict.fromkeys(FLOATS, of_floats), **dict.fromkeys(PART_DTYPE, part)})


def _zeros(x: np.ndarray) -> np.ndarray:
    """Return the imaginary part of floats; bits of 0 are no zero in f8E8M0FNU, which has none, and NaN for it."""
    return np.full_like(x, 0)


def _part_rule(name: str, allowed: frozenset[np.dtype]) -> InferRule:
    rule = f"(C1), (C2) {name}'s result must have the operand's shape and the type of its parts"

    def infer(signature: Signature) -> tuple[Type, ...]:
        operand = require_dtype(signature, 0, allowed, _KINDS[allowed])
        return refine(signature, operand.with_dtype(PART_DTYPE.get(operand.dtype, operand.dtype)), rule)

    return infer


def infer_complex(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C3)."""
    parts = frozenset(PART_DTYPE.values())
    require_dtype(signature, 0, parts, "f32 or f64")
    operand = merge_operands(signature, "(C1) the operands must have the same type")
    dtype = np.dtype(np.complex64 if operand.dtype == np.float32 else np.complex128)
    return refine(
        signature, operand.with_dtype(dtype), "(C2), (C3) the result must be the complex type of the operands"
    )


def infer_is_finite(signature: Signature) -> tuple[Type, ...]:
    """(C1)."""
    operand = require_dtype(signature, 0, FLOATS, "floats")
    result = TensorType(operand.shape, np.dtype(np.bool_))
    return refine(signature, result, "(C1) the result must be booleans of the operand's shape")


# Arithmetic

ADD = _symmetric(
    "add", ANY_DTYPE, by_kind("add", boolean=np.logical_or, integer=np.add, floating=np.add, complex=np.add)
)
MULTIPLY = _symmetric(
    "multiply",
    ANY_DTYPE,
    by_kind(
        "multiply",
        boolean=np.logical_and,
        integer=np.multiply,
        floating=np.multiply,
        complex=complex_arithmetic.multiply,
    ),
)
MAXIMUM = _symmetric(
    "maximum",
    ANY_DTYPE,
    by_kind(
        "maximum",
        boolean=np.logical_or,
        integer=np.maximum,
        floating=float_arithmetic.maximum,
        complex=np.maximum,
    ),
)
MINIMUM = _symmetric(
    "minimum",
    ANY_DTYPE,
    by_kind(
        "minimum",
        boolean=np.logical_and,
        integer=np.minimum,
        floating=float_arithmetic.minimum,
        complex=np.minimum,
    ),
)
SUBTRACT = _binary(
    "subtract", NUMERIC, by_kind("subtract", integer=np.subtract, floating=np.subtract, complex=np.subtract)
)
DIVIDE = _binary(
    "divide",
    NUMERIC,
    by_kind(
        "divide",
        signed=integer_arithmetic.divide_signed,
        unsigned=integer_arithmetic.divide_unsigned,
        floating=np.divide,
        wide_complex=np.divide,
    ),
)
REMAINDER = _binary("remainder", NUMERIC, by_kind("remainder", integer=integer_arithmetic.remainder, floating=np.fmod))
POWER = _binary(
    "power",
    NUMERIC,
    by_kind(
        "power",
        signed=integer_arithmetic.power_signed,
        unsigned=np.power,
        floating=np.power,
        wide_complex=np.power,
    ),
)
ATAN2 = _binary("atan2", INEXACT, by_kind("atan2", floating=np.arctan2, wide_complex=complex_arithmetic.atan2))
NEGATE = _unary(
    "negate",
    NUMERIC,
    _on_bits(
        by_kind("negate", integer=np.negative, floating=np.negative, complex=np.negative), bit_patterns.sign_flipped
    ),
)
ABS = Elementwise(
    "abs",
    _part_rule("abs", SIGNED_NUMERIC),
    unary_evaluate(
        _on_bits(
            by_kind("abs", signed=np.absolute, floating=np.absolute, complex=np.absolute), bit_patterns.sign_cleared
        )
    ),
    ("operand",),
)
SIGN = _unary(
    "sign",
    SIGNED_NUMERIC,
    by_kind("sign", signed=np.sign, floating=float_arithmetic.sign, wide_complex=complex_arithmetic.sign),
)

# Logic and bits

AND = _symmetric("and", BITWISE, by_kind("and", boolean=np.bitwise_and, integer=np.bitwise_and))
OR = _symmetric("or", BITWISE, by_kind("or", boolean=np.bitwise_or, integer=np.bitwise_or))
XOR = _symmetric("xor", BITWISE, by_kind("xor", boolean=np.bitwise_xor, integer=np.bitwise_xor))
NOT = _unary("not", BITWISE, by_kind("not", boolean=np.invert, integer=np.invert))
POPCNT = _unary("popcnt", INTEGERS, integer_arithmetic.bit_table("popcnt", integer_arithmetic.popcnt))
COUNT_LEADING_ZEROS = _unary(
    "count_leading_zeros",
    INTEGERS,
    integer_arithmetic.bit_table("count_leading_zeros", integer_arithmetic.count_leading_zeros),
)
SHIFT_LEFT = _binary("shift_left", INTEGERS, by_kind("shift_left", integer=np.left_shift))
SHIFT_RIGHT_ARITHMETIC = _binary(
    "shift_right_arithmetic",
    INTEGERS,
    integer_arithmetic.bit_table("shift_right_arithmetic", integer_arithmetic.shift_right_arithmetic, signed=True),
)
SHIFT_RIGHT_LOGICAL = _binary(
    "shift_right_logical",
    INTEGERS,
    integer_arithmetic.bit_table("shift_right_logical", integer_arithmetic.shift_right_logical),
)

# Rounding

CEIL = _unary("ceil", FLOATS, by_kind("ceil", floating=np.ceil))
FLOOR = _unary("floor", FLOATS, by_kind("floor", floating=np.floor))
ROUND_NEAREST_EVEN = _unary("round_nearest_even", FLOATS, by_kind("round_nearest_even", floating=np.rint))
ROUND_NEAREST_AFZ = _unary(
    "round_nearest_afz", FLOATS, by_kind("round_nearest_afz", floating=float_arithmetic.round_nearest_afz)
)
IS_FINITE = Elementwise(
    "is_finite", infer_is_finite, unary_evaluate(by_kind("is_finite", floating=np.isfinite)), ("x",)
)

# Complex numbers

COMPLEX = Elementwise(
    "complex",
    infer_complex,
    binary_evaluate(by_kind("complex", floating=complex_arithmetic.compose)),
    ("lhs", "rhs"),
)
REAL = Elementwise(
    "real", _part_rule("real", INEXACT), unary_evaluate(_part_table("real", float_arithmetic.unchanged)), ("operand",)
)
IMAG = Elementwise("imag", _part_rule("imag", INEXACT), unary_evaluate(_part_table("imag", _zeros)), ("operand",))

# Functions of calculus

CBRT = _inexact("cbrt", np.cbrt, complex_arithmetic.cbrt)
COSINE = _inexact("cosine", np.cos, np.cos)
EXPONENTIAL = _inexact("exponential", np.exp, np.exp)
EXPONENTIAL_MINUS_ONE = _inexact("exponential_minus_one", np.expm1, complex_arithmetic.exponential_minus_one)
LOG = _inexact("log", np.log, np.log)
LOG_PLUS_ONE = _inexact("log_plus_one", np.log1p, complex_arithmetic.log_plus_one)
LOGISTIC = _inexact("logistic", float_arithmetic.logistic, complex_arithmetic.logistic)
RSQRT = _inexact("rsqrt", float_arithmetic.rsqrt, complex_arithmetic.rsqrt)
SINE = _inexact("sine", np.sin, np.sin)
SQRT = _inexact("sqrt", np.sqrt, np.sqrt)
TAN = _inexact("tan", np.tan, np.tan)
TANH = _inexact("tanh", np.tanh, np.tanh)
