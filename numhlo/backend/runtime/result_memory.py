"""Memory of large results, taken again once nobody holds the result that lay in it.

An allocator hands pages of this size back to the operating system and gets them back filled with zeros, page by page,
which costs more than writing a result. A result is a view of a block that this file keeps; whoever holds the result, or
a view of it, holds the block.
"""

from __future__ import annotations

import sys

import numpy as np

from numhlo.backend.runtime.arenas import ALIGNMENT, KEPT_BYTES

LEAST_BYTES = 32 << 20
"""Of a large result: what is smaller, the C library's allocator keeps by itself."""

NOBODY = 2
"""References to a block that no result lies in: the variable's, and that of the function which counts them."""


class ResultMemory:
    """Blocks that large results lie in, the ones not asked for for longest first.

    There is no lock: whoever looks at a block has taken it out of the dict, which is one operation.

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
        self._blocks: dict[int, np.ndarray] = {}

    def array(self, array_type: type[np.ndarray], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return an uninitialized array, in a block that nobody holds if there is one of its size."""
        block = self._take(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize + ALIGNMENT)
        result = array_type(shape, dtype, block, -int(block.ctypes.data) % ALIGNMENT)
        self._blocks[id(block)] = block
        while sum(b.nbytes for b in list(self._blocks.values())) > self.most_bytes:
            for oldest in list(self._blocks)[:1]:
                self._blocks.pop(oldest, None)  # a result that lies in it keeps it
        return result

    def _take(self, nbytes: int) -> np.ndarray:
        """Return a block that owns its memory: NumPy lets results that lie in a view hold what is behind it instead."""
        for key in [key for key, block in list(self._blocks.items()) if block.nbytes == nbytes]:
            block = self._blocks.pop(key, None)
            if block is None:
                continue  # another thread has it
            if sys.getrefcount(block) == NOBODY:
                return block
            self._blocks[key] = block
        return np.empty(nbytes, np.uint8)


result_memory = ResultMemory()
