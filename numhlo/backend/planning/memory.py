"""Memory of a program: its buffers, and an arena in which buffers that are not alive at the same time share space.

Planning happens in the order of execution and notes when buffers come and go. Where they lie is found at the end, when
it is known which of them are results and have memory of their own: the same order, played again. This file knows
bytes; when a value is dead is `region`'s business.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from numhlo.backend.program import Buffer, Place
from numhlo.lowering.ir import TensorType

ALIGNMENT = 64
"""Bytes of a line of the cache, of which offsets are multiples."""

SMALL_ALIGNMENT = 8
SMALL = 32
"""Bytes of buffers that share lines: numbers, of which loops and branches have many."""


class Arena:
    """Offsets of blocks that come and go.

    Parameters
    ----------
    size : int
        The first offset.
    alignment : int
        What offsets are multiples of.

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

    def __init__(self, size: int = 0, alignment: int = ALIGNMENT) -> None:
        self.size, self.alignment = size, alignment
        self._free: list[tuple[int, int]] = []

    def allocate(self, nbytes: int) -> int:
        """Return the offset of a new block: the smallest gap that fits, else new space at the end."""
        needed = self._rounded(nbytes)
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

    def _extend(self, needed: int) -> int:
        offset = self.size
        if self._free and sum(self._free[-1]) == self.size:
            offset, _ = self._free.pop()
        self.size = offset + needed
        return offset

    def free(self, offset: int, nbytes: int) -> None:
        """Give a block back."""
        free, end = self._free, offset + self._rounded(nbytes)
        place = bisect(free, (offset, 0))
        if place < len(free) and free[place][0] == end:
            end = sum(free.pop(place))
        if place and sum(free[place - 1]) == offset:
            place -= 1
            offset, _ = free.pop(place)
        free.insert(place, (offset, end - offset))

    def _rounded(self, nbytes: int) -> int:
        return max(self.alignment, -(-nbytes // self.alignment) * self.alignment)


class _Event(NamedTuple):
    """Something that happens to a buffer in the course of the program."""

    number: int
    ends: bool


class _Apart(NamedTuple):
    """What happens in space that nothing else uses."""

    events: list[_Event | _Apart]


class Memory:
    """The buffers of a program under construction, and their arena."""

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self._events: list[_Event | _Apart] = []
        self._tied: dict[int, set[int]] = {}
        self._dead: set[int] = set()

    def place_all(self) -> int:
        """Give the buffers that are still in the arena their offsets, once all are planned; return the arena's size."""
        lines, words = Arena(), Arena(alignment=SMALL_ALIGNMENT)
        small = [*self._place(self._events, lines, words)]
        for number in small:
            buffer = self.buffers[number]
            self.buffers[number] = buffer.at(lines.size + buffer.offset)
        return lines.size + words.size

    def _place(self, events: Sequence[_Event | _Apart], lines: Arena, words: Arena) -> Iterator[int]:
        """Give buffers their offsets, and yield the small ones."""
        for event in self._with_groups(events):
            if isinstance(event, _Apart):
                own = Arena(lines.size), Arena(words.size, SMALL_ALIGNMENT)
                yield from self._place(event.events, *own)
                lines.size, words.size = own[0].size, own[1].size
                continue
            buffer = self.buffers[event.number]
            nbytes = buffer.type.nbytes
            if buffer.place is not Place.ARENA or not nbytes:
                continue
            arena = words if nbytes <= SMALL else lines
            if event.ends:
                arena.free(buffer.offset, nbytes)
                continue
            self.buffers[event.number] = buffer.at(arena.allocate(nbytes))
            if arena is words:
                yield event.number

    def _with_groups(self, events: Sequence[_Event | _Apart]) -> Iterator[_Event | _Apart]:
        """Yield events, with all buffers that are tied to each other beginning when the first of them does.

        Such a buffer's value lies in the space of any of them, from its first use on: an exchange outlives the call.
        """
        begun: set[int] = set()
        for event in events:
            if isinstance(event, _Apart) or event.ends or event.number not in self._tied:
                yield event
                continue
            group = self._tied[event.number]
            if event.number not in begun:
                begun |= group
                yield from (_Event(member, ends=False) for member in sorted(group))

    def add(self, buffer: Buffer) -> int:
        """Append a buffer and return its number."""
        self.buffers.append(buffer)
        return len(self.buffers) - 1

    @property
    def now(self) -> int:
        """Return how much has happened so far."""
        return len(self._events)

    def allocate(self, type: TensorType, since: int | None = None) -> int:
        """Return a new arena buffer.

        Parameters
        ----------
        type : TensorType
        since : int, optional
            As of `now`: nothing that is alive from then on lies in the buffer's space. What a loop keeps from one
            round to the next must not lie where the steps of a round before it put theirs.
        """
        number = self.add(Buffer(type, Place.ARENA))
        self._events.insert(self.now if since is None else since, _Event(number, ends=False))
        return number

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Allocate in a block in space that nothing before it and nothing after it uses."""
        around, self._events = self._events, []
        try:
            yield
        finally:
            around.append(_Apart(self._events))
            self._events = around

    def constant(self, array: np.ndarray) -> int:
        """Return a new buffer that holds an array."""
        array = np.ascontiguousarray(array).reshape(array.shape)
        return self.add(Buffer(TensorType(array.shape, array.dtype), Place.CONSTANT, data=array))

    def release(self, number: int) -> None:
        """Give an arena buffer's space back, with that of those it is tied to once all of them are released."""
        self._dead.add(number)
        group = self._tied.get(number, {number})
        if group <= self._dead:
            self._events += [_Event(member, ends=True) for member in group]

    def set_apart(self, numbers: Sequence[int]) -> None:
        """Move released buffers to where they overlap neither each other nor anything that is alive now."""
        moved = set(numbers)
        self._events = [e for e in self._events if isinstance(e, _Apart) or e.number not in moved]
        self._events += [_Event(number, ends=end) for end in (False, True) for number in numbers]

    def forget(self, number: int) -> None:
        """Take a released buffer that nothing uses any more from the arena."""
        self.buffers[number] = Buffer(TensorType((0,), self.buffers[number].type.dtype), Place.ARENA)

    def is_tied(self, number: int) -> bool:
        """Return whether a buffer may lie in another one's space."""
        return number in self._tied

    def tie(self, first: int, second: int) -> None:
        """Say that two buffers change places as the program runs, so that either may lie in the other's space."""
        group = self._tied.get(first, {first}) | self._tied.get(second, {second})
        self._tied.update(dict.fromkeys(group, group))
