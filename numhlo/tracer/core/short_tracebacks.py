"""Tracebacks of errors that are about the user's code show the user's code alone.

Between a call of a jitted function and the line of it that is refused there are some twenty calls of this library, and
the message names what was wrong, where and why. They are left out of the traceback, and so are those around an error
that the user's code raises itself. What may be a fault of this library keeps all of them, and so does everything in
Python's development mode, ``python -X dev``.
"""

from __future__ import annotations

import dis
import sys
from types import TracebackType
from typing import Any

from numhlo.lowering.ir.errors import InternalError, NumhloError
from numhlo.lowering.ir.location import is_library
from numhlo.tracer.core.trace import current_trace


class ShortTracebacks:
    """A context manager that shortens the tracebacks of what is raised inside, outside all traces.

    Attributes
    ----------
    wanted : bool
        Whether it does anything.

    Examples
    --------
    >>> ShortTracebacks().wanted
    True
    """

    def __init__(self) -> None:
        self.wanted = not sys.flags.dev_mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: TracebackType | None) -> None:
        if error is None or not self.wanted or current_trace() is not None:
            return  # a call inside a trace: who looks for the user's line wants to see who raised
        if _is_about_users_code(error):
            error.__traceback__ = _users_part(error.__traceback__)


short_tracebacks = ShortTracebacks()
"""The one that everything uses."""


_RAISE = dis.opmap["RAISE_VARARGS"]
"""What a refusal in NumPy's or Python's classes ends with; an index or attribute that is not there may be our fault."""


def _is_about_users_code(error: BaseException) -> bool:
    if isinstance(error, NumhloError):
        return not isinstance(error, InternalError)
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None or not is_library(traceback.tb_frame.f_code.co_filename):
        return traceback is not None
    return "\n  at " in str(error) and traceback.tb_frame.f_code.co_code[traceback.tb_lasti] == _RAISE


def _users_part(traceback: TracebackType | None) -> TracebackType | None:
    found = []
    while traceback is not None:
        if not is_library(traceback.tb_frame.f_code.co_filename):
            found.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    for entry in reversed(found):
        kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept
