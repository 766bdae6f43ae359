"""``x[i:i + 3]`` with traced bounds that lie a known distance apart: a window of that width.

NumPy cuts a slice at the array's ends, which would give it another extent there; so this holds only where somebody sees
to it that no window reaches beyond, and only in bodies that belong to the same function: those are looked through.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, Value, capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import conversion, creation, elementwise
from numhlo.tracer.building import Trace, Tracer, current_trace, windows_are_checked

DEEPEST = 20
"""How many operations may lie between a bound and what it is counted from."""


def known_width(entry: slice) -> int | None:
    """Return how many elements are between two traced bounds, where that is known, and not zero.

    Raises
    ------
    UnsupportedError
        In a function of its own, as those are that are transformed; seen by nobody but who tries to keep loops.
    """
    start, stop = entry.start, entry.stop
    trace = current_trace()
    if not windows_are_checked.get() or trace is None:
        return None
    if entry.step not in (None, 1) or not all(_is_integer(bound) for bound in (start, stop)):
        return None
    distance = Counter(linear_form(trace.read(stop)))
    distance.subtract(linear_form(trace.read(start)))
    width = distance.pop(None, 0)
    if any(distance.values()) or width <= 0:
        return None
    if not _is_looked_through(trace):
        raise UnsupportedError("a window in a function of its own", where=capture_location())
    return width


def _is_looked_through(trace: Trace) -> bool:
    while trace.parent is not None:
        if trace.closed:
            return False
        trace = trace.parent
    return True


def _is_integer(bound: Any) -> bool:
    return isinstance(bound, Tracer) and not bound.shape and bound.dtype == np.int64


def linear_form(value: Value, depth: int = 0) -> dict[Value | None, int]:
    """Return the factors of the values that an integer is a sum of, and under None the constant."""
    op = value.owner
    if not isinstance(op, Op) or depth > DEEPEST:
        return {value: 1}
    if op.definition is creation.CONSTANT:
        return {None: int(op.attributes["value"])}
    if op.definition is conversion.CONVERT and op.operands[0].tensor.dtype.kind == "i":
        return linear_form(op.operands[0], depth + 1)
    if op.definition not in (elementwise.ADD, elementwise.SUBTRACT, elementwise.MULTIPLY):
        return {value: 1}
    left, right = (linear_form(operand, depth + 1) for operand in op.operands)
    if op.definition is elementwise.MULTIPLY:
        if set(right) != {None}:
            left, right = right, left
        return {value: 1} if set(right) != {None} else {key: n * right[None] for key, n in left.items()}
    sign = 1 if op.definition is elementwise.ADD else -1
    return {key: left.get(key, 0) + sign * right.get(key, 0) for key in {*left, *right}}
