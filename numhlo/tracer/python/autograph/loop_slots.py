"""What a loop's variables mean at the beginning of every iteration: found by assuming, tracing, and comparing.

Each array among the variables' values has a slot. Its body is traced under an assumption of what each one means at the
beginning of an iteration; what they mean at its end must be the same, else the assumption is mended and the body traced
again, until it holds (`Again`). What must hold, and why, is in `memory`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field
from typing import Any

from numhlo.lowering.ir.records import record
from numhlo.tracer.core.cell import Cell, cells_so_far
from numhlo.tracer.core.orders import lie_alike
from numhlo.tracer.core.trace import Tracer, current_trace
from numhlo.tracer.python.autograph.memory import Meaning, is_array, meaning, same_memory

KEPT, ALONE, VALUE, TURNED = "kept", "alone", "value", "turned"
"""An array that stays what it is; a view whose part alone is carried; what is carried, and is new afterwards; and
arrays that exchange their names in every iteration, whose number is not known."""

LONGEST_TURN = 6
"""Iterations after which such arrays must have their names again."""


class Again(Exception):  # noqa: N818 - no error: the body is traced once more
    """The assumption of what variables mean was mended."""


class MovedError(Exception):
    """Variables mean other arrays that outlive the loop after an iteration than before it."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        super().__init__()
        self.slots = slots


class UnsettledError(Exception):
    """What variables mean is not the same yet after an iteration as before it; it may be after some more."""


@record(eq=False, slots=True)
class Slot:
    """A place among the variables' values where there is an array.

    Attributes
    ----------
    name : str
        The variable.
    number : int
        Which of the variable's leaves.
    before : object
        The array before the loop.
    kind : str
    is_apart : bool
        Carried by itself, though it shared memory with others before the loop.
    is_forced : bool
        It was seen that it can't be kept.
    may_be : set of Cell
        Storage from before the loop that it may mean at the beginning of an iteration.
    near : set of Slot
        Others with which it may share storage then.
    is_stale : bool
        Storage that it may mean was written since it was bound.
    others : list
        Arrays that iterations leave in it, which lie in memory in other ways than the one before the loop.
    """

    name: str
    number: int
    before: Any
    kind: str = VALUE
    is_apart: bool = False
    is_forced: bool = False
    may_be: set[Cell] = field(default_factory=set)
    near: set[Slot] = field(default_factory=set)
    is_stale: bool = False
    others: list[Any] = field(default_factory=list)


class Slots:
    """The arrays among a loop's variables.

    Parameters
    ----------
    leaves : dict
        The variables' leaves before the loop, by name; those that are no arrays have no slots.
    in_place : set of str
        The variables that the body surely writes into before it binds them again, if it does.
    since : int or None
        Numbers of cells that were made by iterations of the loop have at least this; None where none was traced.
    is_patient : bool
        More iterations may be traced before the loop.
    """

    def __init__(
        self, leaves: Mapping[str, Sequence[Any]], in_place: frozenset[str], since: int | None, *, is_patient: bool
    ) -> None:
        self.mark = cells_so_far()
        self.since, self.is_patient = since, is_patient
        self.following: dict[Slot, Slot] = {}
        self.all = [Slot(n, k, x) for n, found in leaves.items() for k, x in enumerate(found) if is_array(x)]
        trace = current_trace()
        self._whole = {
            s for s in self.all if not s.before.steps and s.before.cell.trace is trace and not s.before.cell.is_tied
        }
        for slot in self.all:
            made_here = since is not None and slot.before.cell.serial >= since
            if (slot.name in in_place or since is not None) and not made_here:
                slot.kind = KEPT
            else:
                self._carry(slot)

    def of(self, *kinds: str) -> list[Slot]:
        """Return the slots of some kinds."""
        return [slot for slot in self.all if slot.kind in kinds]

    def groups(self) -> list[list[Slot]]:
        """Return the slots that are carried, those together that share memory."""
        found: dict[Any, list[Slot]] = {}
        for slot in self.of(VALUE):
            found.setdefault(slot if slot.is_apart else slot.before.cell, []).append(slot)
        return list(found.values())

    @property
    def turns(self) -> int:
        """Return after how many iterations arrays that exchange their names have them again."""
        lengths = {len(_cycle(slot, self.following)) for slot in self.of(TURNED)}
        return math.lcm(*lengths)

    def cycle(self, slot: Slot) -> list[Slot]:
        """Return the slots with which a slot exchanges arrays, itself among them."""
        return _cycle(slot, self.following)

    def after_turns(self, slot: Slot, turns: int) -> Slot:
        """Return the slot whose array a slot means after some iterations that exchange names."""
        for _ in range(turns):
            slot = self.following[slot]
        return slot

    def force(self, slots: Iterable[Slot]) -> None:
        """Carry some arrays."""
        for slot in slots:
            slot.is_forced = True
            self._carry(slot)

    def keep_all(self) -> bool:
        """Assume of all arrays that they are kept of which nothing else was seen; return whether there are any."""
        free = [slot for slot in self.of(VALUE) if not slot.is_forced]
        for slot in free:
            slot.kind = KEPT
        return bool(free)

    def _carry(self, slot: Slot) -> None:
        slot.kind = VALUE
        known = meaning(slot.before)
        assert known is not None
        slot.is_stale = known.is_stale
        slot.may_be = set(known.may_be)
        if self.since is not None and slot.before.cell.serial >= self.since:
            slot.may_be = slot.may_be - {slot.before.cell}  # nothing but these variables can see it

    def settle(self, entered: Mapping[Slot, Any], after: Mapping[Slot, Any]) -> None:
        """Compare what the variables mean after an iteration with what was assumed.

        Parameters
        ----------
        entered, after : dict
            The arrays at the beginning and at the end of the iteration.

        Raises
        ------
        Again, MovedError, UnsettledError
        """
        self._check_turns(entered, after)
        moved = [slot for slot in self.of(KEPT, ALONE) if not same_memory(after[slot], entered[slot])]
        if moved or any(entered[slot].cell.version for slot in self.of(VALUE)):
            self._turn(entered, after)
        if moved:
            self._move(moved, after)
        free = [s for s in self.of(VALUE) if not s.is_forced]
        back = [s for s in free if same_memory(after[s], s.before) or same_memory(after[s], entered[s])]
        borrowed = {x.cell for x in map(after.__getitem__, self.of(VALUE)) if is_array(x)}
        back += [slot for slot in self.of(ALONE) if entered[slot].cell in borrowed]
        for slot in back:
            slot.kind = KEPT
        if back:
            raise Again
        self._separate(after)
        self._compare_layouts(entered, after)
        self._tie(entered, after)

    def _check_turns(self, entered: Mapping[Slot, Any], after: Mapping[Slot, Any]) -> None:
        """Carry arrays as values that don't exchange their names as was assumed, or have other names, too."""
        turned = self.of(TURNED)
        seen = {cell for s in self.of(VALUE) if (known := meaning(after[s])) is not None for cell in known.may_be}
        stays = all(same_memory(after[s], entered[self.following[s]]) for s in turned)
        if not stays or any(entered[s].cell in seen for s in turned):
            self.force(turned)
            raise Again

    def _turn(self, entered: Mapping[Slot, Any], after: Mapping[Slot, Any]) -> None:
        """Note which arrays only exchange their names with others, where the number of iterations is not known."""
        names = Counter(slot.before.cell for slot in self.all)
        usable = [s for s in self.of(KEPT, VALUE) if s in self._whole and not s.is_forced and names[s.before.cell] == 1]
        sources = {entered[s].cell: s for s in usable}
        found = {s: sources[x.cell] for s in usable if is_array(x := after[s]) and x.cell in sources and not x.steps}
        cycles = {s: cycle for s in found if len(cycle := _cycle(s, found)) > 1}
        if self.since is None and cycles and math.lcm(*map(len, cycles.values())) <= LONGEST_TURN:
            self.following = {s: found[s] for s in cycles}
            for slot in cycles:
                slot.kind = TURNED
            raise Again

    def _move(self, moved: Sequence[Slot], after: Mapping[Slot, Any]) -> None:
        alone = [slot for slot in moved if slot.kind is ALONE]
        for slot in alone:
            slot.kind = KEPT
        outside = [slot for slot in moved if self._is_outside(after[slot])]
        if not alone and self.since is not None and len(outside) == len(moved):
            raise MovedError(moved)
        if not alone:
            self.force([s for s in moved if s not in outside] if self.since is not None else moved)
        raise Again

    def _is_outside(self, x: Any) -> bool:
        known = meaning(x)
        return known is not None and known.is_outside(self.mark)

    def _separate(self, after: Mapping[Slot, Any]) -> None:
        """Carry those by themselves that shared memory before the loop, and do not any more."""
        for group in self.groups():
            first = after[group[0]]
            if len(group) == 1 or (
                is_array(first)
                and first.cell.value.tensor == group[0].before.cell.value.tensor
                and all(_shows_alike(after[s], s.before, first) for s in group)
            ):
                continue
            if self.is_patient:
                raise UnsettledError
            for slot in group:
                slot.is_apart = True
                slot.near.update(s for s in group if s is not slot)
            raise Again

    def _compare_layouts(self, entered: Mapping[Slot, Any], after: Mapping[Slot, Any]) -> None:
        """Look for arrays that an iteration lays out in another way, where the body asks how they lie in memory."""
        asked = [s for s in self.of(VALUE) if entered[s].cell.layout_read and not s.others and is_array(after[s])]
        other = [s for s in asked if not lie_alike(entered[s], after[s])]
        if other and self.is_patient:
            raise UnsettledError
        for slot in other:
            slot.others.append(after[slot])
        if other:
            raise Again

    def _tie(self, entered: Mapping[Slot, Any], after: Mapping[Slot, Any]) -> None:
        """Note what the carried arrays may mean in the next iteration."""
        groups = [(group[0], meaning(after[group[0]])) for group in self.groups()]
        found = [(slot, known) for slot, known in groups if known is not None]
        grown: set[Slot] = set()
        for slot, known in found:
            outside = {cell for cell in known.may_be if cell.serial < self.mark}
            near = {s for s, other in found if s is not slot and _may_share(known, other)}
            same = {s for s, other in found if s is not slot and other.cell is known.cell}
            if self.is_patient and ((known.is_outside(self.mark) and known.cell in outside) or same - slot.near):
                raise UnsettledError
            grown |= _grow(slot, outside, near, is_stale=known.is_stale)
        sources = {slot: [s for s, _ in found if entered[s].cell in known.may_be] for slot, known in found}
        growing = True
        while growing:  # what a slot may mean goes on to those that take it over
            more: set[Slot] = set()
            for slot, others in sources.items():
                for source in others:
                    near = {s for s, known in sources.items() if s is not slot and not source.near.isdisjoint(known)}
                    more |= _grow(slot, source.may_be, near, is_stale=source.is_stale)
            growing = bool(more)
            grown |= more
        if any(self._matters(slot, entered) for slot in grown):
            raise Again

    def _matters(self, slot: Slot, entered: Mapping[Slot, Any]) -> bool:
        """Return whether the body writes into what a slot means at its beginning, or may mean."""
        carried = [entered[s].cell for s in (slot, *slot.near)]
        written = any(cell.version for cell in carried) or any(cell.trace is carried[0].trace for cell in slot.may_be)
        return written or slot.is_stale


def _cycle(slot: Slot, following: Mapping[Slot, Slot]) -> list[Slot]:
    """Return the slots whose arrays a slot means in turn until it has its own again; none if it never has."""
    found = [slot]
    while (other := following.get(found[-1])) is not slot:
        if other is None or other in found:
            return []
        found.append(other)
    return found


def _grow(slot: Slot, may_be: AbstractSet[Cell], near: AbstractSet[Slot], *, is_stale: bool) -> set[Slot]:
    """Add to what a slot may mean; return the slot, if that is new."""
    if may_be <= slot.may_be and near <= slot.near and is_stale <= slot.is_stale:
        return set()
    slot.may_be, slot.near, slot.is_stale = slot.may_be | may_be, slot.near | near, slot.is_stale or is_stale
    return {slot}


def _shows_alike(x: Any, before: Tracer, first: Tracer) -> bool:
    return is_array(x) and x.cell is first.cell and x.steps == before.steps and bool(x.aval == before.aval)


def _may_share(one: Meaning, other: Meaning) -> bool:
    return not one.may_be.isdisjoint({other.cell}) or not other.may_be.isdisjoint({one.cell})
