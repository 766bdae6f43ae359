"""Conditions that neither a graph nor autograph can have: of `assert`, and of an `if` in a comprehension."""

from __future__ import annotations

from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError
from numhlo.tracer.core.except_clauses import note_swallowed
from numhlo.tracer.python.special_methods import OPERATORS, is_off
from numhlo.tracer.python.stand_ins import is_unknown


def _known(test: Any, what: str, *, why: str, fix: str) -> Any:
    if not is_unknown(test) or is_off():
        return test
    error = ConcretizationError(f"{what} on a traced condition", where=capture_location(), why=why, fix=fix)
    note_swallowed(error)
    raise error


def _asserted(test: Any) -> Any:
    return _known(
        test,
        "an assert",
        why="whether it holds is known only when the compiled program runs",
        fix="assert it before the call, or return the condition and assert it afterwards",
    )


def _filtering(test: Any) -> Any:
    return _known(
        test,
        "an if in a comprehension",
        why="the number of items would depend on values that are not known while tracing",
        fix="write np.where(condition, x, 0) for what is added up, or use a mask: x[x > 0].sum()",
    )


OPERATORS["assert x"], OPERATORS["for if x"] = _asserted, _filtering
