"""Machine code of `numhlo.backend.primitives.convert`: conversions between register types."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.np import numpy_support

from numhlo.backend.compiler.intrinsics.registration import implement, llvm_intrinsic
from numhlo.backend.primitives import convert
from numhlo.backend.primitives.convert import Convert

INT64 = ir.IntType(64)
FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
SCALARS = (types.Boolean, types.Integer, types.Float, types.Complex)


def _implement_convert(word: Convert) -> None:
    result = numpy_support.from_dtype(word.dtype)

    @implement(word)
    def typed(typing_context: Any, value: types.Type) -> Any:
        source = types.unliteral(value)
        if not isinstance(source, SCALARS):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            plain = context.cast(builder, values[0], signature.args[0], source)
            return converted(context, builder, plain, source, result)

        return result(value), codegen


def converted(context: Any, builder: ir.IRBuilder, value: ir.Value, source: types.Type, result: types.Type) -> Any:
    """Return a value of Numba type ``source`` as one of type ``result``."""
    if isinstance(source, types.Complex):
        return _from_complex(context, builder, value, source, result)
    if isinstance(result, types.Complex):
        part = converted(context, builder, value, source, result.underlying_float)
        pair = context.make_complex(builder, result)
        pair.real, pair.imag = part, part.type(0.0)
        return pair._getvalue()
    if isinstance(result, types.Boolean):
        return _to_bool(builder, value)
    type = context.get_value_type(result)
    if isinstance(source, types.Float):
        return _from_float(builder, value, result, type)
    signed = isinstance(source, types.Integer) and source.signed
    if isinstance(result, types.Float):
        return builder.sitofp(value, type) if signed else builder.uitofp(value, type)
    return _resize(builder, value, type, signed)


def _from_complex(context: Any, builder: ir.IRBuilder, value: ir.Value, source: Any, result: types.Type) -> Any:
    pair = context.make_complex(builder, source, value=value)
    part = source.underlying_float
    if isinstance(result, types.Complex):
        out = context.make_complex(builder, result)
        out.real = converted(context, builder, pair.real, part, result.underlying_float)
        out.imag = converted(context, builder, pair.imag, part, result.underlying_float)
        return out._getvalue()
    if isinstance(result, types.Boolean):
        return builder.or_(_to_bool(builder, pair.real), _to_bool(builder, pair.imag))
    return converted(context, builder, pair.real, part, result)


def _to_bool(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    if isinstance(value.type, ir.IntType):
        return builder.icmp_unsigned("!=", value, value.type(0))
    return builder.fcmp_unordered("!=", value, value.type(0.0))


def _from_float(builder: ir.IRBuilder, value: ir.Value, result: types.Type, type: ir.Type) -> ir.Value:
    if isinstance(result, types.Float):
        if value.type == type:
            return value
        return builder.fpext(value, type) if type == DOUBLE else builder.fptrunc(value, type)
    assert isinstance(result, types.Integer)
    exact = type.width <= 32 if value.type == DOUBLE else type.width < 32
    return _clamped(builder, value, result, type) if exact else _saturated(builder, value, result, type)


def _clamped(builder: ir.IRBuilder, value: ir.Value, result: types.Integer, type: ir.Type) -> ir.Value:
    """Return a float as an integer whose limits it can be, truncated and saturated, NaN as 0; int32 is SIMD code."""
    least, most = (value.type(float(limit)) for limit in (result.minval, result.maxval))
    above = builder.select(builder.fcmp_ordered(">", value, least), value, least)  # NaN becomes the least
    within = builder.select(builder.fcmp_ordered("<", above, most), above, most)
    if result.signed:
        within = builder.select(builder.fcmp_ordered("ord", value, value), within, value.type(0.0))
    if type.width < 32:
        return builder.trunc(builder.fptosi(within, ir.IntType(32)), type)
    return builder.fptosi(within, type) if result.signed else builder.fptoui(within, type)


def _saturated(builder: ir.IRBuilder, value: ir.Value, result: types.Integer, type: ir.Type) -> ir.Value:
    """Return the same where the largest integer is no float: LLVM's own saturating conversion is scalar code."""
    least, limit = value.type(float(result.minval)), value.type(float(result.maxval + 1))
    fits = builder.and_(builder.fcmp_ordered(">=", value, least), builder.fcmp_ordered("<", value, limit))
    within = builder.select(fits, value, value.type(0.0))
    number = builder.fptosi(within, type) if result.signed else builder.fptoui(within, type)
    number = builder.select(builder.fcmp_ordered(">=", value, limit), type(result.maxval), number)
    return builder.select(builder.fcmp_ordered("<", value, least), type(result.minval), number)


def _resize(builder: ir.IRBuilder, value: ir.Value, type: ir.Type, signed: bool) -> ir.Value:
    if type.width < value.type.width:
        return builder.trunc(value, type)
    if type.width == value.type.width:
        return value
    return builder.sext(value, type) if signed else builder.zext(value, type)


for _word in vars(convert).values():
    if isinstance(_word, Convert):
        _implement_convert(_word)


@implement(convert.to_odd_f32)
def _to_odd_f32(typing_context: Any, value: types.Type) -> Any:
    if types.unliteral(value) != types.float64:
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        return _rounded_to_odd(builder, context.cast(builder, values[0], signature.args[0], types.float64))

    return types.float32(value), codegen


def _rounded_to_odd(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    near = builder.fptrunc(value, FLOAT)
    back = builder.fpext(near, DOUBLE)
    bits = builder.bitcast(near, ir.IntType(32))
    near_size = llvm_intrinsic(builder, "llvm.fabs.f64", DOUBLE, [back])
    size = llvm_intrinsic(builder, "llvm.fabs.f64", DOUBLE, [value])
    too_large = builder.fcmp_ordered(">", near_size, size)
    down = builder.sub(bits, builder.zext(too_large, bits.type))
    odd = builder.or_(down, bits.type(1))
    finite = builder.fcmp_ordered("<", size, DOUBLE(float("inf")))
    inexact = builder.and_(finite, builder.fcmp_ordered("!=", back, value))
    return builder.bitcast(builder.select(inexact, odd, bits), FLOAT)


def _implement_make_complex(word: object, result: types.Complex) -> None:
    @implement(word)
    def typed(typing_context: Any, real: types.Type, imag: types.Type) -> Any:
        if {types.unliteral(real), types.unliteral(imag)} != {result.underlying_float}:
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
            pair = context.make_complex(builder, result)
            pair.real, pair.imag = values
            return pair._getvalue()

        return result(real, imag), codegen


_implement_make_complex(convert.make_c64, types.complex64)
_implement_make_complex(convert.make_c128, types.complex128)
