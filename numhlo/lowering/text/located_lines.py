"""A program's text line by line, each with the place in the user's source that its op comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from numhlo.lowering.ir import UNKNOWN, Location, Module, Op
from numhlo.lowering.text.printer import Printer


class Line(NamedTuple):
    """One line.

    Attributes
    ----------
    text : str
    location : Location or None
        Of the op that the line begins; None for lines that begin none, and where it is not known.
    """

    text: str
    location: Location | None


class _LocatingPrinter(Printer):
    """Notes where in its output each op begins."""

    def __init__(self, *, generic: bool) -> None:
        super().__init__(generic=generic)
        self.begins: list[tuple[int, Location]] = []

    def print_op(self, op: Op) -> None:
        """Write an op."""
        self.begins.append((len(self.parts), op.location))
        super().print_op(op)


def located_lines(module: Module, *, generic: bool = False) -> list[Line]:
    """Return a module's text as lines.

    Parameters
    ----------
    module : Module
    generic : bool, optional
        Write every op in the generic form.

    Examples
    --------
    >>> [line.text for line in located_lines(Module([]))]
    ['module {', '}']
    """
    printer = _LocatingPrinter(generic=generic)
    printer.print_module(module)
    lines = [Line(text, None) for text in "".join(printer.parts).splitlines()]
    number = part = 0
    for start, location in printer.begins:
        number += sum(text.count("\n") for text in printer.parts[part:start])
        part = start
        if location is not UNKNOWN:
            lines[number] = Line(lines[number].text, location)
    return lines


def annotated_text(module: Module) -> str:
    """Return a module's text with the user's lines behind it, each where it first applies.

    Examples
    --------
    >>> print(annotated_text(Module([])))
    module {
    }
    """
    lines = located_lines(module)
    notes = list(_changes(lines))
    width = min(max((len(line.text) for line, note in zip(lines, notes, strict=True) if note), default=0), 100)
    rows = [f"{line.text:{width}}  // {note}" if note else line.text for line, note in zip(lines, notes, strict=True)]
    return "\n".join(rows)


def _changes(lines: Iterable[Line]) -> Iterable[str]:
    """Yield each line's place as text, or nothing where it is that of the line before."""
    latest = ""
    for line in lines:
        place = line.location.describe() if line.location is not None else ""
        yield place if place != latest else ""
        latest = place or latest
