"""The wire format of protocol buffers: messages as fields by number, read and written, without a schema.

It knows varints, fixed words and byte strings, and refuses what ends too early; which number means what is `proto`'s.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import numpy as np

VARINT, WORD_64, BYTES, WORD_32 = 0, 1, 2, 5
"""Types of fields on the wire."""


class WireError(ValueError):
    """Why bytes are no message, in words."""


def read_varint(data: bytes, place: int) -> tuple[int, int]:
    """Return an unsigned number of up to 64 bits, and the place behind it."""
    value = shift = 0
    while True:
        if place >= len(data) or shift > 63:
            raise WireError("a number has no end")
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, place


class Message:
    """A message that has been read: the values of each field, in order.

    Parameters
    ----------
    data : bytes

    Raises
    ------
    WireError
        If the bytes are no message.

    Examples
    --------
    >>> message = Message(bytes([0x08, 0x96, 0x01, 0x12, 0x02, 0x68, 0x69]))
    >>> message.number(1), message.text(2), message.number(3)
    (150, 'hi', 0)
    """

    __slots__ = ("fields",)

    def __init__(self, data: bytes) -> None:
        self.fields: dict[int, list[int | bytes]] = {}
        place = 0
        while place < len(data):
            tag, place = read_varint(data, place)
            number, kind = tag >> 3, tag & 7
            value: int | bytes
            if kind == VARINT:
                value, place = read_varint(data, place)
            else:
                length = {WORD_64: 8, WORD_32: 4}.get(kind, -1)
                if kind == BYTES:
                    length, place = read_varint(data, place)
                if length < 0 or number == 0:
                    raise WireError(f"field {number} is of an unknown type")
                if place + length > len(data):
                    raise WireError(f"field {number} ends behind the message")
                value = data[place : place + length]
                place += length
            self.fields.setdefault(number, []).append(value)

    def number(self, field: int, default: int = 0) -> int:
        """Return a number with a sign; the last one where there are several."""
        values = self.fields.get(field)
        if not values:
            return default
        value = values[-1]
        if isinstance(value, bytes):
            raise WireError(f"field {field} must be a number")
        return value - (1 << 64) if value >> 63 else value

    def numbers(self, field: int) -> tuple[int, ...]:
        """Return numbers with signs, packed or not."""
        found: list[int] = []
        for value in self.fields.get(field, ()):
            if isinstance(value, int):
                found.append(value)
                continue
            place = 0
            while place < len(value):
                number, place = read_varint(value, place)
                found.append(number)
        return tuple([n - (1 << 64) if n >> 63 else n for n in found])

    def bytes(self, field: int) -> bytes:
        """Return a byte string, empty where there is none."""
        values = self.fields.get(field)
        if not values:
            return b""
        value = values[-1]
        if not isinstance(value, bytes):
            raise WireError(f"field {field} must be bytes")
        return value

    def text(self, field: int) -> str:
        """Return a string; bytes that are no text come as lone surrogates."""
        return self.bytes(field).decode("utf-8", "surrogateescape")

    def message(self, field: int) -> Message:
        """Return a message, an empty one where there is none."""
        return Message(self.bytes(field))

    def messages(self, field: int) -> list[Message]:
        """Return the messages of a field."""
        found = []
        for value in self.fields.get(field, ()):
            if not isinstance(value, bytes):
                raise WireError(f"field {field} must be a message")
            found.append(Message(value))
        return found

    def floats(self, field: int, dtype: np.dtype) -> np.ndarray:
        """Return the numbers of a packed field of 32- or 64-bit floats."""
        parts = [value for value in self.fields.get(field, ()) if isinstance(value, bytes)]
        data = b"".join(parts)
        if len(data) % dtype.itemsize:
            raise WireError(f"field {field} must have elements of {dtype.itemsize} bytes")
        return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype)

    def word_32(self, field: int) -> np.ndarray:
        """Return the 32-bit floats of a field that is not packed."""
        parts = [value for value in self.fields.get(field, ()) if isinstance(value, bytes) and len(value) == 4]
        return np.frombuffer(b"".join(parts), "<f4").astype(np.float32)

    def word_64(self, field: int) -> float:
        """Return a 64-bit float, 0 where there is none."""
        value = self.bytes(field)
        if len(value) not in {0, 8}:
            raise WireError(f"field {field} must be a number of 8 bytes")
        return float(np.frombuffer(value, "<f8").sum())

    def has(self, field: int) -> bool:
        """Return whether a field is there."""
        return field in self.fields


def varint(value: int) -> bytes:
    """Return a number's bytes; negative ones take ten.

    Examples
    --------
    >>> varint(150).hex()
    '9601'
    """
    value &= 0xFFFFFFFFFFFFFFFF
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


class MessageWriter:
    """A message that is being written; numbers of 0, empty strings and empty lists are left out, as in proto3.

    Examples
    --------
    >>> w = MessageWriter()
    >>> w.number(1, 150).text(2, "hi").number(3, 0).numbers(4, ()).data().hex()
    '08960112026869'
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def data(self) -> bytes:
        """Return what was written."""
        return b"".join(self._parts)

    def number(self, field: int, value: int) -> MessageWriter:
        """Write a number."""
        if value:
            self._parts += (varint(field << 3 | VARINT), varint(int(value)))
        return self

    def bytes(self, field: int, value: bytes) -> MessageWriter:
        """Write a byte string."""
        if value:
            self._parts += (varint(field << 3 | BYTES), varint(len(value)), value)
        return self

    def text(self, field: int, value: str) -> MessageWriter:
        """Write a string."""
        return self.bytes(field, value.encode("utf-8", "surrogateescape"))

    def numbers(self, field: int, values: Iterable[int]) -> MessageWriter:
        """Write packed numbers."""
        return self.bytes(field, b"".join([varint(int(value)) for value in values]))

    def message(self, field: int, value: MessageWriter) -> MessageWriter:
        """Write a message, be it empty."""
        data = value.data()
        self._parts += (varint(field << 3 | BYTES), varint(len(data)), data)
        return self

    def messages(self, field: int, values: Sequence[MessageWriter]) -> MessageWriter:
        """Write messages."""
        for value in values:
            self.message(field, value)
        return self

    def double(self, field: int, value: float) -> MessageWriter:
        """Write a 64-bit float."""
        if value:
            self._parts += (varint(field << 3 | WORD_64), struct.pack("<d", value))
        return self

    def float(self, field: int, value: float) -> MessageWriter:
        """Write a 32-bit float."""
        if value:
            self._parts += (varint(field << 3 | WORD_32), struct.pack("<f", value))
        return self
