"""A function run with some values of its body handed out, out of the bodies of branches, loops and calls as well.

A value inside a loop comes out stacked over its steps; one inside a branch that was not taken is zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.loops import inner_bodies, values_inside
from numhlo.tracer.core.bind import bind, trace_closed, trace_region
from numhlo.tracer.core.operands import full_of, shape_of
from numhlo.tracer.core.replay import replay_op
from numhlo.tracer.differentiation.counted_loops import as_scan
from numhlo.tracer.differentiation.loops import Loop, bind_scan

Saved = dict[Value, Any]


def run_and_save(
    body: Region, arguments: Sequence[Any], environment: Mapping[Value, Any], wanted: Set[Value]
) -> tuple[list[Any], Saved]:
    """Run a body here.

    Parameters
    ----------
    body : Region
    arguments : sequence
    environment : mapping
        What the body uses from outside.
    wanted : set of Value
        Values of the body, or of bodies in it.

    Returns
    -------
    results : list
    saved : dict
        The wanted values, those in loops stacked; without those in loops of unknown length.
    """
    inner = {v: environment[v] for v in free_values(body)}
    inner.update(zip(body.arguments, arguments, strict=True))
    saved: Saved = {}
    for op in body.ops:
        results, found = _run_op(op, [inner[v] for v in op.operands], inner, wanted)
        inner.update(zip(op.results, results, strict=True))
        saved.update(found)
        saved.update((v, inner[v]) for v in op.results if v in wanted)
    return [inner[v] for v in body.returns], saved


def _run_op(
    op: Op, operands: list[Any], environment: Mapping[Value, Any], wanted: Set[Value]
) -> tuple[Sequence[Any], Saved]:
    bodies = inner_bodies(op)
    if all(wanted.isdisjoint(values_inside(body)) for body in bodies):
        return replay_op(op, operands, environment), {}
    if op.definition is control_flow.CALL:
        return run_and_save(bodies[0], operands, {}, wanted)
    if op.definition is control_flow.COMPOSITE:
        return _run_loop(Loop.of(op), operands, wanted)
    if op.definition is control_flow.WHILE:
        return _run_while(op, operands, environment, wanted)
    return _run_branches(op, operands, environment, wanted)


def _run_while(
    op: Op, operands: list[Any], environment: Mapping[Value, Any], wanted: Set[Value]
) -> tuple[Sequence[Any], Saved]:
    """Run a while that counts as a scan; of any other nothing is saved."""
    counted = as_scan(op, operands, {v: environment[v] for v in free_values(op)})
    if counted is None:
        return replay_op(op, operands, environment), {}
    return _run_loop(counted.loop, [*[environment[v] for v in counted.outer], *operands], wanted)


def _run_loop(loop: Loop, operands: list[Any], wanted: Set[Value]) -> tuple[Sequence[Any], Saved]:
    order: list[Value] = []

    def step(*arrays: Any) -> list[Any]:
        results, saved = run_and_save(loop.body.body, arrays, {}, wanted)
        order[:] = saved
        return [*results, *saved.values()]

    body = trace_closed(loop.body.name, step, [v.type for v in loop.body.body.arguments])
    results = bind_scan(loop._replace(body=body), operands)
    count = len(loop.body.body.returns)
    return results[:count], dict(zip(order, results[count:], strict=True))


def _run_branches(
    op: Op, operands: list[Any], environment: Mapping[Value, Any], wanted: Set[Value]
) -> tuple[Sequence[Any], Saved]:
    types: dict[Value, TensorType] = {}

    def measure(region: Region) -> list[Any]:
        _, saved = run_and_save(region, [], environment, wanted)
        types.update((v, TensorType(shape_of(x), x.dtype)) for v, x in saved.items())
        return []

    def branch(region: Region) -> list[Any]:
        results, saved = run_and_save(region, [], environment, wanted)
        return [*results, *[saved[v] if v in saved else full_of(0, t.shape, t.dtype) for v, t in types.items()]]

    for region in op.regions:
        trace_region(lambda region=region: measure(region), [])
    regions = [trace_region(lambda region=region: branch(region), []) for region in op.regions]
    results = bind(op.definition, *operands, regions=regions)
    count = len(op.results)
    return results[:count], dict(zip(types, results[count:], strict=True))
