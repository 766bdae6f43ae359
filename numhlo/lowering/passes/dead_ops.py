"""Removal of ops whose results nobody uses and that have no effects, from the end backwards, in place.

Of a loop's state, what neither a result, nor the condition, nor the rest of the state depends on goes with them: an
array that collects a number of every round for nobody, say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.control_flow import WHILE
from numhlo.lowering.ops.effects import op_has_effects


def remove_dead_ops(body: Region) -> int:
    """Remove dead ops from the body of a function, which nobody else holds, and return how many."""
    return _remove(body, set())


def live_ops(region: Region) -> Sequence[Op]:
    """Return the ops that a region's results or effects need, in order; of those in regions inside all count as needed.

    Examples
    --------
    >>> live_ops(Region())
    []
    """
    used, dead = {*region.returns}, set()
    for op in reversed(region.ops):
        for result in op.results:
            if result in used:
                break
        else:
            if not op_has_effects(op):
                dead.add(op)
                continue
        used |= {*op.operands}
        for inner in op.regions:
            used |= {*inner.returns}
            for inside in inner.walk():
                used |= {*inside.operands}
                for body in inside.regions:
                    used |= {*body.returns}
    return [op for op in region.ops if op not in dead] if dead else region.ops


def _remove(region: Region, used: set[Value]) -> int:
    used.update(region.returns)
    kept, removed = [], 0
    for op in reversed(region.ops):
        if used.isdisjoint(op.results) and not op_has_effects(op):
            removed += 1
            continue
        if op.definition is WHILE and not used.issuperset(op.results):
            _keep_state(op, _live_state(op, used))
        used.update(op.operands)
        for inner in op.regions:
            removed += _remove(inner, used)
        kept.append(op)
    region.ops = kept[::-1]
    return removed


def _live_state(op: Op, used: set[Value]) -> list[int]:
    """Return the numbers of what a loop carries from round to round and somebody needs."""
    condition, body = op.regions
    tested = _needed(condition, condition.returns)
    live = [k for k, result in enumerate(op.results) if result in used or condition.arguments[k] in tested]
    while True:
        needed = _needed(body, [body.returns[k] for k in live])
        found = [k for k, argument in enumerate(body.arguments) if k in live or argument in needed]
        if found == live:
            return live
        live = found


def _needed(region: Region, wanted: Iterable[Value]) -> set[Value]:
    """Return the values that some values of a region depend on, and those that its effects do."""
    needed = set(wanted)
    for op in reversed(region.ops):
        if not needed.isdisjoint(op.results) or op_has_effects(op):
            needed.update(op.operands)
            for inner in op.regions:
                needed |= _needed(inner, inner.returns)
    return needed


def _keep_state(op: Op, live: list[int]) -> None:
    """Leave out the rest of a loop's state; a loop whose state nobody needs keeps all of it."""
    if not live or len(live) == len(op.results):
        return
    condition, body = op.regions
    for values in (op.operands, op.results, condition.arguments, body.arguments, body.returns):
        values[:] = [values[k] for k in live]
