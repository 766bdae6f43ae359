"""Results written past the caches: whole cache lines go to memory without being read first, and push out nothing.

An ordinary store reads the line that it changes a part of, so a result that is far larger than the caches costs its
bytes twice. Kernels put a piece of such a result together on the stack, where it stays in the first cache, and then
stream it out.
"""

from __future__ import annotations

from numhlo.backend.primitives.storage import STORAGES, Storage
from numhlo.lowering.ir.records import record

LINE = 64
"""Bytes of a cache line."""


@record(frozen=True)
class Stream:
    """``word(target, first, source, count)`` copies elements of as many bytes, whatever they mean, past the caches.

    ``target[first + k] = source[k]`` for ``k < count``. Parts of lines at both ends are stored as usual. Other threads
    may read them after `finish_streams`.
    """

    storage: Storage

    def __call__(self, target: int, first: int, source: int, count: int) -> None:
        """Copy."""
        if count > 0:
            size = self.storage.dtype.itemsize
            self.storage.view(target + int(first) * size, int(count))[:] = self.storage.view(source, int(count))


@record(frozen=True)
class PastLine:
    """``word(pointer, index)`` gives how many elements of as many bytes lie between the line's begin and an element."""

    storage: Storage

    def __call__(self, pointer: int, index: int) -> int:
        """Return the number."""
        size = self.storage.dtype.itemsize
        return (pointer + int(index) * size) % LINE // size


def finish_streams() -> None:
    """Let other threads, once they know that this one is done, see what was streamed."""


stream_u8, stream_u16 = Stream(STORAGES["u8"]), Stream(STORAGES["u16"])
stream_u32, stream_u64 = Stream(STORAGES["u32"]), Stream(STORAGES["u64"])
past_line_u8, past_line_u16 = PastLine(STORAGES["u8"]), PastLine(STORAGES["u16"])
past_line_u32, past_line_u64 = PastLine(STORAGES["u32"]), PastLine(STORAGES["u64"])
