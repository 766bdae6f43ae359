"""Errors of Python's and NumPy's classes that this library raises while tracing get the user's line, as our own have.

Their classes are those that NumPy raises, so that what a program catches it catches while it is traced, too. What the
user's own code raises stays as it is.
"""

from __future__ import annotations

import functools
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np

from numhlo.lowering.ir.errors import EndlessRecursionError, NumhloError
from numhlo.lowering.ir.location import UNKNOWN, Location, is_library

LOCATED = (
    ValueError,
    TypeError,
    IndexError,
    NotImplementedError,
    OverflowError,
    ZeroDivisionError,
    AttributeError,
    RuntimeError,
    np.linalg.LinAlgError,
)
"""The classes whose message is their one argument."""

FULL_STACK = ("maximum recursion depth exceeded", "Stack overflow")
"""What Python says, up to 3.13 and later."""

FEW = 5
"""How often a function may call itself in what is too deep for another reason."""

_blocks = threading.local()


class LocatedAxisError(np.exceptions.AxisError):
    """NumPy's error for an axis that is out of bounds, with the line that asked for it."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{super().__str__()}{self.args[-1]}"

    def __reduce__(self) -> Any:
        return np.exceptions.AxisError, (str(self),)  # in another process, as our own errors


LocatedAxisError.__name__ = LocatedAxisError.__qualname__ = "AxisError"  # as tracebacks name it
LocatedAxisError.__module__ = np.exceptions.__name__


class _LocatedUfuncError:
    """What NumPy's errors for types without a loop get besides their own class, whose arguments aren't the message."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{super().__str__()}{vars(self)['line']}"

    def __reduce__(self) -> Any:
        return TypeError, (str(self),)


@functools.cache
def _located(kind: type[Exception]) -> type[Exception]:
    return type(kind.__name__, (_LocatedUfuncError, kind), {"__module__": kind.__module__})


@contextmanager
def naming_the_line() -> Iterator[None]:
    """Add the user's line to what is raised inside the block by code that is not the user's."""
    around = getattr(_blocks, "around", 0)
    _blocks.around = around + 1
    try:
        yield
    except RecursionError as error:
        if around or not str(error).startswith(FULL_STACK):
            raise  # there is no room to look around in; or it is the user's
        raise _recursion(error.__traceback__) from None
    except (NumhloError, *LOCATED) as error:
        known = isinstance(error, NumhloError) and error.where not in {None, UNKNOWN}
        line = None if known else _line_of(error.__traceback__)
        if line is not None and isinstance(error, NumhloError):
            error.where = line
        elif line is not None and "\n  at " not in str(error):
            _add(error, f"\n  at {line.describe()}")
        raise
    finally:
        _blocks.around = around


@contextmanager
def refusing_depth() -> Iterator[None]:
    """Refuse programs whose functions call each other deeper than Python's stack is, where a block goes as deep."""
    try:
        yield
    except RecursionError as error:
        if isinstance(error, NumhloError) or not str(error).startswith(FULL_STACK):
            raise
        raise _recursion(error.__traceback__) from None


def _recursion(traceback: TracebackType | None) -> EndlessRecursionError:
    """Return the error for a stack that is full: which of the user's functions is on it again and again."""
    lines: dict[Any, Location] = {}
    calls: Counter[Any] = Counter()
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_library(code.co_filename):
            lines[code] = Location(code, traceback.tb_lasti)
            calls[code] += 1
        traceback = traceback.tb_next
    (code, count), *_ = calls.most_common(1) or [(None, 0)]
    what = f"{code.co_name} calls itself without end" if count > FEW else "what is traced is nested too deeply"
    return EndlessRecursionError(
        what,
        where=lines.get(code),
        why="a traced function runs as Python, and no condition on traced values ends it",
        fix="end it by a value that is known while tracing, or write lax.while_loop or lax.fori_loop; "
        "sys.setrecursionlimit allows more",
    )


def _add(error: Any, text: str) -> None:
    if type(error) is np.exceptions.AxisError:
        error.__class__ = LocatedAxisError
        error.args = (*error.args, text)
    elif hasattr(error, "ufunc") and not isinstance(error, _LocatedUfuncError):
        kind: Any = type(error)
        error.__class__ = _located(kind)
        error.line = text
    elif type(error) in LOCATED and len(error.args) == 1:
        error.args = (f"{error.args[0]}{text}",)


def _line_of(traceback: TracebackType | None) -> Location | None:
    """Return the last line of the user's that called the library, which raised; None where the user's code did."""
    found = None
    is_ours = False
    while traceback is not None:
        code = traceback.tb_frame.f_code
        is_ours = is_library(code.co_filename)
        if not is_ours:
            found = Location(code, traceback.tb_lasti)
        traceback = traceback.tb_next
    return found if is_ours else None
