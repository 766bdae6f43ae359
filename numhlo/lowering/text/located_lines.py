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


def noted_lines(module: Module) -> list[tuple[str, str]]:
    """Return a module's text as lines, each with the user's line that it comes from, or nothing where it is as before.

    Examples
    --------
    >>> noted_lines(Module([]))
    [('module {', ''), ('}', '')]
    """
    lines = located_lines(module)
    return list(zip([line.text for line in lines], _changes(lines), strict=True))


def annotated_text(module: Module) -> str:
    """Return a module's text with the user's lines behind it, each where it first applies.

    Examples
    --------
    >>> print(annotated_text(Module([])))
    module {
    }
    """
    lines = noted_lines(module)
    width = notes_column(lines, 100)
    return "\n".join(f"{text:{width}}  // {note}" if note else text for text, note in lines)


def notes_column(lines: Iterable[tuple[str, str]], most: int) -> int:
    """Return the column where notes begin: behind the longest line that has one, at most ``most``.

    Examples
    --------
    >>> notes_column([("%0 = stablehlo.sine %x", "f.py:3"), ("return %0 : tensor<1000x1000xf64>", "")], 72)
    22
    """
    return min(max((len(text) for text, note in lines if note), default=0), most)


def _changes(lines: Iterable[Line]) -> Iterable[str]:
    """Yield each line's place as text, or nothing where it is that of the line before."""
    latest = ""
    for line in lines:
        place = line.location.describe() if line.location is not None else ""
        yield place if place != latest else ""
        latest = place or latest
