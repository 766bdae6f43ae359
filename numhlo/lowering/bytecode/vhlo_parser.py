"""Reading the dialect vhlo as text: what MLIR's tools print of a portable artifact. It becomes StableHLO at once.

Ops are in the generic form, functions in either form; other dialects stand among them as they do in StableHLO's text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from numhlo.lowering.bytecode.cursor import MalformedError
from numhlo.lowering.bytecode.hlo_dialects import API_VERSIONS, ENUMERATIONS, VHLO_SCALARS, accuracy
from numhlo.lowering.bytecode.module_reader import CAST
from numhlo.lowering.bytecode.upgrades import definition_of, fit, upgrade_op
from numhlo.lowering.bytecode.vhlo_table import VERSIONED
from numhlo.lowering.ir import Module, Op, Region, TensorType, TokenType, TupleType, Type, Value
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.text.foreign import BOUNDS, ForeignAttribute, Signature, foreign_type
from numhlo.lowering.text.module_parser import ModuleParser, are_dictionaries
from numhlo.lowering.text.parse_types import tensor_type_from_text
from numhlo.lowering.text.unregistered import unregistered

MARK = "vhlo."
"""What every text of vhlo has in it."""

FUNCTION, RETURN = "vhlo.func_v1", '"vhlo.return_v1"'
_CASTS = frozenset({CAST, f'"{CAST}"'})
_SCALARS = {f"!vhlo.{'bool' if name == 'i1' else name}_v1": name for name in VHLO_SCALARS.values() if name[0] != "!"}
_SCALARS["!vhlo.witness_v1"] = "!shape.witness"
_SCALAR = re.compile(r"!vhlo\.\w+_v1")
_COMPLEX = re.compile(r"!vhlo\.complex_v1<([^<>]+)>\Z")
_TENSOR = re.compile(
    r"<\s*((?:(?:\d+|\?)x)*)(![\w.]+(?:<[^<>]*>)?)(?:\s*,\s*#vhlo\.type_extensions_v1<bounds = \[([\d?, ]*)\]>)?\s*>\Z"
)


class VhloParser(ModuleParser):
    """Reads a text in which there are ops of vhlo."""

    definitions: ClassVar[frozenset[str]] = ModuleParser.definitions | {FUNCTION, f'"{FUNCTION}"'}

    def __init__(self, text: str, name: str) -> None:
        self._tensors: dict[str, Type] = {}
        super().__init__(text, name)

    # -- types

    def _parse_rare_type(self, token: str) -> Type:
        if not token.startswith("!vhlo."):
            return super()._parse_rare_type(token)
        rule = _TYPES.get(token)
        if rule is None and token not in _SCALARS:
            raise self.complaint(f"{token} is no type of vhlo that is known")
        self.advance()
        found: Type = foreign_type(_SCALARS[token]) if rule is None else rule(self)
        return found

    def _parse_tensor(self) -> Type:
        first, body = self.index, self.skip_balanced()
        found = self._tensors.get(body)
        if found is None:
            found = self._tensors[body] = self._tensor(body, first)
        return found

    def _tensor(self, body: str, first: int) -> Type:
        match = _TENSOR.match(body)
        element = "" if match is None else self._element(match[2], first)
        if match is None:
            raise self.error("a tensor type", first)
        encoding = "" if match[3] is None else f", {BOUNDS}{match[3]}>"
        type = tensor_type_from_text(f"tensor<{match[1]}{element}{encoding}>")
        if type is None:
            raise self.error("a tensor type", first)
        return type

    def _element(self, text: str, first: int) -> str:
        part = _COMPLEX.match(text)
        name = _SCALARS.get(text) if part is None else _SCALARS.get(part[1])
        if name is None:
            raise self.complaint(f"{text} is no element type of vhlo that is known", first)
        return name if part is None else f"complex<{name}>"

    def _parse_complex(self) -> Type:
        first, body = self.index, self.skip_balanced()
        return foreign_type(self._element(f"!vhlo.complex_v1{body}", first))

    def _parse_tuple(self) -> Type:
        return TupleType(tuple(self.parse_types("<", ">")))

    def _parse_future(self) -> Type:
        return foreign_type(f"!stablehlo.future<{', '.join(map(str, self.parse_types('<', '>')))}>")

    def _parse_unranked(self) -> Type:
        return foreign_type(f"tensor<*x{self._within(self.parse_type)}>")

    def _parse_signature_type(self) -> Signature:
        """Read ``<(types) -> type, type>``; no types at all are printed as ``(())``."""
        self.expect("<")
        if self.at("(", "(", ")", ")"):
            self.advance()
            arguments = self.parse_types()
            self.expect(")")
        else:
            arguments = self.parse_types()
        self.expect("->")
        results = self.parse_types() if self.token == "(" else [self.parse_type()]
        while self.accept(","):
            results.append(self.parse_type())
        self.expect(">")
        return Signature(tuple(arguments), tuple(results))

    def _within(self, parse: Callable[[], Any]) -> Any:
        """Read something between angle brackets."""
        self.expect("<")
        found = parse()
        self.expect(">")
        return found

    # -- attributes

    def _parse_attribute(self, token: str) -> Any:
        if token == "#vhlo":
            self.advance()
            return self._within(self._parse_enumeration)
        rule = _ATTRIBUTES.get(token)
        if rule is None:
            return super()._parse_attribute(token)
        self.advance()
        return rule(self)

    def _parse_enumeration(self) -> Any:
        """Read ``precision_v1 HIGHEST``."""
        index, name = self.index, self.parse_word().removesuffix("_v1")
        value = self.parse_word()
        if value not in ENUMERATIONS.get(name, ()):
            raise self.complaint(f"{name} has no value {value}", index)
        return API_VERSIONS.index(value) if name == "api_version" else ForeignAttribute(f"#stablehlo<{name} {value}>")

    def _parse_float_attribute(self) -> Any:
        """Read ``<1.5 : !vhlo.f32_v1>``."""
        self.expect("<")
        index, literal = self.index, self.advance()
        self.expect(":")
        dtype = ELEMENT_TYPES.get(str(self.parse_type()))
        self.expect(">")
        if dtype is None:
            raise self.complaint("a float must be of an element type", index)
        value = self.parse_elements(literal, TensorType((), dtype), index)[()]
        return value.item() if dtype == ELEMENT_TYPES["f64"] else value

    def _parse_entries_of(self) -> dict[str, Any]:
        """Read ``<{#vhlo.string_v1<"name"> = value, ...}>``."""
        found: dict[str, Any] = {}
        self.expect("<", "{")
        while not self.accept("}"):
            if found:
                self.expect(",")
            index, name = self.index, self.parse_attribute()
            if not isinstance(name, str) or name in found:
                raise self.error("a name, which stands once", index)
            self.expect("=")
            found[name] = self.parse_attribute()
        self.expect(">")
        return found

    def _parse_fields(self) -> dict[str, Any]:
        """Read ``<name = value, ...>``."""
        found: dict[str, Any] = {}
        self.expect("<")
        while not self.accept(">"):
            if found:
                self.expect(",")
            name = self.parse_word()
            self.expect("=")
            found[name] = self.parse_attribute()
        return found

    def _parse_alias_attribute(self) -> Any:
        found = self._parse_fields()
        names = ("outputTupleIndices", "operandIndex", "operandTupleIndices")
        output, operand, inner = (found.get(name) for name in names)
        if not isinstance(output, tuple) or not isinstance(inner, tuple) or len(found) != len(names):
            raise self.error("outputTupleIndices, operandIndex and operandTupleIndices", self.index - 1)
        return ForeignAttribute(
            f"#stablehlo.output_operand_alias<output_tuple_indices = {list(output)}, operand_index = {operand}, "
            f"operand_tuple_indices = {list(inner)}>"
        )

    def _parse_accuracy(self) -> Any:
        first, found = self.index, self._parse_fields()
        mode = str(found.get("mode")).rpartition(" ")[2].rstrip(">")
        absolute, relative, ulps = (found.get(name) for name in ("atol", "rtol", "ulps"))
        are_floats = isinstance(absolute, float) and isinstance(relative, float)
        if not are_floats or not isinstance(ulps, int) or mode not in ENUMERATIONS["result_accuracy_mode"]:
            raise self.error("atol, rtol, ulps and mode", first)
        return accuracy(float(absolute or 0), float(relative or 0), ulps, mode)

    # -- ops

    def parse_op(self) -> None:
        """Read an op; casts between vhlo and other dialects are the values themselves."""
        first = self.index
        names = self._parse_result_names() if self.token[:1] == "%" else []
        if self.token not in _CASTS:
            self.index = first
            return super().parse_op()
        values = self._parse_cast(self.advance()[0] == '"')
        self.parse_location_of(self.location(first))
        self._name_results(names, values, first)
        return None

    def _parse_cast(self, is_generic: bool) -> list[Value]:
        index = self.index
        if is_generic:
            values = self.parse_call_operands()
            types = self.parse_signature(values)
        else:
            values = self.parse_operands()
            self.expect(":")
            self.parse_type_list(values)
            if self.parse_word() != "to":
                raise self.error("to", self.index - 1)
            types = [self.parse_type()]
            while self.accept(","):
                types.append(self.parse_type())
        if types != [value.type for value in values]:
            raise self.complaint(f"{CAST} changes types of StableHLO", index)
        return values

    def _parse_body_of_op(self, token: str) -> Op:
        if not token.startswith('"vhlo.'):
            return super()._parse_body_of_op(token)
        index, name = self.index, self.parse_string()
        raw = self.parse_generic_rest(unregistered(name))
        try:
            definition = definition_of(name)
            given = upgrade_op(VERSIONED[name], raw.attributes, self.functions)
            attributes = fit(definition, given)
        except MalformedError as error:
            raise self.complaint(error.what, index) from None
        types = [value.type for value in raw.results]
        return self.make(definition, raw.operands, attributes, types, raw.regions)

    def fill(self, region: Region, arguments: Sequence[tuple[str, Type]], terminators: frozenset[str]) -> None:
        """Read a region's ops and what it returns, with vhlo's return, too."""
        super().fill(region, arguments, terminators | {RETURN})

    # -- functions

    def _name_of(self, index: int) -> str | None:
        if self.tokens[index] == FUNCTION:
            self.index = index + 1
            return self.parse_symbol() if self.token[:1] == "@" else None
        if self.tokens[index] != f'"{FUNCTION}"':
            return super()._name_of(index)
        number = bisect_left(self._names, index)
        place = self._names[number] if number < len(self._names) else len(self.tokens)
        if self.tokens[place + 1 : place + 4] != ["=", "#vhlo.string_v1", "<"]:
            return None
        self.index = place + 4
        return self.parse_string() if self.token[:1] == '"' else None

    def _parse_top_level(self) -> None:
        if self.token == FUNCTION:
            self._parse_pretty_function()
        elif self.token == f'"{FUNCTION}"':
            self._parse_generic_function()
        else:
            super()._parse_top_level()

    def _parse_pretty_function(self) -> None:
        """Read ``vhlo.func_v1 @name(%arg0: type) -> (types) { ops } {attributes}``."""
        self.advance()
        function = self._open(self.parse_symbol(), "")
        arguments, _ = self._parse_function_arguments()
        results, _ = self._parse_function_results()
        if self.at("{", "}"):
            raise self.complaint("a function without a body loses its arguments in this form: print the generic one")
        self._parse_function_body(function, arguments, results)
        attributes = self.parse_dictionary() if self.at("{") else {}
        function.visibility = str(attributes.pop("sym_visibility", ""))
        function.argument_attributes = self._dictionaries(attributes.pop("arg_attrs", ()))
        function.result_attributes = self._dictionaries(attributes.pop("res_attrs", ()))
        function.attributes = attributes
        function.location = self.parse_location_of(function.location)

    def _dictionaries(self, given: Any) -> list[dict[str, Any]]:
        if not are_dictionaries(given):
            raise self.complaint("attributes of arguments and results must be dictionaries", self.index - 1)
        return list(given) if any(given) else []


_TYPES: Mapping[str, Callable[[VhloParser], Any]] = {
    "!vhlo.tensor_v1": VhloParser._parse_tensor,
    "!vhlo.complex_v1": VhloParser._parse_complex,
    "!vhlo.tuple_v1": VhloParser._parse_tuple,
    "!vhlo.token_v1": lambda parser: TokenType(),
    "!vhlo.future_v1": VhloParser._parse_future,
    "!vhlo.unranked_tensor_v1": VhloParser._parse_unranked,
    "!vhlo.func_v1": VhloParser._parse_signature_type,
}

_ATTRIBUTES: Mapping[str, Callable[[VhloParser], Any]] = {
    **{
        f"#vhlo.{name}_v1": lambda parser: parser._within(parser.parse_attribute)
        for name in ("integer", "string", "bool", "array", "tensor")
    },
    "#vhlo.type_v1": lambda parser: parser._within(parser.parse_type),
    "#vhlo.float_v1": VhloParser._parse_float_attribute,
    "#vhlo.dict_v1": VhloParser._parse_entries_of,
    "#vhlo.output_operand_alias_v1": VhloParser._parse_alias_attribute,
    "#vhlo.result_accuracy_v1": VhloParser._parse_accuracy,
}
"""By the token that begins it: how an attribute is read from behind that."""


def parse_vhlo(text: str, name: str = "<string>") -> Module:
    """Return the module that a text in the dialect vhlo spells, as StableHLO.

    Raises
    ------
    ParseError
        With line, column, the line itself and a caret.
    """
    return VhloParser(text, name).parse_text()
