"""Arguments that have to be functions."""

from __future__ import annotations

from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import NotCallableError
from numhlo.tracer.trace import Tracer


def require_callable(fun: Any, what: str, fix: str = "pass a function, such as lambda x: x * 2") -> None:
    """Raise `NotCallableError` unless ``fun``, which ``what`` names, can be called."""
    if not callable(fun):
        raise NotCallableError(
            f"{what} is {_spelled(fun)}, no function",
            where=capture_location(),
            why="it is called with the operands",
            fix=fix,
        )


def _spelled(x: Any) -> str:
    return f"an array {x.aval.short()}" if isinstance(x, Tracer) else f"of class {type(x).__name__}"
