"""Sums of products as the matrix products that the planner made them of, for the engine that runs op by op.

A kernel adds each product to a sum at once. Op by op all of them would lie in memory: 8 GB for two 1000 x 1000
matrices. Integers only: of floats, sums in another order have other bits, and the planner expands small products.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.contraction import DOT_GENERAL
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers
from numhlo.lowering.ops.elementwise import ADD, MULTIPLY
from numhlo.lowering.ops.layout import BROADCAST_IN_DIM
from numhlo.lowering.ops.reduction import REDUCE


def whole_products(ops: Sequence[Op], kept: Collection[Value]) -> list[Op]:
    """Return ops that compute the same values, and nothing that only a sum of products needs.

    Parameters
    ----------
    ops : sequence of Op
    kept : collection of Value
        What is needed of them.
    """
    found = {op: product for op in ops if op.definition is REDUCE and (product := _product(op)) is not None}
    if not found:
        return list(ops)
    replaced = [found.get(op, op) for op in ops]
    uses = Counter(v for op in replaced for v in op.operands)
    uses.update(kept)
    result: list[Op] = []
    for op in reversed(replaced):
        spare = op.definition in (MULTIPLY, BROADCAST_IN_DIM, CONSTANT) and not uses[op.results[0]]
        if spare:
            uses.subtract(op.operands)
        else:
            result.append(op)
    return result[::-1]


def _product(op: Op) -> Op | None:
    """Return a matrix product in the place of a sum of products, None if it is none."""
    if len(op.operands) != 2 or op.result.tensor.dtype.kind not in "iu":
        return None
    times, start = (value.owner for value in op.operands)
    body = op.regions[0]
    adds = len(body.ops) == 1 and body.ops[0].definition is ADD and body.returns == body.ops[0].results
    if not adds or not isinstance(times, Op) or times.definition is not MULTIPLY or not isinstance(start, Op):
        return None
    if start.definition is not CONSTANT or start.attributes["value"].any():
        return None
    sides = [value.owner for value in times.operands]
    for side in sides:
        if not isinstance(side, Op) or side.definition is not BROADCAST_IN_DIM:
            return None
    left, right = (side for side in sides if isinstance(side, Op))
    numbers = _numbers(op, left, right)
    if numbers is None:
        return None
    attributes = {"dot_dimension_numbers": numbers, "precision_config": (), "algorithm": None}
    product = Op(DOT_GENERAL, [*left.operands, *right.operands], attributes, (), [op.result.type], op.location)
    product.results = op.results
    return product


def _numbers(op: Op, left: Op, right: Op) -> DotDimensionNumbers | None:
    """Return which dimensions are multiplied and summed; None where a dimension is repeated, or out of order."""
    shape = op.operands[0].tensor.shape
    places: list[tuple[int, ...]] = [side.attributes["broadcast_dimensions"] for side in (left, right)]
    for side, dims in zip((left, right), places, strict=True):
        if side.operands[0].tensor.shape != tuple(shape[d] for d in dims):
            return None
    (lhs, rhs), summed = places, sorted(op.attributes["dimensions"])
    rest = [d for d in range(len(shape)) if d not in summed]
    batch = [d for d in rest if d in lhs and d in rhs]
    order = batch + [d for d in rest if d in lhs and d not in rhs] + [d for d in rest if d in rhs and d not in lhs]
    if order != rest or not all(d in lhs and d in rhs for d in summed):
        return None
    return DotDimensionNumbers(
        tuple(lhs.index(d) for d in batch),
        tuple(rhs.index(d) for d in batch),
        tuple(lhs.index(d) for d in summed),
        tuple(rhs.index(d) for d in summed),
    )
