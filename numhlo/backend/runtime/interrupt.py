"""Ctrl-C inside native loops: a word in memory that the C signal handler of Python itself sets.

``signal.set_wakeup_fd`` makes CPython's handler write the signal's number into a file descriptor, whatever the main
thread is doing. Ours is a file in memory, mapped, so the write lands in a word that native loops can poll for the
cost of a load. It is set for the time of a call only, on the main thread, by native code (`native_code.listening`), and
whoever had set one before is told afterwards what arrived. Where there is no such file (on Windows, or where none can
be made), loops in native code end before Ctrl-C is seen.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
import threading

import numpy as np

from numhlo.backend.nameless_files import open_nameless
from numhlo.backend.primitives import layout
from numhlo.backend.runtime import library
from numhlo.backend.runtime.immortal import immortal

MOST_SIGNALS = mmap.PAGESIZE

block = immortal(np.zeros(layout.FLAG_WORDS, np.int64))
"""What native code knows of the flag; `numhlo.backend.primitives.layout` has the words."""
block_address = int(block.ctypes.data)
library.table[layout.INTERRUPT_BLOCK] = block_address
never_address = block_address + layout.FLAG_NEVER * layout.WORD
"""Of a word that is never set: what calls look at that no signal may end."""


class InterruptFlag:
    """The word, and the file behind it.

    Attributes
    ----------
    address : int
        Of an int64 that is not 0 once a signal has arrived while armed.
    """

    def __init__(self) -> None:
        self._file = -1
        self._bytes: mmap.mmap | None = None
        self._view = np.zeros(1, np.int64)
        if sys.platform != "win32":
            with contextlib.suppress(OSError):  # files are forbidden, or their size is limited
                self._open()
        self.address = int(self._view.ctypes.data)
        block[:] = 0
        block[layout.FLAG_ADDRESS] = self.address
        block[layout.FLAG_FILE] = self._file
        block[layout.FLAG_FILE_OBJECT] = id(self._file)
        block[layout.FLAG_MAIN_THREAD] = threading.main_thread().ident or 0
        block[layout.FLAG_EARLY] = 1

    def _open(self) -> None:
        file = open_nameless("numhlo-interrupt")
        try:
            os.ftruncate(file, MOST_SIGNALS)
            os.set_blocking(file, False)
            self._bytes = mmap.mmap(file, MOST_SIGNALS)
        except OSError:
            os.close(file)
            raise
        self._file, self._view = file, immortal(np.frombuffer(self._bytes, np.int64, 1))

    def is_heard(self) -> bool:
        """Return whether signals can set the word, and their handlers run on this thread."""
        return self._bytes is not None and threading.get_ident() == threading.main_thread().ident


def raise_kept(words: memoryview) -> None:
    """Raise what a signal's handler raised in the middle of a call, as `native_code.attend` kept it in the context."""
    kept = [ctypes.c_void_p(words[layout.EXCEPTION + k]) for k in range(3)]
    words[layout.EXCEPTION] = 0
    ctypes.pythonapi.PyErr_Restore(*kept)  # ctypes looks whether an exception is set, and raises it


_flags = [immortal(InterruptFlag())]


def interrupt_flag() -> InterruptFlag:
    """Return this process's flag."""
    return _flags[-1]


def _private_after_fork() -> None:
    """Give the child a word of its own: the file is shared with the parent, and old contexts still point to it."""
    _flags.append(immortal(InterruptFlag()))
    block[layout.FLAG_MAIN_THREAD] = threading.get_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_private_after_fork)
