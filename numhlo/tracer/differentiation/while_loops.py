"""Differentiation of while loops: they carry tangents forward, and go backwards as the scans that they are.

A loop can be linearized where it counts, or its values are known. Any other is split: the primal loop runs as it is,
and its linear half is the loop with tangents once more, which is dropped where nobody needs these, and has no
transpose.
What a loop hands through unchanged has the derivative that it had before, and is no part of either.
Next: `counted_loops`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ir.derivative_errors import LoopDerivativeError
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.loops import loop_body
from numhlo.tracer.core.bind import bind, trace_region
from numhlo.tracer.core.replay import replay_op
from numhlo.tracer.core.trace import current_trace
from numhlo.tracer.differentiation.activity import Activity
from numhlo.tracer.differentiation.counted_loops import as_scan, is_counted
from numhlo.tracer.differentiation.loops import jvp_loop
from numhlo.tracer.differentiation.table import JOINT, REFUSALS, Dual, Environment, Walker, instantiate


@JOINT.register(control_flow.WHILE)
def _joint_while(
    walker: Walker, op: Op, primals: list[Any], tangents: list[Any], environment: Environment
) -> tuple[Sequence[Any], Sequence[Any]]:
    active = Activity.around(op, environment).of_while(op)
    if walker.linearizes:
        return _linearize_while(walker, op, primals, tangents, environment, active)
    return _forward(walker, op, primals, tangents, environment, active)


def _forward(
    walker: Walker, op: Op, primals: list[Any], tangents: list[Any], environment: Environment, active: list[bool]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Run a loop whose carries are doubled by their tangents, but for those that it hands through."""
    condition, body = op.regions
    each_step = walker.within()  # what is known of the body's values is known of all steps together
    count = len(op.operands)
    fixed = [v in body.arguments and body.arguments.index(v) == k for k, v in enumerate(map(_handed, body.returns))]
    moving = [a and not f for a, f in zip(active, fixed, strict=True)]

    def duals(arrays: Sequence[Any]) -> list[Dual]:
        extra = iter(arrays[count:])
        return [
            Dual(x, next(extra) if m else t if f else None)
            for x, t, m, f in zip(arrays, tangents, moving, fixed, strict=False)
        ]

    def run_condition(*arrays: Any) -> list[Any]:
        plain = {v: Dual(environment[v].primal, None) for v in free_values(condition)}
        return [each_step.body(condition, [Dual(x, None) for x in arrays[:count]], plain)[0].primal]

    def run_body(*arrays: Any) -> list[Any]:
        outputs = each_step.body(body, duals(arrays), environment)
        return [d.primal for d in outputs] + [
            instantiate(d.tangent, v) for d, v, m in zip(outputs, body.returns, moving, strict=True) if m
        ]

    inits = [*primals, *[instantiate(t, v) for t, v, m in zip(tangents, op.operands, moving, strict=True) if m]]
    types = [v.type for v in op.operands] + [v.type for v, m in zip(op.operands, moving, strict=True) if m]
    results = bind(
        control_flow.WHILE, *inits, regions=[trace_region(run_condition, types), trace_region(run_body, types)]
    )
    extra = iter(results[count:])
    return results[:count], [
        next(extra) if m else t if f else None for m, t, f in zip(moving, tangents, fixed, strict=True)
    ]


def _linearize_while(
    walker: Walker, op: Op, primals: list[Any], tangents: list[Any], environment: Environment, active: list[bool]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Linearize a while as the scan that it is, with as many steps as are counted, or split it."""
    plain = {v: environment[v].primal for v in free_values(op)}
    if not any(active):
        with walker.in_primal():
            return replay_op(op, primals, plain), [None] * len(active)
    with walker.in_primal():
        counted = as_scan(op, primals, plain)
        outputs = replay_op(op, primals, plain) if counted is None else []
    if counted is None:
        linear = current_trace()
        assert linear is not None
        before, linear.made_at = linear.made_at, op.location
        try:
            return outputs, _forward(walker, op, primals, tangents, environment, active)[1]
        finally:
            linear.made_at = before
    outer = counted.outer
    inputs = [Dual(environment[v].primal, environment[v].tangent) for v in outer]
    carries = [Dual(x, t) for x, t in zip(primals, tangents, strict=True)]
    duals = [*inputs, *carries]
    return jvp_loop(walker, counted.loop, [d.primal for d in duals], [d.tangent for d in duals], [*outer, *op.operands])


def _handed(value: Value) -> Value:
    """Return the value that calls, branches and loops hand through as this one: itself, where none does."""
    owner = value.owner
    if isinstance(owner, Region):
        return value
    place = owner.results.index(value)
    if owner.definition in (control_flow.IF, control_flow.CASE):
        found = {_handed(region.returns[place]) for region in owner.regions}
        return found.pop() if len(found) == 1 else value
    if owner.definition is control_flow.WHILE:
        return _through(value, owner.regions[1], place, place, owner)
    if owner.definition is control_flow.CALL:
        return _through(value, owner.attributes["callee"].body, place, None, owner)
    if owner.definition is control_flow.COMPOSITE and owner.attributes["name"] == "numhlo.scan":
        p = owner.attributes["composite_attributes"]
        if place < p["num_carries"]:
            return _through(value, loop_body(owner).body, place, p["num_consts"] + place, owner)
    return value


def _through(value: Value, body: Region, place: int, wanted: int | None, owner: Op) -> Value:
    """Return what an op was given that its body returns at some place, where it is the argument that is wanted."""
    source = _handed(body.returns[place])
    if source not in body.arguments:
        return value
    number = body.arguments.index(source)
    return _handed(owner.operands[number]) if wanted in (None, number) else value


def _refused(op: Op) -> UnsupportedError:
    """Return the error of a loop whose steps matter backwards."""
    if is_counted(op):  # grad makes scans of these; linear_transpose takes programs as they are
        return UnsupportedError(
            "linear_transpose of a lax.fori_loop or lax.while_loop",
            where=op.location,
            why="it is given as a while loop, which has no transpose",
            fix="use lax.scan, or numhlo.vjp of the function at zeros, which is linear",
        )
    return LoopDerivativeError(
        "reverse-mode differentiation of a while loop with an unknown number of steps",
        where=op.location,
        why="the values of every step are needed backwards, and under jit and vmap their number is not known",
        fix="use lax.scan or lax.fori_loop with a static number of steps, numhlo.checkpointed_while_loop"
        " (with tape=n it keeps what n steps need; its gradient has derivatives by jvp and jacfwd), or jvp",
    )


REFUSALS[control_flow.WHILE] = _refused
