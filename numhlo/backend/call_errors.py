"""What ends a call of a program: exceptions that Python functions, called from native code, leave in its context."""

from __future__ import annotations

import ctypes

from numhlo.backend.primitives import layout


def keep_error(ctx: int, error: BaseException) -> None:
    """Leave an exception in the context of a call, unless there is one: other threads may be at it, too.

    Parameters
    ----------
    ctx : int
        Address of the context.
    error : BaseException
    """
    words = (ctypes.c_int64 * layout.CONTEXT_WORDS).from_address(ctx)
    if words[layout.EXCEPTION]:
        return
    for number, part in enumerate([type(error), error, error.__traceback__]):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(part))
        words[layout.EXCEPTION + number] = id(part)
    words[layout.STATUS] = layout.RAISED
