"""The commonest pretty form: ``name operands, keyword = value, ... {other attributes} : types``.

A form is a row: which keyword stands for which attribute, in which order, and how the types are abbreviated. How a
value is spelled follows from the attribute's declared kind. Ops with a form of their own are in the ``pretty_*`` files.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from numhlo.lowering.ir import Op, Type, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.primitive import MISSING, Attribute, Primitive
from numhlo.lowering.text.attribute_printer import print_string
from numhlo.lowering.text.form_tables import PARSE, PRINT
from numhlo.lowering.text.printer import declared_attributes

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser
    from numhlo.lowering.text.printer import Printer


@record(frozen=True, slots=True)
class KeywordForm:
    """How one op is spelled.

    Parameters
    ----------
    definition : Primitive
    keywords : mapping
        Keyword to attribute name, in order. One whose attribute has a default may be absent; an empty list of enums is.
    types : str
        ``"function"``: always ``(operands) -> results``. ``"same"``: one type where all are equal. ``"result"``: the
        result's type alone.
    """

    definition: Primitive
    keywords: dict[str, str] = field(default_factory=dict)
    types: str = "function"

    def print(self, printer: Printer, op: Op) -> None:
        """Write an op."""
        definition, attributes = self.definition, op.attributes
        parts = [printer.list_names(op.operands)] if op.operands else []
        declared = declared_attributes(definition)
        for keyword, name in self.keywords.items():
            kind, value = declared[name].kind, attributes[name]
            if value != () or not kind.startswith("enums:"):
                parts.append(f"{keyword} = {spell_value(kind, value)}")
        rest = printer.dictionary(op, self.keywords.values()) if attributes else ""
        body = f" {', '.join(parts)}" if parts else ""
        printer.write(f"{definition.dialect}.{definition.name}{body}{rest} : {self._types(printer, op)}")

    def _types(self, printer: Printer, op: Op) -> str:
        if self.types == "function":
            return printer.function_type(op)
        if self.types == "result" or all_equal([*op.operands, *op.results]):
            return printer.list_types(op.results)
        return printer.function_type(op)

    def parse(self, parser: Parser, definition: Primitive) -> Op:
        """Read an op."""
        operands = parser.parse_operands()
        declared = declared_attributes(definition)
        attributes: dict[str, Any] = {}
        comma = bool(operands)
        for keyword, name in self.keywords.items():
            optional = declared[name].default is not MISSING
            if optional and not parser.at(*([","] if comma else []), keyword, "="):
                continue
            if comma:
                parser.expect(",")
            parser.expect(keyword)
            parser.expect("=")
            attributes[name] = parse_spelled(parser, declared[name])
            comma = True
        attributes.update(parser.parse_attributes(definition))
        return parser.make(definition, operands, attributes, self._parse_types(parser, operands))

    def _parse_types(self, parser: Parser, operands: list[Value]) -> list[Type]:
        if self.types == "function":
            return parser.parse_signature(operands)
        if self.types == "result":
            return parser.parse_result_signature(operands)
        return parser.parse_same_signature(operands)


def all_equal(values: list[Value]) -> bool:
    """Return whether all values have one type."""
    first = values[0].type
    return all(value.type is first or value.type == first for value in values)


def spell_value(kind: str, value: Any) -> str:
    """Return an attribute's text behind its keyword."""
    if kind.startswith(("array<", "enums:")):
        return f"[{', '.join(map(str, value))}]"
    if kind == "bool":
        return "true" if value else "false"
    return print_string(value) if kind == "string" else str(value)


def parse_spelled(parser: Parser, attribute: Attribute) -> Any:
    """Read what `spell_value` writes."""
    kind = attribute.kind
    if kind == "array<i64>":
        return parser.parse_integers()
    if kind.startswith("enums:"):
        return parser.parse_enums(kind.partition(":")[2])
    if kind == "bool":
        return parser.parse_boolean()
    if kind in {"i64", "i32"}:
        return parser.parse_integer()
    return parser.parse_string() if kind == "string" else parser.parse_enum(kind.partition(":")[2])


def register(definition: Primitive, types: str = "function", **keywords: str) -> None:
    """Give an op this form; ``keywords`` map each keyword to an attribute."""
    form = KeywordForm(definition, keywords, types)
    PRINT.register(definition)(form.print)
    PARSE.register(definition)(form.parse)
