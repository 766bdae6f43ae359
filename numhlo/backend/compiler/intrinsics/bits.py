"""Machine code of `numhlo.backend.primitives.bits`."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from numhlo.backend.compiler.intrinsics.narrow import narrow_bits, widen_bits
from numhlo.backend.compiler.intrinsics.registration import implement, llvm_intrinsic
from numhlo.backend.primitives import bits
from numhlo.backend.primitives.storage import STORAGES


def _implement_bits_of(word: object, float_type: types.Type, int_type: types.Type) -> None:
    @implement(word)
    def typed(typing_context: Any, value: types.Type) -> Any:
        if types.unliteral(value) != float_type:
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            return builder.bitcast(values[0], context.get_value_type(int_type))

        return int_type(value), codegen


def _implement_from_bits(word: object, float_type: types.Type, int_type: types.Type) -> None:
    @implement(word)
    def typed(typing_context: Any, value: types.Type) -> Any:
        if not isinstance(value, types.Integer):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            low = context.cast(builder, values[0], signature.args[0], int_type)
            return builder.bitcast(low, context.get_value_type(float_type))

        return float_type(value), codegen


_implement_bits_of(bits.bits_of_f32, types.float32, types.int32)
_implement_bits_of(bits.bits_of_f64, types.float64, types.int64)
_implement_from_bits(bits.f32_from_bits, types.float32, types.int32)
_implement_from_bits(bits.f64_from_bits, types.float64, types.int64)


@implement(bits.bits_of_f16)
def _bits_of_f16(typing_context: Any, value: types.Type) -> Any:
    if types.unliteral(value) != types.float32:
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        return narrow_bits(context, builder, STORAGES["f16"], values[0])

    return types.int16(value), codegen


@implement(bits.f16_from_bits)
def _f16_from_bits(typing_context: Any, value: types.Type) -> Any:
    if not isinstance(value, types.Integer):
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        low = context.cast(builder, values[0], signature.args[0], types.int16)
        return widen_bits(context, builder, STORAGES["f16"], low)

    return types.float32(value), codegen


@implement(bits.count_ones)
def _count_ones(typing_context: Any, value: types.Type) -> Any:
    return _bit_count(value, "llvm.ctpop", ())


@implement(bits.count_leading_zeros)
def _count_leading_zeros(typing_context: Any, value: types.Type) -> Any:
    return _bit_count(value, "llvm.ctlz", (ir.IntType(1)(0),))


def _bit_count(value: types.Type, name: str, flags: tuple[ir.Value, ...]) -> Any:
    if not isinstance(value, types.Integer):
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        type = values[0].type
        return llvm_intrinsic(builder, f"{name}.i{type.width}", type, [values[0], *flags])

    return types.unliteral(value)(value), codegen


def _implement_shift(word: object, emit: Any) -> None:
    @implement(word)
    def typed(typing_context: Any, value: types.Type, amount: types.Type) -> Any:
        if not isinstance(value, types.Integer) or not isinstance(amount, types.Integer):
            return None
        result = types.unliteral(value)

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            distance = context.cast(builder, values[1], signature.args[1], result)
            return emit(builder, values[0], distance)

        return result(value, amount), codegen


def _in_range(builder: ir.IRBuilder, amount: ir.Value) -> ir.Value:
    return builder.icmp_unsigned("<", amount, amount.type(amount.type.width))


def _shift_left(builder: ir.IRBuilder, value: ir.Value, amount: ir.Value) -> ir.Value:
    safe = builder.select(_in_range(builder, amount), amount, amount.type(0))
    return builder.select(_in_range(builder, amount), builder.shl(value, safe), value.type(0))


def _shift_right_logical(builder: ir.IRBuilder, value: ir.Value, amount: ir.Value) -> ir.Value:
    safe = builder.select(_in_range(builder, amount), amount, amount.type(0))
    return builder.select(_in_range(builder, amount), builder.lshr(value, safe), value.type(0))


def _shift_right_arithmetic(builder: ir.IRBuilder, value: ir.Value, amount: ir.Value) -> ir.Value:
    safe = builder.select(_in_range(builder, amount), amount, amount.type(amount.type.width - 1))
    return builder.ashr(value, safe)


_implement_shift(bits.shift_left, _shift_left)
_implement_shift(bits.shift_right_logical, _shift_right_logical)
_implement_shift(bits.shift_right_arithmetic, _shift_right_arithmetic)
