"""Reading ops, regions and functions: the generic form of any op, and through the table `PARSE` each op's pretty form.

Operands must be defined before they are used; their types must be those that the op's text gives. Whether the op obeys
the specification is not asked here: that is what verifying a module is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np

from numhlo.lowering.ir import UNKNOWN, Function, Location, Op, Region, Type, Value
from numhlo.lowering.ir.errors import ParseError
from numhlo.lowering.ops.primitive import MISSING, PRIMITIVES, Primitive
from numhlo.lowering.text.form_tables import PARSE, TRANSLATIONS, ParseRule
from numhlo.lowering.text.parse_locations import LocationParser
from numhlo.lowering.text.shape_meanings import stands_for
from numhlo.lowering.text.unregistered import Unregistered, find_definition, unregistered

FUNCTION_RETURNS = frozenset({"return", "func.return", '"func.return"', '"return"'})
REGION_RETURNS = frozenset(f"{q}{dialect}.return{q}" for dialect in ("stablehlo", "mhlo", "sdy") for q in ("", '"'))
RETURNS = FUNCTION_RETURNS | REGION_RETURNS
"""What ends a function: computations of custom calls end as regions do."""
_LONGEST_NAME = 80


@cache
def arity(names: tuple[str, ...]) -> tuple[int, bool]:
    """Return how many operands (or regions) ``names`` stand for at least, and whether there may be more.

    Examples
    --------
    >>> arity(("lhs", "rhs")), arity(("*inputs", "indices"))
    ((2, False), (1, True))
    """
    starred = sum(name.startswith("*") for name in names)
    return len(names) - starred, starred > 0


def fits_in_32_bits(number: int) -> bool:
    """Return whether an integer of 32 bits with a sign can have a value.

    Examples
    --------
    >>> fits_in_32_bits(2**31 - 1), fits_in_32_bits(2**31)
    (True, False)
    """
    return -(1 << 31) <= number < 1 << 31


class Parser(LocationParser):
    """Reads ops at the cursor; values are found by name in the scopes around it.

    Attributes
    ----------
    ops : list of Op
        Those read so far of the innermost region.
    standing : set of Value
        Values that stand for others, whose types the text spells in another way: see `shape_meanings`.
    """

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self._values: dict[str, Value] = {}
        self._groups: dict[str, int] = {}
        self._defined: list[str] = []
        self._rules: dict[str, tuple[Primitive, ParseRule | None]] = {}
        self._op_name = 0
        self.ops: list[Op] = []
        self.standing: set[Value] = set()
        self._argument_locations: dict[str, Location] = {}

    # -- values

    def parse_value_name(self) -> str:
        """Read the name of a value that is being defined."""
        token = self.token
        if token[:1] != "%" or len(token) < 2 or "#" in token:
            raise self.error("a value's name, such as %0")
        self.index += 1
        return token

    def define(self, name: str, values: Sequence[Value], index: int) -> None:
        """Give values a name; a group of other than one is reached as ``%name#k``."""
        if name in self._values or name in self._groups:
            raise self.complaint(f"{name} is defined twice", index)
        self._defined.append(name)
        if len(values) == 1:
            self._values[name] = values[0]
            return
        self._groups[name] = len(values)
        for number, value in enumerate(values):
            self._values[f"{name}#{number}"] = value

    def parse_operand(self) -> Value:
        """Read the use of a value."""
        token = self.tokens[self.index]
        value = self._values.get(token)
        if value is None:
            value = self._find_value(token)
        self.index += 1
        return value

    def _find_value(self, token: str) -> Value:
        name, _, number = token.partition("#")
        if token[:1] != "%":
            raise self.error("a value, such as %0")
        if number == "0" and name in self._values:
            return self._values[name]
        if name in self._groups:
            raise self.complaint(f"{name} is {self._groups[name]} values: write {name}#0 and so on")
        if name in self._values:
            raise self.complaint(f"{name} is one value: write {name}")
        raise self.complaint(f"{name} is not defined here")

    def parse_operands(self) -> list[Value]:
        """Read values with commas between them, as long as there are any."""
        values: list[Value] = []
        while self.tokens[self.index][:1] == "%":
            values.append(self.parse_operand())
            if self.tokens[self.index] != "," or self.tokens[self.index + 1][:1] != "%":
                break
            self.index += 1
        return values

    def parse_call_operands(self) -> list[Value]:
        """Read ``(%0, %1)``."""
        self.expect("(")
        operands = self.parse_operands()
        self.expect(")")
        return operands

    # -- types of operands and results

    def check_types(self, operands: Sequence[Value], types: Sequence[Type], index: int | None = None) -> list[Type]:
        """Require that operands have these types, and return the types."""
        index = self.index if index is None else index
        if len(operands) != len(types):
            raise self.complaint(f"{len(types)} types for {len(operands)} operands", index)
        for number, (value, type) in enumerate(zip(operands, types, strict=True)):
            if value.type is type or value.type == type:
                continue
            if value not in self.standing or not stands_for(value, type):
                raise self.complaint(f"operand {number} is of type {value.type}, not {type}", index)
        return list(types)

    def parse_signature(self, operands: Sequence[Value]) -> list[Type]:
        """Read ``: (operand types) -> result types`` and return the result types."""
        self.expect(":")
        first = self.index
        types = self.parse_types()
        self.check_types(operands, types, first)
        self.expect("->")
        return self.parse_types() if self.tokens[self.index] == "(" else [self.parse_type()]

    def parse_same_signature(self, operands: Sequence[Value]) -> list[Type]:
        """Read ``: type``, which is the type of all operands and the result, or a function type."""
        if self.at(":", "("):
            return self.parse_signature(operands)
        self.expect(":")
        first = self.index
        type = self.parse_type()
        for value in operands:
            if value.type is not type and value.type != type:
                self.check_types(operands, [type] * len(operands), first)
        return [type]

    def parse_result_signature(self, operands: Sequence[Value]) -> list[Type]:
        """Read ``: type``, which is the result's, or a function type."""
        if self.at(":", "("):
            return self.parse_signature(operands)
        self.expect(":")
        return [self.parse_type()]

    def parse_type_list(self, operands: Sequence[Value]) -> list[Type]:
        """Read the operands' types with commas between them."""
        first = self.index
        types = [self.parse_type()]
        while self.accept(","):
            types.append(self.parse_type())
        return self.check_types(operands, types, first)

    # -- ops

    def parse_op(self) -> None:
        """Read an op, append it, and name its results."""
        first = self.index
        names = self._parse_result_names() if self.tokens[first][:1] == "%" else []
        name, around, self._op_name = self.index, self._op_name, self.index
        if self.tokens[name] in TRANSLATIONS:
            results = self._translate(self.tokens[name])
        else:
            op = self._parse_body_of_op(self.tokens[name])
            op.location = self.parse_location_of(self.location(name))
            results = op.results
            self.ops.append(op)
        self._op_name = around
        self._name_results(names, results, first)

    def _translate(self, token: str) -> Sequence[Value]:
        count, place = len(self.ops), self.location()
        results = TRANSLATIONS[token](self)
        place = self.parse_location_of(place)
        for op in self.ops[count:]:
            if op.location is UNKNOWN:
                op.location = place
        return results

    def _parse_body_of_op(self, token: str) -> Op:
        if token[:1] == '"':
            definition = find_definition(self.parse_string())
            return self.parse_generic_rest(definition)
        found = self._rules.get(token)
        if found is None:
            definition = find_definition(token)
            found = self._rules[token] = definition, PARSE.find(definition)
        definition, rule = found
        if rule is None:
            raise self._unknown_form(token)
        self.index += 1
        return rule(self, definition)

    def _unknown_form(self, token: str) -> ParseError:
        if token[:1].isalpha() and "." in token:
            known = [f"{d.dialect}.{d.name}" for d in PRIMITIVES.values() if PARSE.find(d) is not None]
            near = get_close_matches(token[:_LONGEST_NAME], known, 1)
            hint = f"; did you mean {near[0]}?" if near else "; only the generic form, in quotes, can be read of it"
            return self.complaint(f"{token} is not an op with a form of its own{hint}")
        return self.error("an op")

    def _parse_result_names(self) -> list[tuple[str, int, int]]:
        """Read ``%a, %b:2 =`` into names, numbers of values and places."""
        names = []
        while True:
            index, name = self.index, self.parse_value_name()
            names.append((name, self.parse_integer() if self.accept(":") else 1, index))
            if not self.accept(","):
                break
        self.expect("=")
        return names

    def _name_results(self, names: list[tuple[str, int, int]], results: Sequence[Value], index: int) -> None:
        total = sum(count for _, count, _ in names)
        if total != len(results) or any(count < 1 for _, count, _ in names):
            if names:
                raise self.complaint(f"names for {total} results of an op that has {len(results)}", index)
            return
        start = 0
        for name, count, place in names:
            self.define(name, results[start : start + count], place)
            start += count

    def make(
        self,
        definition: Primitive,
        operands: Sequence[Value],
        attributes: dict[str, Any],
        results: Sequence[Type],
        regions: Sequence[Region] = (),
    ) -> Op:
        """Return an op; absent attributes get their defaults."""
        self._check_count(definition, definition.operands, operands, "operands")
        self._check_count(definition, definition.regions, regions, "regions")
        for attribute in definition.attributes:
            if attribute.default is MISSING and attribute.name not in attributes:
                raise self.complaint(f"{definition.name} needs the attribute {attribute.name}", self._op_name)
            if attribute.kind == "i32" and not fits_in_32_bits(attributes.get(attribute.name, 0)):
                raise self.complaint(f"{attribute.name} of {definition.name} takes 32 bits", self._op_name)
        return Op(definition, operands, {**definition.defaults, **attributes}, regions, results)

    def _check_count(self, definition: Primitive, names: tuple[str, ...], given: Sequence[object], kind: str) -> None:
        least, more = arity(names)
        if len(given) < least or (len(given) > least and not more):
            wanted = f"at least {least}" if more else str(least)
            raise self.complaint(f"{definition.name} takes {wanted} {kind}, not {len(given)}", self._op_name)

    def parse_generic_rest(self, definition: Primitive) -> Op:
        """Read an op's generic form from behind its name."""
        operands = self.parse_call_operands()
        attributes: dict[str, Any] = {}
        if self.accept("<"):
            if not self.at("{"):
                raise self.error("'{'")
            first = self.index
            attributes = self.parse_attributes(definition)
            if attributes and not definition.attributes and not isinstance(definition, Unregistered):
                raise self.complaint(
                    f"{definition.name} has no properties; attributes that it may carry need no <>", first
                )
            self.expect(">")
        regions: list[Region] = []
        if self.accept("("):
            regions.append(self.parse_region())
            while self.accept(","):
                regions.append(self.parse_region())
            self.expect(")")
        attributes.update(self.parse_attributes(definition))
        return self.make(definition, operands, attributes, self.parse_signature(operands), regions)

    def parse_function_reference(self) -> Function:
        """Read ``@name`` of a function that the text defines."""
        index, name = self.index, self.parse_symbol()
        if name not in self.functions:
            raise self.complaint(f"function @{name} is not defined in this text", index)
        return self.functions[name]

    def find_global(self, name: str, index: int) -> np.ndarray:
        """Return the value of a variable that the text defines; ``index`` is where it is loaded."""
        raise self.complaint(f"variable @{name} is not defined in this text", index)

    # -- regions

    def parse_arguments(self) -> list[tuple[str, Type]]:
        """Read ``(%a: type, %b: type)``."""
        arguments: list[tuple[str, Type]] = []
        self.expect("(")
        while not self.accept(")"):
            if arguments:
                self.expect(",")
            name = self.parse_value_name()
            self.expect(":")
            arguments.append((name, self.parse_type()))
            self.parse_argument_location(name)
        return arguments

    def parse_argument_location(self, name: str) -> None:
        """Read ``loc(...)``, if it is there, and keep it for the region that the argument will be of."""
        if self.at("loc"):
            self._argument_locations[name] = self.parse_location()

    def parse_region(self, arguments: Sequence[tuple[str, Type]] | None = None) -> Region:
        """Read ``{ ops, return }``.

        Parameters
        ----------
        arguments : sequence of (str, Type), optional
            Where the op's form has named them already; otherwise a label may.
        """
        self.enter()
        scope = len(self._defined)
        self.expect("{")
        if arguments is None and self.token[:1] == "^":
            arguments = self.parse_label()
        region = Region()
        self.fill(region, arguments or (), REGION_RETURNS)
        self.expect("}")
        self.forget(scope)
        self.depth -= 1
        return region

    def parse_label(self) -> list[tuple[str, Type]]:
        """Read ``^bb0(%a: type):``."""
        self.advance()
        arguments = self.parse_arguments() if self.at("(") else []
        self.expect(":")
        return arguments

    def fill(self, region: Region, arguments: Sequence[tuple[str, Type]], terminators: frozenset[str]) -> None:
        """Read a region's ops and what it returns."""
        for name, type in arguments:
            self.define(name, [region.add_argument(type)], self.index)
        if self._argument_locations:
            region.argument_locations = [self._argument_locations.pop(name, UNKNOWN) for name, _ in arguments]
        around, self.ops = self.ops, region.ops
        region.returns.extend(self._parse_ops(terminators))
        self.ops = around
        if self.at("loc"):
            region.return_location = self.parse_location()

    def _parse_ops(self, terminators: frozenset[str]) -> list[Value]:
        """Read ops up to the one that ends them, and return what that returns."""
        while (token := self.tokens[self.index]) not in terminators:
            if token in {"}", ""} or token[0] == "^":
                raise self.error("an op or a return" if token[:1] != "^" else "one block in a region")
            if token in FUNCTION_RETURNS:
                raise self.error("another return: regions end with stablehlo.return, functions with return")
            self.parse_op()
        return self._parse_return()

    def parse_inlined(self, terminator: str) -> list[Value]:
        """Read ``{ ops, terminator }`` as ops of the region around, and return what the terminator does."""
        self.enter()
        scope = len(self._defined)
        self.expect("{")
        if self.token[:1] == "^":
            self.parse_label()
        values = self._parse_ops(frozenset({terminator, f'"{terminator}"'}))
        if self.at("loc"):
            self.parse_location()
        self.expect("}")
        self.forget(scope)
        self.depth -= 1
        return values

    def _parse_return(self) -> list[Value]:
        if self.advance()[0] == '"':
            values = self.parse_call_operands()
            if self.accept("<"):
                self.parse_dictionary()
                self.expect(">")
            self.parse_attributes(unregistered("return"))
            self.parse_signature(values)
        else:
            values = self.parse_operands()
            self.parse_attributes(unregistered("return"))
            if values:
                self.expect(":")
                self.parse_type_list(values)
        return values

    def forget(self, scope: int) -> None:
        """Drop the names that were defined since ``_defined`` had length ``scope``."""
        for name in self._defined[scope:]:
            for number in range(self._groups.pop(name, 0)):
                del self._values[f"{name}#{number}"]
            self._values.pop(name, None)
        del self._defined[scope:]
