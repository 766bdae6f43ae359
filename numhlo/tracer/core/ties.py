"""Storage that may be the same as other storage, because a traced value decides which of them a name means.

A tie says of two cells that they may be one. Such a name is carried by value, so it holds what either had when the tie
was made: reading one after the other was written raises, and so does writing into one where the other is an argument,
whose caller would miss the write. Ties belong to the trace that found them, and end with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import MutationError
from numhlo.tracer.core.cell import Cell

BY_BRANCH = "an if on a traced condition chose which of them the name means"
BY_LOOP = "a loop on traced values decides which of them the name means"
BY_LAYOUT = "a traced value decides how it lies in memory, and so whether reshaping it makes a copy"

STALE = -1
"""A version that no cell has: the other storage was written since."""


class Tie(NamedTuple):
    """That a cell may be the same storage as another one.

    Attributes
    ----------
    other : Cell
    version : int
        The other's when both held the same.
    why : str
        What decides whether they are the same.
    is_exact : bool
        They are the same, and what is written into the one is put into the other later.
    """

    other: Cell
    version: int
    why: str
    is_exact: bool = False

    @property
    def is_stale(self) -> bool:
        """Return whether the other storage was written since."""
        return self.other.version != self.version


class Ties:
    """What one trace knows about cells that may be the same."""

    def __init__(self) -> None:
        self._found: dict[Cell, list[Tie]] = {}

    def add(self, cell: Cell, tie: Tie) -> None:
        """Note a tie of a cell."""
        cell.is_tied = True
        self._found.setdefault(cell, []).append(tie)

    def stale(self, mark: int) -> set[Cell]:
        """Return cells with numbers below a mark that may have been written by another name."""
        return {c for c, found in self._found.items() if c.serial < mark and any(map(_is_lost, found))}

    def of(self, cell: Cell) -> list[Tie]:
        """Return the ties of a cell."""
        return self._found.get(cell, [])


class Tied(Protocol):
    """What has ties: a trace."""

    ties: Ties | None

    @property
    def parent(self) -> Tied | None:
        """Return the trace around."""
        ...


def ties_of(trace: Tied | None, cell: Cell) -> list[Tie]:
    """Return the ties of a cell that a trace, or one around it, has found."""
    found: list[Tie] = []
    while trace is not None and cell.is_tied:
        if trace.ties is not None:
            found += trace.ties.of(cell)
        trace = trace.parent
    return found


def tie_exactly(trace: Tied, cell: Cell, others: Iterable[Cell], why: str) -> None:
    """Note of a new cell that it is one of some others, for as long as it is put into them in the end.

    Parameters
    ----------
    trace : Trace
    cell : Cell
    others : iterable of Cell
        What they hold is not known meanwhile.
    why : str
    """
    if trace.ties is None:
        trace.ties = Ties()
    for other in others:
        trace.ties.add(cell, Tie(other, other.version, why, is_exact=True))
        trace.ties.add(other, Tie(cell, STALE, why, is_exact=True))


def tie(
    trace: Tied, cell: Cell, others: Iterable[Cell], why: str, *, stale: bool = False, through: bool = True
) -> None:
    """Note of a new cell what it may be the same as, and so what these may be.

    Parameters
    ----------
    trace : Trace
    cell : Cell
        Holds now what one of the others does.
    others : iterable of Cell
    why : str
    stale : bool, optional
        Others were written since the cell was bound.
    through : bool, optional
        What the others may be, it may be, too.
    """
    if trace.ties is None:
        trace.ties = Ties()
    pairs: dict[Cell, Tie] = {}
    for other in others:
        for known in (Tie(other, STALE if stale else other.version, why), *(ties_of(trace, other) if through else ())):
            if known.other is not cell:
                pairs.setdefault(known.other, known)
    for other, known in pairs.items():
        trace.ties.add(cell, known)
        trace.ties.add(other, Tie(cell, cell.version, why))


def stale_cells(trace: Tied, mark: int) -> set[Cell]:
    """Return cells from before a trace, with numbers below a mark, that it may have written by another name."""
    return set() if trace.ties is None else trace.ties.stale(mark)


def make_stale(trace: Tied, cells: Iterable[Cell], why: str) -> None:
    """Note that cells may have been written by another name, so that what they hold is not known."""
    if trace.ties is None:
        trace.ties = Ties()
    for cell in cells:
        trace.ties.add(cell, Tie(cell, STALE, why))


def _is_lost(found: Tie) -> bool:
    return found.is_stale and not found.is_exact


def require_one_value(trace: Tied, cell: Cell) -> None:
    """Raise where what may be the same storage was written since.

    Raises
    ------
    MutationError
    """
    for found in ties_of(trace, cell):
        if found.is_stale:
            error = MutationError(
                f"an array {cell.value.tensor.short()} is read that may be the one just written, or another one",
                where=capture_location(),
                why=found.why,
                fix="copy in the branch: best = x.copy()" if found.why == BY_BRANCH else "bind a copy: best = x.copy()",
            )
            error.storage = cell if found.is_exact else None
            error.is_undecided = True
            raise error


def require_unobserved(trace: Tied, cell: Cell) -> None:
    """Raise before a write where what may be the same storage is an argument, whose caller would miss the write.

    Raises
    ------
    MutationError
    """
    for found in ties_of(trace, cell):
        if found.other.is_observed and not found.is_exact:
            error = MutationError(
                f"an array {cell.value.tensor.short()} is written that may be {found.other.name or 'an argument'}, "
                "or another one",
                where=capture_location(),
                why=found.why,
                fix="write into the array by its own name, where it is chosen; or bind a copy: best = x.copy()",
            )
            error.is_undecided = True
            raise error
