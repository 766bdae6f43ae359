"""Chains of minima and maxima in loops: what the round before has computed comes last, in place.

``min(min(a, s), b) -> min(min(a, b), s)``, where the next ``s`` depends on the result: then one comparison stands
between a round and the next, and the others are done while it is waited for. The result is the same in any order, for
zeros of both signs and NaN, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.control_flow import WHILE

EXTREMES = frozenset({elementwise.MINIMUM, elementwise.MAXIMUM})


def is_chained(op: Op) -> bool:
    """Return whether an op is a minimum of a minimum, or a maximum of a maximum."""
    owners = [value.owner for value in op.operands] if op.definition in EXTREMES else []
    return any(isinstance(owner, Op) and owner.definition is op.definition for owner in owners)


def put_late_operands_last(body: Region) -> int:
    """Order the chains in all loops of a function's body, which nobody else holds, and return how many ops changed."""
    changed = 0
    for op in body.ops:
        for region in op.regions:
            changed += put_late_operands_last(region)
        if op.definition is WHILE:
            changed += _order_round(op.regions[1])
    return changed


def _order_round(body: Region) -> int:
    """Order the chains in one loop's body."""
    own = {op: None for op in body.ops if op.definition in EXTREMES and _is_real(op)}
    if not any(map(is_chained, own)):
        return 0
    sources, after = _sources(body), _state_after(body)
    uses = Counter([*body.returns, *(value for op in body.ops for value in _read(op))])
    changed = 0
    for op in own:
        late = after.get(op.result, 0)
        for first, other in (op.operands, reversed(op.operands)):
            inner = first.owner
            if not isinstance(inner, Op) or inner not in own or inner.definition is not op.definition:
                continue
            waiting = [bool(sources.get(value, 0) & late) for value in (*inner.operands, other)]
            if uses[first] > 1 or waiting[2] or waiting[0] == waiting[1]:
                continue
            early, awaited = inner.operands if waiting[1] else reversed(inner.operands)
            inner.operands[:], op.operands[:] = [early, other], [first, awaited]
            sources[first] = sources.get(early, 0) | sources.get(other, 0)
            body.ops.remove(inner)
            body.ops.insert(body.ops.index(op), inner)  # where its new operand is there
            changed += 1
            break
    return changed


def _is_real(op: Op) -> bool:
    return isinstance(op.result.type, TensorType) and op.result.tensor.dtype.kind != "c"


def _read(op: Op) -> Iterator[Value]:
    """Yield the values that an op and its regions read."""
    yield from op.operands
    for region in op.regions:
        yield from region.returns
        for inner in region.ops:
            yield from _read(inner)


def _sources(body: Region) -> dict[Value, int]:
    """Return which parts of a loop's state values of its body depend on, a bit for each."""
    found = {argument: 1 << k for k, argument in enumerate(body.arguments)}
    for op in body.ops:
        bits = 0
        for value in _read(op):
            bits |= found.get(value, 0)
        found.update(dict.fromkeys(op.results, bits))
    return found


def _state_after(body: Region) -> dict[Value, int]:
    """Return which parts of a loop's next state depend on values of its body, a bit for each."""
    found: dict[Value, int] = {}
    for k, returned in enumerate(body.returns):
        found[returned] = found.get(returned, 0) | 1 << k
    for op in reversed(body.ops):
        bits = 0
        for result in op.results:
            bits |= found.get(result, 0)
        for value in _read(op):
            found[value] = found.get(value, 0) | bits
    return found
