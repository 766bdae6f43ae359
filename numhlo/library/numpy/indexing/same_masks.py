"""Whether two masks are surely equal, which their graphs say: elements that both select are as many."""

from __future__ import annotations

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import creation
from numhlo.tracer.building import Tracer

SAME_DEPTH = 8
"""How many ops deep two masks are compared to tell whether they are the same."""


def are_same(first: Tracer, second: Tracer) -> bool:
    """Return whether two masks are surely equal: one value, or the same ops on the same values."""
    return first.shape == second.shape and _same_value(first.value(), second.value(), SAME_DEPTH)


def _same_value(x: Value, y: Value, depth: int) -> bool:
    if x is y:
        return True
    one, other = x.owner, y.owner
    if not isinstance(one, Op) or not isinstance(other, Op) or depth == 0 or one.regions or other.regions:
        return False
    if one.definition is not other.definition or x.type != y.type or repr(one.attributes) != repr(other.attributes):
        return False
    pairs = zip(one.operands, other.operands, strict=True) if len(one.operands) == len(other.operands) else ()
    return bool(one.operands or one.definition is creation.IOTA) and all(_same_value(a, b, depth - 1) for a, b in pairs)
