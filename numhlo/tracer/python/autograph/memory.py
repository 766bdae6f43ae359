"""Which name means which memory: the one fact that kept loops, branches, exchanges and views share.

An array's meaning is a storage cell and a chain of view steps: two names mean the same memory where both are equal. A
branch or a body is traced with the arrays themselves (their cells are lent to it), so that what its names mean at its
end follows from NumPy's semantics in `trace`, and is read off here, never found from syntax. The rules:

- A name that means the same memory at the end of an iteration as at its beginning is that array. It is not carried;
  what the body writes into its cell is.
- A name that means an array made in the iteration holds a new array after the loop. Names that share such an array
  share the new one.
- Names that exchange arrays that outlive the loop come back after some iterations. These are one iteration of the graph
  where the arrays are written; otherwise values are carried. The number of iterations says which array a name means
  afterwards; where it is traced, contents are carried by name, and what each array holds is chosen after the loop.
- A name that is bound to other memory in the first iterations than later makes those iterations run before the loop.
- Where a traced condition or number of iterations decides, the name is carried by value, and its new cell is tied to
  all that it may mean (`ties`): reading is fine until one of them is written; then what can't be told raises
  `MutationError`. Writing through the name raises at once where it may mean an argument.
"""

from __future__ import annotations

from typing import Any

from numhlo.lowering.ir.records import record
from numhlo.tracer.core.cell import Cell
from numhlo.tracer.core.ties import ties_of
from numhlo.tracer.core.trace import Tracer, current_trace
from numhlo.tracer.core.view_step import ViewStep
from numhlo.tracer.trees.pytrees import tree_leaves


@record(frozen=True, slots=True, eq=False)
class Meaning:
    """What a name means at some point of a trace.

    Attributes
    ----------
    array : Tracer
    may_be : frozenset of Cell
        The storage that it means or may mean.
    is_stale : bool
        Storage that it may mean was written since it was bound.
    """

    array: Tracer
    may_be: frozenset[Cell]
    is_stale: bool

    @property
    def cell(self) -> Cell:
        """Return the storage."""
        return self.array.cell

    @property
    def steps(self) -> tuple[ViewStep, ...]:
        """Return the view steps."""
        return self.array.steps

    def is_outside(self, mark: int) -> bool:
        """Return whether it is memory, and a view of it, that were there when cells had numbers below ``mark``."""
        return self.cell.serial < mark and all(
            not isinstance(x, Tracer) or x.cell.serial < mark
            for step in self.steps
            for x in getattr(step, "starts", ())
        )


def is_array(x: Any) -> bool:
    """Return whether a value is a traced array, and no scalar: something that can be written into."""
    return isinstance(x, Tracer) and not x.is_scalar


def meaning(x: Any) -> Meaning | None:
    """Return what a leaf means now; None of what is no traced array."""
    if not is_array(x):
        return None
    ties = ties_of(current_trace(), x.cell)
    is_stale = any(found.is_stale and not found.is_exact for found in ties)
    return Meaning(x, frozenset({x.cell, *[found.other for found in ties]}), is_stale)


def meanings(tree: Any) -> list[Meaning | None]:
    """Return what the leaves of a tree mean now."""
    return [meaning(x) for x in tree_leaves(tree)]


def same_memory(x: Any, y: Any) -> bool:
    """Return whether two leaves are the same memory, seen in the same way."""
    if x is y:
        return True
    return is_array(x) and is_array(y) and x.cell is y.cell and x.steps == y.steps and x.aval == y.aval


def on_cell(cell: Cell, like: Tracer) -> Tracer:
    """Return an array that shows of a cell what another array shows of its own."""
    found = Tracer(cell, like.steps, like.aval)
    found.weak = like.weak
    return found


def whole(cell: Cell) -> Tracer:
    """Return all that a cell holds, as an array."""
    return Tracer(cell, (), cell.value.tensor)


def unchecked(x: Any) -> Any:
    """Return an array with what it holds now, be it known or not whether that is what NumPy has there."""
    if not is_array(x) or not x.cell.is_tied:
        return x
    kept = Cell(x.cell.trace, x.cell.value, x.cell.location)
    kept.is_array = x.cell.is_array
    return on_cell(kept, x)
