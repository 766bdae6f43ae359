"""`and`, `or`, `not` and chained comparisons: Python's own on known values, ops on traced ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.tracer.core.numpy_functions import FUNCTIONS
from numhlo.tracer.core.operands import result_dtype
from numhlo.tracer.python.autograph.python_state import leaving_alone
from numhlo.tracer.python.autograph.variables import is_unknown


def both(first: Any, second: Callable[[], Any]) -> Any:
    """Return ``first and second()``."""
    if not is_unknown(first):
        return first and second()
    with leaving_alone("an and", [second]):
        other = second()
    return (
        FUNCTIONS[np.logical_and](first, other)
        if _are_bools(first, other)
        else FUNCTIONS[np.where](first, other, first)
    )


def either(first: Any, second: Callable[[], Any]) -> Any:
    """Return ``first or second()``."""
    if not is_unknown(first):
        return first or second()
    with leaving_alone("an or", [second]):
        other = second()
    return (
        FUNCTIONS[np.logical_or](first, other) if _are_bools(first, other) else FUNCTIONS[np.where](first, first, other)
    )


def _are_bools(*operands: Any) -> bool:
    return all(result_dtype(x).kind == "b" for x in operands)


def chained(left: Any, *links: tuple[Callable[[Any, Any], Any], Callable[[], Any]]) -> Any:
    """Return ``left < right < ...``, from pairs of a comparison and what gives its right side."""
    (compare, read), *rest = links
    right = read()
    holds = compare(left, right)
    return both(holds, lambda: chained(right, *rest)) if rest else holds


def negation(x: Any) -> Any:
    """Return ``not x``."""
    return FUNCTIONS[np.logical_not](x) if is_unknown(x) else not x
