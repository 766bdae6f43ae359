"""A program's text with a mark under one op, for errors; written even where the program is broken.

Every op stands in its generic form, since pretty forms rely on what a type rule has checked; a value that nothing
defines is called ``%undefined``.
"""

from __future__ import annotations

from numhlo.lowering.ir import Module, Op, Value
from numhlo.lowering.text.printer import Printer


class _Names(dict[Value, str]):
    def __missing__(self, value: Value) -> str:
        return "%undefined"


class _MarkingPrinter(Printer):
    """Prints a module, and a line after one op."""

    def __init__(self, op: Op | None, message: str) -> None:
        super().__init__(generic=True)
        self._names = _Names()
        self._marked, self._message = op, message

    def print_op(self, op: Op) -> None:
        """Write an op, and the mark where it is the one."""
        margin = self.margin
        super().print_op(op)
        if op is self._marked:
            self.write(f"{margin}^^^ {self._message}\n")


def marked_text(module: Module, op: Op | None, message: str) -> str:
    """Return a module's text with ``message`` under an op.

    Parameters
    ----------
    module : Module
    op : Op or None
        None marks nothing.
    message : str
        One line.
    """
    printer = _MarkingPrinter(op, message)
    printer.print_module(module)
    return "".join(printer.parts)
