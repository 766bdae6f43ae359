"""Removal of ops whose results nobody uses and that have no effects, from the end backwards, in place."""

from __future__ import annotations

from numhlo.lowering.ir import Region, Value
from numhlo.lowering.ops.effects import op_has_effects


def remove_dead_ops(body: Region) -> int:
    """Remove dead ops from the body of a function, which nobody else holds, and return how many."""
    return _remove(body, set())


def _remove(region: Region, used: set[Value]) -> int:
    used.update(region.returns)
    kept, removed = [], 0
    for op in reversed(region.ops):
        if used.isdisjoint(op.results) and not op_has_effects(op):
            removed += 1
            continue
        used.update(op.operands)
        for inner in op.regions:
            removed += _remove(inner, used)
        kept.append(op)
    region.ops = kept[::-1]
    return removed
