"""Elementwise instructions: opcodes that are StableHLO's ops by other names, comparison, selection and conversion."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.hlo.accuracy import accuracy_of_hlo, accuracy_of_stablehlo
from numhlo.lowering.hlo.record import Instruction
from numhlo.lowering.hlo.tables import WRITE, Bundle, reads
from numhlo.lowering.hlo.translator import Translator, attribute
from numhlo.lowering.hlo.writer import Writer
from numhlo.lowering.ir import Op
from numhlo.lowering.ir.types import COMPLEX, FLOATS, SIGNED
from numhlo.lowering.ops import comparison, conversion, elementwise
from numhlo.lowering.ops.chlo_types import ELEMENTWISE as CHLO
from numhlo.lowering.ops.primitive import PRIMITIVES, Primitive
from numhlo.lowering.text.unregistered import unregistered

OPCODES: dict[str, Primitive] = {
    name.replace("_", "-"): definition
    for name, definition in PRIMITIVES.items()
    if isinstance(definition, elementwise.Elementwise)
}
"""Elementwise ops by opcode; their type rules say what they take."""

ACCURACY = "result_accuracy"

FUNCTIONS = ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "mulhi", "sinh")
"""Opcodes that StableHLO has in its dialect chlo."""


@reads(*[opcode for opcode, definition in OPCODES.items() if ACCURACY not in definition.defaults])
def read_elementwise(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Apply the op of the same name."""
    return t.one(i, OPCODES[i.opcode], *t.arrays(i, operands))


@reads(*[opcode for opcode, definition in OPCODES.items() if ACCURACY in definition.defaults], may=ACCURACY)
def read_calculus(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Apply the op of the same name, as exact as is asked."""
    asked = accuracy_of_hlo(attribute(i, ACCURACY, "{mode=default}"))
    if asked is None:
        raise t.complaint(i, "result_accuracy is written as {mode=highest} or {tolerance={atol=0,rtol=0,ulps=1}}")
    return t.one(i, OPCODES[i.opcode], *t.arrays(i, operands), result_accuracy=asked.stablehlo())


@reads(*FUNCTIONS)
def read_function(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Apply the op of chlo of the same name."""
    arrays = t.arrays(i, operands, CHLO[i.opcode][0])
    return t.one(i, unregistered(f"chlo.{i.opcode}"), *arrays, result=arrays[0].type)


@reads("compare", needs="direction", may="type")
def read_compare(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Compare; the type of comparison follows from the elements where it is left out."""
    lhs, rhs = t.arrays(i, operands, 2)
    direction, kind = i.attributes["direction"], attribute(i, "type", None)
    if direction not in comparison.DIRECTIONS:
        raise t.complaint(i, f"direction must be one of {', '.join(comparison.DIRECTIONS)}, not {direction}")
    if kind is None:
        dtype = lhs.tensor.dtype
        kind = "FLOAT" if dtype in FLOATS | COMPLEX else "SIGNED" if dtype in SIGNED else "UNSIGNED"
    if kind not in {"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}:
        raise t.complaint(i, f"type must be FLOAT, TOTALORDER, SIGNED or UNSIGNED, not {kind}")
    return t.one(i, comparison.COMPARE, lhs, rhs, comparison_direction=direction, compare_type=kind)


@reads("select")
def read_select(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Choose elements."""
    return t.one(i, comparison.SELECT, *t.arrays(i, operands, 3))


@reads("clamp")
def read_clamp(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Keep elements within bounds."""
    return t.one(i, comparison.CLAMP, *t.arrays(i, operands, 3))


@reads("convert")
def read_convert(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Convert elements to the type of the result."""
    return t.one(i, conversion.CONVERT, *t.arrays(i, operands, 1), result=t.array_type(i))


@reads("bitcast-convert")
def read_bitcast_convert(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Read the elements' bits as another type."""
    return t.one(i, conversion.BITCAST_CONVERT, *t.arrays(i, operands, 1), result=t.array_type(i))


@reads("reduce-precision", needs="exponent_bits mantissa_bits")
def read_reduce_precision(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Round to a format of fewer bits."""
    bits = {name: i.attributes[name] for name in ("exponent_bits", "mantissa_bits")}
    return t.one(i, conversion.REDUCE_PRECISION, *t.arrays(i, operands, 1), **bits)


# -- writing

_NAMES = {definition: opcode for opcode, definition in OPCODES.items()}


@WRITE.register_family(elementwise.Elementwise)
def write_elementwise(w: Writer, op: Op) -> None:
    """Write the opcode."""
    asked = accuracy_of_stablehlo(op.attributes.get(ACCURACY))
    attributes = [] if asked.mode == "DEFAULT" else [f"{ACCURACY}={asked.hlo()}"]
    w.write(op, _NAMES[op.definition], op.operands, attributes)


@WRITE.register(comparison.COMPARE)
def write_compare(w: Writer, op: Op) -> None:
    """Write the direction; and the type where it doesn't follow from the elements."""
    attributes = [f"direction={op.attributes['comparison_direction']}"]
    kind = op.attributes.get("compare_type")
    if kind == "TOTALORDER":
        attributes.append("type=TOTALORDER")
    w.write(op, "compare", op.operands, attributes)


@WRITE.register(comparison.SELECT)
def write_select(w: Writer, op: Op) -> None:
    """Write the choice; HLO's has a predicate for each element."""
    predicate, chosen = op.operands[0], op.operands[1].tensor
    name = w.name(predicate)
    if predicate.tensor.shape != chosen.shape:
        name = w.line("broadcast", w.spell(chosen.with_dtype(predicate.tensor.dtype)), [name], ["dimensions={}"])
    w.write(op, "select", [name, *op.operands[1:]])


@WRITE.register(comparison.CLAMP)
def write_clamp(w: Writer, op: Op) -> None:
    """Write the bounds."""
    w.write(op, "clamp", op.operands)


@WRITE.register(conversion.CONVERT)
def write_convert(w: Writer, op: Op) -> None:
    """Write a conversion; from complex to real numbers it is that of the real part."""
    (operand,) = op.operands
    source, target = operand.tensor.dtype, op.result.tensor.dtype
    if source == target:
        w.alias(op.result, operand)
        return
    w.write(op, "convert", op.operands)


@WRITE.register(conversion.BITCAST_CONVERT)
def write_bitcast_convert(w: Writer, op: Op) -> None:
    """Write a change of the elements' type."""
    w.write(op, "bitcast-convert", op.operands)


@WRITE.register(conversion.REDUCE_PRECISION)
def write_reduce_precision(w: Writer, op: Op) -> None:
    """Write the bits that are kept."""
    w.write(
        op, "reduce-precision", op.operands, [f"{n}={op.attributes[n]}" for n in ("exponent_bits", "mantissa_bits")]
    )
