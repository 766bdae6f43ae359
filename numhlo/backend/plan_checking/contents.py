"""What is known to lie in each buffer at one point of a program, and what a write does to it.

A write forgets what lay in all memory that it may touch. Buffers that are exchanged may each lie in the place of any
buffer of their group, at any time: an exchange outlives the loop and the call.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from numhlo.backend.program import Buffer, Place
from numhlo.lowering.ir import Value

Window: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""Where a window begins along each axis, and how many elements it has."""


class Outside(NamedTuple):
    """All elements of a value but for those of a window."""

    value: Value
    window: Window


class Made(NamedTuple):
    """Something that a step has put there."""

    by: object


Fact: TypeAlias = Value | Outside | Made


class Places:
    """Where the buffers of a program may lie.

    Parameters
    ----------
    buffers : sequence of Buffer
    pairs : iterable of (int, int)
        Buffers that are exchanged, anywhere in the program.
    """

    def __init__(self, buffers: Sequence[Buffer], pairs: Iterable[tuple[int, int]]) -> None:
        self.buffers = buffers
        self.group_of: dict[int, tuple[int, ...]] = {}
        for first, second in pairs:
            group = {*self.group_of.get(first, (first,)), *self.group_of.get(second, (second,))}
            self.group_of.update(dict.fromkeys(group, tuple(sorted(group))))
        self._same: dict[object, tuple[int, ...]] = {}
        self.is_arena = [buffer.place is Place.ARENA for buffer in buffers]
        own = [(b.offset, b.offset + b.type.nbytes) if b.place is Place.ARENA else (0, 0) for b in buffers]
        self._own = [((start, end),) if end > start else () for start, end in own]
        self._ranges = {n: sum((self._own[k] for k in group), ()) for n, group in self.group_of.items()}
        self.identity = [None if b.place is Place.ARENA else _identity(b) for b in buffers]
        for number, identity in enumerate(self.identity):
            if identity is not None:
                self._same[identity] = (*self._same.get(identity, ()), number)

    def members(self, number: int) -> Sequence[int]:
        """Return the buffers of a buffer's group; of one that is outside the arena, those with the same memory."""
        if not self.is_arena[number]:
            return self._same[self.identity[number]]
        return self.group_of.get(number, (number,))

    def ranges(self, number: int) -> Sequence[tuple[int, int]]:
        """Return the parts of the arena in which a buffer may lie: first byte, and the byte behind the last."""
        return self._ranges.get(number, self._own[number])

    def overlapping(self, numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Give pairs of different buffers that may share memory; if there are any, not necessarily all."""
        held: list[tuple[int, int, int]] = []
        seen: dict[object, int] = {}
        for number in numbers:
            if self.is_arena[number]:
                held += [(start, end, number) for start, end in self.ranges(number)]
            elif seen.setdefault(self.identity[number], number) != number:
                yield seen[self.identity[number]], number
        held.sort()
        for place, (_, end, first) in enumerate(held):
            for start, _, second in held[place + 1 :]:
                if start >= end:
                    break
                if second not in self.members(first):  # exchanged ones are always in different places
                    yield first, second


def _identity(buffer: Buffer) -> object:
    return id(buffer.data) if buffer.place is Place.CONSTANT else (buffer.place, buffer.index)


class Lost(NamedTuple):
    """Why something no longer lies in a buffer: the step that wrote, and the buffer that it wrote."""

    step: object
    writer: int


class Contents:
    """What lies in which buffer.

    Parameters
    ----------
    places : Places
    lost : dict
        What was overwritten, with why; all contents of a program share it.
    """

    __slots__ = ("_facts", "_held", "_where", "lost", "places")

    def __init__(self, places: Places, lost: dict[tuple[int, Fact], Lost]) -> None:
        self.places, self.lost = places, lost
        self._facts: dict[int, set[Fact]] = {}
        self._where: dict[Fact, set[int]] = {}
        self._held: list[tuple[int, int, int]] = []

    def copy(self) -> Contents:
        """Return contents that change on their own."""
        other = Contents(self.places, self.lost)
        other._facts = {number: set(facts) for number, facts in self._facts.items()}
        other._where = {fact: set(numbers) for fact, numbers in self._where.items()}
        other._held = self._held.copy()
        return other

    def become(self, other: Contents) -> None:
        """Take over what others have, who are needed no more."""
        self._facts, self._where, self._held = other._facts, other._where, other._held

    def of(self, number: int) -> set[Fact]:
        """Return what is known to lie in a buffer."""
        return self._facts.get(number, set())

    def with_fact(self, fact: Fact) -> list[int]:
        """Return the buffers in which something lies."""
        return sorted(self._where.get(fact, ()))

    def add(self, number: int, fact: Fact) -> None:
        """Learn that something lies in a buffer, with what is known to lie there already."""
        if number not in self._facts:
            self._facts[number] = set()
            self._hold(number)
        self._facts[number].add(fact)
        self._where.setdefault(fact, set()).add(number)

    def write(self, number: int, facts: Iterable[Fact], step: object) -> None:
        """Put something into a buffer, in place of all that may have lain in that memory."""
        for other in self._touched(number):
            for fact in self._facts.get(other, ()):
                self.lost[other, fact] = Lost(step, number)
            self._drop(other)
        for fact in facts:
            self.add(number, fact)

    def exchange(self, first: int, second: int) -> None:
        """Let two buffers change places."""
        one, other = self._facts.get(first, set()), self._facts.get(second, set())
        for number, facts in ((first, other), (second, one)):
            self._replace(number, facts)

    def forget(self, values: frozenset[Value]) -> None:
        """Forget where some values are: they are about to be computed anew."""
        stale = [fact for fact in self._where if (fact.value if isinstance(fact, Outside) else fact) in values]
        for fact in stale:
            for number in self._where.pop(fact):
                self._facts[number].discard(fact)

    def meet(self, other: Contents) -> bool:
        """Keep what other contents have, too; return whether that is less."""
        changed = False
        for number in list(self._facts):
            theirs = other.of(number)
            kept = {fact for fact in self._facts[number] if fact in theirs or _is_implied(fact, theirs)}
            kept |= {fact for fact in theirs if _is_implied(fact, self._facts[number])}
            if kept != self._facts[number]:
                changed = True
                self._replace(number, kept)
        return changed

    def _replace(self, number: int, facts: set[Fact]) -> None:
        self._drop(number)
        for fact in facts:
            self.add(number, fact)

    def _drop(self, number: int) -> None:
        for fact in self._facts.pop(number, ()):
            self._where[fact].discard(number)

    def _touched(self, number: int) -> list[int]:
        """Return the buffers with something in them that may share memory with one, itself included."""
        if not self.places.is_arena[number]:
            return [other for other in self.places.members(number) if other in self._facts]
        group = self.places.members(number)
        found = {number} if number in self._facts else set()
        for start, end in self.places.ranges(number):
            for entry in self._overlapping(start, end):
                if entry[2] not in group:
                    found.update(self.places.members(entry[2]))
                    self._held.remove(entry)
        return [other for other in found if other in self._facts]

    def _overlapping(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """Return the held parts of the arena that overlap with one; they don't overlap with each other."""
        held = self._held
        place = bisect_left(held, (start,))
        if place and held[place - 1][1] > start:
            place -= 1
        found = []
        while place < len(held) and held[place][0] < end:
            found.append(held[place])
            place += 1
        return found

    def _hold(self, number: int) -> None:
        """Note which parts of the arena a buffer may lie in."""
        first = self.places.members(number)[0]
        for start, end in self.places.ranges(number):
            entry = (start, end, first)
            place = bisect_left(self._held, entry)
            if place == len(self._held) or self._held[place] != entry:
                insort(self._held, entry)


def _is_implied(fact: Fact, facts: set[Fact]) -> bool:
    return isinstance(fact, Outside) and fact.value in facts
