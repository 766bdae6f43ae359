"""From ops of bytecode to a module: functions, regions and values, as reading the text of the same program gives them.

Types of operands need no check: bytecode has none, a value's type is that of the op that makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, cast

from numhlo.lowering.bytecode.container import Container
from numhlo.lowering.bytecode.cursor import ByteCursor, MalformedError
from numhlo.lowering.bytecode.decoder import Decoder
from numhlo.lowering.bytecode.locations import LocationDecoder
from numhlo.lowering.bytecode.operations import RawOp, RawRegion
from numhlo.lowering.bytecode.properties import ALL, read_properties
from numhlo.lowering.bytecode.shape_dialects import ASSUMING, YIELD, Translator, meaning_of
from numhlo.lowering.bytecode.upgrades import definition_of, fit, upgrade_op
from numhlo.lowering.bytecode.vhlo_table import VERSIONED
from numhlo.lowering.ir import UNKNOWN, Function, Module, Op, Region, Type, Value
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.text.attribute_printer import print_dictionary, print_name
from numhlo.lowering.text.foreign import ForeignLine, Signature
from numhlo.lowering.text.parser import arity
from numhlo.lowering.text.printer import PREAMBLE
from numhlo.lowering.text.shape_meanings import Meaning, stands_for
from numhlo.lowering.text.unregistered import fill_declaration

MODULE, CAST, MESH = "builtin.module", "builtin.unrealized_conversion_cast", "sdy.mesh"
FUNCTIONS = frozenset({"func.func", "vhlo.func_v1"})
RETURNS = frozenset({"vhlo.return_v1", *(f"{dialect}.return" for dialect in ("func", "stablehlo", "mhlo", "sdy"))})
VISIBILITIES = ("", "public", "private", "nested")

Scope = list[Value | None]


class ModuleReader:
    """Builds a module of a container's ops."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._names = container.op_names
        self._decoder = Decoder(container)
        self._location = LocationDecoder(container, self._decoder)
        self._translator = Translator()
        self._definitions: dict[int, Primitive] = {}
        self._attributes: dict[tuple[int, int, int], dict[str, Any]] = {}

    def read(self, ops: Sequence[RawOp]) -> Module:
        """Return the module that the ops at the top are."""
        if len(ops) != 1 or self._names[ops[0].name] != MODULE:
            raise MalformedError("a file holds one module", "IR", ops[0].place if ops else -1)
        return self._read_module(ops[0])

    def _fail(self, op: RawOp, what: str) -> NoReturn:
        raise MalformedError(what, "IR", op.place)

    # -- attributes

    def _raw_attributes(self, op: RawOp) -> dict[str, Any]:
        """Return an op's attributes as they are written: properties, and others."""
        self._decoder.place = op.place
        found: dict[str, Any] = {}
        if op.attributes >= 0:
            value = self._decoder.attribute(op.attributes)
            if not isinstance(value, dict):
                self._fail(op, "the attributes of an op must be a dictionary")
            found.update(value)
        if op.properties >= 0:
            if op.properties >= len(self._container.properties):
                self._fail(op, f"there are no properties {op.properties}")
            start, end = self._container.properties[op.properties]
            cursor = ByteCursor(self._container.data, start, end, "properties")
            for name, number in read_properties(self._names[op.name], cursor).items():
                value = self._decoder.attribute(number)
                if name != ALL:
                    found[name] = value
                elif isinstance(value, dict):
                    found.update(value)
                else:
                    self._fail(op, f"the properties of {self._names[op.name]} are not known")
        return found

    def _op_attributes(self, op: RawOp, definition: Primitive) -> dict[str, Any]:
        """Return an op's attributes as its definition has them, with defaults for those that are absent."""
        key = op.name, op.properties, op.attributes
        found = self._attributes.get(key)
        if found is not None:
            return found
        given = self._raw_attributes(op)
        versioned = VERSIONED.get(self._names[op.name])
        try:
            if versioned is not None:
                given = upgrade_op(versioned, given, self._decoder.functions)
            found = self._attributes[key] = fit(definition, given)
        except MalformedError as error:
            self._fail(op, error.what)
        return found

    # -- modules

    def _read_module(self, op: RawOp) -> Module:
        given = self._raw_attributes(op)
        name = given.get("sym_name", "")
        if not isinstance(name, str):
            self._fail(op, "a module's name must be a string")
        module = Module([], name)
        module.attributes = {k: v for k, v in given.items() if k not in {"sym_name", "sym_visibility", PREAMBLE}}
        module.location = self._location(op.location)
        if len(op.regions) != 1:
            self._fail(op, "a module has one region")
        outer = self._decoder.functions
        self._open(self._functions_in(op.regions[0]))
        for inner in op.regions[0].ops:
            self._read_in_module(module, inner)
        self._open(outer)
        return module

    def _open(self, functions: dict[str, Function]) -> None:
        """Let symbols mean these functions."""
        self._decoder.forget_symbols(functions)
        self._attributes.clear()

    def _functions_in(self, region: RawRegion) -> dict[str, Function]:
        """Return a function, still empty, for each that a module's region defines."""
        found: dict[str, Function] = {}
        for op in region.ops:
            if self._names[op.name] in FUNCTIONS:
                name = self._raw_attributes(op).get("sym_name")
                if not isinstance(name, str) or name in found:
                    self._fail(op, f"a function needs a name of its own, not {name}")
                found[str(name)] = Function(str(name))
        return found

    def _read_in_module(self, module: Module, op: RawOp) -> None:
        name = self._names[op.name]
        if name in FUNCTIONS:
            module.functions.append(self._read_function(op))
        elif name == MODULE:
            inner = self._read_module(op)
            module.modules.append(inner)
            module.functions += inner.functions
        elif name == MESH:
            line = ForeignLine(self._mesh_text(op), self._location(op.location))
            module.attributes[PREAMBLE] = (*module.attributes.get(PREAMBLE, ()), line)
        else:
            self._fail(op, f"{name} can't stand in a module")

    def _mesh_text(self, op: RawOp) -> str:
        attributes = self._raw_attributes(op)
        name, mesh = attributes.pop("sym_name", None), str(attributes.pop("mesh", ""))
        if not isinstance(name, str) or not mesh.startswith("#sdy.mesh<"):
            self._fail(op, "sdy.mesh needs the attributes sym_name and mesh")
        rest = f" {print_dictionary(attributes.items(), _symbol)}" if attributes else ""
        return f"sdy.mesh @{print_name(str(name))} = {mesh.removeprefix('#sdy.mesh')}{rest}"

    # -- functions

    def _read_function(self, op: RawOp) -> Function:
        attributes = self._raw_attributes(op)
        function = self._decoder.functions[attributes.pop("sym_name")]
        signature, visibility = attributes.pop("function_type", None), attributes.pop("sym_visibility", "")
        known = isinstance(visibility, str) and visibility in VISIBILITIES
        if not isinstance(signature, Signature) or not known or len(op.regions) != 1:
            self._fail(op, "a function needs a function_type, a sym_visibility that is known, and one region")
        function.visibility = visibility
        function.location = self._location(op.location)
        function.argument_attributes = self._dictionaries(op, attributes.pop("arg_attrs", ()), signature.arguments)
        function.result_attributes = self._dictionaries(op, attributes.pop("res_attrs", ()), signature.results)
        function.attributes = attributes
        region = op.regions[0]
        if not region.has_block:
            fill_declaration(function, signature.arguments, signature.results)
            return function
        self._fill(function.body, region, [])
        fits = [value.type for value in function.body.arguments] == [*signature.arguments]
        if not fits or not self._returns(function.body.returns, signature.results):
            self._fail(op, f"@{function.name} is not of the type {signature} that it declares")
        return function

    def _returns(self, values: Sequence[Value], types: Sequence[Type]) -> bool:
        """Return whether values are of the types that a function declares."""
        standing = self._translator.standing
        return len(values) == len(types) and all(
            value.type == type or (value in standing and stands_for(value, type))
            for value, type in zip(values, types, strict=True)
        )

    def _dictionaries(self, op: RawOp, given: Any, types: Sequence[Type]) -> list[dict[str, Any]]:
        """Return the attributes of arguments or results: none at all, or a dictionary for each."""
        if not isinstance(given, tuple) or not all(isinstance(item, dict) for item in given):
            self._fail(op, "attributes of arguments and results must be dictionaries")
        if given and len(given) != len(types):
            self._fail(op, f"attributes of {len(given)} arguments or results, of which there are {len(types)}")
        return [dict(item) for item in given] if any(given) else []

    # -- regions and ops

    def _fill(self, region: Region, raw: RawRegion, scope: Scope) -> None:
        """Build the ops of a region; ``scope`` holds the values around it by number, None where they come later."""
        first = number = len(scope)
        scope += [None] * raw.values
        decode = self._decoder.type
        for type, _ in raw.arguments:
            scope[number] = region.add_argument(decode(type))
            number += 1
        if any(location >= 0 for _, location in raw.arguments):
            places = [self._location(location) if location >= 0 else UNKNOWN for _, location in raw.arguments]
            region.argument_locations = places
        last = self._fill_ops(region, raw, scope, number, RETURNS)
        region.returns = self._operands(last, scope)
        region.return_location = self._location(last.location)
        del scope[first:]

    def _fill_ops(
        self, region: Region, raw: RawRegion, scope: Scope, number: int, terminators: frozenset[str]
    ) -> RawOp:
        """Build ops whose results are numbered from ``number`` on, and return the one that ends them."""
        last = raw.ops[-1] if raw.ops else None
        if last is None or self._names[last.name] not in terminators or last.results or last.regions:
            raise MalformedError("a region must end with a return", "IR", -1 if last is None else last.place)
        for op in raw.ops[:-1]:
            results = self._append(region, op, scope)
            if len(results) != len(op.results):
                self._fail(op, f"{self._names[op.name]} has {len(results)} results, not {len(op.results)}")
            scope[number : number + len(results)] = results
            number += len(results)
        return last

    def _operands(self, op: RawOp, scope: Scope) -> list[Value]:
        size = len(scope)
        found = [scope[number] if number < size else None for number in op.operands]
        if None in found:
            number = op.operands[found.index(None)]
            self._fail(op, f"value {number} is not defined before its use")
        return cast("list[Value]", found)

    def _append(self, region: Region, raw: RawOp, scope: Scope) -> list[Value]:
        """Build an op, and return its results."""
        self._decoder.place = raw.place
        operands = self._operands(raw, scope)
        definition = self._definitions.get(raw.name)
        if definition is None:
            name = self._names[raw.name]
            if name == CAST:
                return self._cast(raw, operands)
            if name in RETURNS or name in FUNCTIONS or name == MODULE:
                self._fail(raw, f"{name} can't stand among the ops of a region")
            meaning = meaning_of(name)
            if meaning is not None or name == ASSUMING:
                return self._translate(region, raw, meaning, operands, scope)
            definition = self._definitions[raw.name] = self._definition(raw, name)
        regions = [self._region(raw, item, scope) for item in raw.regions]
        attributes = self._op_attributes(raw, definition)
        self._check_count(raw, definition, definition.operands, operands, "operands")
        self._check_count(raw, definition, definition.regions, regions, "regions")
        types = [self._decoder.type(number) for number in raw.results]
        op = Op(definition, operands, attributes, regions, types, self._location(raw.location))
        region.ops.append(op)
        return op.results

    def _translate(
        self, region: Region, raw: RawOp, meaning: Meaning | None, operands: list[Value], scope: Scope
    ) -> list[Value]:
        """Build what an op of the dialects arith, tensor and shape stands for."""
        translator, name, count = self._translator, self._names[raw.name], len(region.ops)
        types = [self._decoder.type(number) for number in raw.results]
        if meaning is None:
            values = self._inlined(region, raw, scope)
            translator.ops = region.ops
            results = translator.assume(raw, operands, values, types)
        else:
            translator.ops = region.ops
            results = translator.translate(name, raw, meaning, operands, self._raw_attributes(raw), types)
        for op in region.ops[count:]:
            if op.location is UNKNOWN:
                op.location = self._location(raw.location)
        return results

    def _inlined(self, region: Region, raw: RawOp, scope: Scope) -> list[Value]:
        """Build the ops of an op's region in the region around it, and return what they yield."""
        if len(raw.regions) != 1 or raw.regions[0].arguments:
            self._fail(raw, f"{ASSUMING} has one region without arguments")
        first = len(scope)
        scope += [None] * raw.regions[0].values
        last = self._fill_ops(region, raw.regions[0], scope, first, frozenset({YIELD}))
        values = self._operands(last, scope)
        del scope[first:]
        return values

    def _definition(self, raw: RawOp, name: str) -> Primitive:
        try:
            return definition_of(name)
        except MalformedError as error:
            self._fail(raw, error.what)

    def _region(self, op: RawOp, raw: RawRegion, scope: Scope) -> Region:
        if not raw.has_block:
            self._fail(op, "a region without ops is a function's that is defined elsewhere")
        region = Region()
        self._fill(region, raw, [] if op.is_isolated else scope)
        return region

    def _cast(self, op: RawOp, operands: list[Value]) -> list[Value]:
        """Return what a change of dialect stands for: the values themselves."""
        types = [self._decoder.type(number) for number in op.results]
        if types != [value.type for value in operands] or op.regions:
            self._fail(op, f"{CAST} changes types of StableHLO")
        return operands

    def _check_count(
        self, op: RawOp, definition: Primitive, names: tuple[str, ...], given: Sequence[object], kind: str
    ) -> None:
        least, more = arity(names)
        if len(given) < least or (len(given) > least and not more):
            wanted = f"at least {least}" if more else str(least)
            self._fail(op, f"{definition.name} takes {wanted} {kind}, not {len(given)}")


def _symbol(function: Function) -> str:
    return f"@{print_name(function.name)}"
