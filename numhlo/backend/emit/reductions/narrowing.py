"""Reductions of few elements among many: ``sum(select(start <= i < stop, x[i], 0))`` looks at those between the bounds.

Lanes and blocks stay where they are in `numhlo.lowering.ops.reduction_order`, so results have the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.backend.emit.expressions import Apply, Literal
from numhlo.backend.emit.narrowing import Narrowing
from numhlo.backend.emit.nest import Nest
from numhlo.backend.emit.reductions.writer import Reduced
from numhlo.backend.emit.registers import Register, literal
from numhlo.lowering.ops import comparison
from numhlo.lowering.ops.reduction_order import LANES


def narrowed_reduction(nest: Nest, axis: int, reduced: Sequence[Reduced]) -> Narrowing | None:
    """Return where along the only reduced axis elements change any result, if bounds say that not all do."""
    masks = [_mask_of(nest, each) for each in reduced]
    if any(mask is None for mask in masks):
        return None
    return Narrowing(nest, axis, [mask for mask in masks if mask is not None]) or None


def write_lane_bounds(nest: Nest, narrowing: Narrowing, count: str) -> tuple[str, str]:
    """Write the bounds of the elements to look at: multiples of the number of lanes, or the last one the count.

    There is always one element between them.
    """
    start, stop = narrowing.write(count)
    start = nest.text.let(f"min({start}, {count} - 1) & {-LANES}", "first")
    stop = nest.text.let(f"min(max({stop} + {LANES - 1} & {-LANES}, {start} + {LANES}), {count})", "last")
    return start, stop


def _mask_of(nest: Nest, reduced: Reduced) -> int | None:
    """Return the node of the mask that chooses elements, where the others change no result."""
    nodes = nest.expressions.nodes
    node = nodes[reduced.inputs[0]]
    if len(reduced.inputs) != 1 or not isinstance(node, Apply) or node.op.definition is not comparison.SELECT:
        return None
    other, init = nodes[node.operands[2]], nodes[reduced.inits[0]]
    register, neutral = reduced.combiner.registers[0], reduced.combiner.identity
    if not isinstance(other, Literal) or neutral is None:
        return None
    if reduced.combiner.name == "add" and register.kind == "f":  # 0.0 + -0.0 is 0.0: the initial value sees to that
        zero = _zero(register)
        is_neutral = other.text == zero and isinstance(init, Literal) and init.text == zero
    else:
        is_neutral = other.text == neutral
    return node.operands[0] if is_neutral else None


def _zero(register: Register) -> str:
    return literal(register.dtype.type(0), register)
