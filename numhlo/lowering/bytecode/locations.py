"""Decoding locations: files and lines, names, call sites, fusions; chains of them are hundreds deep, so no recursion.

Each is decoded once, when an op that is there is built, into what text of it gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from numhlo.lowering.bytecode.container import Container
from numhlo.lowering.bytecode.cursor import ByteCursor, MalformedError
from numhlo.lowering.bytecode.decoder import Decoder, attribute_code
from numhlo.lowering.ir import UNKNOWN, Location, WrittenLocation
from numhlo.lowering.text.attribute_printer import print_name, print_string, print_value
from numhlo.lowering.text.foreign import ForeignAttribute

CALL_SITE, FILE, FUSED, FUSED_WITH, NAMED, NOWHERE, RANGE = 10, 11, 12, 13, 14, 15, 22
"""Codes of the dialect builtin for locations."""


class _Parts(NamedTuple):
    """What a location is made of: text, and between it other locations by number."""

    texts: Sequence[str]
    numbers: Sequence[int]
    place: Location | None = None
    """Where it is in a file by itself."""


class LocationDecoder:
    """Decodes locations by the number of their attribute."""

    def __init__(self, container: Container, decoder: Decoder) -> None:
        self._container, self._decoder = container, decoder
        self._found: dict[int, Location] = {}

    def __call__(self, number: int) -> Location:
        """Return the location that an attribute is."""
        found = self._found.get(number)
        return self._decode(number) if found is None else found

    def _decode(self, root: int) -> Location:
        path: dict[int, _Parts] = {root: self._read(root)}
        while path:
            number = next(reversed(path))
            parts = path[number]
            inner = next((k for k in parts.numbers if k not in self._found), None)
            if inner is None:
                del path[number]
                self._found[number] = self._build(parts)
            elif inner in path:
                self._fail("a location leads to itself", inner)
            else:
                path[inner] = self._read(inner)
        return self._found[root]

    def _fail(self, what: str, number: int) -> None:
        entries = self._container.attributes
        raise MalformedError(what, "attributes and types", entries[number].start if number < len(entries) else -1)

    def _read(self, number: int) -> _Parts:
        entries = self._container.attributes
        if number >= len(entries):
            self._fail(f"there is no attribute {number}, the file has {len(entries)}", number)
        entry = entries[number]
        cursor = ByteCursor(self._container.data, entry.start, entry.end, "attributes and types")
        if entry.dialect != "builtin" or not entry.is_custom:
            return _Parts([self._text(cursor, entry.is_custom)], [])
        code = cursor.number()
        if code == NOWHERE:
            return _Parts([], [], UNKNOWN)
        if code == FILE:
            name = self._decoder.read_string(cursor)
            return _Parts([], [], Location(None, cursor.number(), name, cursor.number()))
        if code == RANGE:
            return self._range(cursor)
        if code == NAMED:
            return self._named(cursor)
        if code == CALL_SITE:
            return _Parts(["callsite(", " at ", ")"], [cursor.number(), cursor.number()])
        if code in {FUSED, FUSED_WITH}:
            return self._fused(cursor, code)
        return cursor.fail(f"attribute {code} of the dialect builtin is no location")

    def _text(self, cursor: ByteCursor, is_custom: bool) -> str:
        if is_custom:
            cursor.fail("a location of another dialect than builtin is not known")
        text = cursor.terminated().decode("utf-8", "replace")
        return text.removeprefix("loc(").removesuffix(")") if text.startswith("loc(") else cursor.fail("no location")

    def _named(self, cursor: ByteCursor) -> _Parts:
        name, child = print_string(self._decoder.read_string(cursor)), cursor.number()
        entry = self._container.attributes[child] if child < len(self._container.attributes) else None
        is_alone = entry is not None and entry.is_custom and self._container.data[entry.start] >> 1 == NOWHERE
        return _Parts([name], []) if is_alone else _Parts([f"{name}(", ")"], [child])

    def _fused(self, cursor: ByteCursor, code: int) -> _Parts:
        numbers = cursor.numbers()
        head = "fused["
        if code == FUSED_WITH:
            metadata = self._decoder.read_attribute(cursor)
            head = f"fused<{print_value(metadata, lambda function: f'@{print_name(function.name)}')}>["
        return _Parts([head, *[", "] * (len(numbers) - 1), "]"] if numbers else [f"{head}]"], numbers)

    def _range(self, cursor: ByteCursor) -> _Parts:
        """Read a file and up to four numbers: a line, its column, the last line unless it is the same, its column."""
        name, numbers = self._decoder.read_string(cursor), cursor.numbers()
        line, column = [*numbers, 0, 0][:2]
        place = Location(None, line, name, column)
        if len(numbers) < 3:
            return _Parts([], [], place)
        rest = f" to {numbers[2] if len(numbers) == 4 else ''}:{numbers[-1]}"
        return _Parts([f"{print_string(name)}:{line}:{column}{rest}"], [], place)

    def _build(self, parts: _Parts) -> Location:
        if not parts.texts:
            return parts.place or UNKNOWN
        mixed: list[str | Location] = []
        for k, text in enumerate(parts.texts):
            mixed.append(text)
            mixed += [self._found[parts.numbers[k]]] if k < len(parts.numbers) else []
        written = WrittenLocation(None, 0, "<bytecode>", 0, parts=tuple(mixed))
        if parts.place is None:
            written.take_place()
        else:
            written.be_at(parts.place)
        return written


def _as_attribute(decoder: Decoder, cursor: ByteCursor) -> ForeignAttribute:
    """Refuse a location where a value is expected."""
    return cursor.fail("a location stands where a value is expected")


for _code in (CALL_SITE, FILE, FUSED, FUSED_WITH, NAMED, NOWHERE, RANGE):
    attribute_code("builtin", _code)(_as_attribute)
