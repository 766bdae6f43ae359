"""Printing: a module or a function as StableHLO text.

This module knows modules, functions, regions, names and the generic form of any op. Pretty forms, one per family, are
in the ``pretty_*`` files and come through the table `PRINT`; attributes are spelled by `attribute_printer`. Every piece
is appended to one list and written once, so printing is linear in the size of the program.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from numhlo.lowering.ir import UNKNOWN, Function, Location, Module, Op, Region, Type, Value
from numhlo.lowering.ops.primitive import Attribute, Primitive
from numhlo.lowering.text.attribute_printer import (
    print_attribute,
    print_dictionary,
    print_item,
    print_name,
    print_string,
)
from numhlo.lowering.text.form_tables import PRINT
from numhlo.lowering.text.location_printer import LocationPrinter
from numhlo.lowering.text.unregistered import is_declaration

INDENT = "  "


class SymbolTable:
    """Gives every function a name of its own, and remembers the functions that have been named but not yet printed."""

    def __init__(self) -> None:
        self._names: dict[Function, str] = {}
        self._texts: dict[Function, str] = {}
        self._taken: dict[str, int] = {}
        self.functions: list[Function] = []

    def __call__(self, function: Function) -> str:
        """Return the function's name with its ``@``, choosing one at the first call."""
        found = self._texts.get(function)
        if found is None:
            found = self._texts[function] = f"@{print_name(self.name(function))}"
        return found

    def name(self, function: Function) -> str:
        """Return the function's name, choosing one at the first call."""
        found = self._names.get(function)
        return self._choose(function) if found is None else found

    def _choose(self, function: Function) -> str:
        wish = function.name or "function"
        name, count = wish, self._taken.get(wish, 0)
        while name in self._taken:
            name, count = f"{wish}_{count}", count + 1
        self._taken[wish] = count
        self._taken.setdefault(name, 0)
        self._names[function] = name
        self.functions.append(function)
        return name


class Printer:
    """Writes functions, regions and ops into one list of pieces.

    Parameters
    ----------
    generic : bool
        Write every op in the generic form.
    locations : bool
        End every op and argument with ``loc("file":line:column)``.

    Attributes
    ----------
    symbol : SymbolTable
    margin : str
        The indentation of the line being written.
    depth : int
        Number of blocks around it; 1 in a function's body.
    """

    def __init__(self, *, generic: bool = False, locations: bool = False) -> None:
        self.generic, self.locations = generic, locations
        self.symbol = SymbolTable()
        self.parts: list[str] = []
        self.write = self.parts.append
        self.margin = ""
        self.depth = 0
        self._names: dict[Value, str] = {}
        self._types: dict[Type, str] = {}
        self.places = LocationPrinter()
        self._argument_locations: dict[Value, Location] = {}
        self._results = self._arguments = self._iterates = 0

    # -- values and types

    def name(self, value: Value) -> str:
        """Return a value's name."""
        return self._names[value]

    def list_names(self, values: Iterable[Value]) -> str:
        """Return names with commas between them."""
        return ", ".join([self._names[value] for value in values])

    def type(self, type: Type) -> str:
        """Return a type's text."""
        text = self._types.get(type)
        if text is None:
            text = self._types[type] = str(type)
        return text

    def list_types(self, values: Iterable[Value]) -> str:
        """Return the values' types with commas between them."""
        return ", ".join([self.type(value.type) for value in values])

    def function_type(self, op: Op) -> str:
        """Return ``(operand types) -> result types``."""
        results = self.list_types(op.results)
        if len(op.results) != 1:
            results = f"({results})"
        return f"({self.list_types(op.operands)}) -> {results}"

    def name_results(self, op: Op) -> str:
        """Name an op's results and return what stands before its name."""
        results = op.results
        if not results:
            return self.margin
        number = self._results
        self._results += 1
        if len(results) == 1:
            self._names[results[0]] = f"%{number}"
            return f"{self.margin}%{number} = "
        for index, value in enumerate(results):
            self._names[value] = f"%{number}#{index}"
        return f"{self.margin}%{number}:{len(results)} = "

    def name_arguments(self, values: Sequence[Value]) -> None:
        """Name arguments ``%arg0``, ``%arg1``, ... in the order given."""
        for value in values:
            self._names[value] = f"%arg{self._arguments}"
            self._arguments += 1

    def name_iterates(self, groups: Sequence[Sequence[Value]]) -> None:
        """Give the k-th value of every group the same name, ``%iterArg``, ``%iterArg_0``, ..."""
        for values in zip(*groups, strict=True):
            name = f"%iterArg_{self._iterates - 1}" if self._iterates else "%iterArg"
            self._iterates += 1
            for value in values:
                self._names[value] = name

    # -- ops and regions

    def print_op(self, op: Op) -> None:
        """Write an op and the end of its line."""
        self.write(self.name_results(op))
        rule = None if self.generic else PRINT.find(op.definition)
        if rule is None:
            self.print_generic(op)
        else:
            rule(self, op)
        self.write(f"{self.location(op.location)}\n")

    def location(self, location: Location) -> str:
        """Return `` loc(...)``, or nothing where locations are not asked for; composed ones get an alias."""
        return f" loc({self.places(location)})" if self.locations else ""

    def print_generic(self, op: Op) -> None:
        """Write an op's generic form from its name on."""
        definition = op.definition
        declared = declared_attributes(definition)
        name = f"{definition.dialect}.{definition.name}" if definition.dialect else definition.name
        self.write(f"{print_string(name)}({self.list_names(op.operands)})")
        properties = self._print_declared(op, declared)
        if properties:
            self.write(f" <{{{', '.join(properties)}}}>")
        for index, region in enumerate(op.regions):
            self.write(", " if index else " (")
            self.print_region(region, op.definition.dialect)
        if op.regions:
            self.write(")")
        self.write(f"{self.dictionary(op, declared)} : {self.function_type(op)}")

    def _print_declared(self, op: Op, declared: Mapping[str, Attribute]) -> list[str]:
        parts = []
        for name, attribute in declared.items():
            value = op.attributes.get(name)
            if value is None or (is_default(value, attribute) and value in BLANK):
                continue
            text = print_attribute(attribute, value, self.symbol, op.definition.dialect)
            if text is not None:
                parts.append(text)
        return parts

    def dictionary(self, op: Op, shown: Collection[str] = ()) -> str:
        """Return `` {...}`` with every attribute that is neither ``shown`` nor its default, or nothing."""
        if not op.attributes:
            return ""
        declared = declared_attributes(op.definition)
        parts = []
        for name, value in sorted(op.attributes.items()):
            attribute = declared.get(name)
            if value is None or name in shown:
                continue
            if attribute is None:
                parts.append(print_item(name, value, self.symbol))
            elif not is_default(value, attribute):
                text = print_attribute(attribute, value, self.symbol, op.definition.dialect)
                parts.extend([] if text is None else [text])
        return f" {{{', '.join(parts)}}}" if parts else ""

    def print_region(self, region: Region, dialect: str = "stablehlo") -> None:
        """Write a region as the generic form has it: ``{``, a label with the arguments, the body, ``}``."""
        terminator = "sdy.return" if dialect == "sdy" else "stablehlo.return"
        with self.scope():
            self.name_arguments(region.arguments)
            arguments = self.list_arguments(region.arguments)
            self.print_block(region, f"{self.margin}^bb0({arguments}):\n" if arguments else "", terminator)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Free the names given inside for use afterwards."""
        counters = self._results, self._arguments, self._iterates
        yield
        self._results, self._arguments, self._iterates = counters

    def list_arguments(self, values: Iterable[Value]) -> str:
        """Return ``%name: type`` with commas between them."""
        return ", ".join([f"{self._names[v]}: {self.type(v.type)}{self.argument_location(v)}" for v in values])

    def argument_location(self, value: Value) -> str:
        """Return `` loc(...)`` of an argument, as text gave it."""
        region = value.owner
        if not self.locations or not isinstance(region, Region) or not region.argument_locations:
            return self.location(UNKNOWN)
        if value not in self._argument_locations:
            self._argument_locations.update(zip(region.arguments, region.argument_locations, strict=True))
        return self.location(self._argument_locations[value])

    def print_block(self, region: Region, label: str = "", terminator: str = "stablehlo.return") -> None:
        """Write ``{``, ``label``, ops, the terminator and ``}``."""
        counters = self._results, self._arguments, self._iterates
        outer, self.margin = self.margin, self.margin + INDENT
        self.depth += 1
        self.write("{\n" + label)
        for op in region.ops:
            self.print_op(op)
        self.print_return(region.returns, terminator, region.return_location)
        self.depth -= 1
        self.margin = outer
        self.write(f"{outer}}}")
        self._results, self._arguments, self._iterates = counters

    def print_return(self, values: Sequence[Value], terminator: str, location: Location) -> None:
        """Write the line that ends a region."""
        names, types = self.list_names(values), self.list_types(values)
        if self.generic:
            full_name = "func.return" if terminator == "return" else terminator
            text = f'"{full_name}"({names}) : ({types}) -> ()'
        else:
            text = f"{terminator} {names} : {types}" if values else terminator
        self.write(f"{self.margin}{text}{self.location(location)}\n")

    # -- functions and modules

    def print_function(self, function: Function, visibility: str) -> None:
        """Write a function and the end of its line."""
        self._results = self._arguments = self._iterates = 0
        word = f"{visibility} " if visibility else ""
        self.name_arguments(function.body.arguments)
        declared = is_declaration(function)
        arguments = self._print_signature(function.body.arguments, function.argument_attributes, named=not declared)
        self.write(f"{self.margin}func.func {word}{self.symbol(function)}({arguments})")
        if function.body.returns:
            results = self._print_signature(function.body.returns, function.result_attributes, named=False)
            bare = len(function.body.returns) == 1 and not any(function.result_attributes)
            self.write(f" -> {results}" if bare else f" -> ({results})")
        if function.attributes:
            self.write(f" attributes {print_dictionary(function.attributes.items(), self.symbol)}")
        if not declared:
            self.write(" ")
            self.print_block(function.body, terminator="return")
        self.write(f"{self.location(function.location)}\n")

    def _print_signature(self, values: Sequence[Value], attributes: Sequence[Mapping[str, Any]], *, named: bool) -> str:
        parts = []
        for index, value in enumerate(values):
            text = f"{self._names[value]}: {self.type(value.type)}" if named else self.type(value.type)
            if index < len(attributes) and attributes[index]:
                text += f" {print_dictionary(attributes[index].items(), self.symbol)}"
            text += self.argument_location(value) if named else ""
            parts.append(text)
        return ", ".join(parts)

    def print_module(self, module: Module) -> None:
        """Write a module: main first, then the other functions in order of first mention, and the modules inside."""
        outer, self.symbol = self.margin, SymbolTable()
        name = f" @{print_name(module.name)}" if module.name else ""
        items = [(key, value) for key, value in module.attributes.items() if key != PREAMBLE]
        attributes = f" attributes {print_dictionary(items, self.symbol)}" if items else ""
        self.write(f"{outer}module{name}{attributes} {{\n")
        self.margin = outer + INDENT
        for line in module.attributes.get(PREAMBLE, ()):
            self.write(f"{self.margin}{line}{self.location(line.location)}\n")
        self._print_functions(module)
        for inner in module.modules:
            self.print_module(inner)
        self.margin = outer
        self.write(f"{outer}}}{self.location(module.location)}\n")

    def _print_functions(self, module: Module) -> None:
        inside = {function for inner in module.modules for function in inner.functions}
        functions = [function for function in module.functions if function not in inside]
        main = module.main if functions else None
        may_be_hidden = self.margin == INDENT and not module.modules  # these come last, where they may have come first
        for function in [*([] if main is None or main in inside else [main]), *functions]:
            self.symbol(function)
        for function in self.symbol.functions:  # grows as callees are named
            is_hidden = function is main and may_be_hidden and function.visibility == "private"
            is_shown = is_hidden and not is_declaration(function)
            self.print_function(function, "public" if is_shown else function.visibility)


PREAMBLE = "numhlo.preamble"
"""The module attribute that holds lines of other dialects, kept as text and printed before the functions."""

BLANK: tuple[Any, ...] = ("", (), {})
"""Values that the generic form leaves out where they are an attribute's default."""


def is_default(value: Any, attribute: Attribute) -> bool:
    """Return whether a value is the one that an absent attribute stands for."""
    default = attribute.default
    return type(value) is type(default) and not isinstance(value, np.ndarray) and bool(value == default)


def declared_attributes(definition: Primitive) -> dict[str, Attribute]:
    """Return a definition's attributes by name, sorted."""
    return _sorted_attributes(definition) if definition.attributes else {}


@cache  # of numhlo's own definitions: those of unknown ops, of which texts may name any number, have no attributes
def _sorted_attributes(definition: Primitive) -> dict[str, Attribute]:
    return {a.name: a for a in sorted(definition.attributes, key=lambda a: a.name)}


def print_module(module: Module, *, generic: bool = False, locations: bool = False) -> str:
    """Return a module as StableHLO text.

    Parameters
    ----------
    module : Module
    generic : bool
        Write every op in the generic form, which spells out all operands, attributes and types.
    locations : bool
        End every op with its place in the source.

    Examples
    --------
    >>> print(print_module(Module([Function("main")])))
    module {
      func.func public @main() {
        return
      }
    }
    """
    printer = Printer(generic=generic, locations=locations)
    printer.print_module(module)
    printer.parts += printer.places.definitions()
    return "".join(printer.parts)


def print_function(function: Function, *, locations: bool = False) -> str:
    """Return one function as StableHLO text, without the functions that it calls; see `print_module`."""
    printer = Printer(locations=locations)
    printer.print_function(function, function.visibility)
    printer.parts += printer.places.definitions()
    return "".join(printer.parts)
