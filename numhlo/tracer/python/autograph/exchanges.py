"""Loops whose arrays exchange their names: ``old, new = new, old`` at the end of an iteration.

After two iterations, or as many as there are arrays, each has its name again. Iterations are traced one after the
other, and forgotten, until all names mean what they meant before one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numhlo.lowering.ir.records import record
from numhlo.tracer.core.bind import new_trace
from numhlo.tracer.core.cell import Cell
from numhlo.tracer.python.autograph.lent_storage import LentStorage
from numhlo.tracer.python.autograph.loop_slots import Slot, Slots
from numhlo.tracer.python.autograph.memory import is_array, same_memory
from numhlo.tracer.python.autograph.variables import Variables
from numhlo.tracer.trees.pytrees import tree_leaves

LONGEST = 4
"""Iterations that are traced to see after how many names mean the same again."""


@record(frozen=True)
class Period:
    """After how many iterations names mean the same arrays again.

    Attributes
    ----------
    first : int
        The iteration before which they mean for the first time what they mean later again.
    length : int
    meanings : list of dict
        What the slots mean before each iteration.
    written : set of Cell
        What the iterations write into.
    """

    first: int
    length: int
    meanings: list[dict[Slot, Any]]
    written: set[Cell]

    def meaning(self, slot: Slot, iterations: int) -> Any:
        """Return what a slot means after some iterations."""
        return self.meanings[self.first + (iterations - self.first) % self.length][slot]


def period(variables: Variables, slots: Slots, run: Callable[[int, Sequence[Any]], Sequence[Any]]) -> Period | None:
    """Return after how many iterations the arrays of slots have their names again; None if that is not seen.

    Parameters
    ----------
    variables : Variables
    slots : Slots
    run : callable
        Runs an iteration, by its number, with the variables' values; returns these after it.
    """
    storage = LentStorage(variables.split())
    found = [{slot: slot.before for slot in slots.all}]
    with new_trace(closed=False), storage.lent():
        versions = {cell: cell.version for cell in storage.cells.values()}
        values = variables.filled(storage.own(variables.split()))
        for number in range(LONGEST):
            values = [*run(number, values)]
            by_name = dict(zip(variables.names, values, strict=True))
            leaves = {name: tree_leaves(by_name[name]) for name in {slot.name for slot in slots.all}}
            now = {s: leaves[s.name][s.number] if s.number < len(leaves[s.name]) else None for s in slots.all}
            for first, earlier in enumerate(found):
                if all(_is_same(earlier[slot], now[slot], slots) for slot in slots.all):
                    written = {cell for cell, version in versions.items() if cell.version != version}
                    return Period(first, number + 1 - first, found, written)
            found.append(now)
    return None


def _is_same(one: Any, other: Any, slots: Slots) -> bool:
    """Return whether two leaves are the same memory, or both were made by iterations of the loop."""
    return same_memory(one, other) or (_is_made(one, slots) and _is_made(other, slots))


def _is_made(x: Any, slots: Slots) -> bool:
    assert slots.since is not None
    return not is_array(x) or (x.cell.serial >= slots.since and not x.cell.is_tied)
