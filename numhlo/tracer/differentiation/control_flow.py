"""Differentiation of branches, and the rule of the loop composites.

A branch is linearized into two: the primal one also returns what each branch's linear half needs (zeros for the
branches not taken), and the linear one picks the same branch.
Next: `while_loops`, and `loops` for scans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.tracer.core.bind import bind, new_trace, trace_region
from numhlo.tracer.core.custom_rules import custom_rule
from numhlo.tracer.core.operands import full_of
from numhlo.tracer.core.replay import replay_op
from numhlo.tracer.core.trace import Trace, current_trace
from numhlo.tracer.differentiation.activity import Activity
from numhlo.tracer.differentiation.calls import differentiate_callee
from numhlo.tracer.differentiation.composites import has_derivative, jvp_composite
from numhlo.tracer.differentiation.dependence import Dependence
from numhlo.tracer.differentiation.loops import jvp_scan
from numhlo.tracer.differentiation.table import (
    ADDING,
    JOINT,
    Dual,
    Environment,
    Walker,
    add_tangents,
    finish_linear,
    instantiate,
    pull_back,
    transpose_order,
)


@JOINT.register(control_flow.IF, control_flow.CASE)
def _joint_branch(
    walker: Walker, op: Op, primals: list[Any], tangents: list[Any], environment: Environment
) -> tuple[Sequence[Any], Sequence[Any]]:
    active = Activity.around(op, environment).of_results(op)
    if walker.linearizes:
        return _linearize_branch(walker, op, primals[0], environment, active)

    def branch(region: Region) -> Region:
        def body() -> list[Any]:
            outputs = walker.body(region, [], environment)
            doubled = [instantiate(d.tangent, v) for d, v, a in zip(outputs, region.returns, active, strict=True) if a]
            return [d.primal for d in outputs] + doubled

        return trace_region(body, [])

    results = iter(bind(op.definition, primals[0], regions=[branch(r) for r in op.regions]))
    outputs = [next(results) for _ in op.results]
    return outputs, [next(results) if a else None for a in active]


def _linearize_branch(
    walker: Walker, op: Op, index: Any, environment: Environment, active: list[bool]
) -> tuple[Sequence[Any], Sequence[Any]]:
    outer = [v for v in free_values(op) if environment[v].tangent is not None]
    with walker.in_primal():
        halves = [_split_branch(walker, region, environment, outer, active) for region in op.regions]
        slots, places = _shared_slots(halves)
        for half, own in zip(halves, places, strict=True):
            half.fill(slots, own)
        results = bind(op.definition, index, regions=[half.primal.region for half in halves])
        primal = current_trace()
        assert primal is not None
        outside = [half.outside(primal) for half in halves]
    outputs, residuals = results[: len(op.results)], results[len(op.results) :]
    inputs = [environment[v].tangent for v in outer]
    around = current_trace()
    assert around is not None

    def linear_branch(number: int) -> Region:
        half = halves[number]
        given = {**outside[number], **{k: residuals[slot] for k, slot in places[number].items()}}
        _put_among(half.linear, [around.read(x) for x in (*inputs, *[given[k] for k in range(len(half.captures))])])
        return half.linear

    found = iter(bind(op.definition, index, regions=[linear_branch(k) for k in range(len(op.regions))]))
    return outputs, [next(found) if a else None for a in active]


def _put_among(body: Region, values: Sequence[Value]) -> None:
    """Let a body use values around it in its arguments' place."""
    meant = dict(zip(body.arguments, values, strict=True))
    body.arguments = []
    scopes = [body]
    for scope in scopes:
        scope.returns[:] = [meant.get(v, v) for v in scope.returns]
        for op in scope.ops:
            op.operands[:] = [meant.get(v, v) for v in op.operands]
            scopes += op.regions


class _Half(NamedTuple):
    """A branch cut in two.

    Attributes
    ----------
    primal : Trace
        Of the primal ops; it returns the branch's results, and in the end the residuals of all branches.
    linear : Region
        A body of the tangents from outside and of what it captures.
    captures : list of Value
        Read in the primal body.
    """

    primal: Trace
    linear: Region
    captures: list[Value]

    def inside(self) -> list[int]:
        """Return which captures the primal body makes, so that it must return them; anyone can make a constant."""
        made = {v for op in self.primal.region.ops if op.definition is not CONSTANT for v in op.results}
        return [k for k, v in enumerate(self.captures) if v in made]

    def outside(self, around: Trace) -> dict[int, Any]:
        """Return the other captures, in the trace around: they need not go through the branch."""
        inside = set(self.inside())
        return {k: _taken_out(v, around) for k, v in enumerate(self.captures) if k not in inside}

    def fill(self, slots: Sequence[TensorType], places: Mapping[int, int]) -> None:
        """Let the primal body return a value for each slot: its own residuals, and zeros."""
        own = {slot: self.captures[k] for k, slot in places.items()}
        zeros: dict[TensorType, Value] = {}
        with self.primal.resumed():
            for slot, type in enumerate(slots):
                if slot not in own and type not in zeros:
                    zeros[type] = self.primal.read(full_of(0, type.shape, type.dtype))
                self.primal.region.returns.append(own[slot] if slot in own else zeros[type])


def _taken_out(value: Value, around: Trace) -> Any:
    owner = value.owner
    if isinstance(owner, Op) and owner.definition is CONSTANT:
        return owner.attributes["value"]
    return around.wrap(value)


def _shared_slots(halves: Sequence[_Half]) -> tuple[list[TensorType], list[dict[int, int]]]:
    """Return the types of residuals, and where each branch has its own: one branch runs, so places are shared."""
    slots: list[TensorType] = []
    places: list[dict[int, int]] = []
    for half in halves:
        free = list(range(len(slots)))
        own: dict[int, int] = {}
        for k in half.inside():
            type = half.captures[k].tensor
            fitting = next((slot for slot in free if slots[slot] == type), None)
            if fitting is None:
                fitting = len(slots)
                slots.append(type)
            else:
                free.remove(fitting)
            own[k] = fitting
        places.append(own)
    return slots, places


def _split_branch(
    walker: Walker, region: Region, environment: Environment, outer: Sequence[Value], active: Sequence[bool]
) -> _Half:
    """Trace a branch's primal ops as a branch, and its tangent ops as a linear body of the outer tangents."""
    with new_trace(closed=False) as here, Trace(here, linear=True).resumed() as inner:
        lifted = {v: Dual(environment[v].primal, inner.argument(v.type)) for v in outer}
        plain: Mapping[Value, Dual] = {**environment, **lifted}
        outputs = walker.within(here, inner, walker.saved).body(region, [], plain)
        wanted = [instantiate(d.tangent, v) for d, v, a in zip(outputs, region.returns, active, strict=True) if a]
        linear, captures = finish_linear(inner, wanted)
        with here.resumed():
            here.region.returns = [here.read(d.primal) for d in outputs]
            return _Half(here, linear, [here.read(x) for x in captures])


@ADDING.register(control_flow.IF, control_flow.CASE)
def _transpose_branch(
    op: Op, operands: list[Any], cotangents: list[Any], known: Mapping[Value, Any], totals: Mapping[Value, Any]
) -> Mapping[Value, Any]:
    """Transpose the branch that was taken; every branch returns a cotangent for each linear value of any it needs."""
    needed = Dependence()
    needed.of_branches(op, [c is not None for c in cotangents])
    linear = [v for v in free_values(op) if v not in known and (v in needed.values or v in totals)]
    present = [k for k, c in enumerate(cotangents) if c is not None]

    def branch(region: Region) -> Region:
        def body() -> list[Any]:
            inner_known = {v: known[v] for v in free_values(region) if v in known}
            dependent = {v for v in free_values(region) if v not in known}
            steps = transpose_order(region, inner_known, dependent)
            gathered = dict(totals)
            for k in present:
                value = region.returns[k]
                if value in dependent:
                    gathered[value] = add_tangents(gathered.get(value), cotangents[k])
            for step in reversed(steps):
                pull_back(step, inner_known, gathered)
            return [instantiate(gathered.get(v), v) for v in linear]

        return trace_region(body, [])

    results = bind(op.definition, operands[0], regions=[branch(r) for r in op.regions])
    return dict(zip(linear, results, strict=True))


@JOINT.register(control_flow.COMPOSITE)
def _joint_composite(
    walker: Walker, op: Op, primals: list[Any], tangents: list[Any], environment: Environment
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Run what brings a rule by that, loops with tangents, special functions by their derivative; else the ops."""
    name, rule = op.attributes["name"], custom_rule(op)
    if rule is not None:
        return rule.differentiate(walker, op, primals, tangents)
    if name in ("numhlo.scan", "numhlo.map"):
        return jvp_scan(walker, op, primals, tangents)
    if has_derivative(name):
        with walker.in_primal():
            outputs = replay_op(op, primals, {})
        return outputs, jvp_composite(op, primals, tangents, outputs)
    return differentiate_callee(walker, op.attributes["decomposition"], primals, tangents)
