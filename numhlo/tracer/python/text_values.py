"""The text of traced values: it can be shown, but not asked for its characters, which nobody knows while tracing.

``print("x is " + str(x))`` shows the type while a function is traced. ``len(str(n))``, ``str(n)[::-1]`` and
``int(str(n))`` would compute with how that type is written.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError
from numhlo.tracer.core.installed_code import is_library

SHOWING = frozenset({"logging", "traceback", "unittest", "warnings"})
"""Modules of Python's that show text."""


class _Writing(threading.local):
    """What is being written as text.

    Attributes
    ----------
    depth : int
        How many texts are being made whose characters programs may ask for.
    unknown : int
        How often something was written whose characters are not known.
    """

    depth = 0
    unknown = 0


_writing = _Writing()


def is_writing() -> bool:
    """Return whether a traced array is written as part of a text that a program may compute with."""
    return _writing.depth > 0


def note_unknown() -> None:
    """Remember that something was written whose characters are not known."""
    _writing.unknown += 1


def as_text(make: Callable[[], Any]) -> Any:
    """Return a text that is made of values, or of what holds such; `Text` where traced ones are among them."""
    before = _writing.unknown
    _writing.depth += 1
    try:
        found = make()
    finally:
        _writing.depth -= 1
    if _writing.unknown == before:
        return found
    return Text(found) if isinstance(found, str) else Text(repr(found)).refuse()


class Text(str):
    """What `str` gives for a traced value: it can be joined with other text, and shown.

    Examples
    --------
    >>> "x is " + Text("Traced<int64[]>")
    'x is Traced<int64[]>'
    """

    __slots__ = ()

    def refuse(self, *_: object) -> NoReturn:
        """Raise: the characters are not known."""
        raise ConcretizationError(
            f"the characters of a traced array as text, {self:s}",
            where=capture_location(),
            why="its value is not known while tracing, nor its characters",
            fix="compute with the number, whose digits are n // 10**k % 10; or return it, and write it as text outside",
        )

    def __repr__(self) -> str:
        note_unknown()
        return str.__repr__(self)

    def __str__(self) -> str:
        note_unknown()
        return str.__str__(self)

    def __format__(self, spec: str) -> str:
        note_unknown()
        return str.__format__(self, spec)

    def __add__(self, other: Any) -> Any:
        return Text(str.__add__(self, other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return Text(str.__add__(other, self)) if isinstance(other, str) else NotImplemented

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_") or name == "refuse" or _is_shown():
            return str.__getattribute__(self, name)
        return self.refuse()


def _is_shown() -> bool:
    """Return whether a library asks that shows text: logging, warnings, or an installed one, as for progress bars."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "numhlo":
        frame = frame.f_back
    if frame is None:
        return False
    module = frame.f_globals.get("__name__", "")
    top = module.partition(".")[0]
    return top in SHOWING or (top not in sys.stdlib_module_names and top != "numpy" and is_library(module))


def _asking(name: str) -> Any:
    plain = getattr(str, name)

    @functools.wraps(plain)
    def ask(self: Text, *args: Any) -> Any:
        return plain(self, *args) if _is_shown() else self.refuse()

    return ask


for _name in ("contains", "eq", "ge", "getitem", "gt", "hash", "iter", "le", "len", "lt", "mul", "ne", "rmul"):
    setattr(Text, f"__{_name}__", _asking(f"__{_name}__"))
