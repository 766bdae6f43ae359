"""Text of what exporters write about devices: on one, constraints are the identity, and manual computations calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numhlo.lowering.ir import Op
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.text.foreign import ForeignAttribute
from numhlo.lowering.text.form_tables import PARSE, PRINT
from numhlo.lowering.text.unregistered import unregistered

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser
    from numhlo.lowering.text.printer import Printer

SHARDING_CONSTRAINT = unregistered("sdy.sharding_constraint")
MANUAL_COMPUTATION = unregistered("sdy.manual_computation")
_PREFIX = "#sdy.sharding"
_WRAPPED = {
    "in_shardings": ("#sdy.sharding_per_value<", ">"),
    "out_shardings": ("#sdy.sharding_per_value<", ">"),
    "manual_axes": ("#sdy<manual_axes", ">"),
}
"""What the generic form has around the attributes of a manual computation."""


def _is_text(op: Op, name: str, before: str) -> bool:
    """Return whether an attribute is there, and of the kind that the pretty form can say."""
    value = op.attributes.get(name)
    return isinstance(value, ForeignAttribute) and value.text.startswith(before)


@PRINT.register(SHARDING_CONSTRAINT)
def print_sharding_constraint(printer: Printer, op: Op) -> None:
    """Write ``sdy.sharding_constraint %0 <@mesh, [{"x"}]> : type``."""
    if not _is_text(op, "sharding", _PREFIX):
        printer.print_generic(op)
        return
    sharding = str(op.attributes["sharding"]).removeprefix(_PREFIX)
    rest = printer.dictionary(op, ("sharding",))
    operand = printer.name(op.operands[0])
    printer.write(f"sdy.sharding_constraint {operand} {sharding}{rest} : {printer.type(op.results[0].type)}")


@PARSE.register(SHARDING_CONSTRAINT)
def parse_sharding_constraint(parser: Parser, definition: Primitive) -> Op:
    """Read ``sdy.sharding_constraint %0 <@mesh, [{"x"}]> : type``."""
    operand = parser.parse_operand()
    if not parser.at("<"):
        raise parser.error("'<'")
    sharding = ForeignAttribute(f"{_PREFIX}{parser.skip_balanced()}")
    attributes = {"sharding": sharding, **parser.parse_attributes(definition)}
    return parser.make(definition, [operand], attributes, parser.parse_same_signature([operand]))


@PRINT.register(MANUAL_COMPUTATION)
def print_manual_computation(printer: Printer, op: Op) -> None:
    """Write ``sdy.manual_computation(%0) in_shardings=[...] out_shardings=[...] manual_axes={} (%arg: type) {...}``."""
    if not all(_is_text(op, name, before) for name, (before, _) in _WRAPPED.items()) or len(op.regions) != 1:
        printer.print_generic(op)
        return
    printer.write(f"sdy.manual_computation({printer.list_names(op.operands)})")
    for name, (before, after) in _WRAPPED.items():
        printer.write(f" {name}={str(op.attributes[name]).removeprefix(before).removesuffix(after)}")
    (region,) = op.regions
    with printer.scope():
        printer.name_arguments(region.arguments)
        printer.write(f" ({printer.list_arguments(region.arguments)}) ")
        printer.print_block(region, terminator="sdy.return")
    printer.write(f"{printer.dictionary(op, tuple(_WRAPPED))} : {printer.function_type(op)}")


@PARSE.register(MANUAL_COMPUTATION)
def parse_manual_computation(parser: Parser, definition: Primitive) -> Op:
    """Read ``sdy.manual_computation(%0) in_shardings=[...] out_shardings=[...] manual_axes={} (%arg: type) {...}``."""
    operands = parser.parse_call_operands()
    attributes: dict[str, object] = {}
    for name, (before, after) in _WRAPPED.items():
        parser.expect(name)
        parser.expect("=")
        attributes[name] = ForeignAttribute(f"{before}{parser.skip_balanced()}{after}")
    region = parser.parse_region(parser.parse_arguments())
    attributes.update(parser.parse_attributes(definition))
    return parser.make(definition, operands, attributes, parser.parse_signature(operands), [region])
