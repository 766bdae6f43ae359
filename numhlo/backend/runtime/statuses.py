"""How calls of native code end: what statuses mean."""

from __future__ import annotations

from typing import NoReturn

from numhlo.backend.primitives import layout
from numhlo.lowering.ir.errors import InternalError, UnsupportedError


def raise_status(status: int, name: str) -> NoReturn:
    """Raise the error that a status stands for.

    Parameters
    ----------
    status : int
    name : str
        The program's.
    """
    if status == layout.FORKED:
        raise UnsupportedError(
            f"{name or 'a program'} can't go on in the child of a fork",
            why="a signal handler forked in the middle of the call, while other threads worked on it",
            fix="end the child in the handler (os._exit, os.execv), or let the handler note that a fork is wanted",
        )
    raise InternalError(f"{name or 'a program'} failed with status {status}")
