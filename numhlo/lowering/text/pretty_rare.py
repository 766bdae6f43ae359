"""Pretty form of the ops that most programs do without: dynamic shapes, tokens, tuples, random numbers, CHLO, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import PRIMITIVES
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.text.form_tables import PARSE, PRINT
from numhlo.lowering.text.keyword_form import register
from numhlo.lowering.text.unregistered import ChloOp, unregistered

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser
    from numhlo.lowering.text.printer import Printer


def definition_of(name: str) -> Primitive:
    """Return the definition of a StableHLO op, or what stands in for it."""
    return PRIMITIVES.get(name) or unregistered(f"stablehlo.{name}")


register(definition_of("after_all"), "same")
register(definition_of("broadcast"), sizes="broadcast_sizes")
register(definition_of("cholesky"), "same", lower="lower")
register(definition_of("create_token"), "same")
register(definition_of("dot"), precision="precision_config")
register(definition_of("dynamic_broadcast_in_dim"), dims="broadcast_dimensions")
register(definition_of("dynamic_iota"), dim="iota_dimension")
register(definition_of("dynamic_pad"))
register(definition_of("dynamic_reshape"))
register(definition_of("einsum"), config="einsum_config")
register(definition_of("fft"), type="fft_type", length="fft_length")
register(definition_of("get_dimension_size"), dim="dimension")
register(definition_of("partition_id"), "same")
register(definition_of("real_dynamic_slice"))
register(definition_of("replica_id"), "same")
register(definition_of("rng"), distribution="rng_distribution")
register(definition_of("rng_bit_generator"), algorithm="rng_algorithm")
register(definition_of("set_dimension_size"), dim="dimension")
register(definition_of("tuple"), "result")
register(definition_of("unary_einsum"), config="einsum_config")
register(definition_of("uniform_dequantize"))
register(definition_of("uniform_quantize"), "same")


@PRINT.register(definition_of("get_tuple_element"))
def print_get_tuple_element(printer: Printer, op: Op) -> None:
    """Write ``get_tuple_element %0[1]``."""
    operand, index = printer.name(op.operands[0]), op.attributes["index"]
    rest = printer.dictionary(op, ("index",))
    printer.write(f"stablehlo.get_tuple_element {operand}[{index}]{rest} : {printer.function_type(op)}")


@PARSE.register(definition_of("get_tuple_element"))
def parse_get_tuple_element(parser: Parser, definition: Primitive) -> Op:
    """Read ``get_tuple_element %0[1]``."""
    operand = parser.parse_operand()
    parser.expect("[")
    index = parser.parse_integer()
    parser.expect("]")
    attributes = {"index": index, **parser.parse_attributes(definition)}
    return parser.make(definition, [operand], attributes, parser.parse_signature([operand]))


@PARSE.register_family(ChloOp)
def parse_chlo(parser: Parser, definition: Primitive) -> Op:
    """Read ``chlo.name %0, %1 : types -> types`` or ``chlo.name(%0, key = value)``; types may stand in brackets."""
    attributes: dict[str, Any] = {}
    in_brackets = parser.accept("(")
    operands = parser.parse_operands()
    while parser.accept(","):
        name = parser.parse_word()
        parser.expect("=")
        attributes[name] = parser.parse_attribute()
    if not attributes.pop("largest", True):
        raise parser.complaint("only the largest elements can be read: sort has the smallest, too")
    if in_brackets:
        parser.expect(")")
    attributes.update(parser.parse_attributes(definition))
    if parser.at(":", "("):
        return parser.make(definition, operands, attributes, parser.parse_signature(operands))
    parser.expect(":")
    results = parser.parse_type_list(operands)[:1]
    if parser.accept("->"):
        results = parser.parse_types() if parser.at("(") else [parser.parse_type()]
    return parser.make(definition, operands, attributes, results)
