"""Pretty form of ops that move elements, and of slices into the middle of a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import indexing, layout
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.text.form_tables import PARSE, PRINT
from numhlo.lowering.text.keyword_form import KeywordForm, register

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser
    from numhlo.lowering.text.printer import Printer

register(layout.BROADCAST_IN_DIM, dims="broadcast_dimensions")
register(layout.RESHAPE)
register(layout.TRANSPOSE, dims="permutation")
register(layout.REVERSE, "same", dims="dimensions")
register(layout.CONCATENATE, dim="dimension")
register(layout.PAD, low="edge_padding_low", high="edge_padding_high", interior="interior_padding")
register(indexing.DYNAMIC_UPDATE_SLICE)

_SLICE_ATTRIBUTES = ("start_indices", "limit_indices", "strides")
_DYNAMIC_SLICE = KeywordForm(indexing.DYNAMIC_SLICE, {"sizes": "slice_sizes"})


@PRINT.register(layout.SLICE)
def print_slice(printer: Printer, op: Op) -> None:
    """Write ``slice %x [start:limit:stride, ...]``; a stride of 1 is left out."""
    lists = [op.attributes[name] for name in _SLICE_ATTRIBUTES]
    if len({len(numbers) for numbers in lists}) > 1:
        printer.print_generic(op)  # a program that is not verified: this form has a place for each dimension
        return
    ranges = [
        f"{start}:{limit}" if stride == 1 else f"{start}:{limit}:{stride}"
        for start, limit, stride in zip(*lists, strict=True)
    ]
    rest = printer.dictionary(op, _SLICE_ATTRIBUTES)
    operand = printer.name(op.operands[0])
    printer.write(f"stablehlo.slice {operand} [{', '.join(ranges)}]{rest} : {printer.function_type(op)}")


@PARSE.register(layout.SLICE)
def parse_slice(parser: Parser, definition: Primitive) -> Op:
    """Read ``slice %x [start:limit:stride, ...]``."""
    operand = parser.parse_operand()
    ranges = parser.parse_list(lambda: _parse_range(parser))
    lists = zip(*ranges, strict=True) if ranges else ((), (), ())
    attributes = dict(zip(_SLICE_ATTRIBUTES, lists, strict=True))
    attributes.update(parser.parse_attributes(definition))
    return parser.make(definition, [operand], attributes, parser.parse_signature([operand]))


def _parse_range(parser: Parser) -> tuple[int, int, int]:
    start = parser.parse_integer()
    parser.expect(":")
    limit = parser.parse_integer()
    return start, limit, parser.parse_integer() if parser.accept(":") else 1


@PRINT.register(indexing.DYNAMIC_SLICE)
def print_dynamic_slice(printer: Printer, op: Op) -> None:
    """Write ``dynamic_slice %x, %i, sizes = [...]``; of a scalar the generic form, since MLIR can't read its own."""
    if len(op.operands) == 1:
        printer.print_generic(op)
    else:
        _DYNAMIC_SLICE.print(printer, op)


@PARSE.register(indexing.DYNAMIC_SLICE)
def parse_dynamic_slice(parser: Parser, definition: Primitive) -> Op:
    """Read ``dynamic_slice %x, %i, sizes = [...]``; of a scalar also with two commas, as MLIR writes it."""
    if parser.at_offset(1, ",", ","):
        operand = parser.parse_operand()
        parser.expect(",")
        parser.expect(",")
        parser.expect("sizes")
        parser.expect("=")
        attributes = {"slice_sizes": parser.parse_integers(), **parser.parse_attributes(definition)}
        return parser.make(definition, [operand], attributes, parser.parse_signature([operand]))
    return _DYNAMIC_SLICE.parse(parser, definition)
