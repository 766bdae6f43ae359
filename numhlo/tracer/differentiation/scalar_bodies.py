"""Bodies of reductions and scatters, functions of scalars: recognized, or run on whole arrays.

A reduction by any associative body is a tree of its applications to arrays, and one over windows a few shifted
applications, so that both are differentiated as the ops of the body are, to any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import layout
from numhlo.tracer.batching.table import Lanes, batch_body, spread
from numhlo.tracer.core.arrangement import concatenate_arrays
from numhlo.tracer.core.bind import bind1, trace_closed
from numhlo.tracer.core.operands import broadcast_to_shape, reshape_to, shape_of
from numhlo.tracer.differentiation.table import Dual, Environment, Walker

Combine = Callable[[Sequence[Any], Sequence[Any]], list[Any]]


def body_op(op: Op) -> Any:
    """Return the primitive that a body consists of, or None where it is something else."""
    (region,) = op.regions
    if len(region.ops) != 1 or len(op.results) != 1 or region.returns != region.ops[0].results:
        return None
    (inner,) = region.ops
    return inner.definition if set(inner.operands) == set(region.arguments) else None


def tangents_through(
    walker: Walker,
    op: Op,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    environment: Environment,
    compute: Callable[[Sequence[Any], Combine], list[Any]],
) -> list[Any]:
    """Return the tangents of an op's results, differentiated as another way to compute them.

    Parameters
    ----------
    walker : Walker
    op : Op
        With one region, a function of scalars.
    primals, tangents : sequence
        Of its operands.
    environment : Environment
    compute : callable
        ``compute(operands, combine)``, with ``combine(left, right)`` the body on lists of arrays of one shape.
    """
    (region,) = op.regions
    outer = free_values(region)

    def run(*arrays: Any) -> list[Any]:
        given = dict(zip(outer, arrays, strict=False))
        return compute(arrays[len(outer) :], lambda left, right: apply_to_arrays(region, [*left, *right], given))

    types = [v.type for v in (*outer, *op.operands)]
    function = trace_closed(f"{op.definition.name}_by_parts", run, types)
    duals = [environment[v] for v in outer] + [Dual(*pair) for pair in zip(primals, tangents, strict=True)]
    return [dual.tangent for dual in walker.function(function, duals)]


def apply_to_arrays(region: Region, arrays: Sequence[Any], outer: dict[Value, Any]) -> list[Any]:
    """Run a body of scalars on all elements of arrays of one shape; ``outer`` has the values that it closes over."""
    shape = shape_of(arrays[0])
    size = 1
    for extent in shape:
        size *= extent
    lanes = [Lanes(reshape_to(x, (size,)), True) for x in arrays]
    results = batch_body(region, lanes, size, {v: Lanes(x, False) for v, x in outer.items()})
    return [reshape_to(spread(x, size), shape) for x in results]


def reduce_axis(arrays: Sequence[Any], axis: int, combine: Combine) -> list[Any]:
    """Combine all elements along an axis of at least one, neighbours first; the axis stays, with extent 1."""
    rows = list(arrays)
    while (count := shape_of(rows[0])[axis]) > 1:
        even = [part(x, axis, 0, count - 1, 2) for x in rows]
        odd = [part(x, axis, 1, count, 2) for x in rows]
        last = [part(x, axis, count - 1, count) for x in rows] if count % 2 else None
        rows = combine(even, odd)
        if last is not None:
            rows = [concatenate_arrays([x, y], axis) for x, y in zip(rows, last, strict=True)]
    return rows


def slide_axis(arrays: Sequence[Any], axis: int, size: int, dilation: int, combine: Combine) -> list[Any]:
    """Combine each ``size`` elements along an axis that are ``dilation`` apart, by doubling spans."""
    spans, reach = list(arrays), 1  # reach elements are combined in spans
    found: list[Any] | None = None
    done = 0
    while True:
        if size & reach:
            if found is None:
                found = spans
            else:
                length = shape_of(arrays[0])[axis] - (done + reach - 1) * dilation
                shifted = [part(x, axis, done * dilation, done * dilation + length) for x in spans]
                found = combine([part(x, axis, 0, length) for x in found], shifted)
            done += reach
        if done == size:
            return found if found is not None else spans
        length = shape_of(spans[0])[axis] - reach * dilation
        ahead = [part(x, axis, reach * dilation, reach * dilation + length) for x in spans]
        spans = combine([part(x, axis, 0, length) for x in spans], ahead)
        reach *= 2


def part(x: Any, axis: int, start: int, stop: int, stride: int = 1) -> Any:
    """Return a slice along one axis."""
    shape = shape_of(x)
    attributes = {
        "start_indices": tuple(start if k == axis else 0 for k in range(len(shape))),
        "limit_indices": tuple(max(start, stop) if k == axis else n for k, n in enumerate(shape)),
        "strides": tuple(stride if k == axis else 1 for k in range(len(shape))),
    }
    return bind1(layout.SLICE, x, attributes=attributes)


def with_initial(inits: Sequence[Any], arrays: Sequence[Any], combine: Combine) -> list[Any]:
    """Combine initial values, scalars, with arrays."""
    return combine([broadcast_to_shape(i, shape_of(x)) for i, x in zip(inits, arrays, strict=True)], arrays)
