"""How often a while loop runs, found by running what its condition depends on, where that is known while tracing.

Exporters write counted loops in many ways: downwards, to a bound that is carried along, with two counters, with the
test at the end of the body. In all of them a few small integers decide, and follow from nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.interpreter import evaluate_op, free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.effects import op_has_effects
from numhlo.tracer.core.operands import known_value

MOST_STEPS = 10_000
"""Steps that are counted: a tenth of a second or so."""

MOST_NUMBERS = 8
"""Of one carry that decides."""

Known = dict[Value, np.ndarray]


def count_steps(op: Op, inits: Sequence[Any], outside: Mapping[Value, Any]) -> int | None:
    """Return how often a while loop runs; None where that is not known, or more than `MOST_STEPS` times.

    Parameters
    ----------
    op : Op
    inits : sequence
        What the carries begin as.
    outside : mapping
        What the loop uses from around it.
    """
    condition, body = op.regions
    places = _deciding(condition, body)
    known = {v: x for v in free_values(op) if (x := _known(v, outside.get(v))) is not None}
    state = {k: _known(op.operands[k], inits[k]) for k in places}
    if not all(x is not None and x.dtype.kind in "iub" and x.size <= MOST_NUMBERS for x in state.values()):
        return None
    test = _slice(condition, [condition.returns[0]])
    step = _slice(body, [body.returns[k] for k in places])
    if not all(_is_plain(o) and all(v in known for v in _outer(o, (condition, body))) for o in (*test, *step)):
        return None
    for count in range(MOST_STEPS + 1):
        (going,) = _run(condition, test, state, known, [condition.returns[0]])
        if not going:
            return count
        state = dict(zip(places, _run(body, step, state, known, [body.returns[k] for k in places]), strict=True))
    return None


def _deciding(condition: Region, body: Region) -> list[int]:
    """Return the numbers of the carries that the condition depends on, in this step or a later one."""
    places: list[int] = []
    fresh = _used(condition, [condition.returns[0]])
    while fresh:
        places += fresh
        fresh = [k for k in _used(body, [body.returns[k] for k in places]) if k not in places]
    return sorted(places)


def _used(region: Region, results: Sequence[Value]) -> list[int]:
    read = {*results, *[v for op in _slice(region, results) for v in (*op.operands, *free_values(op))]}
    return [k for k, v in enumerate(region.arguments) if v in read]


def _slice(region: Region, results: Sequence[Value]) -> list[Op]:
    """Return the ops of a region that some of its values depend on."""
    wanted, found = set(results), []
    for op in reversed(region.ops):
        if not wanted.isdisjoint(op.results):
            found.append(op)
            wanted.update(op.operands, free_values(op))
    return found[::-1]


def _is_plain(op: Op) -> bool:
    return not op.regions and not op_has_effects(op)


def _outer(op: Op, regions: Sequence[Region]) -> list[Value]:
    """Return the operands of an op that come from outside the loop."""
    return [v for v in op.operands if not any(v in r.arguments or v.owner in r.ops for r in regions)]


def _known(value: Value, array: Any) -> np.ndarray | None:
    owner = value.owner
    if isinstance(owner, Op) and owner.definition is CONSTANT:
        return np.asarray(owner.attributes["value"])
    return None if array is None else known_value(array)


def _run(
    region: Region, ops: Sequence[Op], state: Mapping[int, Any], known: Known, results: Sequence[Value]
) -> list[np.ndarray]:
    values = {**known, **{region.arguments[k]: x for k, x in state.items()}}
    for op in ops:
        values.update(zip(op.results, evaluate_op(op, values), strict=True))
    return [values[v] for v in results]
