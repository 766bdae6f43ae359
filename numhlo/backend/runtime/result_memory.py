"""Memory of large results, taken again once nobody holds the result that lay in it.

An allocator hands pages of this size back to the operating system and gets them back filled with zeros, page by page,
which costs more than writing a result. A result is a view of a block that this file keeps; whoever holds the result, or
a view of it, holds the block.
"""

from __future__ import annotations

import os
import sys
import threading

import numpy as np

from numhlo.backend.runtime.arenas import ALIGNMENT, KEPT_BYTES

LEAST_BYTES = 32 << 20
"""Of a large result: what is smaller, the C library's allocator keeps by itself."""

NOBODY = 2
"""References to a block that no result lies in: the list's, and that of the function which counts them."""


class ResultMemory:
    """Blocks that large results lie in, the ones not used for longest first.

    Parameters
    ----------
    most_bytes : int
        What is kept in blocks at most, with and without results.

    Examples
    --------
    >>> memory = ResultMemory()
    >>> first = memory.array(np.ndarray, (5_000_000,), np.dtype(np.float64))
    >>> address = first.ctypes.data
    >>> del first
    >>> memory.array(np.ndarray, (5_000_000,), np.dtype(np.float64)).ctypes.data == address
    True
    """

    def __init__(self, most_bytes: int = KEPT_BYTES) -> None:
        self.most_bytes = most_bytes
        self._blocks: list[np.ndarray] = []
        self._lock = threading.Lock()

    def array(self, array_type: type[np.ndarray], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return an uninitialized array, in a block that nobody holds if there is one of its size."""
        nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        with self._lock:
            block = self._take(nbytes)
            self._blocks.append(block)
            while sum(b.nbytes for b in self._blocks) > self.most_bytes:
                self._blocks.pop(0)  # a result that lies in it keeps it
            return array_type(shape, dtype, block, -int(block.ctypes.data) % ALIGNMENT)

    def _take(self, nbytes: int) -> np.ndarray:
        """Return a block that owns its memory: NumPy lets results that lie in a view hold what is behind it instead."""
        for place in range(len(self._blocks)):
            if self._blocks[place].nbytes == nbytes + ALIGNMENT and sys.getrefcount(self._blocks[place]) == NOBODY:
                return self._blocks.pop(place)
        return np.empty(nbytes + ALIGNMENT, np.uint8)

    def restart_lock(self) -> None:
        """Make the lock anew, after a fork."""
        self._lock = threading.Lock()


result_memory = ResultMemory()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=result_memory.restart_lock)
