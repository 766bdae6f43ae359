"""Text of convert, bitcast_convert and reduce_precision."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes

from numhlo.backend.emit.elementwise import register_of
from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.backend.emit.tables import ELEMENT, UNEMITTED
from numhlo.lowering.ir import Op
from numhlo.lowering.ops import conversion as ops
from numhlo.lowering.ops.bit_patterns import INTERCHANGE_FLOATS


@ELEMENT.register(ops.CONVERT)
def emit_convert(op: Op, operands: Sequence[str]) -> str:
    """Return a conversion: integers wrap, floats saturate into integers, and are rounded once."""
    source, target = register_of(op), REGISTERS[op.result.tensor.dtype]
    (value,) = operands
    if source.dtype == target.dtype:
        return value
    if source.kind == "c" and target.kind != "c":
        value, source = f"{value}.real", REGISTERS[source.dtype.type(0).real.dtype]
    if target.narrow and target.kind in "iu" and source.kind == "f":
        return _saturated(value, source, target)
    if target.narrow and target.kind == "f":
        return _towards_narrow(value, source)
    return value if source.name == target.name else f"{target.convert}({value})"


def _saturated(value: str, source: Register, target: Register) -> str:
    """Return a float cut to the range of an integer below eight bits."""
    signed = target.kind == "i"
    least = -(1 << (target.bits - 1)) if signed else 0
    most = (1 << (target.bits - 1 if signed else target.bits)) - 1
    wide = f"{target.convert}({value})"
    return f"minimum(maximum({wide}, {target.convert}({least})), {target.convert}({most}))"


def _towards_narrow(value: str, source: Register) -> str:
    """Return a float32 that rounds to the narrow float as the exact value would; only one rounding may be seen."""
    if source.name == "f32":
        return value
    if source.kind == "b":
        return f"to_f32({value})"
    if source.name not in ("i64", "u64"):
        return f"to_odd_f32(to_f64({value}))"
    zero, limit = f"to_{source.name}(0)", f"to_{source.name}({1 << 53})"
    kept = f"shift_right_{'arithmetic' if source.kind == 'i' else 'logical'}({value}, to_{source.name}(11))"
    sticky = f"select(to_{source.name}({value} & to_{source.name}(2047)) == {zero}, {zero}, to_{source.name}(1))"
    odd = f"to_f64(to_{source.name}({kept} | {sticky})) * to_f64(2048.0)"
    small = f"({value} < {limit})"
    if source.kind == "i":
        small = f"{small} & ({value} > to_i64({-(1 << 53)}))"
    return f"to_odd_f32(select({small}, to_f64({value}), {odd}))"


_SAME_BITS = {
    ("f32", "i32"): "bits_of_f32({0})",
    ("f64", "i64"): "bits_of_f64({0})",
    ("i32", "f32"): "f32_from_bits({0})",
    ("i64", "f64"): "f64_from_bits({0})",
    ("f16", "i16"): "bits_of_f16({0})",
    ("i16", "f16"): "f16_from_bits({0})",
}


@ELEMENT.register(ops.BITCAST_CONVERT)
def emit_bitcast_convert(op: Op, operands: Sequence[str]) -> str:
    """Return the same bits as another type of the same width."""
    source, target = register_of(op), REGISTERS[op.result.tensor.dtype]
    (value,) = operands
    if source.bits != target.bits or "c" in (source.kind, target.kind):
        return UNEMITTED
    if source.storage == target.storage:
        return value
    if source.kind in "iu" and target.kind in "iu":
        return f"{target.convert}({value})"
    before, after = source.storage.replace("u", "i"), target.storage.replace("u", "i")
    spelling = _SAME_BITS.get((before, after))
    if spelling is None:
        return UNEMITTED
    if source.kind == "u":
        value = f"to_{before}({value})"
    text = spelling.format(value)
    return f"{target.convert}({text})" if target.kind == "u" else text


@ELEMENT.register(ops.REDUCE_PRECISION)
def emit_reduce_precision(op: Op, operands: Sequence[str]) -> str:
    """Return a float rounded in its bits; types that lack an infinity are rounded in float32 first."""
    register = register_of(op)
    (value,) = operands
    exponent_bits, mantissa_bits = op.attributes["exponent_bits"], op.attributes["mantissa_bits"]
    info = ml_dtypes.finfo(register.dtype)  # type: ignore[no-untyped-call]
    if exponent_bits >= info.nexp and mantissa_bits >= info.nmant:
        return value
    if register.dtype in INTERCHANGE_FLOATS and register.bits == 8:
        return UNEMITTED
    name = "f16" if register.storage == "f16" else register.name
    exponent, mantissa = {"f16": (5, 10), "f32": (8, 23), "f64": (11, 52)}[name]
    dropped = 0 if mantissa_bits >= info.nmant else mantissa - mantissa_bits
    infinity = ((1 << exponent) - 1) << mantissa
    overflow, normal = infinity, 0
    if exponent_bits < exponent:
        bias, reduced = (1 << (exponent - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        overflow, normal = (bias + reduced + 1) << mantissa, (bias - reduced + 1) << mantissa
    numbers = f"{dropped}, {infinity}, {overflow}, {normal}"
    return f"{name}_from_bits(rounded_bits(to_i64(bits_of_{name}({value})), {numbers}))"
