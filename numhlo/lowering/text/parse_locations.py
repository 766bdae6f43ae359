"""Reading locations: ``loc("file.py":12:5)``, and what leads to one by names, call sites, fusions and aliases.

Each is kept as it was written, and printed back; messages show the first place in a file that it leads to. Call stacks
are chains of aliases, hundreds deep, so an alias is read when the text has come to its end, and no chain is followed by
recursion.
"""

from __future__ import annotations

from collections.abc import Iterator

from numhlo.lowering.ir import UNKNOWN, Location, WrittenLocation
from numhlo.lowering.text.attribute_printer import print_name, print_string, print_value
from numhlo.lowering.text.parse_attributes import AttributeParser


class LocationParser(AttributeParser):
    """Reads locations at the cursor; those with several parts are complete after `settle_locations`."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self._places: dict[str, WrittenLocation] = {}
        self._written: list[WrittenLocation] = []
        self._used: list[str] = []

    def parse_location(self) -> Location:
        """Read ``loc(...)``."""
        self.expect("loc", "(")
        place = self._parse_place()
        self.expect(")")
        return place

    def _parse_place(self) -> Location:
        """Read what stands between the brackets."""
        self.enter()
        token = self.token
        if token[:1] == '"':
            place = self._parse_named()
        elif token[:1] == "#":
            place = self._parse_place_alias()
        elif token == "loc":
            place = self.parse_location()
        elif token == "callsite":
            place = self._parse_call_site()
        elif token == "fused":
            place = self._parse_fused()
        elif self.accept("unknown"):
            place = UNKNOWN
        else:
            raise self.error('a place: "file":line:column, "name", callsite, fused or unknown')
        self.depth -= 1
        return place

    def parse_location_of(self, owner: Location) -> Location:
        """Read ``loc(...)`` of an op or a function that stands at a place in this text, unless there is none."""
        if self.tokens[self.index] != "loc":
            return owner
        parts = (self.parse_location(),)
        written = WrittenLocation(None, owner.offset, self.name, owner.column, parts=parts, owner=owner)
        self._written.append(written)
        return written

    def _write(self, index: int, *parts: str | Location) -> WrittenLocation:
        """Return a location of these parts; until a part of it is known to be in a file, its place is in this text."""
        line, column = self.position(index)
        written = WrittenLocation(None, line, self.name, column, parts=parts)
        self._written.append(written)
        return written

    def _parse_named(self) -> Location:
        """Read ``"file":line:column``, perhaps with `` to line:column``, or ``"name"``, perhaps with ``(place)``."""
        index, name = self.index, self.parse_string()
        if self.accept("("):
            place = self._parse_place()
            self.expect(")")
            return self._write(index, f"{print_string(name)}(", place, ")")
        if not self.accept(":"):
            return self._write(index, print_string(name))
        return self._parse_lines(index, name)

    def _parse_lines(self, index: int, name: str) -> Location:
        """Read ``line:column to line:column``, of which the line alone must be there."""
        first = self.index
        line = self.parse_integer()
        if not self.accept(":"):
            return Location(None, line, name, 0)
        column = self.parse_integer()
        if not self.accept("to"):
            return Location(None, line, name, column)
        last = self.parse_integer() if self.token != ":" else line
        if last == line or self.token == ":":
            self.expect(":")
            self.parse_integer()
        text = "".join([f" {token} " if token == "to" else token for token in self.tokens[first : self.index]])
        written = self._write(index, f"{print_string(name)}:{text}")
        written.be_at(Location(None, line, name, column))
        return written

    def _parse_place_alias(self) -> Location:
        name = self.token
        if name not in self.aliases:
            raise self.complaint(f"location alias {name} is not defined")
        if name not in self._places:
            self._places[name] = self._write(self.aliases[name])
            self._used.append(name)
        self.advance()
        return self._places[name]

    def _parse_call_site(self) -> Location:
        index = self.index
        self.expect("callsite", "(")
        callee = self._parse_place()
        self.expect("at")
        caller = self._parse_place()
        self.expect(")")
        return self._write(index, "callsite(", callee, " at ", caller, ")")

    def _parse_fused(self) -> Location:
        index = self.index
        self.expect("fused")
        parts: list[str | Location] = ["fused["]
        if self.accept("<"):
            metadata = print_value(self.parse_attribute(), lambda function: f"@{print_name(function.name)}")
            self.expect(">")
            parts = [f"fused<{metadata}>["]
        for number, place in enumerate(self.parse_list(self._parse_place)):
            parts += [", ", place] if number else [place]
        return self._write(index, *parts, "]")

    # -- when the whole text has been read

    def settle_locations(self) -> None:
        """Read the aliases in use, and find the place that every location leads to."""
        behind = self.index
        for name in self._used:  # grows as aliases name others
            self.index = self.aliases[name]
            self._places[name].parts = (self.parse_location(),)
        self.index = behind
        settled: set[WrittenLocation] = set()
        for location in self._written:
            self._settle(location, settled)

    def _settle(self, root: WrittenLocation, settled: set[WrittenLocation]) -> None:
        """Give a location, and before it all that it is made of, the place of its first part that has one."""
        path: dict[WrittenLocation, Iterator[Location]] = {} if root in settled else {root: root.places()}
        while path:
            location = next(reversed(path))
            part = next(path[location], None)
            if part is None:
                del path[location]
                settled.add(location)
                location.take_place()
            elif isinstance(part, WrittenLocation) and part in path:
                name = next(name for name, place in self._places.items() if place in path)
                raise self.complaint(f"location alias {name} leads to itself", self.aliases[name])
            elif isinstance(part, WrittenLocation) and part not in settled:
                path[part] = part.places()
