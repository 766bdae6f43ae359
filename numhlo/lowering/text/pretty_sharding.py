"""Text of what exporters write about devices: ``sdy.sharding_constraint``, the identity on one."""

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
_PREFIX = "#sdy.sharding"


@PRINT.register(SHARDING_CONSTRAINT)
def print_sharding_constraint(printer: Printer, op: Op) -> None:
    """Write ``sdy.sharding_constraint %0 <@mesh, [{"x"}]> : type``."""
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
