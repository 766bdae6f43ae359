"""Pretty form of ``reduce``: ``(input init: value)`` pairs and either ``applies OP`` or a ``reducer``.

Text interleaves what the op keeps apart: its operands are all inputs, then all initial values; its body's arguments all
elements, then all accumulators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numhlo.lowering.ir import Op, Region, TensorType, Type, Value
from numhlo.lowering.ops import reduction
from numhlo.lowering.ops.primitive import PRIMITIVES, Primitive
from numhlo.lowering.text.form_tables import PARSE, PRINT
from numhlo.lowering.text.keyword_form import spell_value

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser
    from numhlo.lowering.text.printer import Printer

APPLICABLE = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor"})
"""Ops that ``applies`` may name."""


@PRINT.register(reduction.REDUCE)
def print_reduce(printer: Printer, op: Op) -> None:
    """Write ``reduce(%x init: %c) applies OP across dimensions = [...]``, or the same with a reducer."""
    count = len(op.operands) // 2
    if len(op.operands) != 2 * count or len(op.regions[0].arguments) != 2 * count or not count:
        printer.print_generic(op)  # a program that is not verified: this form has pairs only
        return
    pairs = zip(op.operands[:count], op.operands[count:], strict=True)
    inputs = ", ".join(f"({printer.name(x)} init: {printer.name(init)})" for x, init in pairs)
    applied = _applied(op)
    across = f"across dimensions = {spell_value('array<i64>', op.attributes['dimensions'])}"
    applies = f" applies stablehlo.{applied}" if applied else ""
    rest = printer.dictionary(op, ("dimensions",))
    printer.write(f"stablehlo.reduce{inputs}{applies} {across}{rest} : {printer.function_type(op)}")
    if not applied:
        (body,) = op.regions
        elements, accumulators = body.arguments[:count], body.arguments[count:]
        groups = list(zip(elements, accumulators, strict=True))
        with printer.scope():
            printer.name_arguments([value for group in groups for value in group])
            arguments = " ".join(f"({printer.list_arguments(group)})" for group in groups)
            printer.write(f"\n{printer.margin} reducer{arguments} ")
            printer.print_block(body)


def _applied(op: Op) -> str:
    """Return the name of the one op that the body is, where ``applies`` can say it."""
    (body,) = op.regions
    if len(body.ops) != 1 or len(body.arguments) != 2 or len(op.results) != 1:
        return ""
    (inner,) = body.ops
    type = op.operands[0].type
    if not isinstance(type, TensorType):
        return ""
    element = TensorType((), type.dtype)
    fits = (
        inner.definition.name in APPLICABLE
        and inner.definition.dialect == "stablehlo"
        and not inner.attributes
        and inner.operands == body.arguments
        and inner.results == body.returns
        and all(value.type == element for value in [*body.arguments, inner.result])
    )
    return inner.definition.name if fits else ""


@PARSE.register(reduction.REDUCE)
def parse_reduce(parser: Parser, definition: Primitive) -> Op:
    """Read ``reduce(%x init: %c) ...``."""
    pairs = [_parse_pair(parser)]
    while parser.accept(","):
        pairs.append(_parse_pair(parser))
    operands = [x for x, _ in pairs] + [init for _, init in pairs]
    applied = _parse_applied(parser) if parser.accept("applies") else None
    parser.expect("across")
    parser.expect("dimensions")
    parser.expect("=")
    attributes = {"dimensions": parser.parse_integers(), **parser.parse_attributes(definition)}
    types = parser.parse_signature(operands)
    if applied is None:
        body = _parse_reducer(parser, len(pairs))
    else:
        body = _apply(parser, applied, operands[0].type)
    return parser.make(definition, operands, attributes, types, [body])


def _parse_pair(parser: Parser) -> tuple[Value, Value]:
    parser.expect("(")
    operand = parser.parse_operand()
    parser.expect("init")
    parser.expect(":")
    init = parser.parse_operand()
    parser.expect(")")
    return operand, init


def _parse_applied(parser: Parser) -> Primitive:
    dialect = "mhlo" if parser.token.startswith("mhlo.") else "stablehlo"
    name = parser.parse_one_of(*(f"{dialect}.{name}" for name in sorted(APPLICABLE)))
    return PRIMITIVES[name.partition(".")[2]]


def _apply(parser: Parser, definition: Primitive, operand: Type) -> Region:
    if not isinstance(operand, TensorType):
        raise parser.error("a tensor to reduce")
    element = TensorType((), operand.dtype)
    region = Region([element, element])
    op = Op(definition, region.arguments, definition.defaults, (), [element], parser.location())
    region.ops.append(op)
    region.returns.extend(op.results)
    return region


def _parse_reducer(parser: Parser, count: int) -> Region:
    parser.expect("reducer")
    groups = [parser.parse_arguments() for _ in range(count)]
    for group in groups:
        if len(group) != 2:
            raise parser.error("two arguments in each pair of a reducer")
    arguments = [first for first, _ in groups] + [second for _, second in groups]
    return parser.parse_region(arguments)
