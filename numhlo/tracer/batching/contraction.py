"""Batching of dot_general: lane axes become a batch axis, or a free one where only one operand is mapped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import contraction
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers
from numhlo.tracer.batching.table import BATCHING, Environment, Lanes
from numhlo.tracer.core.arrangement import move_axis
from numhlo.tracer.core.bind import bind1


@BATCHING.register(contraction.DOT_GENERAL)
def _batch_dot(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    lhs, rhs = operands
    numbers: DotDimensionNumbers = op.attributes["dot_dimension_numbers"]
    result = op.results[0].tensor
    left = _shift(numbers.lhs_batching_dimensions, lhs), _shift(numbers.lhs_contracting_dimensions, lhs)
    right = _shift(numbers.rhs_batching_dimensions, rhs), _shift(numbers.rhs_contracting_dimensions, rhs)
    both = lhs.mapped and rhs.mapped
    lead = (0,) if both else ()
    shifted = replace(
        numbers,
        lhs_batching_dimensions=lead + left[0],
        rhs_batching_dimensions=lead + right[0],
        lhs_contracting_dimensions=left[1],
        rhs_contracting_dimensions=right[1],
    )
    place = 0 if both else _free_place(numbers, lhs, op)
    shape = (*result.shape[:place], size, *result.shape[place:])
    output = bind1(
        contraction.DOT_GENERAL,
        lhs.array,
        rhs.array,
        attributes={**op.attributes, "dot_dimension_numbers": shifted},
        results=[result.with_shape(shape)],
    )
    return [Lanes(move_axis(output, place, 0) if place else output, True)]


def _shift(axes: Sequence[int], operand: Lanes) -> tuple[int, ...]:
    return tuple(a + operand.mapped for a in axes)


def _free_place(numbers: DotDimensionNumbers, lhs: Lanes, op: Op) -> Any:
    """Return where a lone lane axis stands in the result: first among its operand's free axes."""
    batch = len(numbers.lhs_batching_dimensions)
    if lhs.mapped:
        return batch
    free = op.operands[0].tensor.ndim - batch - len(numbers.lhs_contracting_dimensions)
    return batch + free
