"""Pretty form of convert, bitcast_convert and reduce_precision."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import conversion
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.text.form_tables import PARSE, PRINT
from numhlo.lowering.text.keyword_form import all_equal, register

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser
    from numhlo.lowering.text.printer import Printer

_FORMAT = re.compile(r"e(\d{1,10})m(\d{1,10})\Z", re.ASCII)
"""As many digits as the largest integer of 32 bits has."""

register(conversion.CONVERT, "same")
register(conversion.BITCAST_CONVERT)


@PRINT.register(conversion.REDUCE_PRECISION)
def print_reduce_precision(printer: Printer, op: Op) -> None:
    """Write ``reduce_precision %0, format = e5m10``."""
    exponent, mantissa = op.attributes["exponent_bits"], op.attributes["mantissa_bits"]
    if _FORMAT.match(f"e{exponent}m{mantissa}") is None:
        printer.print_generic(op)  # negative numbers: this form has no place for a sign
        return
    operand = printer.name(op.operands[0])
    rest = printer.dictionary(op, ("exponent_bits", "mantissa_bits"))
    same = all_equal([*op.operands, *op.results])
    types = printer.type(op.results[0].type) if same else printer.function_type(op)
    printer.write(f"stablehlo.reduce_precision {operand}, format = e{exponent}m{mantissa}{rest} : {types}")


@PARSE.register(conversion.REDUCE_PRECISION)
def parse_reduce_precision(parser: Parser, definition: Primitive) -> Op:
    """Read ``reduce_precision %0, format = e5m10``."""
    operands = [parser.parse_operand()]
    for token in (",", "format", "="):
        parser.expect(token)
    match = _FORMAT.match(parser.token)
    if match is None:
        raise parser.error("a format such as e5m10")
    parser.advance()
    attributes = {"exponent_bits": int(match[1]), "mantissa_bits": int(match[2])}
    attributes.update(parser.parse_attributes(definition))
    return parser.make(definition, operands, attributes, parser.parse_same_signature(operands))
