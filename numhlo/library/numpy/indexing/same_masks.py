"""Whether two masks or bounds are surely equal, which their graphs say: elements that both select are as many."""

from __future__ import annotations

import numpy as np

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.effects import op_has_effects
from numhlo.tracer.building import Tracer

MOST_COMPARED = 100
"""Pairs of values that are compared to tell whether two are the same."""

MOST_ELEMENTS = 16
"""Elements of constants that are compared."""


def are_same(first: Tracer, second: Tracer) -> bool:
    """Return whether two masks are surely equal."""
    return first.shape == second.shape and is_same_value(first.value(), second.value())


def is_same_value(x: Value, y: Value) -> bool:
    """Return whether two values are surely equal: one value, or the same ops on the same values."""
    seen: set[tuple[Value, Value]] = set()
    pairs = [(x, y)]
    while pairs:
        pair = pairs.pop()
        if pair[0] is pair[1] or pair in seen:
            continue
        seen.add(pair)
        one, other = pair[0].owner, pair[1].owner
        if len(seen) > MOST_COMPARED or not isinstance(one, Op) or not isinstance(other, Op):
            return False
        if one is other or not _do_the_same(one, other):  # two results of one op
            return False
        if one.results.index(pair[0]) != other.results.index(pair[1]):
            return False
        pairs += zip(one.operands, other.operands, strict=True)
    return True


def _do_the_same(one: Op, other: Op) -> bool:
    """Return whether two ops give the same for the same operands."""
    if one.definition is not other.definition or len(one.operands) != len(other.operands) or one.regions:
        return False
    if [v.type for v in one.results] != [v.type for v in other.results] or op_has_effects(one):
        return False
    if one.definition is creation.CONSTANT:
        values = [np.asarray(op.attributes["value"]) for op in (one, other)]
        return values[0].size <= MOST_ELEMENTS and values[0].tobytes() == values[1].tobytes()
    return repr(one.attributes) == repr(other.attributes)
