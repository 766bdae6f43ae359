"""The value of a variable that has none, because only a branch or a loop that may not run would give it one."""

from __future__ import annotations

from typing import Any, NoReturn

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UndefinedVariableError


class Undefined:
    """The value of a variable that has none: every use raises, as Python does."""

    def __init__(self, name: str) -> None:
        self._numhlo_name = name
        self._numhlo_location = capture_location()

    def __getattr__(self, attribute: str) -> NoReturn:
        self.refuse()

    def refuse(self) -> NoReturn:
        """Raise the error for using the variable."""
        raise UndefinedVariableError(
            f"variable {self._numhlo_name!r} has no value here",
            where=self._numhlo_location,
            why="it gets one only in a branch or a loop that may not run",
            fix=f"give {self._numhlo_name!r} a value before",
        )


class Later(Undefined):
    """The value of a variable that every way through a loop and what follows it gives one, before it does."""


class InLoops(Undefined):
    """The value of a variable that has one wherever it is read, if the loops before that run at least once.

    What stands for it where a traced condition says that a path was left is never read. A loop that does not run, or
    may not run, leaves `Undefined` in its place.
    """


MISSING = (Later, InLoops)
"""What branches may give any value, where they give none."""


def _use(self: Undefined, *_: Any) -> NoReturn:
    self.refuse()


_OPERATIONS = """
    add sub mul truediv floordiv mod pow matmul and or xor radd rsub rmul rtruediv rpow rmatmul lt le gt ge getitem
    call iter len bool float int index neg
"""
for _operation in _OPERATIONS.split():
    setattr(Undefined, f"__{_operation}__", _use)
