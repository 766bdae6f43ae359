"""Writing portable artifacts: a module in the dialect vhlo, as a version of StableHLO has it.

Ops of other dialects (chlo, sdy, unknown ones) stand in an artifact as they are, on builtin's types; casts lie between
them and ops of vhlo. That is what MLIR's own writer does, and no version promises to read those.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numhlo.lowering.bytecode.attribute_encoder import AttributeEncoder
from numhlo.lowering.bytecode.container import IR, LAZY_REGIONS, SHORT_ARGUMENTS, USE_ORDERS
from numhlo.lowering.bytecode.container import PROPERTIES as NATIVE_PROPERTIES
from numhlo.lowering.bytecode.downgrades import Downgrader, find_form
from numhlo.lowering.bytecode.location_encoder import LocationEncoder
from numhlo.lowering.bytecode.module_reader import CAST, MESH, MODULE
from numhlo.lowering.bytecode.operations import (
    HAS_ATTRIBUTES,
    HAS_OPERANDS,
    HAS_PROPERTIES,
    HAS_REGIONS,
    HAS_RESULTS,
)
from numhlo.lowering.bytecode.properties import layouts_of
from numhlo.lowering.bytecode.tables import Numbers, Tables, number, section
from numhlo.lowering.bytecode.type_encoder import TypeEncoder, version_text
from numhlo.lowering.bytecode.vhlo_table import NEWEST, OLDEST, Version, VersionedOp, bytecode_version
from numhlo.lowering.ir import UNKNOWN, Function, Location, Module, Op, Region, Value
from numhlo.lowering.ir.errors import ArgumentError, NumhloError
from numhlo.lowering.text.foreign import ForeignLine, Signature
from numhlo.lowering.text.parse_attributes import AttributeParser
from numhlo.lowering.text.printer import PREAMBLE, SymbolTable
from numhlo.lowering.text.unregistered import is_declaration

PRODUCER = "StableHLO_v"
"""What a portable artifact has for its producer, with the version behind it."""

_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})\Z", re.ASCII)
_MESH_LINE = re.compile(r'sdy\.mesh @("(?:[^"\\]|\\.)*"|[\w$.-]+) = (<.*>)\s*\Z', re.DOTALL)


@dataclass(slots=True)
class OutOp:
    """An op to be written: first numbers of what it consists of, and keys of the values that it takes and makes."""

    name: int
    location: int
    attributes: int = -1
    properties: int = -1
    operands: Sequence[object] = ()
    results: Sequence[tuple[object, int]] = ()
    regions: Sequence[OutRegion] = ()
    is_isolated: bool = False


@dataclass(slots=True)
class OutRegion:
    """A region to be written: keys, types and locations of its arguments, and its ops; without a block if None."""

    arguments: Sequence[tuple[object, int, int]] = ()
    ops: list[OutOp] | None = field(default_factory=list)


def parse_version(text: str) -> Version:
    """Return the version that a text such as ``"1.0.0"`` spells.

    Raises
    ------
    ArgumentError
        If it spells none, or one that StableHLO does not promise to read, or one newer than is known here.
    """
    match = _VERSION.match(text)
    version = (int(match[1]), int(match[2]), int(match[3])) if match is not None else None
    if version is None or not OLDEST <= version <= NEWEST:
        raise ArgumentError(
            f"{text!r} is no version of StableHLO that can be written for",
            fix=f'give one from "{version_text(OLDEST)}" to "{version_text(NEWEST)}"',
        )
    return version


def write_artifact(module: Module, version: str | None = None) -> bytes:
    """Return a module as a portable artifact.

    Parameters
    ----------
    module : Module
    version : str, optional
        The version of StableHLO that must be able to read it; by default the newest that is known here.

    Raises
    ------
    ArgumentError
        If there is no such version.
    UnsupportedError
        If the version lacks an op, a form of one, or a type, naming it.
    """
    target = NEWEST if version is None else parse_version(version)
    tables = Tables(bytecode_version(target), f"{PRODUCER}{version_text(target)}")
    op = ArtifactWriter(tables, target).module(module)
    return tables.write(lambda numbers: OpEncoder(tables.version, numbers).block([op]))


class ArtifactWriter:
    """Makes ops of vhlo of a module."""

    def __init__(self, tables: Tables, target: Version) -> None:
        self._tables, self._target = tables, target
        self._symbols = SymbolTable()
        self._depth = 0
        self._shown: Function | None = None
        self._types = TypeEncoder(tables, target)
        self._attributes = AttributeEncoder(tables, self._types, target, self._name)
        self._downgrader = Downgrader(self._attributes, target)
        self._location = LocationEncoder(tables, self._attributes, target)
        self._has_properties = tables.version >= NATIVE_PROPERTIES

    def _name(self, function: Function) -> str:
        return self._symbols.name(function)

    # -- modules and functions

    def module(self, module: Module) -> OutOp:
        """Return a module's op."""
        outer, self._symbols = self._symbols, SymbolTable()
        inside = {function for inner in module.modules for function in inner.functions}
        for function in module.functions:
            if function not in inside:
                self._name(function)
        main = module.main if module.functions and not module.modules and self._depth == 0 else None
        is_hidden = main is not None and main.visibility == "private" and not is_declaration(main)
        self._shown = main if is_hidden else None
        self._depth += 1
        ops = [self._mesh(line) for line in module.attributes.get(PREAMBLE, ())]
        ops += [self._function(function) for function in self._symbols.functions]  # grows as callees are named
        attributes = {k: v for k, v in module.attributes.items() if k != PREAMBLE and v is not None}
        encoded = {name: self._attributes.builtin(value) for name, value in attributes.items()}
        ops += [self.module(inner) for inner in module.modules]
        self._symbols = outer
        self._depth -= 1
        inherent = {"sym_name": self._attributes.plain_string(module.name)} if module.name else {}
        op = self._plain(MODULE, {**inherent, **encoded}, module.location, list(inherent))
        op.regions, op.is_isolated = [OutRegion((), ops)], True
        return op

    def _plain(self, name: str, attributes: Mapping[str, int], location: Location, inherent: Sequence[str]) -> OutOp:
        """Return an op with attributes, those that are its own as properties where the version has these."""
        op = OutOp(self._tables.op_name(name), self._location(location))
        own = [*inherent] if self._has_properties else []
        layout = next((layout for layout in layouts_of(name) if {k for k, _ in layout} >= set(own)), None)
        others = {k: v for k, v in attributes.items() if k not in own or layout is None}
        if layout and self._has_properties:
            members = [(attributes.get(k, -1), is_optional) for k, is_optional in layout]
            op.properties = self._tables.properties(members)
        if others:
            op.attributes = self._attributes.builtin_dictionary(others)
        return op

    def _mesh(self, line: ForeignLine) -> OutOp:
        match = _MESH_LINE.match(line.text)
        if match is None:
            raise NumhloError(f"{line.text} can't be written")
        name = match[1]
        name = AttributeParser(name, "<mesh>").parse_string() if name[0] == '"' else name
        mesh = self._attributes.text(f"#sdy.mesh{match[2]}")
        attributes = {"mesh": mesh, "sym_name": self._attributes.plain_string(name)}
        return self._plain(MESH, attributes, line.location, list(attributes))

    def _function(self, function: Function) -> OutOp:
        encoder, body = self._attributes, function.body
        signature = Signature(tuple(function.argument_types), tuple(function.result_types))
        own = {
            "arg_attrs": self._dictionaries(function.argument_attributes),
            "function_type": encoder.type(signature),
            "res_attrs": self._dictionaries(function.result_attributes),
            "sym_name": encoder.string(self._name(function)),
            "sym_visibility": encoder.string("public" if function is self._shown else function.visibility),
        }
        others = {k: encoder.value(v) for k, v in function.attributes.items() if v is not None}
        op = self._plain("vhlo.func_v1", {**others, **own}, function.location, list(own))
        region = OutRegion(ops=None) if is_declaration(function) else self._region(body, "vhlo.return_v1")
        op.regions, op.is_isolated = [region], True
        return op

    def _dictionaries(self, given: Sequence[Mapping[str, Any]]) -> int:
        return self._attributes.array([self._attributes.dictionary(item) for item in given])

    # -- regions and ops

    def _region(self, region: Region, terminator: str) -> OutRegion:
        """Return a region of ops, whose arguments are of vhlo's types unless another dialect's terminator ends it."""
        is_vhlo = terminator.startswith("vhlo.")
        places = region.argument_locations or [UNKNOWN] * len(region.arguments)
        ops: list[OutOp] = []
        arguments = []
        for value, place in zip(region.arguments, places, strict=True):
            key: object = value if is_vhlo else _Plain(value)
            type = self._types.vhlo(value.type) if is_vhlo else self._types.builtin(value.type)
            arguments.append((key, type, self._location(place)))
            if not is_vhlo:
                ops.append(self._cast(key, value, self._types.vhlo(value.type), place))
        for op in region.ops:
            ops += self._op(op)
        returned: list[object] = [*region.returns]
        if not is_vhlo:
            returned = self._casts(region.returns, ops, region.return_location)
        ops.append(OutOp(self._tables.op_name(terminator), self._location(region.return_location), operands=returned))
        return OutRegion(arguments, ops)

    def _cast(self, given: object, made: object, type: int, location: Location) -> OutOp:
        return OutOp(self._tables.op_name(CAST), self._location(location), operands=[given], results=[(made, type)])

    def _casts(self, values: Sequence[Value], ops: list[OutOp], location: Location) -> list[object]:
        """Append casts of values to builtin's types, and return what they make."""
        found: list[object] = []
        for value in values:
            key = _Plain(value)
            ops.append(self._cast(value, key, self._types.builtin(value.type), location))
            found.append(key)
        return found

    def _op(self, op: Op) -> list[OutOp]:
        definition = op.definition
        if definition.dialect == "stablehlo" or definition.name == "call":
            return [self._versioned(op)]
        return self._foreign(op)

    def _versioned(self, op: Op) -> OutOp:
        form: VersionedOp = find_form(op, self._target)
        attributes = self._downgrader.attributes(op, form)
        found = self._plain(form.full_name, attributes, op.location, form.attributes)
        found.operands = op.operands
        found.results = [(value, self._types.vhlo(value.type)) for value in op.results]
        found.regions = [self._region(region, "vhlo.return_v1") for region in op.regions]
        return found

    def _foreign(self, op: Op) -> list[OutOp]:
        """Return an op of another dialect between casts."""
        dialect = op.definition.dialect
        name = f"{dialect}.{op.definition.name}" if dialect else op.definition.name
        ops: list[OutOp] = []
        operands = self._casts(op.operands, ops, op.location)
        given = {k: self._attributes.builtin(v) for k, v in op.attributes.items() if v is not None}
        inherent = [k for layout in layouts_of(name) for k, _ in layout if k in given]
        found = self._plain(name, given, op.location, inherent)
        found.operands = operands
        found.results = [(_Plain(value), self._types.builtin(value.type)) for value in op.results]
        found.regions = [
            self._region(region, f"{'sdy' if dialect == 'sdy' else 'stablehlo'}.return") for region in op.regions
        ]
        ops.append(found)
        for value, (key, _) in zip(op.results, found.results, strict=True):
            ops.append(self._cast(key, value, self._types.vhlo(value.type), op.location))
        return ops


class _Plain:
    """The key of a value of builtin's type that stands for one of vhlo's."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class OpEncoder:
    """Returns the bytes of ops, whose values it numbers."""

    def __init__(self, version: int, numbers: Numbers) -> None:
        self._version, self._numbers = version, numbers
        self._values: dict[object, int] = {}
        self._count = 0

    def block(self, ops: Sequence[OutOp]) -> bytes:
        """Return a block without arguments."""
        return number(len(ops) << 1) + b"".join([self._op(op) for op in ops])

    def _op(self, op: OutOp) -> bytes:
        final = self._numbers
        mask, parts = 0, [number(final.attributes[op.location])]
        if op.attributes >= 0:
            mask |= HAS_ATTRIBUTES
            parts.append(number(final.attributes[op.attributes]))
        if op.properties >= 0:
            mask |= HAS_PROPERTIES
            parts.append(number(op.properties))
        if op.results:
            mask |= HAS_RESULTS
            parts += [number(len(op.results)), *[number(final.types[type]) for _, type in op.results]]
        if op.operands:
            mask |= HAS_OPERANDS
            parts += [number(len(op.operands)), *[number(self._values[key]) for key in op.operands]]
        if op.regions:
            mask |= HAS_REGIONS
            parts += [number(len(op.regions) << 1 | op.is_isolated), self._regions(op)]
        return number(final.op_names[op.name]) + bytes([mask]) + b"".join(parts)

    def _regions(self, op: OutOp) -> bytes:
        outer = self._count
        data = []
        for region in op.regions:
            self._count = 0 if op.is_isolated else outer
            data.append(self._region(region))
        self._count = outer
        content = b"".join(data)
        return section(IR, content) if op.is_isolated and self._version >= LAZY_REGIONS else content

    def _region(self, region: OutRegion) -> bytes:
        if region.ops is None:
            return number(0)
        keys = [key for key, _, _ in region.arguments]
        keys += [key for op in region.ops for key, _ in op.results]
        for key in keys:
            self._values[key] = self._count
            self._count += 1
        head = number(1) + number(len(keys))
        ops = number(len(region.ops) << 1 | bool(region.arguments)) + self._arguments(region)
        return head + ops + b"".join([self._op(op) for op in region.ops])

    def _arguments(self, region: OutRegion) -> bytes:
        if not region.arguments:
            return b""
        parts = [number(len(region.arguments))]
        for _, type, location in region.arguments:
            place = self._numbers.types[type]
            parts.append(number(place if self._version < SHORT_ARGUMENTS else place << 1 | 1))
            parts.append(number(self._numbers.attributes[location]))
        return b"".join(parts) + (b"\0" if self._version >= USE_ORDERS else b"")
