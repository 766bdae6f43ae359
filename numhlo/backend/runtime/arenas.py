"""Memory for intermediate results, shared by all programs: calls take an arena and give it back.

Calls that go through Python take theirs from `arenas`. Calls of a fast entry take theirs natively, from
lists of free arenas, one for each size, that only code which holds the GIL touches. Python can't add to such a list
without a chance of breaking a native call's change of it, so it *offers* an arena in a word of its own, which
native code empties when its list is empty.
"""

from __future__ import annotations

import numpy as np

from numhlo.backend.primitives import layout
from numhlo.backend.runtime.immortal import immortal
from numhlo.lowering.ir.interruptions import ProcessLock

ALIGNMENT = 64
KEPT_BYTES = 256 << 20
LEAST_BYTES = 4096
SIZES = 13
"""How many sizes of arenas native calls take: from `LEAST_BYTES` on, each twice the one before, up to 16 MB."""


def aligned_memory(nbytes: int) -> np.ndarray:
    """Return uninitialized bytes that begin on a cache line."""
    memory = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -int(memory.ctypes.data) % ALIGNMENT
    return memory[start : start + nbytes]


def size_number(nbytes: int) -> int:
    """Return the number of the least size of arenas that is enough.

    Examples
    --------
    >>> size_number(1), size_number(4096), size_number(4097), size_number(1 << 20)
    (0, 0, 1, 8)
    """
    return max(0, (nbytes - 1).bit_length() - LEAST_BYTES.bit_length() + 1)


class Arenas:
    """Arenas that no call uses at the moment, for calls that go through Python, by their address, the latest last.

    There is no lock: what changes the dict is one operation each, and a handler's call may come between any two.
    """

    def __init__(self, most_bytes: int = KEPT_BYTES) -> None:
        self.most_bytes = most_bytes
        self._free: dict[int, np.ndarray] = {}

    def take(self, nbytes: int) -> np.ndarray:
        """Return an arena of at least ``nbytes``, the smallest free one that does, if it is not much too large."""
        size = LEAST_BYTES << size_number(nbytes)
        fitting = [(a.nbytes, address) for address, a in list(self._free.items()) if nbytes <= a.nbytes <= 2 * size]
        for _, address in sorted(fitting):
            arena = self._free.pop(address, None)
            if arena is not None:
                return arena
        return aligned_memory(size if size <= KEPT_BYTES // 16 else nbytes)

    def give_back(self, arena: np.ndarray) -> None:
        """Keep an arena for later calls; the ones not used for longest go."""
        self._free[int(arena.ctypes.data)] = arena
        while sum(a.nbytes for a in list(self._free.values())) > self.most_bytes:
            for oldest in list(self._free)[:1]:
                self._free.pop(oldest, None)


class NativeArenas:
    """Lists of free arenas for native calls, one for each size.

    An arena begins with `layout.ARENA_HEADER` bytes, the first word of which links it to the next free one.
    """

    def __init__(self) -> None:
        self._words = np.zeros((SIZES, layout.ARENAS_WORDS), np.int64)
        self._memory: list[np.ndarray] = []
        self._lock = ProcessLock()

    def address(self, nbytes: int) -> int:
        """Return the address of the list for calls that need ``nbytes``; there is an arena in it, or one is offered."""
        number = size_number(nbytes)
        if not self._words[number].any():
            self.offer(nbytes)
        return int(self._words[number].ctypes.data)

    def offer(self, nbytes: int) -> None:
        """Make one more arena, unless one is there that no native call has taken yet."""
        number = size_number(nbytes)
        with self._lock.own:
            if self._words[number, layout.ARENAS_OFFERED] == 0:
                memory = aligned_memory(layout.ARENA_HEADER + (LEAST_BYTES << number))
                memory[: layout.ARENA_HEADER] = 0
                self._memory.append(memory)
                self._words[number, layout.ARENAS_OFFERED] = int(memory.ctypes.data)


arenas = Arenas()
native_arenas = immortal(NativeArenas())
