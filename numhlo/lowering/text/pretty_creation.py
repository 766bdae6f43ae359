"""Pretty form of constants and iota."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numhlo.lowering.ir import Op, TensorType
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.text.dense_printer import print_dense_body
from numhlo.lowering.text.form_tables import PARSE, PRINT
from numhlo.lowering.text.keyword_form import register

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser
    from numhlo.lowering.text.printer import Printer

register(creation.IOTA, "same", dim="iota_dimension")


@PRINT.register(creation.CONSTANT)
def print_constant(printer: Printer, op: Op) -> None:
    """Write ``constant {other attributes} dense<...> : type``."""
    type, value = op.results[0].type, op.attributes["value"]
    if not isinstance(type, TensorType) or (value.shape, value.dtype) != (type.shape, type.dtype):
        printer.print_generic(op)  # the value has another type, which the other form has no place for
        return
    rest = printer.dictionary(op, ("value",))
    printer.write(f"stablehlo.constant{rest} dense<{print_dense_body(value)}> : {printer.type(type)}")


@PARSE.register(creation.CONSTANT)
def parse_constant(parser: Parser, definition: Primitive) -> Op:
    """Read ``constant {other attributes} dense<...> : type``, or the form with parentheses of older printers."""
    if parser.at("("):
        return parser.parse_generic_rest(definition)
    attributes = parser.parse_attributes(definition)
    value, type = parser.parse_dense()
    return parser.make(definition, [], {"value": value, **attributes}, [type])
