"""Pretty form of ``dot_general``: pairs of dimension lists, precision, algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import contraction
from numhlo.lowering.ops.dimension_numbers import DotAlgorithm, DotDimensionNumbers
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.text.form_tables import PARSE, PRINT
from numhlo.lowering.text.keyword_form import spell_value

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser
    from numhlo.lowering.text.printer import Printer

Pair = tuple[tuple[int, ...], tuple[int, ...]]
_SHOWN = ("dot_dimension_numbers", "precision_config", "algorithm")


def _pair(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> str:
    return f"{spell_value('array<i64>', lhs)} x {spell_value('array<i64>', rhs)}"


@PRINT.register(contraction.DOT_GENERAL)
def print_dot_general(printer: Printer, op: Op) -> None:
    """Write ``dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [...]``."""
    attributes = op.attributes
    numbers: DotDimensionNumbers = attributes["dot_dimension_numbers"]
    parts = [printer.list_names(op.operands)]
    if numbers.lhs_batching_dimensions or numbers.rhs_batching_dimensions:
        parts.append(f"batching_dims = {_pair(numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions)}")
    parts.append(f"contracting_dims = {_pair(numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions)}")
    if attributes["precision_config"]:
        parts.append(f"precision = {spell_value('enums:precision', attributes['precision_config'])}")
    if attributes["algorithm"] is not None:
        parts.append(f"algorithm = {str(attributes['algorithm']).removeprefix('#stablehlo.dot_algorithm')}")
    rest = printer.dictionary(op, _SHOWN)
    printer.write(f"stablehlo.dot_general {', '.join(parts)}{rest} : {printer.function_type(op)}")


@PARSE.register(contraction.DOT_GENERAL)
def parse_dot_general(parser: Parser, definition: Primitive) -> Op:
    """Read what `print_dot_general` writes."""
    operands = parser.parse_operands()
    batching: Pair = ((), ())
    contracting: Pair = ((), ())
    attributes: dict[str, Any] = {}
    while parser.accept(","):
        keyword = parser.parse_one_of("batching_dims", "contracting_dims", "precision", "algorithm")
        parser.expect("=")
        if keyword == "batching_dims":
            batching = _parse_pair(parser)
        elif keyword == "contracting_dims":
            contracting = _parse_pair(parser)
        elif keyword == "precision":
            attributes["precision_config"] = parser.parse_enums("precision")
        else:
            attributes["algorithm"] = parser.parse_record(DotAlgorithm)
    attributes["dot_dimension_numbers"] = DotDimensionNumbers(*batching, *contracting)
    attributes.update(parser.parse_attributes(definition))
    return parser.make(definition, operands, attributes, parser.parse_signature(operands))


def _parse_pair(parser: Parser) -> Pair:
    lhs = parser.parse_integers()
    parser.expect("x")
    return lhs, parser.parse_integers()
