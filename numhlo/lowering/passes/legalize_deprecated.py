"""StableHLO ops that the specification calls deprecated, in terms of those that replace them; one process's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Function, Op, Region, Value
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import contraction, control_flow, creation, indexing, layout
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers
from numhlo.lowering.ops.loops import make_map
from numhlo.lowering.ops.primitive import make_op
from numhlo.lowering.ops.region_function import SCALAR_IDENTITIES, takes_arrays
from numhlo.lowering.passes.legalizer import Builder, Legalizer, legalization
from numhlo.lowering.passes.region_functions import as_function
from numhlo.lowering.passes.simplify_contraction import as_dot_general


@legalization("stablehlo.dot")
def legalize_dot(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Contract the last axis of lhs with the first of rhs."""
    return b.ops(contraction.DOT_GENERAL, *operands, results=[op.result.type], **as_dot_general(op))


@legalization("stablehlo.broadcast")
def legalize_broadcast(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Put new axes in front."""
    (x,) = operands
    sizes = tuple(op.attributes["broadcast_sizes"])
    result = x.tensor.with_shape((*sizes, *x.tensor.shape))
    places = tuple(range(len(sizes), len(sizes) + x.tensor.ndim))
    return [b.op(layout.BROADCAST_IN_DIM, x, result=result, broadcast_dimensions=places)]


@legalization("stablehlo.partition_id", "stablehlo.replica_id")
def legalize_id(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """A program runs in one process, whose number is 0."""
    return [b.constant(np.uint32(0))]


@legalization("sdy.sharding_constraint")
def legalize_sharding_constraint(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """On one device all data is in one place."""
    return operands


@legalization("sdy.manual_computation")
def legalize_manual_computation(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """On one device each shard is the whole array: a call of the body."""
    inside = [([v.type for v in r.arguments], [v.type for v in r.returns]) for r in op.regions]
    if inside != [([v.type for v in operands], [v.type for v in op.results])] or free_values(op.regions[0]):
        raise UnsupportedError(
            "sdy.manual_computation can't be run: its body is not one of whole arrays",
            where=op.location,
            why="numhlo runs on one device",
            fix="export the program for one device",
        )
    callee = Legalizer().function(Function("manual_computation", op.regions[0]))
    return b.ops(control_flow.CALL, *operands, callee=callee, results=callee.result_types)


@legalization("stablehlo.torch_index_select")
def legalize_torch_index_select(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Gather slices of extent 1 along ``dim``; batch dimensions are gather's."""
    x, index = operands
    dim, batch = op.attributes["dim"], op.attributes["batch_dims"]
    added = index.tensor.ndim - batch
    kept = [axis for axis in range(x.tensor.ndim) if axis >= batch and axis != dim]
    numbers = GatherDimensionNumbers(
        offset_dims=tuple([axis if axis < dim else axis + added - 1 for axis in kept]),
        collapsed_slice_dims=(dim,),
        operand_batching_dims=tuple(range(batch)),
        start_indices_batching_dims=tuple(range(batch)),
        start_index_map=(dim,),
        index_vector_dim=index.tensor.ndim,
    )
    sizes = tuple([extent if axis in kept else 1 for axis, extent in enumerate(x.tensor.shape)])
    return b.ops(indexing.GATHER, x, index, dimension_numbers=numbers, slice_sizes=sizes)


@legalization("stablehlo.map")
def legalize_map(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Apply elementwise computations to whole arrays, others lane by lane."""
    (body,) = op.regions
    if takes_arrays(body):
        values = dict(zip(body.arguments, operands, strict=True))
        spread_body(b, body, values, operands[0].tensor.shape)
        return [spread(b, values.get(v, v), operands[0].tensor.shape) for v in body.returns]
    lanes = operands[0].tensor.size
    captured = free_values(op)
    function = as_function(body, captured)
    flat = [b.op(layout.RESHAPE, x, result=x.tensor.with_shape((lanes,))) for x in operands]
    (result,) = b.ops(
        control_flow.COMPOSITE,
        *captured,
        *flat,
        results=[op.result.tensor.with_shape((lanes,))],
        name="numhlo.map",
        composite_attributes={"lanes": lanes, "num_consts": len(captured)},
        decomposition=make_map(function, lanes, len(captured)),
    )
    return [b.op(layout.RESHAPE, result, result=op.result.type)]


def spread_body(b: Builder, body: Region, values: dict[Value, Value], shape: tuple[int, ...]) -> None:
    """Write the ops of a body of scalars for arrays of a shape."""
    for op in body.ops:
        name = op.definition.name
        if name in SCALAR_IDENTITIES:
            values[op.result] = values.get(op.operands[0], op.operands[0])
        elif op.definition is creation.CONSTANT:
            values[op.result] = b.constant(op.attributes["value"])
        elif name in {"call", "composite"}:
            callee: Function = op.attributes["callee" if name == "call" else "decomposition"]
            inner = dict(zip(callee.body.arguments, [values.get(v, v) for v in op.operands], strict=True))
            spread_body(b, callee.body, inner, shape)
            for result, value in zip(op.results, callee.body.returns, strict=True):
                values[result] = inner[value]
        else:
            operands = [spread(b, values.get(v, v), shape) for v in op.operands]
            types = [v.tensor.with_shape(shape) for v in op.results]
            made = make_op(op.definition, operands, op.attributes, (), types, b.location)
            values.update(zip(op.results, b.append(made), strict=True))


def spread(b: Builder, x: Value, shape: tuple[int, ...]) -> Value:
    """Return a value, which may be a scalar, in a shape."""
    if x.tensor.shape == shape:
        return x
    return b.op(layout.BROADCAST_IN_DIM, x, result=x.tensor.with_shape(shape), broadcast_dimensions=())
