"""Guard pages: a debugging mode in which every buffer lies on pages of its own, between pages that nobody may touch.

A kernel that reads or writes beyond a buffer ends the process with a segmentation fault, at the access itself. Buffers
end at the page after them, or begin at the page before them. Arguments are copied into such memory and results out of
it; what the program must not write (constants, arguments that it leaves as they are) lies on pages that can't be
written. Kernels work on any address that fits the element type, so the mode runs the machine code that other calls run.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Collection

import numpy as np

from numhlo.backend.primitives import layout
from numhlo.backend.program import Buffer, Place, Program
from numhlo.backend.runtime.frame import Frame, array_at
from numhlo.lowering.ir.errors import UnsupportedError

SIDES = ("after", "before")
"""Where the guard page lies that a buffer touches; a page on the other side is there, too, behind a gap."""

PROT_NONE, PROT_READ, PROT_WRITE = 0, 1, 2
"""What POSIX's ``mprotect`` allows on pages (``sys/mman.h``)."""

FILLED = 0xA5
"""A byte that new memory is filled with: numbers of it are large negative ones, and indices out of bounds."""


class GuardedMemory:
    """Bytes on pages of their own, between two pages that nobody may touch.

    Parameters
    ----------
    nbytes : int
    side : str
        One of `SIDES`.

    Attributes
    ----------
    address : int
        Of the first byte.
    """

    def __init__(self, nbytes: int, side: str) -> None:
        page = mmap.PAGESIZE
        self._inner = -(-nbytes // page) * page
        self._pages: np.ndarray = np.frombuffer(mmap.mmap(-1, self._inner + 2 * page), np.uint8)
        self._pages[page : page + self._inner] = FILLED
        start = int(self._pages.ctypes.data)
        self._first = start + page
        self.address = self._first + (self._inner - nbytes if side == "after" else 0)
        _protect(start, page, PROT_NONE)
        _protect(self._first + self._inner, page, PROT_NONE)

    def allow_writing(self, allowed: bool) -> None:
        """Let the bytes be written, or read alone."""
        if self._inner:
            _protect(self._first, self._inner, PROT_READ | (PROT_WRITE if allowed else 0))


def _protect(address: int, nbytes: int, protection: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(nbytes), protection) != 0:
        raise OSError(ctypes.get_errno(), "mprotect: a page can't be protected")


class GuardedFrame(Frame):
    """The working memory of one call, each buffer between guard pages.

    Parameters
    ----------
    program : Program
    gathered : int
        The largest number of buffers of a launch.
    side : str
        One of `SIDES`.
    written : collection of int
        Arguments that the program may write into.

    Raises
    ------
    UnsupportedError
        If the system has no ``mprotect``.
    """

    __slots__ = ("_handed_out", "_memory", "_written")

    def __init__(self, program: Program, gathered: int, side: str, written: Collection[int]) -> None:
        if sys.platform == "win32":
            raise UnsupportedError("guard_pages", why="Windows has no mprotect", fix="leave the switch as it is")
        super().__init__(program, gathered)
        self.nbytes = 0  # of the arena that buffers would share
        self._written = frozenset(written)
        self._handed_out: list[tuple[int, np.ndarray]] = []
        self._memory = [GuardedMemory(buffer.type.nbytes, side) for buffer in program.buffers]
        for number, buffer in enumerate(program.buffers):
            if buffer.place is Place.CONSTANT:
                assert buffer.data is not None
                self._own(number)[...] = buffer.data
                self._memory[number].allow_writing(False)

    def _own(self, number: int) -> np.ndarray:
        """Return the array in the memory that was made for a buffer."""
        type = self._buffers[number].type
        return array_at(self._memory[number].address, type.shape, type.dtype)

    def _may_be_written(self, buffer: Buffer) -> bool:
        return buffer.place is not Place.ARGUMENT or buffer.index in self._written

    def begin(self) -> None:
        """Make ready for a call: every buffer is where it was made, whatever the last call exchanged."""
        self.words[layout.STATUS] = layout.OK
        self._views.clear()
        self._handed_out.clear()
        for number, memory in enumerate(self._memory):
            self.place(number, memory.address)

    def hold(self, number: int, array: np.ndarray) -> None:
        """Copy an argument to between the guard pages; note what a result, or an argument's new value, goes into."""
        buffer = self._buffers[number]
        writable = self._may_be_written(buffer)
        if buffer.place is Place.ARGUMENT:
            self._memory[number].allow_writing(True)
            self._own(number)[...] = array
            self._memory[number].allow_writing(writable)
        if writable:
            self._handed_out.append((number, array))

    def hand_out(self) -> None:
        """Copy results and new values of arguments into their arrays."""
        for number, array in self._handed_out:
            np.copyto(array, self._own(number))
        self._handed_out.clear()


def new_frame(program: Program, gathered: int, side: str, written: Collection[int]) -> Frame:
    """Return a frame whose buffers have a guard page on a side, or a plain one where that is empty."""
    return GuardedFrame(program, gathered, side, written) if side else Frame(program, gathered)
