"""While loops as scans: those whose counter starts, steps and ends at constants, and those that have been run.

The plainest form is counted by arithmetic; `loop_counters` runs what decides of any other.

Outside jit values are known, and so a loop can be counted by running it. Its steps are then kept in arrays of that
length. Under jit no array can grow with the number of steps: shapes are static.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from numhlo.lowering.analysis.loops import integer_of, trip_count
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Function, Op, Region, TensorType, Value
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.core.bind import bind, bind1, trace_region
from numhlo.tracer.core.operands import known_value
from numhlo.tracer.core.replay import replay_body
from numhlo.tracer.differentiation.loop_counters import count_steps
from numhlo.tracer.differentiation.loops import Loop


class CountedLoop(NamedTuple):
    """A while as a scan without stacked inputs: what its body uses from outside, and the loop over all."""

    outer: list[Value]
    loop: Loop


def as_scan(op: Op, inits: Sequence[Any], outside: Mapping[Value, Any]) -> CountedLoop | None:
    """Return a while loop as a scan, or None where its number of steps is not known.

    Parameters
    ----------
    op : Op
    inits : sequence
        What the carries begin as.
    outside : mapping
        What the loop uses from around it; the current trace is one of primal values.
    """
    steps = _known_trip_count(op, inits)
    if steps is None:
        steps = count_steps(op, inits, outside)
    if steps is None:
        steps = _count_by_running(op, inits, outside)
    if steps is None:
        return None
    body = op.regions[1]
    outer = free_values(body)
    closed = Region()  # of the same values: what is known of them is known of the scan's
    closed.arguments, closed.ops, closed.returns = [*outer, *body.arguments], body.ops, body.returns
    function = Function("counted_body", closed)
    return CountedLoop(outer, Loop(function, steps, len(outer), len(body.arguments), False))


def is_counted(op: Op) -> bool:
    """Return whether a while loop counts from one constant to another."""
    return trip_count(op) is not None


def _count_by_running(op: Op, inits: Sequence[Any], outside: Mapping[Value, Any]) -> int | None:
    """Return the number of steps, where all values are known."""
    if any(known_value(x) is None for x in (*inits, *outside.values())):
        return None
    condition, body = op.regions
    counter = TensorType((), np.dtype(np.int64))
    types = [counter, *[v.type for v in op.operands]]
    regions = [
        trace_region(lambda _, *carries: replay_body(condition, carries, outside), types),
        trace_region(lambda n, *carries: [bind1(ops.ADD, n, np.int64(1)), *replay_body(body, carries, outside)], types),
    ]
    count = known_value(bind(control_flow.WHILE, np.int64(0), *inits, regions=regions)[0])
    return None if count is None else int(count)


def _known_trip_count(op: Op, inits: Sequence[Any]) -> int | None:
    """Return how often a loop runs that counts between what is known of its carries."""
    known = dict(zip(op.operands, inits, strict=True))
    return trip_count(op, lambda value: _integer(value, known.get(value)))


def _integer(value: Value, array: Any) -> int | None:
    """Return the integer that a value is, from its defining constant or the array bound to it."""
    found = None if array is None else known_value(array)
    if found is None or found.ndim or found.dtype.kind not in "iu":
        return integer_of(value)
    return int(found)
