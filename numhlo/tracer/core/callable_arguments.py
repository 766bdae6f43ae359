"""Arguments that have to be functions."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import NotCallableError
from numhlo.tracer.core.trace import Tracer

NEVER_RUN = (
    (inspect.iscoroutinefunction, "an async function", "trace a plain function, and await outside it"),
    (inspect.isasyncgenfunction, "an async generator", "trace a plain function, and await outside it"),
    (inspect.isgeneratorfunction, "a generator", "return a list of what it yields, or write lax.scan"),
)
"""Functions whose body does not run when they are called."""

DESCRIPTORS = (classmethod, property, functools.cached_property)


def require_callable(fun: Any, what: str, fix: str = "pass a function, such as lambda x: x * 2") -> None:
    """Raise `NotCallableError` unless ``fun``, which ``what`` names, can be called, and runs then."""
    if not callable(fun):
        own = type(fun).__name__
        raise NotCallableError(
            f"{what} is {_spelled(fun)}, no function",
            where=capture_location(),
            why="it is called with the operands",
            fix=f"write @{own} above the other decorator" if isinstance(fun, DESCRIPTORS) else fix,
        )
    for is_one, called, instead in NEVER_RUN:
        if is_one(fun) or is_one(type(fun).__call__):
            raise NotCallableError(
                f"{what} is {called}", where=capture_location(), why="a call of it runs nothing yet", fix=instead
            )


def _spelled(x: Any) -> str:
    return f"an array {x.aval.short()}" if isinstance(x, Tracer) else f"of class {type(x).__name__}"
