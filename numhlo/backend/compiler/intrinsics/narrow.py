"""Widening narrow floats to float32 and rounding float32 to them, as machine code on bits.

Formats of eight bits widen through a table of 256 float32; float16 uses the processor's instructions where there are
any. Rounding is to nearest even for all, branch-free: normal results by adding half of the last place to the bits,
subnormal ones by adding a power of two whose last place is theirs. What overflow, NaN and -0 become is asked of
ml_dtypes, so that both agree. A NaN that is loaded and stored keeps its bits; one that is rounded need not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
from llvmlite import ir

from numhlo.backend.compiler.intrinsics.registration import llvm_intrinsic
from numhlo.backend.primitives.narrow_floats import payload_bits, widened
from numhlo.backend.primitives.storage import Storage
from numhlo.lowering.ir.records import record

INT16 = ir.IntType(16)
INT32 = ir.IntType(32)
FLOAT = ir.FloatType()
INFINITY_BITS = 0x7F800000
QUIET_BIT = 0x400000


@record(frozen=True)
class Format:
    """The numbers that describe one narrow float.

    Attributes
    ----------
    sign_bit : int
        Position of the sign.
    mantissa : int
        Explicit mantissa bits.
    least_exponent : int
        Of the smallest normal number.
    largest : int
        Code of the largest finite number.
    overflow, nan : tuple of int
        Codes that too large numbers and NaN become, for each sign.
    negative_zero : int
    payload : int
        Mantissa bits that tell NaNs apart; 0 where there is one of each sign, or none.
    """

    sign_bit: int
    mantissa: int
    least_exponent: int
    largest: int
    overflow: tuple[int, int]
    nan: tuple[int, int]
    negative_zero: int
    payload: int


@lru_cache
def format_of(dtype: np.dtype) -> Format:
    """Return the description of a narrow float."""
    info = ml_dtypes.finfo(dtype)
    huge = np.array([info.max, np.inf, -np.inf, np.nan, -np.nan, -0.0], np.float32)
    with np.errstate(all="ignore"):
        codes = [int(c) for c in huge.astype(dtype).view(f"u{dtype.itemsize}")]
    minus_one = int(np.array(-1.0, dtype).view(f"u{dtype.itemsize}"))
    return Format(
        sign_bit=minus_one.bit_length() - 1,
        mantissa=int(info.nmant),
        least_exponent=int(info.minexp),
        largest=codes[0],
        overflow=(codes[1], codes[2]),
        nan=(codes[3], codes[4]),
        negative_zero=codes[5],
        payload=payload_bits(dtype),
    )


def has_half(context: Any) -> bool:
    """Return whether the processor converts float16 itself."""
    codegen = context.codegen()
    triple = codegen._llvm_module.triple
    return "+f16c" in codegen._tm_features.split(",") or triple.startswith(("aarch64", "arm64"))


def widen_bits(context: Any, builder: ir.IRBuilder, storage: Storage, raw: ir.Value) -> ir.Value:
    """Return the float32 of a narrow float's bits; NaN keeps its payload."""
    if storage.name == "bf16":
        return builder.bitcast(builder.shl(builder.zext(raw, INT32), INT32(16)), FLOAT)
    if storage.name == "f16":
        return _widen_half(context, builder, raw)
    table = _widening_table(builder.module, storage)
    index = builder.zext(raw, ir.IntType(64))
    place = builder.gep(table, [ir.IntType(64)(0), index], inbounds=True)
    return builder.bitcast(builder.load(place, align=4), FLOAT)


def _widening_table(module: ir.Module, storage: Storage) -> ir.GlobalVariable:
    name = f"numhlo_widen_{storage.name}"
    if name in module.globals:
        return module.globals[name]
    values = widened(np.arange(256, dtype=np.uint8).view(storage.dtype))
    type = ir.ArrayType(INT32, 256)
    table = ir.GlobalVariable(module, type, name)
    table.initializer = ir.Constant(type, [int(v) for v in values.view(np.uint32)])
    table.linkage, table.global_constant = "internal", True
    return table


def _widen_half(context: Any, builder: ir.IRBuilder, raw: ir.Value) -> ir.Value:
    if has_half(context):
        quiet = builder.bitcast(builder.fpext(builder.bitcast(raw, ir.HalfType()), FLOAT), INT32)
        magnitude = builder.and_(raw, INT16(0x7FFF))
        signaling = builder.icmp_unsigned("<", builder.sub(magnitude, INT16(0x7C01)), INT16(0x1FF))
        own = builder.select(signaling, builder.xor(quiet, INT32(QUIET_BIT)), quiet)
        return builder.bitcast(own, FLOAT)
    code = builder.zext(raw, INT32)
    shifted = builder.shl(builder.and_(code, INT32(0x7FFF)), INT32(13))
    scaled = builder.bitcast(builder.fmul(builder.bitcast(shifted, FLOAT), FLOAT(2.0**112)), INT32)
    special = builder.icmp_unsigned(">=", shifted, INT32(0x7C00 << 13))
    magnitude = builder.select(special, builder.or_(shifted, INT32(INFINITY_BITS)), scaled)
    sign = builder.shl(builder.and_(code, INT32(0x8000)), INT32(16))
    return builder.bitcast(builder.or_(magnitude, sign), FLOAT)


def round_float(context: Any, builder: ir.IRBuilder, storage: Storage, value: ir.Value) -> ir.Value:
    """Return a float32 rounded to a narrow float, as float32 again."""
    if storage.name == "f16" and has_half(context):
        return builder.fpext(builder.fptrunc(value, ir.HalfType()), FLOAT)
    return widen_bits(context, builder, storage, rounded_bits(context, builder, storage, value))


def rounded_bits(context: Any, builder: ir.IRBuilder, storage: Storage, value: ir.Value) -> ir.Value:
    """Return the bits of a float32 rounded to a narrow float; of a NaN, which was computed, only the sign is kept."""
    width = ir.IntType(8 * storage.dtype.itemsize)
    if storage.name == "f16" and has_half(context):
        return builder.bitcast(builder.fptrunc(value, ir.HalfType()), width)
    bits = builder.bitcast(value, INT32)
    if storage.name == "f8e8m0fnu":
        return builder.trunc(_narrow_exponent(builder, bits), width)
    return builder.trunc(_narrow(builder, replace(format_of(storage.dtype), payload=0), bits), width)


def narrow_bits(context: Any, builder: ir.IRBuilder, storage: Storage, value: ir.Value) -> ir.Value:
    """Return the bits of a float32 rounded to a narrow float; NaN keeps what it has of a payload."""
    form = format_of(storage.dtype)
    if not form.payload:
        return rounded_bits(context, builder, storage, value)
    bits = builder.bitcast(value, INT32)
    if storage.name == "f16" and has_half(context):
        return _narrow_half(builder, value, bits)
    return builder.trunc(_narrow(builder, form, bits), ir.IntType(8 * storage.dtype.itemsize))


def _narrow_half(builder: ir.IRBuilder, value: ir.Value, bits: ir.Value) -> ir.Value:
    quiet = builder.bitcast(builder.fptrunc(value, ir.HalfType()), INT16)
    magnitude = builder.and_(bits, INT32(0x7FFFFFFF))
    least = INFINITY_BITS + (1 << 13)  # of the signaling NaNs, the one whose payload just fits
    signaling = builder.icmp_unsigned(
        "<", builder.sub(magnitude, INT32(least)), INT32(INFINITY_BITS + QUIET_BIT - least)
    )
    return builder.select(signaling, builder.xor(quiet, INT16(0x200)), quiet)


def _narrow(builder: ir.IRBuilder, form: Format, bits: ir.Value) -> ir.Value:
    magnitude = builder.and_(bits, INT32(0x7FFFFFFF))
    sign = builder.and_(builder.lshr(bits, INT32(31 - form.sign_bit)), INT32(1 << form.sign_bit))
    code = _round_magnitude(builder, form, magnitude)
    signed = builder.or_(code, sign)
    if form.negative_zero == 0:
        signed = builder.select(builder.icmp_unsigned("==", code, INT32(0)), code, signed)
    overflow = _with_sign(builder, sign, form.overflow)
    signed = builder.select(builder.icmp_unsigned(">", code, INT32(form.largest)), overflow, signed)
    nan = _with_sign(builder, sign, form.nan)
    if form.payload:
        payload = builder.and_(builder.lshr(bits, INT32(23 - form.payload)), INT32((1 << form.payload) - 1))
        own = builder.or_(overflow, payload)
        nan = builder.select(builder.icmp_unsigned("==", payload, INT32(0)), nan, own)
    return builder.select(builder.icmp_unsigned(">", magnitude, INT32(INFINITY_BITS)), nan, signed)


def _round_magnitude(builder: ir.IRBuilder, form: Format, magnitude: ir.Value) -> ir.Value:
    shift = 23 - form.mantissa
    last = builder.and_(builder.lshr(magnitude, INT32(shift)), INT32(1))
    half = builder.add(builder.add(magnitude, INT32((1 << (shift - 1)) - 1)), last)
    rebias = (form.least_exponent + 126) << form.mantissa
    normal = builder.sub(builder.lshr(half, INT32(shift)), INT32(rebias))
    if form.least_exponent == -126:
        return normal
    magic = np.float32(2.0 ** (form.least_exponent - form.mantissa + 23))
    summed = builder.fadd(builder.bitcast(magnitude, FLOAT), FLOAT(float(magic)))
    subnormal = builder.sub(builder.bitcast(summed, INT32), INT32(int(magic.view(np.int32))))
    is_small = builder.icmp_unsigned("<", magnitude, INT32((form.least_exponent + 127) << 23))
    return builder.select(is_small, subnormal, normal)


def _with_sign(builder: ir.IRBuilder, sign: ir.Value, codes: tuple[int, int]) -> ir.Value:
    """Return one of two codes, which are the same or differ in their signs."""
    return INT32(codes[0]) if codes[0] == codes[1] else builder.xor(sign, INT32(codes[0]))


def _narrow_exponent(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """Round to a power of two, halves up; anything without one is NaN. A subnormal above 2**-127 is 2**-126."""
    code = builder.lshr(builder.add(bits, INT32(0x400000)), INT32(23))
    tiny = builder.icmp_unsigned("<", bits, INT32(0x800000))
    above = builder.icmp_unsigned(">", bits, INT32(0x400000))
    code = builder.select(tiny, builder.zext(above, INT32), code)
    positive = builder.and_(
        builder.icmp_signed(">", bits, INT32(0)), builder.icmp_signed("<", bits, INT32(INFINITY_BITS))
    )
    smallest = llvm_intrinsic(builder, "llvm.umin.i32", INT32, [code, INT32(255)])
    return builder.select(positive, smallest, INT32(255))
