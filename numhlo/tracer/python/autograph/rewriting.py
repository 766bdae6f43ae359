"""Functions whose branches and loops, and those of what they call, work on traced values.

The new function has the old one's globals, closure, name and line numbers, so errors show the user's lines.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FunctionType, MethodType
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ir.late_modules import late
from numhlo.tracer.core.installed_code import has_library_code
from numhlo.tracer.python.code_references import decides
from numhlo.tracer.python.plain_numpy import CODES, Exchange, exchanged_callee, rewrites, with_code
from numhlo.tracer.python.source.marked_calls import CALLEE, RUNTIME


def autographed(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return what does what a function does, whose `if`, `while` and `for` work on traced values, and those in callees.

    Parameters
    ----------
    fun : callable
        A function made by `def`, a partial of one, or one that a transformation or a decorator made of one.

    Raises
    ------
    ArgumentError
        If there is no source to rewrite.

    Examples
    --------
    >>> autographed(inspect.cleandoc)("  x")
    'x'
    """
    if isinstance(fun, functools.partial):
        return functools.partial(autographed(fun.func), *fun.args, **fun.keywords)
    if inspect.ismethod(fun):
        return MethodType(autographed(fun.__func__), fun.__self__)
    inner = exchanged_callee(fun) if hasattr(fun, "__wrapped__") and has_library_code(fun) else rewritten(fun)

    @functools.wraps(fun)
    def run(*args: Any, **kwargs: Any) -> Any:
        with rewriting_callees():
            return inner(*args, **kwargs)

    run.is_autographed = True  # type: ignore[attr-defined]
    return run


def rewriting_callees() -> AbstractContextManager[Any]:
    """Rewrite what is called in a block, where it is traced: functions of the user's that have a source."""
    return rewrites.bound(_rewritten_if_possible)


def rewritten(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose `if`, `while` and ``for i in range`` work on traced values.

    Raises
    ------
    ArgumentError
        If there is no source to rewrite: code that was typed into ``python -c``, compiled functions.

    Examples
    --------
    >>> rewritten(inspect.cleandoc)("  x")
    'x'
    """
    if inspect.ismethod(fun):
        return MethodType(rewritten(fun.__func__), fun.__self__)
    if not isinstance(fun, FunctionType):
        raise ArgumentError(
            f"autograph: {fun!r} is no function of Python's", where=capture_location(), fix="write it with def"
        )
    code = CODES.of(fun.__code__, fun.__globals__, RUN)
    if code is None:
        what = "a lambda can't be found" if fun.__name__ == "<lambda>" else f"{fun.__qualname__} can't be read"
        raise ArgumentError(
            f"autograph: the source of {what}",
            where=capture_location(),
            why="there is no file of its name, or other code stands in its place",
            fix="write it with def, in a file or a notebook cell",
        )
    return functools.update_wrapper(with_code(fun, code), fun)


def _called(callee: Any) -> Any:
    """Return what rewritten code calls: the user's own functions rewritten, too, where that can be done."""
    if isinstance(callee, MethodType) and isinstance(callee.__func__, FunctionType):
        made = _called(callee.__func__)
        return exchanged_callee(callee) if made is None else MethodType(made, callee.__self__)
    if not isinstance(callee, FunctionType):
        return exchanged_callee(callee)
    return _rewritten_if_possible(callee) or exchanged_callee(callee)


@functools.lru_cache(maxsize=512)
def _rewritten_if_possible(fun: FunctionType) -> Callable[..., Any] | None:
    code = fun.__code__
    if inspect.isgeneratorfunction(fun) or has_library_code(fun) or CODES.has_control_flow(code):
        return None
    if code.co_name == "<lambda>" and not decides(code):
        return None
    try:
        return rewritten(fun)
    except (ArgumentError, SyntaxError):
        return None


RUN = {CALLEE: Exchange(_called), RUNTIME: late("numhlo.tracer.python.autograph.staging")}
"""What stands in the places of the marks of rewritten branches and loops."""
