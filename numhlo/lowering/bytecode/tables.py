"""What is written: attributes, types and strings, each once, and the bytes of the file that they make with the ops.

An attribute or a type is a `Node`: its dialect, its code, and the fields that follow the code. Fields name other
nodes by the number that they got first; in the file they are grouped by dialect, those in use most often first, so
that the numbers that stand everywhere are of one byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from numhlo.lowering.bytecode.container import (
    ATTRIBUTE_OFFSETS,
    ATTRIBUTES,
    DIALECT_VERSIONS,
    DIALECTS,
    IR,
    MAGIC,
    PROPERTIES,
    PROPERTY_SECTION,
    SHORT_ARGUMENTS,
    STRINGS,
)

NUMBER, SIGNED, ATTRIBUTE, TYPE, STRING, RAW, OPTIONAL = range(7)
"""Kinds of fields: a number, one with a sign, an attribute, a type, a string, bytes, an attribute or none."""

TEXT = -1
"""The code of a node that is written as text: its only field is that."""

Field = tuple[int, int | str | bytes]
T = TypeVar("T")


class Node(NamedTuple):
    """An attribute or a type as it is written."""

    dialect: str
    code: int
    fields: tuple[Field, ...] = ()


def number(value: int) -> bytes:
    r"""Return an unsigned number of up to 64 bits in as few bytes as hold it.

    Examples
    --------
    >>> number(2), number(128).hex(), number(2**64 - 1).hex()
    (b'\x05', '0202', '00ffffffffffffffff')
    """
    if value < 0x80:
        return bytes([value << 1 | 1])
    length = (value.bit_length() + 6) // 7
    if length > 8:
        return b"\0" + value.to_bytes(8, "little")
    return ((value << 1 | 1) << length - 1).to_bytes(length, "little")


def signed(value: int) -> bytes:
    """Return a number with a sign, which becomes its lowest bit."""
    return number(value << 1 if value >= 0 else (-value << 1) - 1)


def section(kind: int, content: bytes) -> bytes:
    """Return a section: its number, its length, and what it holds."""
    return bytes([kind]) + number(len(content)) + content


class Tables:
    """Attributes, types, strings, names of ops and properties of a file that is being written.

    Parameters
    ----------
    version : int
        Of MLIR bytecode.
    producer : str
        Who writes the file.
    """

    def __init__(self, version: int, producer: str) -> None:
        self.version, self._producer = version, producer
        self.attributes: dict[Node, int] = {}
        self.types: dict[Node, int] = {}
        self._op_names: dict[str, int] = {}
        self._properties: dict[tuple[tuple[int, bool], ...], int] = {}
        self._strings: dict[str, int] = {}
        self._uses: dict[int, dict[int, int]] = {ATTRIBUTE: {}, TYPE: {}}
        self._final: dict[int, list[int]] = {}

    def attribute(self, node: Node) -> int:
        """Return the first number of an attribute."""
        return self._intern(self.attributes, ATTRIBUTE, node)

    def type(self, node: Node) -> int:
        """Return the first number of a type."""
        return self._intern(self.types, TYPE, node)

    def _intern(self, table: dict[Node, int], kind: int, node: Node) -> int:
        found = table.setdefault(node, len(table))
        uses = self._uses[kind]
        uses[found] = uses.get(found, 0) + 1
        return found

    def op_name(self, full_name: str) -> int:
        """Return the first number of an op's name."""
        return self._op_names.setdefault(full_name, len(self._op_names))

    def properties(self, members: Iterable[tuple[int, bool]]) -> int:
        """Return the number of properties: each attribute's first number, -1 for none, and if it may be absent."""
        return self._properties.setdefault(tuple(members), len(self._properties))

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    # -- the end

    def write(self, ops: Callable[[Numbers], bytes]) -> bytes:
        """Return the file.

        Parameters
        ----------
        ops : callable
            Returns the IR section, from the numbers that things have in the file.
        """
        groups = {kind: self._group(kind, table) for kind, table in ((ATTRIBUTE, self.attributes), (TYPE, self.types))}
        names = self._group_names()
        dialects = dict.fromkeys(
            ["builtin", *(node.dialect for nodes in groups.values() for node in nodes), *map(_dialect, names)]
        )
        places = {name: k for k, name in enumerate(dialects)}
        content, offsets = self._encode(groups, places)
        final = Numbers(self._final[ATTRIBUTE], self._final[TYPE], self._final_names)
        parts = [
            section(DIALECTS, self._encode_dialects(list(dialects), names, places)),
            section(ATTRIBUTES, content),
            section(ATTRIBUTE_OFFSETS, offsets),
            section(IR, ops(final)),
        ]
        if self._properties:
            parts.append(section(PROPERTY_SECTION, self._encode_properties(final)))
        parts.append(section(STRINGS, self._encode_strings()))
        head = MAGIC + number(self.version) + self._producer.encode() + b"\0"
        return head + b"".join(parts)

    def _group(self, kind: int, table: dict[Node, int]) -> list[Node]:
        """Return nodes by dialect, the most used ones first, and note their numbers in the file."""
        uses, dialects = self._uses[kind], dict.fromkeys(["builtin", *(node.dialect for node in table)])
        rank = {name: k for k, name in enumerate(dialects)}
        nodes = sorted(table, key=lambda node: (rank[node.dialect], -uses[table[node]], table[node]))
        final = self._final[kind] = [0] * len(table)
        for place, node in enumerate(nodes):
            final[table[node]] = place
        return nodes

    def _group_names(self) -> list[str]:
        dialects = dict.fromkeys(map(_dialect, self._op_names))
        rank = {name: k for k, name in enumerate(dialects)}
        names = sorted(self._op_names, key=lambda name: rank[_dialect(name)])
        self._final_names = [0] * len(names)
        for place, name in enumerate(names):
            self._final_names[self._op_names[name]] = place
        return names

    def _encode(self, groups: dict[int, list[Node]], places: dict[str, int]) -> tuple[bytes, bytes]:
        """Return the sections of attributes and types, and of how long each is."""
        content: list[bytes] = []
        offsets = [number(len(groups[ATTRIBUTE])), number(len(groups[TYPE]))]
        for nodes in groups.values():
            for dialect, members in _runs(nodes, lambda node: node.dialect):
                offsets += [number(places[dialect]), number(len(members))]
                for node in members:
                    data = self._encode_node(node)
                    content.append(data)
                    offsets.append(number(len(data) << 1 | (node.code != TEXT)))
        return b"".join(content), b"".join(offsets)

    def _encode_node(self, node: Node) -> bytes:
        if node.code == TEXT:
            return str(node.fields[0][1]).encode("utf-8", "surrogateescape") + b"\0"
        return number(node.code) + b"".join([self._encode_field(kind, value) for kind, value in node.fields])

    def _encode_field(self, kind: int, value: int | str | bytes) -> bytes:
        if isinstance(value, bytes):
            return value
        if isinstance(value, str):
            return number(self._string(value))
        if kind == SIGNED:
            return signed(value)
        if kind in self._final:
            return number(self._final[kind][value])
        if kind == OPTIONAL:
            return number(0 if value < 0 else self._final[ATTRIBUTE][value] << 1 | 1)
        return number(value)

    def _encode_dialects(self, dialects: list[str], names: list[str], places: dict[str, int]) -> bytes:
        shift = int(self.version >= DIALECT_VERSIONS)
        parts = [number(len(dialects)), *[number(self._string(name) << shift) for name in dialects]]
        if self.version >= SHORT_ARGUMENTS:
            parts.append(number(len(names)))
        has_flag = self.version >= PROPERTIES
        for dialect, members in _runs(names, _dialect):
            parts += [number(places[dialect]), number(len(members))]
            for name in members:
                mnemonic = self._string(name.partition(".")[2])
                parts.append(number(mnemonic << 1 | 1 if has_flag else mnemonic))
        return b"".join(parts)

    def _encode_properties(self, final: Numbers) -> bytes:
        parts = [number(len(self._properties))]
        for members in self._properties:
            data = b"".join([_member(final, k, is_optional) for k, is_optional in members])
            parts += [number(len(data)), data]
        return b"".join(parts)

    def _encode_strings(self) -> bytes:
        data = [text.encode("utf-8", "surrogateescape") + b"\0" for text in self._strings]
        lengths = [number(len(item)) for item in reversed(data)]
        return number(len(data)) + b"".join(lengths) + b"".join(data)


def _member(final: Numbers, first: int, is_optional: bool) -> bytes:
    """Return how properties name an attribute, by its first number."""
    if first < 0:
        return number(0)
    place = final.attributes[first]
    return number(place << 1 | 1 if is_optional else place)


class Numbers(NamedTuple):
    """The numbers that attributes, types and names of ops have in the file, by their first ones."""

    attributes: Sequence[int]
    types: Sequence[int]
    op_names: Sequence[int]


def _runs(items: Sequence[T], key: Callable[[T], str]) -> Iterable[tuple[str, list[T]]]:
    """Return items by their key."""
    found: dict[str, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found.items()


def _dialect(name: str) -> str:
    return name.partition(".")[0]
