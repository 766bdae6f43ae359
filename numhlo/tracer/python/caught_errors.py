"""Except clauses that catch our own complaint: that something is not known while tracing, or has no traced meaning.

NumPy raises nothing there, so what such a clause does in its stead is not what the program does. Its body begins with a
look at what it caught (`marked_calls`), and raises that again. Clauses that name our own classes mean these errors.
"""

from __future__ import annotations

import contextlib
import sys
from types import TracebackType
from typing import Any

from numhlo.lowering.ir.errors import ConcretizationError, DataDependentShapeError, NumhloError, UnsupportedError
from numhlo.tracer.python.special_methods import MANAGERS, OPERATORS, is_off

LIMITS = (ConcretizationError, DataDependentShapeError, UnsupportedError)
"""What is raised where NumPy, outside tracing, would have gone on."""


def _raise_again(error: BaseException | None, *classes: Any) -> None:
    if error is None or getattr(error, "is_numpys", not isinstance(error, LIMITS)) or is_off() or _means_ours(classes):
        return
    if not isinstance(error, NumhloError):
        raise UnsupportedError(f"{error}{_CAUGHT}") from error
    what = f"{error.what.removesuffix(_CAUGHT)}{_CAUGHT}"
    raise type(error)(what, where=error.where, why=error.why, fix=error.fix) from error


_CAUGHT = ", whose error was caught"


def _means_ours(classes: Any) -> bool:
    for cls in classes:
        if _means_ours(cls) if isinstance(cls, tuple) else isinstance(cls, type) and issubclass(cls, NumhloError):
            return True
    return False


OPERATORS["except x"] = lambda *classes: _raise_again(sys.exception(), *classes)


class _Suppressing:
    """Stands for `contextlib.suppress`."""

    def __init__(self, manager: contextlib.suppress) -> None:
        self._manager = manager

    def __enter__(self) -> Any:
        return self._manager.__enter__()

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> Any:
        is_caught = self._manager.__exit__(kind, error, traceback)
        if is_caught:
            _raise_again(error, getattr(self._manager, "_exceptions", ()))
        return is_caught


MANAGERS[contextlib.suppress] = _Suppressing
