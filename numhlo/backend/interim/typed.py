"""The vocabulary of plain text: an expression's text and its register type, and what a rule may ask for.

Registers hold Python's own numbers where that is faster: float64 is `float`, complex128 `complex`, booleans `bool`, all
integers `int` within their type's range. float32 and complex64 are NumPy scalars. ``index`` is an int that counts
something, which never overflows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

WIDTHS = {f"{sign}{bits}": bits for sign in "iu" for bits in (8, 16, 32, 64)}
"""Bits of the integer types."""
INTEGERS = frozenset({*WIDTHS, "index"})


class NotPlainError(Exception):
    """Kernel text that there is no plain Python for; the text says why."""


class Typed(NamedTuple):
    """An expression.

    Attributes
    ----------
    text : str
    type : str
        ``f32 f64 c64 c128 bool index`` or one of `WIDTHS`; empty where there is no value.
    value : object
        What a literal stands for, else None.
    """

    text: str
    type: str
    value: Any = None

    @property
    def is_atom(self) -> bool:
        """Return whether the text may be repeated: a name or a literal."""
        return self.value is not None or self.text.isidentifier()


class Scope(Protocol):
    """What rules may ask of the text under construction."""

    def atom(self, typed: Typed) -> Typed:
        """Return an expression as a name or literal, giving it a name where it has none."""
        ...

    def constant(self, value: Any, type: str) -> Typed:
        """Return a value that is no literal under a global name; equal objects share one."""
        ...


Rule = Callable[[Scope, list[Typed]], Typed]


def limits(type: str) -> tuple[int, int]:
    """Return the least and the greatest integer of a type.

    Examples
    --------
    >>> limits("i8"), limits("u8")
    ((-128, 127), (0, 255))
    """
    bits = WIDTHS[type]
    return (0, (1 << bits) - 1) if type[0] == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def wrap(number: int, type: str) -> int:
    """Return an integer modulo two to the width.

    Examples
    --------
    >>> wrap(200, "i8"), wrap(-1, "u8")
    (-56, 255)
    """
    least, _ = limits(type)
    return (number - least & (1 << WIDTHS[type]) - 1) + least
