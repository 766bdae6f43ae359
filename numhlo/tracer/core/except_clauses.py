"""Except clauses of the user's whose block compiled code would never reach, though NumPy or Python would.

Values are not known while a function is traced, so nothing that depends on them raises: a singular matrix gives NaN,
a number that is divided by zero infinity. Code that waits for the error would take the wrong path without a word, and
so would code that catches our own complaint about a branch on a traced value. Both are refused.
"""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError, NumhloError, UnsupportedError
from numhlo.tracer.core.definitions import source_of
from numhlo.tracer.core.installed_code import is_library
from numhlo.tracer.core.trace import Trace, current_trace

CATCH_ALL = (Exception, BaseException)
"""Classes that say nothing about what a clause waits for."""

_SWALLOWED = "a branch whose error was caught"


def refuse_waiting(error: type[BaseException], what: str, fix: str) -> None:
    """Raise if the user's code waits for an error that depends on values, which compiled code does not raise.

    Outside tracing nothing is refused, and a clause that catches everything may wait for something else.

    Parameters
    ----------
    error : type
        What NumPy or Python raises for some values.
    what : str
        The operation and its operands.
    fix : str
        What to write instead of the clause.

    Raises
    ------
    UnsupportedError
        If an except clause around the operation, in a function that is being traced, names ``error``.
    """
    trace = current_trace()
    if trace is None:
        return
    name = next((name for name, kind in _awaited(trace) if kind not in CATCH_ALL and issubclass(error, kind)), None)
    if name is not None:
        raise UnsupportedError(
            f"except {name} around {what}",
            where=capture_location(),
            why=f"which values it has is not known while tracing, and compiled code raises no {error.__name__}: "
            "the clause would never run",
            fix=fix,
        )


def note_swallowed(error: ConcretizationError) -> None:
    """Remember an error about a branch on a traced value if the user's code is about to catch it.

    The branch that is taken then is not the one that Python takes. Clauses that name our own classes mean this error.
    """
    trace = current_trace()
    if trace is not None and any(
        issubclass(type(error), kind) and not issubclass(kind, NumhloError) for _, kind in _awaited(trace)
    ):
        trace.root.memo.setdefault(_SWALLOWED, error)


def raise_swallowed(trace: Trace) -> None:
    """Raise what `note_swallowed` remembered in a trace that came to its end all the same."""
    error = trace.root.memo.pop(_SWALLOWED, None)
    if error is not None:
        raise ConcretizationError(
            f"{error.what}, whose error was caught", where=error.where, why=error.why, fix=error.fix
        ) from error


def _awaited(trace: Trace) -> Iterator[tuple[str, type]]:
    """Return what the clauses around this call name, inner ones first, as written and as classes."""
    opener = trace.root.opener
    frame: FrameType | None = sys._getframe(2) if opener else None
    while frame is not None and id(frame) != opener:
        if frame.f_code.co_exceptiontable and not is_library(frame.f_globals.get("__name__")):
            yield from _awaited_by(frame)
        frame = frame.f_back


def _awaited_by(frame: FrameType) -> Iterator[tuple[str, type]]:
    linecache.lazycache(frame.f_code.co_filename, frame.f_globals)
    for clause in _clauses(frame.f_code):
        if clause.first <= frame.f_lineno <= clause.last:
            for name in clause.names:
                kind = _meaning(name, frame)
                if isinstance(kind, type):
                    yield name, kind


def _meaning(name: str, frame: FrameType) -> Any:
    first, *attributes = name.split(".")
    for scope in (frame.f_locals, frame.f_globals, vars(builtins)):
        if first in scope:
            return functools.reduce(lambda x, attribute: getattr(x, attribute, None), attributes, scope[first])
    return None


class _Clause(NamedTuple):
    """An except clause.

    Attributes
    ----------
    first, last : int
        The lines of the block that it guards.
    names : tuple of str
        The classes that it catches.
    """

    first: int
    last: int
    names: tuple[str, ...]


@functools.lru_cache(maxsize=512)
def _clauses(code: CodeType) -> tuple[_Clause, ...]:
    """Return a function's except clauses, inner ones first; none where its source can't be read.

    Those that end by raising are left out: where an error is only told in other words, NaN is what tells of it here.
    """
    tree = source_of(code, {})
    found = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Try):
            guarded = node.body[0].lineno, node.body[-1].end_lineno or 0
            returning = [handler for handler in node.handlers if not isinstance(handler.body[-1], ast.Raise)]
            found += [_Clause(*guarded, tuple(_names(handler.type))) for handler in returning]
    return tuple(reversed(found))


def _names(caught: ast.expr | None) -> Iterator[str]:
    if caught is None:
        yield BaseException.__name__
    elif isinstance(caught, ast.Tuple):
        for part in caught.elts:
            yield from _names(part)
    elif isinstance(caught, ast.Name | ast.Attribute):
        yield ast.unparse(caught)
