"""Memory of a program: its buffers, and an arena in which buffers that are not alive at the same time share space.

Planning happens in the order of execution, so the arena is a simulation: allocate where a value is made, free after
its last use. Offsets are multiples of 64 bytes. This file knows bytes; when a value is dead is `region`'s business.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from numhlo.backend.program import Buffer, Place
from numhlo.lowering.ir import TensorType

ALIGNMENT = 64


class Arena:
    """Offsets of blocks that come and go.

    Parameters
    ----------
    size : int
        The first offset.

    Attributes
    ----------
    size : int
        Bytes needed in all.

    Examples
    --------
    >>> arena = Arena()
    >>> arena.allocate(100), arena.allocate(10)
    (0, 128)
    >>> arena.free(0, 100)
    >>> arena.allocate(64), arena.size
    (0, 192)
    """

    def __init__(self, size: int = 0) -> None:
        self.size = size
        self._free: list[tuple[int, int]] = []

    def allocate(self, nbytes: int) -> int:
        """Return the offset of a new block: the smallest gap that fits, else new space at the end."""
        needed = _rounded(nbytes)
        best = min(
            (k for k, (_, size) in enumerate(self._free) if size >= needed),
            key=lambda k: self._free[k][1],
            default=None,
        )
        if best is None:
            return self._extend(needed)
        offset, size = self._free.pop(best)
        if size > needed:
            insort(self._free, (offset + needed, size - needed))
        return offset

    def allocate_unused(self, nbytes: int) -> int:
        """Return the offset of a new block that nothing has used yet, so that no step before overlaps with it."""
        offset = self.size
        self.size += _rounded(nbytes)
        return offset

    def _extend(self, needed: int) -> int:
        offset = self.size
        if self._free and sum(self._free[-1]) == self.size:
            offset, _ = self._free.pop()
        self.size = offset + needed
        return offset

    def free(self, offset: int, nbytes: int) -> None:
        """Give a block back."""
        insort(self._free, (offset, _rounded(nbytes)))
        merged: list[tuple[int, int]] = []
        for start, size in self._free:
            if merged and sum(merged[-1]) == start:
                merged[-1] = (merged[-1][0], merged[-1][1] + size)
            else:
                merged.append((start, size))
        self._free = merged


def _rounded(nbytes: int) -> int:
    return max(ALIGNMENT, -(-nbytes // ALIGNMENT) * ALIGNMENT)


class Memory:
    """The buffers of a program under construction, and their arena."""

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self.arena = Arena()
        self._tied: dict[int, set[int]] = {}
        self._dead: set[int] = set()

    @property
    def arena_bytes(self) -> int:
        """Return the size of the arena that holds all buffers that are still in it: some became results."""
        ends = [b.offset + _rounded(b.type.nbytes) for b in self.buffers if b.place is Place.ARENA]
        return max(ends, default=0)

    def close_gaps(self) -> None:
        """Move the buffers in the arena together, once all are planned: what became a result leaves room behind.

        What has overlapped still does, and nothing else.
        """
        placed = [(b.offset, number) for number, b in enumerate(self.buffers) if b.place is Place.ARENA]
        end = gap = 0
        for offset, number in sorted(placed):
            buffer = self.buffers[number]
            gap += max(0, offset - end)
            end = max(end, offset + _rounded(buffer.type.nbytes))
            if gap:
                self.buffers[number] = replace(buffer, offset=offset - gap)

    def add(self, buffer: Buffer) -> int:
        """Append a buffer and return its number."""
        self.buffers.append(buffer)
        return len(self.buffers) - 1

    def allocate(self, type: TensorType) -> int:
        """Return a new arena buffer."""
        return self.add(Buffer(type, Place.ARENA, offset=self.arena.allocate(type.nbytes)))

    def allocate_unused(self, type: TensorType) -> int:
        """Return a new arena buffer in space that no earlier step uses.

        What a loop keeps from one round to the next must not lie where the steps of a round before it put theirs.
        """
        return self.add(Buffer(type, Place.ARENA, offset=self.arena.allocate_unused(type.nbytes)))

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Allocate in a block in space that nothing before it and nothing after it uses."""
        around, self.arena = self.arena, Arena(self.arena.size)
        try:
            yield
        finally:
            around.size, self.arena = self.arena.size, around

    def constant(self, array: np.ndarray) -> int:
        """Return a new buffer that holds an array."""
        array = np.ascontiguousarray(array).reshape(array.shape)
        return self.add(Buffer(TensorType(array.shape, array.dtype), Place.CONSTANT, data=array))

    def release(self, number: int) -> None:
        """Give an arena buffer's space back, with that of those it is tied to once all of them are released."""
        self._dead.add(number)
        group = self._tied.get(number, {number})
        if group <= self._dead:
            for member in group:
                buffer = self.buffers[member]
                if buffer.place is Place.ARENA:
                    self.arena.free(buffer.offset, buffer.type.nbytes)

    def tie(self, first: int, second: int) -> None:
        """Say that two buffers change places as the program runs, so that either may lie in the other's space."""
        group = self._tied.get(first, {first}) | self._tied.get(second, {second})
        self._tied.update(dict.fromkeys(group, group))
