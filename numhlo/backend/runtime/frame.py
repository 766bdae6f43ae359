"""What one call of a program works with: its context, its table of buffer addresses, its arena.

A frame is one block of int64 words, laid out as `numhlo.backend.primitives.layout` says, and the memory of intermediate
results, which comes from `arenas`. Frames are made once and used by one call after another.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.backend.primitives import layout
from numhlo.backend.program import Buffer, Place, Program
from numhlo.backend.runtime import library, pool
from numhlo.backend.runtime.arenas import arenas
from numhlo.backend.runtime.interrupt import never_address
from numhlo.backend.runtime.object_layout import array_address


class Frame:
    """The working memory of one call.

    Parameters
    ----------
    program : Program
    gathered : int
        The largest number of buffers of a launch.

    Attributes
    ----------
    words : memoryview of int64
        The context, then the table of buffer addresses, then room to gather a launch's buffers.
    address, table : int
        Of the context and of the table of buffer addresses.
    """

    __slots__ = ("_arena", "_block", "_buffers", "_views", "address", "nbytes", "table", "words")

    def __init__(self, program: Program, gathered: int) -> None:
        count = len(program.buffers)
        block: Any = np.zeros(layout.CONTEXT_WORDS + count + gathered + 1, np.int64)
        self._block: np.ndarray = block
        self._views: dict[tuple[int, int], np.ndarray] = {}
        self.words = memoryview(block)
        self.address = int(self._block.ctypes.data)
        self.table = self.address + layout.CONTEXT_WORDS * layout.WORD
        self.words[layout.LIBRARY] = library.table_address
        self.words[layout.BUFFERS] = self.table
        self.words[layout.GATHER] = self.table + count * layout.WORD
        self.words[layout.POOL] = pool.block_address
        self.words[layout.INTERRUPT] = never_address
        self._buffers = program.buffers
        for number, buffer in enumerate(program.buffers):
            if buffer.place is Place.CONSTANT:
                assert buffer.data is not None
                self.place(number, int(buffer.data.ctypes.data))
        self.nbytes = program.arena_bytes
        self._arena: np.ndarray | None = None

    def place(self, number: int, address: int) -> None:
        """Say where a buffer is."""
        self.words[layout.CONTEXT_WORDS + number] = address

    def hold(self, number: int, array: np.ndarray) -> None:
        """Let a buffer be an array: an argument of the call, or where a result goes."""
        self.place(number, array_address(array))

    def hand_out(self) -> None:
        """See to it that arrays that the frame holds have their new values: they are the buffers themselves."""

    def where(self, number: int) -> int:
        """Return where a buffer is."""
        return int(self.words[layout.CONTEXT_WORDS + number])

    def gather(self, numbers: Sequence[int]) -> int:
        """Put the places of a launch's buffers together, and return the address where they are."""
        address = int(self.words[layout.GATHER])
        first = (address - self.address) // layout.WORD
        for position, number in enumerate(numbers):
            self.words[first + position] = self.where(number)
        return address

    def exchange(self, first: int, second: int) -> None:
        """Swap the places of two buffers."""
        one, other = self.where(first), self.where(second)
        self.place(first, other)
        self.place(second, one)

    def view(self, number: int, buffer: Buffer) -> np.ndarray:
        """Return a buffer as an array; it is the same one for as long as the buffer stays where it is."""
        address = self.where(number)
        array = self._views.get((number, address))
        if array is None:
            array = self._views[number, address] = array_at(address, buffer.type.shape, buffer.type.dtype)
        return array

    def begin(self) -> None:
        """Make ready for a call."""
        self.words[layout.STATUS] = layout.OK
        self._views.clear()
        if self.nbytes:
            self._arena = arenas.take(self.nbytes)
            base = int(self._arena.ctypes.data)
            if self.words[layout.ARENA] != base:
                self.words[layout.ARENA] = base
                for number, buffer in enumerate(self._buffers):
                    if buffer.place is Place.ARENA:
                        self.place(number, base + buffer.offset)

    def end(self) -> None:
        """Give back what other programs could use meanwhile."""
        if self._arena is not None:
            arenas.give_back(self._arena)
            self._arena = None


def array_at(address: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return the array at an address; the caller keeps the memory alive."""
    count = math.prod(shape)
    if count == 0:
        return np.empty(shape, dtype)
    memory: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return np.ndarray(shape, dtype, memory)
