"""Pretty form of compare, select and clamp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import comparison
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.text.form_tables import PARSE, PRINT
from numhlo.lowering.text.keyword_form import all_equal, register

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser
    from numhlo.lowering.text.printer import Printer

register(comparison.CLAMP, "same")


@PRINT.register(comparison.COMPARE)
def print_compare(printer: Printer, op: Op) -> None:
    """Write ``compare LT, %0, %1, FLOAT``; the type is left out where the op has none."""
    direction, compare_type = op.attributes["comparison_direction"], op.attributes["compare_type"]
    suffix = f", {compare_type}" if compare_type else ""
    rest = printer.dictionary(op, ("comparison_direction", "compare_type"))
    operands = printer.list_names(op.operands)
    printer.write(f"stablehlo.compare {direction}, {operands}{suffix}{rest} : {printer.function_type(op)}")


@PARSE.register(comparison.COMPARE)
def parse_compare(parser: Parser, definition: Primitive) -> Op:
    """Read ``compare LT, %0, %1, FLOAT``; the direction may stand in quotes."""
    attributes: dict[str, Any] = {"comparison_direction": parser.parse_enum("comparison_direction")}
    parser.expect(",")
    operands = parser.parse_operands()
    if parser.accept(","):
        attributes["compare_type"] = parser.parse_enum("comparison_type")
    attributes.update(parser.parse_attributes(definition))
    return parser.make(definition, operands, attributes, parser.parse_same_signature(operands))


@PRINT.register(comparison.SELECT)
def print_select(printer: Printer, op: Op) -> None:
    """Write ``select %0, %1, %2 : predicate type, value type``, or a function type where the values' types differ."""
    predicate, *values = op.operands
    if all_equal([*values, *op.results]):
        types = f"{printer.type(predicate.type)}, {printer.type(op.results[0].type)}"
    else:
        types = printer.function_type(op)
    printer.write(f"stablehlo.select {printer.list_names(op.operands)}{printer.dictionary(op)} : {types}")


@PARSE.register(comparison.SELECT)
def parse_select(parser: Parser, definition: Primitive) -> Op:
    """Read ``select %0, %1, %2 : predicate type, value type``, or with a function type."""
    operands = parser.parse_operands()
    attributes = parser.parse_attributes(definition)
    if parser.at(":", "("):
        return parser.make(definition, operands, attributes, parser.parse_signature(operands))
    parser.expect(":")
    predicate = parser.parse_type()
    parser.expect(",")
    type = parser.parse_type()
    parser.check_types(operands, [predicate, type, type])
    return parser.make(definition, operands, attributes, [type])
