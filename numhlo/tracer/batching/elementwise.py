"""Batching of elementwise, comparison, conversion and creation ops: the same op on wider arrays."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import comparison, control_flow, conversion
from numhlo.lowering.ops.elementwise import Elementwise
from numhlo.tracer.batching.table import BATCHING, Environment, Lanes, all_mapped, spread
from numhlo.tracer.core.bind import bind
from numhlo.tracer.core.operands import broadcast_to_shape, reshape_to, shape_of


@BATCHING.register(
    comparison.COMPARE, conversion.CONVERT, conversion.REDUCE_PRECISION, control_flow.OPTIMIZATION_BARRIER
)
@BATCHING.register_family(Elementwise)
def _batch_elementwise(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    arrays = [spread(x, size) for x in operands]
    results = None
    if op.definition.explicit_result:
        results = [v.tensor.with_shape((size, *v.tensor.shape)) for v in op.results]
    return all_mapped(bind(op.definition, *arrays, attributes=op.attributes, results=results))


@BATCHING.register(conversion.BITCAST_CONVERT)
def _batch_bitcast(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    result = op.results[0].tensor
    wide = result.with_shape((size, *result.shape))
    return all_mapped(bind(op.definition, operands[0].array, attributes=op.attributes, results=[wide]))


@BATCHING.register(comparison.SELECT, comparison.CLAMP)
def _batch_select(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    """Scalar predicates and limits become full arrays where they differ by lane."""
    shape = (size, *op.results[0].tensor.shape)
    arrays = []
    for operand in operands:
        array = spread(operand, size)
        if len(shape_of(array)) == 1 < len(shape):
            array = reshape_to(array, (size,) + (1,) * (len(shape) - 1))
        arrays.append(broadcast_to_shape(array, shape))
    return all_mapped(bind(op.definition, *arrays, attributes=op.attributes))
