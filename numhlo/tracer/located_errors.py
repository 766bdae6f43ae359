"""Errors of Python's and NumPy's classes that this library raises while tracing get the user's line, as our own have.

Their classes are those that NumPy raises, so that what a program catches it catches while it is traced, too. What the
user's own code raises stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np

from numhlo.lowering.ir.errors import NumhloError
from numhlo.lowering.ir.location import UNKNOWN, Location, is_library

LOCATED = (
    ValueError,
    TypeError,
    IndexError,
    NotImplementedError,
    OverflowError,
    ZeroDivisionError,
    AttributeError,
    np.linalg.LinAlgError,
)
"""The classes whose message is their one argument."""


class LocatedAxisError(np.exceptions.AxisError):
    """NumPy's error for an axis that is out of bounds, with the line that asked for it."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{super().__str__()}{self.args[-1]}"


@contextmanager
def naming_the_line() -> Iterator[None]:
    """Add the user's line to what is raised inside the block by code that is not the user's."""
    try:
        yield
    except (NumhloError, *LOCATED) as error:
        known = isinstance(error, NumhloError) and error.where not in {None, UNKNOWN}
        line = None if known else _line_of(error.__traceback__)
        if line is not None and isinstance(error, NumhloError):
            error.where = line
        elif line is not None and "\n  at " not in str(error):
            _add(error, f"\n  at {line.describe()}")
        raise


def _add(error: Any, text: str) -> None:
    if type(error) is np.exceptions.AxisError:
        error.__class__ = LocatedAxisError
        error.args = (*error.args, text)
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
