"""Locations as they are written. Chains of call sites are hundreds deep, and share their ends: no recursion here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from numhlo.lowering.bytecode.attribute_encoder import AttributeEncoder
from numhlo.lowering.bytecode.locations import CALL_SITE, FILE, FUSED, FUSED_WITH, NAMED, NOWHERE, RANGE
from numhlo.lowering.bytecode.tables import ATTRIBUTE, NUMBER, Field, Node, Tables
from numhlo.lowering.bytecode.vhlo_table import Version
from numhlo.lowering.ir import UNKNOWN, Location, WrittenLocation
from numhlo.lowering.text.parse_attributes import AttributeParser

RANGES: Version = (1, 9, 0)
"""The first version of StableHLO whose MLIR has ranges in files."""

_RANGE = re.compile(r'("(?:[^"\\]|\\.)*"):(\d+):(\d+) to (?:(\d+))?:(\d+)\Z', re.DOTALL)


class LocationEncoder:
    """Makes nodes of locations."""

    def __init__(self, tables: Tables, attributes: AttributeEncoder, target: Version) -> None:
        self._tables, self._attributes, self._target = tables, attributes, target
        self._found: dict[Location, int] = {}

    def __call__(self, location: Location) -> int:
        """Return the first number of a location."""
        found = self._found.get(location)
        if found is not None:
            return found
        path: dict[Location, Iterator[Location]] = {location: _inner(location)}
        while path:
            place = next(reversed(path))
            part = next(path[place], None)
            if part is None:
                del path[place]
                self._found[place] = self._encode(place)
            elif part not in self._found and part not in path:
                path[part] = _inner(part)
        return self._found[location]

    def _node(self, code: int, *fields: Field) -> int:
        return self._tables.attribute(Node("builtin", code, fields))

    def _string(self, text: str) -> Field:
        return ATTRIBUTE, self._attributes.plain_string(text)

    def _encode(self, location: Location) -> int:
        if isinstance(location, WrittenLocation):
            return self._written(location)
        if location is UNKNOWN or not location.filename:
            return self._node(NOWHERE)
        place = self._node(FILE, self._string(location.filename), (NUMBER, location.line), (NUMBER, location.column))
        return self._node(NAMED, self._string(location.scope), (ATTRIBUTE, place)) if location.scope else place

    def _written(self, location: WrittenLocation) -> int:
        """Return the first number of a location of several parts, by the text of the first."""
        children: list[Field] = [(ATTRIBUTE, self._found[part]) for part in location.places()]
        head = next((part for part in location.parts if isinstance(part, str)), "")
        if not head and len(children) == 1:
            return int(children[0][1])
        if head.startswith("callsite("):
            return self._node(CALL_SITE, *children)
        if head.startswith("fused<"):
            metadata = self._attributes.builtin(_attribute(head.removeprefix("fused<").rpartition(">[")[0]))
            return self._node(FUSED_WITH, (NUMBER, len(children)), *children, (ATTRIBUTE, metadata))
        if head.startswith("fused["):
            return self._node(FUSED, (NUMBER, len(children)), *children)
        return self._named(head, children)

    def _named(self, head: str, children: list[Field]) -> int:
        """Return the first number of a name with or without a location, or of a range in a file."""
        span = _RANGE.match(head)
        if span is not None:
            return self._range(_attribute(span[1]), [int(n) for n in span.groups()[1:] if n is not None])
        name = _attribute(head.removesuffix("("))
        child = children[0] if children else (ATTRIBUTE, self._node(NOWHERE))
        return self._node(NAMED, self._string(name), child)

    def _range(self, name: str, numbers: list[int]) -> int:
        """Return the first number of a range in a file; of its beginning where older versions are to read it."""
        if self._target < RANGES:
            return self._node(FILE, self._string(name), (NUMBER, numbers[0]), (NUMBER, numbers[1]))
        return self._node(RANGE, self._string(name), (NUMBER, len(numbers)), *[(NUMBER, n) for n in numbers])


def _inner(location: Location) -> Iterator[Location]:
    return location.places() if isinstance(location, WrittenLocation) else iter(())


def _attribute(text: str) -> Any:
    return AttributeParser(text, "<location>").parse_attribute()
