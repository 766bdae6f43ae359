"""Reading attributes: any attribute into a Python value, and declared ones into the value that their kind asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, IndexTensorType, TensorType, Type
from numhlo.lowering.ir.errors import ParseError
from numhlo.lowering.ir.types import ELEMENT_TYPES, FLOATS, INTEGERS
from numhlo.lowering.ops.primitive import Attribute, Primitive
from numhlo.lowering.text.dense_parser import DenseError, parse_blob, parse_dense_body
from numhlo.lowering.text.foreign import UNIT, DenseArray, ForeignAttribute, ForeignType
from numhlo.lowering.text.lexer import LARGEST_INTEGER
from numhlo.lowering.text.printer import declared_attributes
from numhlo.lowering.text.records import ENUMS, RECORDS, RecordParser

_ARRAY_ELEMENT = re.compile(r"(?:i1|[su]?i(?:8|16|32|64)|bf16|f16|f32|f64|tf32|f8E\w+)\Z")
_ENUM = re.compile(r"#\w+<\s*(\w+)\s+(\w+)\s*>\Z")
_DECIMAL = r"(-?\d+\.\d*(?:[eE][-+]?\d+)?)"
_ACCURACY = re.compile(
    rf"#(?:stablehlo|mhlo)\.result_accuracy<(?:atol={_DECIMAL},)?(?:rtol={_DECIMAL},)?(?:ulps=(-?\d{{1,18}}),)?mode="
    r"#(?:stablehlo\.|mhlo\.)?\w+(?:<(DEFAULT|HIGHEST|TOLERANCE)>)?>\Z",
    re.ASCII,
)
_KIND = re.compile("[:<]")
_NUMBER = re.compile(r"-?\d")
_INT64, _FLOAT64 = ELEMENT_TYPES["i64"], ELEMENT_TYPES["f64"]
_SHORT_LITERAL = 80
"""Constants of up to so many characters are remembered: programs repeat small ones."""


class AttributeParser(RecordParser):
    """Reads attributes at the cursor.

    Attributes
    ----------
    strict : bool
        Floats must be in the range of their type.
    """

    strict = False

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self.aliases: dict[str, int] = {}
        self.functions: dict[str, Function] = {}
        self._open_aliases: set[str] = set()
        self._constants: dict[tuple[str, Type], np.ndarray] = {}
        self._resources: dict[str, str] | None = None

    # -- any attribute

    def parse_attribute(self) -> Any:
        """Read an attribute; int, float, bool, str, tuple and dict for the plain ones."""
        self.enter()
        value = self._parse_attribute(self.tokens[self.index])
        self.depth -= 1
        return value

    def _parse_attribute(self, token: str) -> Any:
        rule = _ATTRIBUTE_RULES.get(token) or _ATTRIBUTE_RULES.get(token[:1])
        if rule is not None:
            return rule(self)
        if _NUMBER.match(token):
            return self._parse_number()
        return self.parse_type()

    def _parse_true(self) -> bool:
        return self.advance() == "true"

    def _parse_unit(self) -> ForeignAttribute:
        self.advance()
        return UNIT

    def _parse_array(self) -> tuple[Any, ...]:
        return self.parse_list(self.parse_attribute)

    def _parse_signed(self) -> Any:
        """Read a number behind a plus sign."""
        self.advance()
        if not _NUMBER.match(self.token) or self.token[0] == "-":
            raise self.error("a number")
        return self._parse_number()

    def _parse_number(self) -> Any:
        index, literal = self.index, self.advance()
        is_float = "." in literal
        if not self.accept(":"):
            dtype = _FLOAT64 if is_float else _INT64
        else:
            spelling = self.token
            type = self.parse_type()
            if str(type) not in ELEMENT_TYPES:
                return ForeignAttribute(f"{literal} : {spelling}")
            dtype = ELEMENT_TYPES[str(type)]
        if dtype not in INTEGERS | FLOATS:
            raise self.complaint(f"a number can't be of type {self.tokens[self.index - 1]}", index)
        value = self.parse_elements(literal, TensorType((), dtype), index)[()]
        return value.item() if dtype in {_INT64, _FLOAT64} else value

    def _parse_function_attribute(self) -> Any:
        return self.parse_function_type()

    def _parse_symbol_attribute(self) -> Any:
        first = self.index
        name = self.parse_symbol()
        if self.token != "::":
            return self.functions.get(name) or ForeignAttribute(self.tokens[first])
        while self.accept("::"):
            self.parse_symbol()
        return ForeignAttribute("".join(self.tokens[first : self.index]))

    def parse_symbol(self) -> str:
        """Read ``@name`` and return the name."""
        token = self.token
        if token[:1] != "@" or len(token) < 2:
            raise self.error("a symbol such as @main")
        name = self.unescape(token[1:]) if token[1] == '"' else token[1:]
        self.index += 1
        return name

    def _parse_dialect_attribute(self) -> Any:
        name = self.token
        if name in self.aliases:
            return self._parse_alias(name)
        first = self.index
        self.advance()
        dialect, _, mnemonic = name[1:].partition(".")
        if dialect in {"stablehlo", "mhlo"} and mnemonic in RECORDS and self.at("<"):
            return self.parse_record(RECORDS[mnemonic])
        if not mnemonic and not self.at("<"):
            raise self.complaint(f"attribute alias {name} is not defined", first)
        body = self.skip_balanced() if self.at("<") else ""
        return ForeignAttribute(f"{name}{body}")

    def _parse_alias(self, name: str) -> Any:
        if name in self._open_aliases:
            raise self.complaint(f"attribute alias {name} is defined by itself")
        self._open_aliases.add(name)
        value = self.write_out(name, self.aliases[name], self.parse_attribute)
        self._open_aliases.discard(name)
        return value

    def _parse_dense_array(self) -> DenseArray:
        self.expect("array", "<")
        if _ARRAY_ELEMENT.match(self.token) is None:
            raise self.error("i1, or integers or floats of whole bytes")
        element = self.advance()
        values: list[Any] = []
        if not self.at(">"):
            self.expect(":")
            values.append(self._parse_array_item(element))
            while self.accept(","):
                values.append(self._parse_array_item(element))
        self.expect(">")
        return DenseArray(values, element)

    def _parse_array_item(self, element: str) -> Any:
        """Read an element of a dense array: a number of the array's type, so that it is the same when it is printed."""
        if element == "i1":
            return self.parse_boolean()
        dtype = ELEMENT_TYPES.get(element.removeprefix("s") if element.startswith("si") else element, _FLOAT64)
        index = self.index
        return self.parse_elements(self.advance(), TensorType((), dtype), index)[()].item()

    def _parse_foreign_word(self) -> ForeignAttribute:
        word = self.advance()
        if self.token not in {"<", "("}:
            raise self.error("'<'")
        return ForeignAttribute(word + self.skip_balanced())

    def parse_dictionary(self) -> dict[str, Any]:
        """Read ``{name = value, flag, ...}``."""
        return {name: value for name, (value, _) in self._parse_entries().items()}

    def _parse_entries(self) -> dict[str, tuple[Any, int]]:
        """Read a dictionary with the place of each value."""
        self.expect("{")
        entries: dict[str, tuple[Any, int]] = {}
        if self.accept("}"):
            return entries
        while True:
            index = self.index
            name = self.parse_string() if self.token[:1] == '"' else self.parse_word()
            if name in entries:
                raise self.complaint(f"attribute {name} is given twice", index)
            has_value = self.accept("=")
            index = self.index
            entries[name] = (self.parse_attribute() if has_value else UNIT, index)
            if self.accept("}"):
                return entries
            self.expect(",")

    # -- dense elements

    def parse_dense(self) -> tuple[np.ndarray, Type]:
        """Read ``dense<...> : type`` of a type that NumPy has."""
        first = self.index
        value = self._parse_dense_attribute()
        if isinstance(value, ForeignAttribute):
            raise self.complaint("constants of this type are not supported", first)
        return value, self._dense_type

    def _parse_dense_attribute(self) -> Any:
        first = self.index
        keyword = self.advance()
        if keyword not in {"dense", "dense_resource"}:
            raise self.error("dense<...>", first)
        self.expect("<")
        inner = self.index
        body = self._skip_literal() if keyword == "dense" else ""
        key = self.parse_key() if keyword == "dense_resource" else ""
        self.expect(">", ":")
        last = self.index
        self._dense_type = type = self.parse_type()
        if isinstance(type, ForeignType | IndexTensorType):
            return ForeignAttribute(f"{self.text[self.starts[first] : self.starts[last]].rstrip()} {type}")
        if not isinstance(type, TensorType):
            raise self.error("a tensor type", last)
        if not type.is_static:
            raise self.complaint(f"a constant can't be of type {type}", last)
        plain = TensorType(type.shape, type.dtype)
        if key:
            body = self.find_resource(key, inner)
            held, wanted = len(body) // 2 - 2, plain.size * plain.dtype.itemsize
            if held != wanted:  # a literal may hold one element for all
                raise self.complaint(f"{held} bytes in the resource, where {plain} takes {wanted}", inner)
        return self.parse_elements(body, plain, inner)

    def _skip_literal(self) -> str:
        """Return the text up to the closing ``>``, and go there."""
        start = self.starts[self.index]
        if self.token[:1] == '"':
            return self.advance()
        if self.at(".", ".", "."):
            raise self.complaint("the data of this constant was dropped when the text was printed")
        end = self.text.find(">", start)
        if end < 0:
            raise self.error("a literal that ends with '>'")
        self.resume_at(end)
        return self.text[start:end]

    def parse_elements(self, body: str, type: TensorType, index: int) -> np.ndarray:
        """Return what a literal between the brackets of ``dense<...>`` spells; ``index`` is its token."""
        found = self._constants.get((body, type)) if len(body) <= _SHORT_LITERAL else None
        if found is not None:
            return found
        try:
            if body[:1] == '"':
                if body[1:3] != "0x":
                    raise DenseError("expected hexadecimal digits after 0x")
                array = parse_blob(body[3:-1], type)
            else:
                array = parse_dense_body(body, type, strict=self.strict)
        except DenseError as error:
            raise self._dense_error(error, index) from None
        if len(body) <= _SHORT_LITERAL:
            self._constants[body, type] = array
        return array

    def _dense_error(self, error: DenseError, index: int) -> ParseError:
        place, self.index = self.index, index
        self.resume_at(self.starts[index] + error.offset)
        found, self.index = self.index, place
        return self.complaint(error.what, min(found, len(self.tokens) - 1))

    def parse_key(self) -> str:
        """Read the key of a resource."""
        return self.parse_string() if self.token[:1] == '"' else self.parse_word()

    def find_resource(self, key: str, index: int) -> str:
        """Return the blob literal of a resource, without the four bytes that hold its alignment."""
        if key == "__elided__":
            raise self.complaint("the data of this constant was dropped when the text was printed", index)
        if self._resources is None:
            first = self.tokens.index("{-#") if "{-#" in self.tokens else len(self.tokens)
            rest = self.tokens[first:]
            triples = zip(rest, rest[1:], rest[2:], strict=False)
            self._resources = {k.strip('"'): v for k, colon, v in triples if colon == ":" and v[:3] == '"0x'}
        if key not in self._resources:
            raise self.complaint(f"the text has no resource called {key}", index)
        return f'"0x{self._resources[key][3 + 8 :]}'

    # -- declared attributes

    def parse_attributes(self, definition: Primitive) -> dict[str, Any]:
        """Read an op's attribute dictionary, if there is one; declared attributes get the values of their kind."""
        if self.tokens[self.index] != "{":
            return {}
        declared = declared_attributes(definition)
        return {
            name: self.convert(declared[name], value, index) if name in declared else value
            for name, (value, index) in self._parse_entries().items()
        }

    def convert(self, attribute: Attribute, value: Any, index: int) -> Any:
        """Return an attribute's value as its kind asks for it; ``index`` is its place."""
        converted = fitted(attribute.kind, value)
        if converted is None and attribute.kind == "symbol" and str(value)[:1] == "@":
            rule = "(C2) " if attribute.name == "decomposition" else ""
            raise self.complaint(f"{rule}function {value} is not defined in this text", index)
        if converted is None or type(value) in _OTHER_SPELLINGS.get(attribute.kind, ()):
            raise self.error(f"{attribute.name} of kind {attribute.kind}", index)
        return converted


def fitted(kind: str, value: Any) -> Any:
    """Return a value as attributes of a kind hold it, or None where it does not fit.

    Examples
    --------
    >>> fitted("array<i64>", np.array([1, 2])), fitted("i64", "1")
    ((1, 2), None)
    """
    conversion = _CONVERSIONS.get(_KIND.split(kind)[0])
    return value if conversion is None else conversion(kind, value)


def _as_integer(kind: str, value: Any) -> Any:
    return int(value) if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else None


def _as_float(kind: str, value: Any) -> Any:
    with np.errstate(over="ignore"):
        return float(np.float32(value)) if isinstance(value, (float, np.floating)) else None


def _as_tuple(kind: str, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = tuple(value.ravel().tolist())  # text from before 2024
    if not isinstance(value, tuple) or kind not in {"array", f"array<{getattr(value, 'element', kind[6:-1])}>"}:
        return None
    wanted = bool if kind == "array<i1>" else int
    fits = all(isinstance(item, (int, np.integer)) and item <= LARGEST_INTEGER for item in value)
    return tuple(wanted(item) for item in value) if fits else None


def _as_enum(kind: str, value: Any) -> Any:
    name = kind.partition(":")[2]
    if isinstance(value, ForeignAttribute):
        match = _ENUM.match(value.text)
        value = match[2] if match and match[1] == name else None
    return value if isinstance(value, str) and value in ENUMS[name] else None


def _as_enums(kind: str, value: Any) -> Any:
    if not isinstance(value, tuple):
        return None
    items = tuple(_as_enum(kind, item) for item in value)
    return None if None in items else items


def _of_type(*types: type) -> Callable[[str, Any], Any]:
    return lambda kind, value: value if isinstance(value, types) else None


def _as_unit(kind: str, value: Any) -> Any:
    return True if value is True or (isinstance(value, ForeignAttribute) and value == UNIT) else None


def _as_accuracy(kind: str, value: Any) -> Any:
    """Tolerances are there for the mode TOLERANCE alone, and not negative."""
    match = _ACCURACY.match("".join(value.text.split())) if isinstance(value, ForeignAttribute) else None
    if match is None:
        return None
    tolerances = [float(text) for text in match.groups()[:3] if text]
    fits = min(tolerances, default=0) >= 0 and (match[4] == "TOLERANCE" or not any(tolerances))
    return value if fits else None


def _as_record(kind: str, value: Any) -> Any:
    return value if isinstance(value, RECORDS[kind.partition(":")[2]]) else None


_CONVERSIONS: Mapping[str, Callable[[str, Any], Any]] = {
    "i64": _as_integer,
    "i32": _as_integer,
    "f32": _as_float,
    "bool": _of_type(bool),
    "string": _of_type(str),
    "unit": _as_unit,
    "dense": _of_type(np.ndarray),
    "array": _as_tuple,
    "symbol": _of_type(Function),
    "accuracy": _as_accuracy,
    "dictionary": _of_type(dict),
    "enum": _as_enum,
    "enums": _as_enums,
    "record": _as_record,
}
"""By the kind, as far as ``:`` or ``<``: the value that an op holds, or None where what was read does not fit."""

_OTHER_SPELLINGS: Mapping[str, tuple[type, ...]] = {
    "i64": (np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32, np.uint64),
    "i32": (int, np.int8, np.int16, np.uint8, np.uint16, np.uint32, np.uint64),
    "array<i64>": (tuple,),
    "array<i1>": (tuple,),
    "enums:precision": (DenseArray,),
}
"""What Python may give for a kind and text may not: integers of other types, lists in place of arrays."""

_ATTRIBUTE_RULES: Mapping[str, Callable[[AttributeParser], Any]] = {
    '"': AttributeParser.parse_string,
    "[": AttributeParser._parse_array,
    "{": AttributeParser.parse_dictionary,
    "@": AttributeParser._parse_symbol_attribute,
    "+": AttributeParser._parse_signed,
    "#": AttributeParser._parse_dialect_attribute,
    "(": AttributeParser._parse_function_attribute,
    "true": AttributeParser._parse_true,
    "false": AttributeParser._parse_true,
    "unit": AttributeParser._parse_unit,
    "dense": AttributeParser._parse_dense_attribute,
    "dense_resource": AttributeParser._parse_dense_attribute,
    "array": AttributeParser._parse_dense_array,
    "sparse": AttributeParser._parse_foreign_word,
    "affine_map": AttributeParser._parse_foreign_word,
    "affine_set": AttributeParser._parse_foreign_word,
    "strided": AttributeParser._parse_foreign_word,
    "distinct": AttributeParser._parse_foreign_word,
    "loc": AttributeParser._parse_foreign_word,
}
"""By the attribute's first token, or its first character."""
