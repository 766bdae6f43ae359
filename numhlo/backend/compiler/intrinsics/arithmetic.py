"""Machine code of `numhlo.backend.primitives.arithmetic`."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types

from numhlo.backend.compiler.intrinsics.registration import (
    as_int64,
    implement,
    llvm_intrinsic,
    type_suffix,
)
from numhlo.backend.primitives import arithmetic
from numhlo.backend.target import has_feature

Emit = Callable[[ir.IRBuilder, types.Type, list[ir.Value]], ir.Value]
"""``emit(builder, operand type, operands) -> result``."""

REAL = (types.Integer, types.Float)


def _accepts(found: types.Type, kinds: tuple[type, ...]) -> bool:
    return isinstance(found, kinds)


def _implement_unary(word: object, emit: Emit, kinds: tuple[type, ...], result: types.Type | None = None) -> None:
    @implement(word)
    def typed(typing_context: Any, value: types.Type) -> Any:
        operand = types.unliteral(value)
        if not _accepts(operand, kinds):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            return emit(builder, operand, [context.cast(builder, values[0], value, operand)])

        return (result or operand)(value), codegen


def _implement_binary(word: object, emit: Emit, kinds: tuple[type, ...]) -> None:
    @implement(word)
    def typed(typing_context: Any, lhs: types.Type, rhs: types.Type) -> Any:
        operand = types.unliteral(lhs)
        if operand != types.unliteral(rhs) or not _accepts(operand, kinds):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            pairs = zip(values, signature.args, strict=True)
            return emit(builder, operand, [context.cast(builder, v, t, operand) for v, t in pairs])

        return operand(lhs, rhs), codegen


def _call(builder: ir.IRBuilder, name: str, operands: list[ir.Value]) -> ir.Value:
    type = operands[0].type
    return llvm_intrinsic(builder, f"llvm.{name}.{type_suffix(type)}", type, operands)


def _one_intrinsic(name: str) -> Emit:
    return lambda builder, type, operands: _call(builder, name, operands)


def _by_kind(of_integers: str, of_floats: str) -> Emit:
    def emit(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
        return getattr(builder, of_floats if isinstance(type, types.Float) else of_integers)(*operands)

    return emit


@implement(arithmetic.overtake)
@implement(arithmetic.select)
def _select(typing_context: Any, condition: types.Type, on_true: types.Type, on_false: types.Type) -> Any:
    result = types.unliteral(on_true)
    if types.unliteral(condition) != types.boolean or result != types.unliteral(on_false):
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        chosen = [context.cast(builder, v, t, result) for v, t in zip(values[1:], signature.args[1:], strict=True)]
        flag = context.cast(builder, values[0], signature.args[0], types.boolean)
        return builder.select(flag, *chosen)

    return result(condition, on_true, on_false), codegen


def _negate(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
    return builder.fneg(operands[0]) if isinstance(type, types.Float) else builder.neg(operands[0])


def _absolute(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
    if isinstance(type, types.Float):
        return _call(builder, "fabs", operands)
    assert isinstance(type, types.Integer)
    return _call(builder, "abs", [operands[0], ir.IntType(1)(0)]) if type.signed else operands[0]


def _complex_extreme(builder: ir.IRBuilder, order: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    """Return the earlier one of two complex numbers, by real part, then by imaginary part; NaN in either part wins."""
    (a, b), (c, d) = ([builder.extract_value(value, part) for part in (0, 1)] for value in (lhs, rhs))
    ahead = builder.and_(builder.fcmp_ordered(order, a, c), builder.fcmp_ordered("ord", d, d))
    tied = builder.and_(builder.fcmp_ordered("==", a, c), builder.fcmp_ordered(f"{order}=", b, d))
    stays = builder.or_(builder.fcmp_unordered("uno", a, b), builder.or_(ahead, tied))
    real = builder.insert_value(lhs, builder.select(stays, a, c), 0)
    return builder.insert_value(real, builder.select(stays, b, d), 1)


def _extreme(name: str) -> Emit:
    def emit(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
        if isinstance(type, types.Complex):
            return _complex_extreme(builder, "<" if name == "min" else ">", *operands)
        if isinstance(type, types.Float):
            return _call(builder, f"{name}imum", operands)
        if isinstance(type, types.Boolean):
            return builder.and_(*operands) if name == "min" else builder.or_(*operands)
        assert isinstance(type, types.Integer)
        return _call(builder, ("s" if type.signed else "u") + name, operands)

    return emit


def _unless(builder: ir.IRBuilder, rare: ir.Value, usual: ir.Value, other: Callable[[], ir.Value]) -> ir.Value:
    """Return ``usual``, ``other()`` where a test holds: by a branch, so that nobody waits for the test."""
    before = builder.block
    with builder.if_then(rare, likely=False):
        value, inside = other(), builder.block
    result = builder.phi(usual.type)
    result.add_incoming(usual, before)
    result.add_incoming(value, inside)
    return result


def _join_signs(builder: ir.IRBuilder, order: str, join: str, operands: list[ir.Value]) -> ir.Value:
    """Return the earlier one of two floats; each way of choosing gives its second operand where both are equal."""
    lhs, rhs = operands
    element = getattr(lhs.type, "element", lhs.type)
    word: ir.Type = ir.IntType(64 if isinstance(element, ir.DoubleType) else 32)
    if element is not lhs.type:
        word = ir.VectorType(word, lhs.type.count)
    ways = [builder.select(builder.fcmp_ordered(order, a, b), a, b) for a, b in ((lhs, rhs), (rhs, lhs))]
    return builder.bitcast(getattr(builder, join)(*[builder.bitcast(way, word) for way in ways]), lhs.type)


def _has_ranges() -> bool:
    """Return whether the processor has one instruction for the earlier and the later one of two floats."""
    return has_feature("avx512dq")


def _range(builder: ir.IRBuilder, control: int, operands: list[ir.Value]) -> ir.Value:
    """Return the smaller (0) or the larger one (1) of two floats as the processor gives it, -0 below +0."""
    if isinstance(operands[0].type, ir.VectorType):
        return _vector_range(builder, control, operands)
    double = isinstance(operands[0].type, ir.DoubleType)
    vector = ir.VectorType(operands[0].type, 2 if double else 4)
    first, unset = ir.IntType(32)(0), ir.Constant(vector, ir.Undefined)
    vectors = [builder.insert_element(unset, operand, first) for operand in operands]
    sign_of_result, whole, current_rounding = 1 << 2, ir.IntType(8)(-1), ir.IntType(32)(4)
    arguments = [*vectors, unset, whole, ir.IntType(32)(control | sign_of_result), current_rounding]
    name = f"llvm.x86.avx512.mask.range.{'sd' if double else 'ss'}"
    return builder.extract_element(llvm_intrinsic(builder, name, vector, arguments), first)


def _vector_range(builder: ir.IRBuilder, control: int, operands: list[ir.Value]) -> ir.Value:
    """Return the smaller or the larger ones of vectors of 64 bytes."""
    type = operands[0].type
    whole, sign_of_result, current_rounding = ir.IntType(type.count)(-1), 1 << 2, ir.IntType(32)(4)
    unset = ir.Constant(type, ir.Undefined)
    arguments = [*operands, ir.IntType(32)(control | sign_of_result), unset, whole, current_rounding]
    name = f"llvm.x86.avx512.mask.range.{'pd' if type.count == 8 else 'ps'}.512"
    return llvm_intrinsic(builder, name, type, arguments)


def quick_extreme(builder: ir.IRBuilder, larger: bool, operands: list[ir.Value]) -> ir.Value:
    """Return the smaller or the larger ones of floats that are no NaN, or of vectors of 64 bytes of them."""
    if _has_ranges():
        return _range(builder, int(larger), operands)
    return _join_signs(builder, ">", "and_", operands) if larger else _join_signs(builder, "<", "or_", operands)


def _quick_minimum(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
    if not _has_ranges():
        return quick_extreme(builder, False, operands)  # all that NaN is joined with is NaN
    return _or_nan(builder, quick_extreme(builder, False, operands), operands)


def _quick_maximum(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
    return _or_nan(builder, quick_extreme(builder, True, operands), operands)


def _or_nan(builder: ir.IRBuilder, chosen: ir.Value, operands: list[ir.Value]) -> ir.Value:
    """Return a value, NaN if an operand is that, which is not expected."""
    return _unless(builder, builder.fcmp_unordered("uno", *operands), chosen, lambda: builder.fadd(*operands))


def _safe_divisor(builder: ir.IRBuilder, type: Any, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    """Return the divisor, or 1 where the processor would trap: x / 1 is what we want of least / -1."""
    unsafe = builder.icmp_signed("==", rhs, rhs.type(0))
    if type.signed:
        least = builder.icmp_signed("==", lhs, lhs.type(type.minval))
        unsafe = builder.or_(unsafe, builder.and_(least, builder.icmp_signed("==", rhs, rhs.type(-1))))
    return builder.select(unsafe, rhs.type(1), rhs)


def _divide(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
    lhs, rhs = operands
    if isinstance(type, types.Float):
        return builder.fdiv(lhs, rhs)
    assert isinstance(type, types.Integer)
    safe = _safe_divisor(builder, type, lhs, rhs)
    quotient = builder.sdiv(lhs, safe) if type.signed else builder.udiv(lhs, safe)
    return builder.select(builder.icmp_signed("==", rhs, rhs.type(0)), rhs.type(-1), quotient)


def _remainder(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
    lhs, rhs = operands
    if isinstance(type, types.Float):
        return builder.frem(lhs, rhs)
    assert isinstance(type, types.Integer)
    safe = _safe_divisor(builder, type, lhs, rhs)
    rest = builder.srem(lhs, safe) if type.signed else builder.urem(lhs, safe)
    return builder.select(builder.icmp_signed("==", rhs, rhs.type(0)), lhs, rest)


def _round_away(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
    value = operands[0]
    whole = _call(builder, "trunc", [value])
    rest = _call(builder, "fabs", [builder.fsub(value, whole)])
    up = builder.fcmp_ordered(">=", rest, rest.type(0.5))
    step = builder.select(up, rest.type(1.0), rest.type(0.0))
    moved = builder.fadd(_call(builder, "fabs", [whole]), step)
    return _copy_sign(builder, type, [moved, value])


def _copy_sign(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
    """Return a size with a sign, by bits: LLVM pulls roundings to float16 through its copysign, as library calls."""
    size, sign = operands
    word = ir.IntType(type.bitwidth)
    mask = 1 << (word.width - 1)
    kept = builder.and_(builder.bitcast(size, word), word(mask - 1))
    taken = builder.and_(builder.bitcast(sign, word), word(mask))
    return builder.bitcast(builder.or_(kept, taken), size.type)


def _is_nan(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
    return builder.fcmp_unordered("uno", operands[0], operands[0])


def _is_finite(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
    size = _call(builder, "fabs", operands)
    return builder.fcmp_ordered("<", size, size.type(float("inf")))


FLOAT = (types.Float,)
_implement_binary(arithmetic.add, _by_kind("add", "fadd"), REAL)
_implement_binary(arithmetic.subtract, _by_kind("sub", "fsub"), REAL)
_implement_binary(arithmetic.multiply, _by_kind("mul", "fmul"), REAL)
_implement_binary(arithmetic.divide, _divide, REAL)
_implement_binary(arithmetic.remainder, _remainder, REAL)
_implement_binary(arithmetic.minimum, _extreme("min"), (*REAL, types.Boolean, types.Complex))
_implement_binary(arithmetic.maximum, _extreme("max"), (*REAL, types.Boolean, types.Complex))
_implement_binary(arithmetic.quick_minimum, _quick_minimum, FLOAT)
_implement_binary(arithmetic.quick_maximum, _quick_maximum, FLOAT)
_implement_binary(arithmetic.copy_sign, _copy_sign, FLOAT)
_implement_unary(arithmetic.negate, _negate, REAL)
_implement_unary(arithmetic.absolute, _absolute, REAL)
_implement_unary(arithmetic.square_root, _one_intrinsic("sqrt"), FLOAT)
_implement_unary(arithmetic.floor, _one_intrinsic("floor"), FLOAT)
_implement_unary(arithmetic.ceil, _one_intrinsic("ceil"), FLOAT)
_implement_unary(arithmetic.truncate, _one_intrinsic("trunc"), FLOAT)
_implement_unary(arithmetic.round_even, _one_intrinsic("rint"), FLOAT)
_implement_unary(arithmetic.round_away, _round_away, FLOAT)
_implement_unary(arithmetic.is_nan, _is_nan, FLOAT, types.boolean)
_implement_unary(arithmetic.is_finite, _is_finite, FLOAT, types.boolean)


def _counted_from_end(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
    index, count = operands
    negative = builder.icmp_signed("<", index, index.type(0))
    return _unless(builder, negative, index, lambda: builder.add(index, count))


def _within(builder: ir.IRBuilder, type: types.Type, operands: list[ir.Value]) -> ir.Value:
    index, limit = operands

    def nearest() -> ir.Value:
        above = _call(builder, "smax", [index, index.type(0)])
        return _call(builder, "smin", [above, limit])

    return _unless(builder, builder.icmp_unsigned(">", index, limit), index, nearest)


@implement(arithmetic.placed)
def _placed(typing_context: Any, index: types.Type, count: types.Type, limit: types.Type) -> Any:
    if not all(isinstance(type, types.Integer) for type in (index, count, limit)):
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        at, number, last = (as_int64(context, builder, *pair) for pair in zip(values, signature.args, strict=True))

        def elsewhere() -> ir.Value:
            negative = builder.icmp_signed("<", at, at.type(0))
            counted = builder.select(negative, builder.add(at, number), at)
            return _call(builder, "smin", [_call(builder, "smax", [counted, at.type(0)]), last])

        return _unless(builder, builder.icmp_unsigned(">", at, last), at, elsewhere)

    return types.int64(index, count, limit), codegen


WHOLE = (types.Integer,)
_implement_binary(arithmetic.counted_from_end, _counted_from_end, WHOLE)
_implement_binary(arithmetic.within, _within, WHOLE)


def _multiplies_and_adds() -> bool:
    """Return whether the processor rounds ``a * b + c`` once, by one instruction."""
    return platform.machine() in ("aarch64", "arm64") or has_feature("fma")


def _emit_product_error(builder: ir.IRBuilder, lhs: ir.Value, rhs: ir.Value, product: ir.Value) -> ir.Value:
    if _multiplies_and_adds():
        return _call(builder, "fma", [lhs, rhs, builder.fneg(product)])
    parts = []
    for value in (lhs, rhs):
        big = builder.fmul(value, value.type(arithmetic.SPLITTER))
        high = builder.fsub(big, builder.fsub(big, value))
        parts.append((high, builder.fsub(value, high)))
    (lhs_high, lhs_low), (rhs_high, rhs_low) = parts
    error = builder.fsub(builder.fmul(lhs_high, rhs_high), product)
    for a, b in ((lhs_high, rhs_low), (lhs_low, rhs_high), (lhs_low, rhs_low)):
        error = builder.fadd(error, builder.fmul(a, b))
    return error


@implement(arithmetic.product_error)
def _product_error(typing_context: Any, lhs: types.Type, rhs: types.Type, product: types.Type) -> Any:
    number = types.float64

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        return _emit_product_error(
            builder, *(context.cast(builder, v, t, number) for v, t in zip(values, signature.args, strict=True))
        )

    return number(lhs, rhs, product), codegen


@implement(arithmetic.divide_complex)
def _divide_complex(typing_context: Any, lhs: types.Type, rhs: types.Type) -> Any:
    if lhs != rhs or not isinstance(lhs, types.Complex):
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        dividend = context.make_complex(builder, lhs, value=values[0])
        divisor = context.make_complex(builder, lhs, value=values[1])
        out = context.make_complex(builder, lhs)
        parts = (dividend.real, dividend.imag, divisor.real, divisor.imag)
        out.real, out.imag = _smith_quotient(builder, *parts)
        return out._getvalue()

    return lhs(lhs, rhs), codegen


def _smith_quotient(builder: ir.IRBuilder, a: Any, b: Any, c: Any, d: Any) -> tuple[ir.Value, ir.Value]:
    """Return ``(a + bi) / (c + di)`` with the operations, and so the bits, of NumPy's loop.

    Notes
    -----
    Smith, "Algorithm 116: Complex division" (1962), both of its cases folded into one by exchanging the parts.
    """
    size_c, size_d = _call(builder, "fabs", [c]), _call(builder, "fabs", [d])
    straight = builder.fcmp_ordered(">=", size_c, size_d)

    def choose(on_straight: ir.Value, on_swapped: ir.Value) -> ir.Value:
        return builder.select(straight, on_straight, on_swapped)

    ratio = builder.fdiv(choose(d, c), choose(c, d))
    one = a.type(1.0)
    scale = builder.fdiv(one, builder.fadd(choose(c, d), builder.fmul(choose(d, c), ratio)))
    large, small = choose(a, b), choose(b, a)
    real = builder.fmul(builder.fadd(large, builder.fmul(small, ratio)), scale)
    scaled = builder.fmul(large, ratio)
    imag = builder.fmul(builder.fsub(choose(small, scaled), choose(scaled, small)), scale)
    zero = builder.fcmp_ordered("==", builder.fadd(size_c, size_d), a.type(0.0))
    by_zero = [builder.fdiv(part, size_c) for part in (a, b)]
    return builder.select(zero, by_zero[0], real), builder.select(zero, by_zero[1], imag)
