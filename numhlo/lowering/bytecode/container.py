"""The container of MLIR bytecode: sections, strings, dialects, and where attributes, types and resources lie.

Source: MLIR, "Bytecode Format", versions 0 to 6. Nothing is decoded here: an attribute is a range of bytes and a
dialect. What a section holds is read by the function that is named after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from numhlo.lowering.bytecode.cursor import ByteCursor, MalformedError

MAGIC = b"ML\xefR"
"""The first bytes of MLIR's binary form."""

NEWEST = 6
"""The newest version of the container that this file knows."""

DIALECT_VERSIONS, LAZY_REGIONS, USE_ORDERS, SHORT_ARGUMENTS, PROPERTIES = 1, 2, 3, 4, 5
"""Versions from which on dialects have versions, isolated regions are sections of their own, values' uses may be in
another order, locations of blocks' arguments may be left out, and ops have properties."""

SECTIONS = (
    "strings", "dialects", "attributes and types", "offsets of attributes and types", "IR", "resources",
    "offsets of resources", "dialect versions", "properties",
)  # fmt: skip
STRINGS, DIALECTS, ATTRIBUTES, ATTRIBUTE_OFFSETS, IR, RESOURCES, RESOURCE_OFFSETS, VERSIONS, PROPERTY_SECTION = range(9)
"""Sections by number."""

NEEDED = (STRINGS, DIALECTS, ATTRIBUTES, ATTRIBUTE_OFFSETS, IR)


class Encoded(NamedTuple):
    """Where the bytes of an attribute or a type lie."""

    dialect: str
    start: int
    end: int
    is_custom: bool
    """Whether the dialect has an encoding of its own for it; otherwise it is text, closed by a zero."""


class Resource(NamedTuple):
    """Where a resource lies: its dialect or ``external:`` and who provides it, its kind and its bytes."""

    group: str
    kind: int
    start: int
    end: int


@dataclass(slots=True)
class Container:
    """What a file of bytecode holds, in parts that are still bytes."""

    data: bytes
    version: int
    producer: str
    sections: dict[int, ByteCursor]
    strings: list[str] = field(default_factory=list)
    dialects: list[str] = field(default_factory=list)
    op_names: list[str] = field(default_factory=list)
    attributes: list[Encoded] = field(default_factory=list)
    types: list[Encoded] = field(default_factory=list)
    resources: dict[str, Resource] = field(default_factory=dict)
    resource_keys: list[str] = field(default_factory=list)
    properties: list[tuple[int, int]] = field(default_factory=list)

    def string(self, cursor: ByteCursor) -> str:
        """Read the number of a string, and return the string."""
        return self.strings[self._index(cursor, cursor.number(), len(self.strings), "string")]

    def _index(self, cursor: ByteCursor, number: int, size: int, kind: str) -> int:
        if number >= size:
            cursor.fail(f"there is no {kind} {number}, the file has {size}")
        return number

    def dialect(self, cursor: ByteCursor) -> str:
        """Read the number of a dialect, and return its name."""
        return self.dialects[self._index(cursor, cursor.number(), len(self.dialects), "dialect")]


def read_header(data: bytes) -> tuple[ByteCursor, int, str]:
    """Read what stands in front of the sections, and return where they begin, the version, and who wrote the file."""
    cursor = ByteCursor(data, 0, len(data), "header")
    if data[:4] != MAGIC:
        cursor.fail("bytecode begins with the bytes 4D 4C EF 52")
    cursor.skip(4)
    version = cursor.number()
    if version > NEWEST:
        cursor.fail(f"version {version} of MLIR bytecode is not known, the newest that is known is {NEWEST}")
    return cursor, version, cursor.terminated().decode("utf-8", "replace")


def read_section(cursor: ByteCursor) -> tuple[int, ByteCursor]:
    """Read a section's header, go past the section, and return its number and a cursor over what it holds."""
    head = cursor.byte()
    number = head & 0x7F
    if number >= len(SECTIONS):
        cursor.fail(f"there is no section {number}")
    length = cursor.number()
    if head & 0x80:
        cursor.align(cursor.number())
    return number, cursor.part(length, SECTIONS[number])


def read_container(data: bytes) -> Container:
    """Read the tables of a file of bytecode.

    Raises
    ------
    MalformedError
        If the bytes are no bytecode.
    """
    cursor, version, producer = read_header(data)
    sections: dict[int, ByteCursor] = {}
    while not cursor.is_at_end:
        number, part = read_section(cursor)
        if number in sections:
            raise MalformedError(f"the section of {part.section} is there twice", part.section, part.place)
        sections[number] = part
    for number in NEEDED:
        if number not in sections:
            cursor.fail(f"the section of {SECTIONS[number]} is missing")
    container = Container(data, version, producer, sections)
    container.strings = _read_strings(sections[STRINGS])
    _read_dialects(container, sections[DIALECTS])
    _read_offsets(container, sections[ATTRIBUTE_OFFSETS], sections[ATTRIBUTES])
    if RESOURCE_OFFSETS in sections:
        _read_resources(container, sections[RESOURCE_OFFSETS], sections.get(RESOURCES))
    if PROPERTY_SECTION in sections:
        container.properties = _read_properties(sections[PROPERTY_SECTION])
    return container


def _read_strings(cursor: ByteCursor) -> list[str]:
    """Read all lengths, last string first, and then the strings, each closed by a zero."""
    lengths = cursor.numbers()
    found = []
    for length in reversed(lengths):
        if length == 0:
            cursor.fail("a string's length counts the zero that closes it")
        start = cursor.skip(length)
        if cursor.data[start + length - 1]:
            cursor.fail("a string must be closed by a zero")
        found.append(cursor.data[start : start + length - 1].decode("utf-8", "surrogateescape"))
    if not cursor.is_at_end:
        cursor.fail("the strings don't fill their section")
    return found


def _read_dialects(container: Container, cursor: ByteCursor) -> None:
    """Read names of dialects, and then of ops by dialect."""
    for _ in range(cursor.count()):
        if container.version < DIALECT_VERSIONS:
            container.dialects.append(container.string(cursor))
            continue
        number, has_version = cursor.flagged()
        if number >= len(container.strings):
            cursor.fail(f"there is no string {number}")
        container.dialects.append(container.strings[number])
        if has_version:
            read_section(cursor)
    if container.version >= SHORT_ARGUMENTS:
        cursor.number()  # how many names there are in all
    while not cursor.is_at_end:
        dialect = container.dialect(cursor)
        for _ in range(cursor.count()):
            number = cursor.flagged()[0] if container.version >= PROPERTIES else cursor.number()
            if number >= len(container.strings):
                cursor.fail(f"there is no string {number}")
            container.op_names.append(f"{dialect}.{container.strings[number]}")


def _read_offsets(container: Container, cursor: ByteCursor, content: ByteCursor) -> None:
    """Read how long each attribute and each type is, by dialect: they lie end to end."""
    counts = cursor.number(), cursor.number()
    for wanted, entries in zip(counts, (container.attributes, container.types), strict=True):
        while len(entries) < wanted:
            dialect = container.dialect(cursor)
            count = cursor.count()
            if count == 0 or len(entries) + count > wanted:
                cursor.fail(f"{wanted} attributes or types are announced, not {len(entries) + count}")
            for _ in range(count):
                length, is_custom = cursor.flagged()
                start = content.skip(length)
                entries.append(Encoded(dialect, start, start + length, is_custom))


def _read_resources(container: Container, cursor: ByteCursor, content: ByteCursor | None) -> None:
    """Read where resources lie: those of whoever else provides them, and those of dialects."""
    external = cursor.number()
    number = 0
    while not cursor.is_at_end:
        group = f"external:{container.string(cursor)}" if number < external else container.dialect(cursor)
        number += 1
        for _ in range(cursor.count()):
            key, size, kind = container.string(cursor), cursor.number(), cursor.byte()
            if content is None:
                cursor.fail("there are resources, and no section of them")
            start = content.skip(size)
            if not group.startswith("external:"):
                container.resource_keys.append(key)
            container.resources[key] = Resource(group, kind, start, start + size)


def _read_properties(cursor: ByteCursor) -> list[tuple[int, int]]:
    """Read where the properties of ops lie."""
    found = []
    for _ in range(cursor.count()):
        length = cursor.number()
        start = cursor.skip(length)
        found.append((start, start + length))
    return found
