"""A cursor over bytes of MLIR bytecode: numbers of variable width, strings, blobs, alignment.

Every read is checked against the end of the section that the cursor is in. What is wrong is a `MalformedError`, which
names the section and the byte; `numhlo.lowering.bytecode.reader` makes an error of the package of it.
"""

from __future__ import annotations

from typing import NoReturn

PADDING = 0xCB
"""The byte that fills the gap in front of aligned data."""


class MalformedError(ValueError):
    """What is wrong with bytecode, in which section, and at which byte of the file."""

    def __init__(self, what: str, section: str = "", offset: int = -1) -> None:
        super().__init__(what)
        self.what, self.section, self.offset = what, section, offset


class ByteCursor:
    """A position in a part of a file.

    Parameters
    ----------
    data : bytes
        The whole file.
    start, end : int
        The part's first byte, and the one behind its last.
    section : str
        What the part is called in messages.

    Examples
    --------
    >>> cursor = ByteCursor(bytes([0x05, 0x02, 0x01]), 0, 3, "example")
    >>> cursor.number(), cursor.number(), cursor.is_at_end
    (2, 64, True)
    """

    __slots__ = ("data", "end", "place", "section")

    def __init__(self, data: bytes, start: int, end: int, section: str) -> None:
        self.data, self.place, self.end, self.section = data, start, end, section

    @property
    def is_at_end(self) -> bool:
        """Return whether all has been read."""
        return self.place >= self.end

    def fail(self, what: str) -> NoReturn:
        """Raise what is wrong at this place."""
        raise MalformedError(what, self.section, self.place)

    def number(self) -> int:
        """Read an unsigned number of up to 64 bits: zeros at the low end of its first byte count further bytes."""
        place = self.place
        if place >= self.end:
            self.fail("a number is expected, and the section has ended")
        first = self.data[place]
        if first & 1:
            self.place = place + 1
            return first >> 1
        length = 9 if first == 0 else (first & -first).bit_length()
        if place + length > self.end:
            self.fail("a number goes on behind the end of its section")
        self.place = place + length
        if length == 9:
            return int.from_bytes(self.data[place + 1 : place + 9], "little")
        return int.from_bytes(self.data[place : place + length], "little") >> length

    def signed(self) -> int:
        """Read a number with a sign, which is its lowest bit."""
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def flagged(self) -> tuple[int, bool]:
        """Read a number whose lowest bit is a flag."""
        value = self.number()
        return value >> 1, bool(value & 1)

    def count(self) -> int:
        """Read how many items follow, of a byte or more each."""
        value = self.number()
        if value > self.end - self.place:
            self.fail(f"{value} items are announced, and {self.end - self.place} bytes are left")
        return value

    def numbers(self) -> list[int]:
        """Read a count and so many numbers."""
        return [self.number() for _ in range(self.count())]

    def signed_numbers(self) -> tuple[int, ...]:
        """Read a count and so many numbers with signs."""
        return tuple([self.signed() for _ in range(self.count())])

    def byte(self) -> int:
        """Read one byte."""
        if self.place >= self.end:
            self.fail("a byte is expected, and the section has ended")
        self.place += 1
        return self.data[self.place - 1]

    def skip(self, length: int) -> int:
        """Go past so many bytes, and return where they begin."""
        start = self.place
        if length > self.end - start:
            self.fail(f"{length} bytes are announced, and {self.end - start} are left")
        self.place = start + length
        return start

    def terminated(self) -> bytes:
        """Read bytes up to a zero, and go past that."""
        end = self.data.find(b"\0", self.place, self.end)
        if end < 0:
            self.fail("a string has no end")
        found = self.data[self.place : end]
        self.place = end + 1
        return found

    def align(self, alignment: int) -> None:
        """Go past the padding in front of data that begin at a multiple of a power of two in the file."""
        if alignment < 1 or alignment & (alignment - 1):
            self.fail(f"an alignment must be a power of two, not {alignment}")
        gap = -self.place % alignment
        if gap > self.end - self.place:
            self.fail("padding goes on behind the end of its section")
        if self.data[self.place : self.place + gap] != bytes([PADDING]) * gap:
            self.fail("padding must be of bytes 0xCB")
        self.place += gap

    def part(self, length: int, section: str) -> ByteCursor:
        """Go past so many bytes, and return a cursor over them."""
        start = self.skip(length)
        return ByteCursor(self.data, start, self.place, section)
