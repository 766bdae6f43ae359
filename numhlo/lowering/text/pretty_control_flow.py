"""Pretty form of while, call, composite, custom_call and optimization_barrier; ``if`` and ``case`` have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.text.attribute_printer import print_name, print_string
from numhlo.lowering.text.form_tables import PARSE, PRINT

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser
    from numhlo.lowering.text.printer import Printer


@PRINT.register(control_flow.WHILE)
def print_while(printer: Printer, op: Op) -> None:
    """Write ``while(%iterArg = %0, ...) : types cond {...} do {...}``."""
    with printer.scope():
        groups = [region.arguments for region in op.regions]
        printer.name_iterates(groups)
        pairs = zip(groups[0], op.operands, strict=True)
        carried = ", ".join(f"{printer.name(inner)} = {printer.name(outer)}" for inner, outer in pairs)
        types = f" : {printer.list_types(op.operands)}" if op.operands else ""
        rest = printer.dictionary(op)
        printer.write(f"stablehlo.while({carried}){types}{f' attributes{rest}' if rest else ''}")
        printer.write(f"\n{printer.margin}cond ")
        printer.print_block(op.regions[0])
        printer.write(" do ")
        printer.print_block(op.regions[1])


@PARSE.register(control_flow.WHILE)
def parse_while(parser: Parser, definition: Primitive) -> Op:
    """Read ``while(%iterArg = %0, ...) : types cond {...} do {...}``."""
    parser.expect("(")
    names: list[str] = []
    operands: list[Value] = []
    while not parser.accept(")"):
        if names:
            parser.expect(",")
        names.append(parser.parse_value_name())
        parser.expect("=")
        operands.append(parser.parse_operand())
    types = parser.parse_type_list(operands) if parser.accept(":") else parser.check_types(operands, [])
    attributes = parser.parse_attributes(definition) if parser.accept("attributes") else {}
    parser.expect("cond")
    arguments = list(zip(names, types, strict=True))
    condition = parser.parse_region(arguments)
    parser.expect("do")
    body = parser.parse_region(arguments)
    return parser.make(definition, operands, attributes, types, [condition, body])


@PRINT.register(control_flow.CALL)
def print_call(printer: Printer, op: Op) -> None:
    """Write ``call @f(%0)``; inside a region the dialect's name is needed."""
    name = "call" if printer.depth <= 1 else "func.call"
    callee = printer.symbol(op.attributes["callee"])
    rest = printer.dictionary(op, ("callee",))
    printer.write(f"{name} {callee}({printer.list_names(op.operands)}){rest} : {printer.function_type(op)}")


@PARSE.register(control_flow.CALL)
def parse_call(parser: Parser, definition: Primitive) -> Op:
    """Read ``call @f(%0)``."""
    callee = parser.parse_function_reference()
    operands = parser.parse_call_operands()
    attributes = {"callee": callee, **parser.parse_attributes(definition)}
    return parser.make(definition, operands, attributes, parser.parse_signature(operands))


@PRINT.register(control_flow.CUSTOM_CALL)
def print_custom_call(printer: Printer, op: Op) -> None:
    """Write ``custom_call @target(%0) {...}``."""
    target = print_name(op.attributes["call_target_name"])
    rest = printer.dictionary(op, ("call_target_name",))
    operands = printer.list_names(op.operands)
    printer.write(f"stablehlo.custom_call @{target}({operands}){rest} : {printer.function_type(op)}")


@PARSE.register(control_flow.CUSTOM_CALL)
def parse_custom_call(parser: Parser, definition: Primitive) -> Op:
    """Read ``custom_call @target(%0) {...}``."""
    target = parser.parse_symbol()
    operands = parser.parse_call_operands()
    attributes = {"call_target_name": target, **parser.parse_attributes(definition)}
    return parser.make(definition, operands, attributes, parser.parse_signature(operands))


@PRINT.register(control_flow.COMPOSITE)
def print_composite(printer: Printer, op: Op) -> None:
    """Write ``composite "name" %0 {decomposition = @f}``."""
    name, operands = print_string(op.attributes["name"]), printer.list_names(op.operands)
    rest = printer.dictionary(op, ("name",))
    printer.write(f"stablehlo.composite {name} {operands}{rest} : {printer.function_type(op)}")


@PARSE.register(control_flow.COMPOSITE)
def parse_composite(parser: Parser, definition: Primitive) -> Op:
    """Read ``composite "name" %0 {decomposition = @f}``."""
    name = parser.parse_string()
    operands = parser.parse_operands()
    attributes = {"name": name, **parser.parse_attributes(definition)}
    return parser.make(definition, operands, attributes, parser.parse_same_signature(operands))


@PRINT.register(control_flow.OPTIMIZATION_BARRIER)
def print_optimization_barrier(printer: Printer, op: Op) -> None:
    """Write ``optimization_barrier %0, %1 : types``, and the generic form of one whose results have other types."""
    if [v.type for v in op.operands] != [v.type for v in op.results]:
        printer.print_generic(op)
    elif op.operands:
        rest, types = printer.dictionary(op), printer.list_types(op.operands)
        printer.write(f"stablehlo.optimization_barrier {printer.list_names(op.operands)}{rest} : {types}")
    else:
        printer.write(f"stablehlo.optimization_barrier (){printer.dictionary(op)}")


@PARSE.register(control_flow.OPTIMIZATION_BARRIER)
def parse_optimization_barrier(parser: Parser, definition: Primitive) -> Op:
    """Read ``optimization_barrier %0, %1 : types``."""
    operands = parser.parse_operands()
    if not operands:
        parser.expect("(")
        parser.expect(")")
    attributes = parser.parse_attributes(definition)
    types = parser.parse_type_list(operands) if parser.accept(":") else parser.check_types(operands, [])
    return parser.make(definition, operands, attributes, types)
