"""Printing a portable artifact as text in the dialect vhlo, every op in the generic form, as MLIR's tools do.

What is printed is what the bytes hold: ops in the version that the artifact is for, attributes with all their defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from numhlo.lowering.bytecode.container import Container
from numhlo.lowering.bytecode.cursor import ByteCursor
from numhlo.lowering.bytecode.decoder import Decoder
from numhlo.lowering.bytecode.hlo_dialects import API_VERSIONS
from numhlo.lowering.bytecode.operations import RawOp, RawRegion
from numhlo.lowering.bytecode.properties import read_properties
from numhlo.lowering.bytecode.vhlo_table import VERSIONED
from numhlo.lowering.ir import DYNAMIC, Function, IndexTensorType, TensorType, TokenType, TupleType, Type
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ir.quantized import QuantizedTensorType
from numhlo.lowering.ir.types import FLOATS, element_spelling
from numhlo.lowering.text.attribute_printer import print_name, print_string, print_value
from numhlo.lowering.text.dense_printer import print_dense, print_float
from numhlo.lowering.text.foreign import BOUNDS, UNIT, EncodedTensorType, ForeignType, Signature

INDENT = "  "

Names = list[tuple[str, str]]
"""What the values around are called and their types, by their numbers."""


class VhloPrinter:
    """Writes ops of bytecode into a list of pieces."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._decoder = Decoder(container)
        self._spelled: dict[int, str] = {}
        self._count = 0
        self.parts: list[str] = []

    def print(self, ops: Iterable[RawOp]) -> str:
        """Return the text of the ops at the top."""
        for op in ops:
            self.print_op(op, "", "%0", [])
        return "".join(self.parts)

    def print_op(self, op: RawOp, margin: str, made: str, names: Names) -> None:
        """Write an op, whose results are called ``made``, and the end of its line."""
        name = self._container.op_names[op.name]
        own, others = self._attributes(op, name)
        count = len(op.results)
        head = f"{made}{f':{count}' if count > 1 else ''} = " if count else ""
        operands = [names[number] for number in op.operands]
        self.parts.append(f"{margin}{head}{print_string(name)}({', '.join([k for k, _ in operands])})")
        self.parts.append(f" <{{{own}}}>" if own else "")
        for number, region in enumerate(op.regions):
            self.parts.append(", {\n" if number else " ({\n")
            self._print_region(region, margin + INDENT, names, is_isolated=op.is_isolated)
            self.parts.append(f"{margin}}}")
        self.parts.append(")" if op.regions else "")
        results = ", ".join([self._type(number) for number in op.results])
        signature = f"({', '.join([k for _, k in operands])}) -> {results if count == 1 else f'({results})'}"
        self.parts.append(f"{f' {{{others}}}' if others else ''} : {signature}\n")

    def _print_region(self, region: RawRegion, margin: str, around: Names, *, is_isolated: bool) -> None:
        """Write a region; where it is isolated, its values are numbered from 0, and called as if they were not."""
        if not region.has_block:
            return
        names: Names = [] if is_isolated else around
        first, number, outer = len(names), self._count, self._count
        self._count += region.values
        names += [(f"%{number + k}", self._type(type)) for k, (type, _) in enumerate(region.arguments)]
        number += len(region.arguments)
        if region.arguments:
            listed = ", ".join([f"{name}: {type}" for name, type in names[first:]])
            self.parts.append(f"{margin[: -len(INDENT)]}^bb0({listed}):\n")
        made = []
        for op in region.ops:  # the values of a region come before those of the regions inside it
            made.append(f"%{number}")
            for k, type in enumerate(op.results):
                names.append((f"%{number}" if len(op.results) == 1 else f"%{number}#{k}", self._type(type)))
            number += len(op.results)
        for op, called in zip(region.ops, made, strict=True):
            self.print_op(op, margin, called, names)
        del names[first:]
        self._count = outer

    # -- attributes

    def _attributes(self, op: RawOp, name: str) -> tuple[str, str]:
        """Return the text of an op's own attributes, and that of others."""
        values: dict[str, Any] = {}
        own: set[str] = set(VERSIONED[name].attributes) if name in VERSIONED else set()
        if op.properties >= 0:
            start, end = self._container.properties[op.properties]
            cursor = ByteCursor(self._container.data, start, end, "properties")
            found = read_properties(name, cursor)
            own |= set(found)
            values |= {key: self._decoder.attribute(number) for key, number in found.items()}
        if op.attributes >= 0:
            values |= self._decoder.attribute(op.attributes)
        spell = spell_value if name.startswith("vhlo.") else _plain
        texts = {key: spell(value) for key, value in values.items()}
        if "api_version" in own:
            texts["api_version"] = f"#vhlo<api_version_v1 {API_VERSIONS[values['api_version']]}>"
        listed = [(key in own, key, text) for key, text in sorted(texts.items())]
        inside, behind = (
            ", ".join([_entry(key, text) for is_own, key, text in listed if is_own == wanted])
            for wanted in (True, False)
        )
        return inside, behind

    def _type(self, number: int) -> str:
        found = self._spelled.get(number)
        if found is None:
            type = self._decoder.type(number)
            is_vhlo = self._container.types[number].dialect == "vhlo"
            found = self._spelled[number] = spell_type(type) if is_vhlo else str(type)
        return found


def _entry(key: str, text: str) -> str:
    return print_name(key) if text == str(UNIT) else f"{print_name(key)} = {text}"


def _plain(value: Any) -> str:
    return print_value(value, lambda function: f"@{print_name(function.name)}")


def spell_value(value: Any) -> str:
    """Return the text of an attribute of vhlo, or of another dialect that stands among those.

    Examples
    --------
    >>> spell_value((1, "a"))
    '#vhlo.array_v1<[#vhlo.integer_v1<1 : i64>, #vhlo.string_v1<"a">]>'
    """
    for types, spell in _SPELLINGS:
        if isinstance(value, types):
            return spell(value)
    if isinstance(value, TensorType | TokenType | TupleType | ForeignType | Signature):
        return f"#vhlo.type_v1<{spell_type(value)}>"
    return _spell_foreign(str(value))


def _spell_scalar(value: np.generic) -> str:
    name = element_spelling(value.dtype)
    if value.dtype in FLOATS:
        return f"#vhlo.float_v1<{print_float(value, value.dtype)} : !vhlo.{name}_v1>"
    return f"#vhlo.integer_v1<{value} : {name}>"


def _spell_dictionary(value: Mapping[str, Any]) -> str:
    entries = [f"{spell_value(key)} = {spell_value(item)}" for key, item in value.items()]
    return f"#vhlo.dict_v1<{{{', '.join(entries)}}}>"


_SPELLINGS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (bool, lambda v: f"#vhlo.bool_v1<{str(v).lower()}>"),
    (int, lambda v: f"#vhlo.integer_v1<{v} : i64>"),
    (np.generic, _spell_scalar),
    (float, lambda v: f"#vhlo.float_v1<{print_float(v, np.dtype(np.float64))} : !vhlo.f64_v1>"),
    (str, lambda v: f"#vhlo.string_v1<{print_string(v)}>"),
    (Mapping, _spell_dictionary),
    (tuple, lambda v: f"#vhlo.array_v1<[{', '.join(map(spell_value, v))}]>"),
    (np.ndarray, lambda v: f"#vhlo.tensor_v1<{print_dense(v)}>"),
    (Function, lambda v: f"#vhlo.string_v1<{print_string(v.name)}>"),
)


def _spell_foreign(text: str) -> str:
    """Return an attribute that is kept as text of StableHLO, as vhlo has it; those of other dialects as they are."""
    if text.startswith("dense<"):
        return f"#vhlo.tensor_v1<{text}>"
    if text.endswith(" : index"):
        return f"#vhlo.integer_v1<{text}>"
    if text.startswith("#stablehlo<"):
        name, _, value = text.removeprefix("#stablehlo<").removesuffix(">").partition(" ")
        return f"#vhlo<{name}_v1 {value}>"
    if text.startswith(BOUNDS):
        return f"#vhlo.type_extensions_v1<bounds = [{text.removeprefix(BOUNDS).removesuffix('>')}]>"
    if text.startswith("#stablehlo.output_operand_alias<"):
        renamed = text.replace("output_tuple_indices", "outputTupleIndices").replace("operand_index", "operandIndex")
        renamed = renamed.replace("operand_tuple_indices", "operandTupleIndices")
        return renamed.replace("#stablehlo.output_operand_alias", "#vhlo.output_operand_alias_v1")
    if text.startswith("#stablehlo.result_accuracy<"):
        return _spell_accuracy(text)
    if text.startswith("#stablehlo."):
        raise UnsupportedError(f"{text} has no text in vhlo that is known")
    return text


def _spell_accuracy(text: str) -> str:
    """Return how accurate a result must be: vhlo spells out what is zero."""
    body = text.removeprefix("#stablehlo.result_accuracy<").removesuffix(">")
    given = dict(item.split(" = ", 1) for item in body.split(", "))
    mode = given["mode"].partition("<")[2].rstrip(">")
    zero = "0.000000e+00"
    return (
        f"#vhlo.result_accuracy_v1<atol = {given.get('atol', zero)}, rtol = {given.get('rtol', zero)}, "
        f"ulps = {given.get('ulps', '0')}, mode = #vhlo<result_accuracy_mode_v1 {mode}>>"
    )


def spell_type(type: Type | ForeignType | Signature) -> str:
    """Return the text of a type of vhlo.

    Examples
    --------
    >>> spell_type(TensorType((2, -1), np.dtype("bool")))
    '!vhlo.tensor_v1<2x?x!vhlo.bool_v1>'
    """
    if isinstance(type, QuantizedTensorType):
        raise UnsupportedError(f"{type} has no text in vhlo that is known")
    if isinstance(type, TensorType):
        sizes = "".join(f"{'?' if n == DYNAMIC else n}x" for n in type.shape)
        element = "index" if isinstance(type, IndexTensorType) else element_spelling(type.dtype)
        encoding = f", {_spell_foreign(type.encoding)}" if isinstance(type, EncodedTensorType) else ""
        return f"!vhlo.tensor_v1<{sizes}{_spell_scalar_type(element)}{encoding}>"
    if isinstance(type, TupleType):
        return f"!vhlo.tuple_v1<{', '.join(map(spell_type, type.elements))}>"
    if isinstance(type, TokenType):
        return "!vhlo.token_v1"
    if isinstance(type, Signature):
        arguments = ", ".join(map(spell_type, type.arguments)) or "()"
        return f"!vhlo.func_v1<({arguments}) -> {', '.join(map(spell_type, type.results)) or '()'}>"
    return _spell_foreign_type(str(type))


def _spell_scalar_type(name: str) -> str:
    part = name.removeprefix("complex<").removesuffix(">")
    if part != name:
        return f"!vhlo.complex_v1<{_spell_scalar_type(part)}>"
    return f"!vhlo.{'bool' if name == 'i1' else name}_v1"


def _spell_foreign_type(text: str) -> str:
    if text.startswith("tensor<*x"):
        return f"!vhlo.unranked_tensor_v1<{_spell_scalar_type(text.removeprefix('tensor<*x').removesuffix('>'))}>"
    if text.isalnum() or text.startswith("complex<"):
        return _spell_scalar_type(text)
    raise UnsupportedError(f"{text} has no text in vhlo that is known")
