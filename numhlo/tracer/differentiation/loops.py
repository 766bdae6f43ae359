"""Differentiation of scan and map: tangents ride along forward, and a linear scan runs backwards.

To linearize, the body's primal half becomes a scan that also returns the residuals of each step, stacked; residuals
that follow from the loop's constants alone are computed once, outside, and none is stacked that is an input or an
output of the loop. The tangent half becomes a linear scan over them.
Loops that share a body share what it becomes: in a graph whose loops run the next one twice, differentiating the body
of every loop by itself doubles at every level.
A map is a scan without carries. Source: Griewank and Walther, "Evaluating Derivatives", chapters 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Function, Op, Region, TensorType, Value
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.effects import op_has_effects
from numhlo.lowering.ops.loops import loop_body, make_scan, values_inside
from numhlo.tracer.core.bind import bind, trace_closed
from numhlo.tracer.core.operands import shape_of
from numhlo.tracer.core.replay import replay_function
from numhlo.tracer.differentiation.activity import Activity
from numhlo.tracer.differentiation.dependence import Dependence
from numhlo.tracer.differentiation.halves import split_function
from numhlo.tracer.differentiation.packing import pack_residuals
from numhlo.tracer.differentiation.table import Dual, Walker, instantiate, transpose_body

Found = TypeVar("Found")
Flags = tuple[bool, ...]


class Loop(NamedTuple):
    """A scan: how many constants and carries, which way, how long, and its body."""

    body: Function
    length: int
    num_consts: int
    num_carries: int
    reverse: bool

    @classmethod
    def of(cls, op: Op) -> Loop:
        """Return the loop that a scan or map composite means."""
        p = op.attributes["composite_attributes"]
        if op.attributes["name"] == "numhlo.map":
            return cls(loop_body(op), p["lanes"], p["num_consts"], 0, False)
        return cls(loop_body(op), p["length"], p["num_consts"], p["num_carries"], p["reverse"])

    @property
    def first_x(self) -> int:
        """Return the number of the first stacked input."""
        return self.num_consts + self.num_carries


def bind_scan(loop: Loop, inputs: Sequence[Any]) -> list[Any]:
    """Bind the scan composite of a loop."""
    types = [v.tensor for v in loop.body.body.returns]
    stacked = [t.with_shape((loop.length, *t.shape)) for t in types[loop.num_carries :]]
    attributes = {
        "name": "numhlo.scan",
        "composite_attributes": {
            "length": loop.length,
            "num_consts": loop.num_consts,
            "num_carries": loop.num_carries,
            "reverse": loop.reverse,
        },
        "decomposition": make_scan(loop.body, loop.length, loop.num_consts, loop.num_carries, loop.reverse),
    }
    results = [*types[: loop.num_carries], *stacked]
    return bind(control_flow.COMPOSITE, *inputs, attributes=attributes, results=results)


def jvp_scan(walker: Walker, op: Op, primals: list[Any], tangents: list[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """Run a scan or map composite with tangents."""
    return jvp_loop(walker, Loop.of(op), primals, tangents, op.operands)


def jvp_loop(
    walker: Walker, loop: Loop, primals: list[Any], tangents: list[Any], values: Sequence[Value]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Run a loop with tangents; ``values`` are the graph's values of its inputs, for their types."""
    given = [t is not None for t in tangents]
    active = Activity().of_scan(loop.body, given, range(loop.num_consts, loop.first_x))
    inits = {
        k: instantiate(t, values[k])
        for k, t in enumerate(tangents)
        if t is not None or (loop.num_consts <= k < loop.first_x and active[k])
    }
    if walker.linearizes:
        return _linearize(walker, loop, primals, inits, active)
    return _forward(walker, loop, primals, inits, active)


def _shared(walker: Walker, loop: Loop, active: Sequence[bool], kind: Hashable, find: Callable[[], Found]) -> Found:
    """Return what a loop's body becomes: what the walk found for another loop of this body, or what it finds now.

    How many steps there are, and in which order, is no matter of the body.
    """
    bodies = walker.calls_in(loop.body).bodies
    key = kind, loop._replace(length=0, reverse=False), tuple(active)
    if key not in bodies:
        bodies[key] = find()
    found: Found = bodies[key]
    return found


def _forward(
    walker: Walker, loop: Loop, primals: list[Any], inits: dict[int, Any], active: list[bool]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Run one scan whose constants, carries and inputs are doubled by their tangents."""
    arguments = loop.body.body.arguments
    groups = (range(loop.num_consts), range(loop.num_consts, loop.first_x), range(loop.first_x, len(arguments)))
    layout = [(k, part) for group in groups for part in (0, 1) for k in group if part == 0 or active[k]]
    out_carries = [active[loop.num_consts + k] for k in range(loop.num_carries)]
    body, flags = _shared(walker, loop, active, "doubled", lambda: _doubled(walker, loop, layout, out_carries))
    counts = [sum(1 for k, _ in layout if k in group) for group in groups]
    wide = Loop(body, loop.length, counts[0], counts[1], loop.reverse)
    results = iter(bind_scan(wide, [primals[k] if part == 0 else inits[k] for k, part in layout]))
    carries = [next(results) for _ in range(loop.num_carries)]
    carry_tangents = [next(results) if a else None for a in out_carries]
    ys = [next(results) for _ in flags]
    return [*carries, *ys], [*carry_tangents, *[next(results) if f else None for f in flags]]


def _doubled(
    walker: Walker, loop: Loop, layout: Sequence[tuple[int, int]], out_carries: Sequence[bool]
) -> tuple[Function, list[bool]]:
    """Return the body on arguments and tangents as laid out, and which of the stacked outputs have tangents."""
    arguments, values = loop.body.body.arguments, loop.body.body.returns
    flags: list[bool] = []

    def run(*arrays: Any) -> list[Any]:
        given = dict(zip(layout, arrays, strict=True))
        outputs = walker.within().function(
            loop.body, [Dual(given[k, 0], given.get((k, 1))) for k in range(len(arguments))]
        )
        carries, ys = outputs[: loop.num_carries], outputs[loop.num_carries :]
        flags.extend(d.tangent is not None for d in ys)
        doubled = [instantiate(d.tangent, v) for d, v, a in zip(carries, values, out_carries, strict=False) if a]
        return (
            [d.primal for d in carries]
            + doubled
            + [d.primal for d in ys]
            + [d.tangent for d in ys if d.tangent is not None]
        )

    return trace_closed(f"jvp_{loop.body.name}", run, [arguments[k].type for k, _ in layout]), flags


class LoopHalves(NamedTuple):
    """A loop body cut in two.

    Attributes
    ----------
    primal : Function
        Also returns the residuals that change from step to step.
    linear : Function
    hoisted : Function
        Takes the loop's constants, returns the residuals that follow from these alone.
    sources : list of (str, int)
        Where each residual is found: ``"once"``, a result of `hoisted`; ``"input"``, an input of the loop;
        ``"output"``, a result of the primal loop, which may be one that it has anyway.
    out_active : list of bool
    """

    primal: Function
    linear: Function
    hoisted: Function
    sources: list[tuple[str, int]]
    out_active: list[bool]


def split_loop(walker: Walker, loop: Loop, active: list[bool], kept: Mapping[Value, Any]) -> LoopHalves:
    """Cut the body in two, and find out where residuals come from.

    The primal half takes one input more for each of the ``kept`` values of the body, which it need not compute.
    """
    kept_types = {v: TensorType(shape_of(x)[1:], x.dtype) for v, x in kept.items()}
    carries_on = dict(enumerate(active[loop.num_consts : loop.first_x]))
    primal, linear, flags = split_function(walker, loop.body, active, carries_on, kept_types)
    region, count = primal.body, len(loop.body.body.returns)
    residuals, region.returns = region.returns[count:], region.returns[:count]
    outside = Region()
    outside.arguments, outside.ops = region.arguments[: loop.num_consts], _invariant_ops(region, loop.num_consts)
    sources = [_source(v, loop, region, outside) for v in residuals]
    return LoopHalves(primal, linear, Function(f"hoisted_{loop.body.name}", outside), sources, flags)


def _source(residual: Value, loop: Loop, body: Region, outside: Region) -> tuple[str, int]:
    """Return where a residual is found, and see to it that it is there."""
    if residual in body.arguments[loop.first_x :]:
        return "input", body.arguments.index(residual)
    if residual in outside.arguments or residual.owner in outside.ops:
        outside.returns.append(residual)
        return "once", len(outside.returns) - 1
    if residual not in body.returns[loop.num_carries :]:
        body.returns.append(residual)
    return "output", body.returns.index(residual, loop.num_carries)


def _invariant_ops(region: Region, num_consts: int) -> list[Op]:
    """Return the ops of a loop body that compute the same in every step: they follow from its constants."""
    known = set(region.arguments[:num_consts])
    found = []
    for op in region.ops:
        used = [*op.operands, *free_values(op)] if op.regions else op.operands
        if all(v in known for v in used) and not op_has_effects(op):
            known.update(op.results)
            found.append(op)
    return found


def _linearize(
    walker: Walker, loop: Loop, primals: list[Any], inits: dict[int, Any], active: list[bool]
) -> tuple[Sequence[Any], Sequence[Any]]:
    inside = values_inside(loop.body.body) if walker.saved else set()
    kept = {v: x for v, x in walker.saved.items() if v in inside}
    if kept:
        halves, order = _halves(walker, loop, active, kept)
    else:
        halves, order = _shared(walker, loop, active, "halves", lambda: _halves(walker, loop, active, kept))
    primals = [*primals, *kept.values()]
    count = len(loop.body.body.returns)
    with walker.in_primal():
        outputs = bind_scan(loop._replace(body=halves.primal), primals)
        once = replay_function(halves.hoisted, primals[: loop.num_consts])
    found = {"once": once, "input": primals, "output": outputs}
    captured = [found[kind][k] for kind, k in halves.sources]
    counts = [sum(1 for group, *_ in order if group == wanted) for wanted in (0, 1)]
    linear = Loop(halves.linear, loop.length, counts[0], counts[1], loop.reverse)
    results = iter(bind_scan(linear, [inits[k] if kind == "t" else captured[k] for _, kind, k in order]))
    return outputs[:count], [next(results) if f else None for f in halves.out_active]


def _halves(
    walker: Walker, loop: Loop, active: list[bool], kept: Mapping[Value, Any]
) -> tuple[LoopHalves, list[tuple[int, str, int]]]:
    """Cut the body in two, with the linear half's arguments in a scan's order.

    Each of these is in group 0, 1 or 2, of constants, carries or stacked inputs, and is a tangent ``"t"`` or residual
    ``"r"`` by its number.
    """
    halves = split_loop(walker, loop, active, kept)
    if loop.body in walker.calls_in(loop.body).shared:
        halves = _few_residuals(halves, len(loop.body.body.returns))
    places = [k for k, a in enumerate(active) if a]
    tangents = [(0 if k < loop.num_consts else 1 if k < loop.first_x else 2, "t", k) for k in places]
    residuals = [(0 if kind == "once" else 2, "r", j) for j, (kind, _) in enumerate(halves.sources)]
    order = sorted([*tangents, *residuals], key=lambda one: one[0])
    return halves._replace(linear=_reordered(halves.linear, places, [one[1:] for one in order])), order


def _few_residuals(halves: LoopHalves, count: int) -> LoopHalves:
    """Return halves of a body with ``count`` results that hand few arrays on."""
    hoisted, linear, sources = pack_residuals(halves.hoisted, halves.linear, halves.sources, 0, "once")
    primal, linear, sources = pack_residuals(halves.primal, linear, sources, count, "output")
    return halves._replace(primal=primal, linear=linear, hoisted=hoisted, sources=sources)


def _reordered(function: Function, places: list[int], order: list[tuple[str, int]]) -> Function:
    """Return a linear body with its arguments in a scan's order: constants, carries, stacked inputs."""
    region = function.body
    names = [("t", k) for k in places] + [("r", j) for j in range(len(region.arguments) - len(places))]
    by_name = dict(zip(names, region.arguments, strict=True))
    region.arguments = [by_name[name] for name in order]
    return function


def transpose_scan(op: Op, operands: list[Any], cotangents: list[Any], totals: Mapping[int, Any]) -> list[Any]:
    """Run a linear scan backwards: cotangents of carries flow back, those of linear constants add up to ``totals``.

    What no result with a cotangent depends on has none.
    """
    loop = Loop.of(op)
    arguments, values = loop.body.body.arguments, loop.body.body.returns
    fixed, present = tuple(x is not None for x in operands), tuple(c is not None for c in cotangents)
    key = loop.num_consts, loop.num_carries, fixed, present
    memo = _TRANSPOSED.setdefault(loop.body, {})
    if key not in memo:
        memo[key] = _transposed(loop, fixed, present)
    turned = memo[key]
    back = Loop(turned.body, loop.length, len(turned.fixed), len(turned.carries) + len(turned.summed), not loop.reverse)
    inputs = [operands[k] for k in turned.fixed]
    inputs += [instantiate(cotangents[k], values[k]) for k in turned.carries]
    inputs += [instantiate(totals.get(k), arguments[k]) for k in turned.summed]
    inputs += [cotangents[k] for k in turned.ys] + [operands[k] for k in turned.stepped]
    found = dict(zip(turned.returned, bind_scan(back, inputs), strict=True))
    return [found.get(k, totals.get(k)) for k in range(len(arguments))]


class _Transposed(NamedTuple):
    """The body of a linear scan, transposed.

    Attributes
    ----------
    body : Function
        Takes what the next five say, in their order; the carries are those of ``carries`` and ``summed``.
    fixed : list of int
        Constants that the scan is not linear in.
    carries : list of int
        Carries that have cotangents, by their numbers among the results.
    summed : list of int
        Linear constants, whose cotangents add up.
    ys : list of int
        Stacked outputs that have cotangents, by their numbers among the results.
    stepped : list of int
        Stacked inputs that the scan is not linear in.
    returned : list of int
        The operands whose cotangents the backward scan returns.
    """

    body: Function
    fixed: list[int]
    carries: list[int]
    summed: list[int]
    ys: list[int]
    stepped: list[int]
    returned: list[int]


_TRANSPOSED: WeakKeyDictionary[Function, dict[tuple[int, int, Flags, Flags], _Transposed]] = WeakKeyDictionary()
"""By body of a linear scan: numbers of constants and carries, which operands are not linear, which cotangents exist."""


def _transposed(loop: Loop, known_operands: Flags, present: Flags) -> _Transposed:
    arguments, values = loop.body.body.arguments, loop.body.body.returns
    needed = Dependence().of_scan(loop.body, present, loop.num_consts, loop.num_carries)
    linear = [n and not k for k, n in zip(known_operands, needed, strict=True)]
    consts, xs = range(loop.num_consts), range(loop.first_x, len(arguments))
    carries = [k for k in range(loop.num_carries) if needed[loop.num_consts + k]]
    fixed, summed = [k for k in consts if known_operands[k]], [k for k in consts if linear[k]]
    stepped, back = [k for k in xs if known_operands[k]], [k for k in xs if linear[k]]
    ys = [k for k in range(loop.num_carries, len(values)) if present[k]]
    returned = [*[loop.num_consts + k for k in carries], *summed, *back]
    types: list[TensorType] = [arguments[k].tensor for k in fixed]
    types += [values[k].tensor for k in carries] + [arguments[k].tensor for k in summed]
    types += [values[k].tensor for k in ys] + [arguments[k].tensor for k in stepped]

    def run(*arrays: Any) -> list[Any]:
        given = iter(arrays)
        known = {k: next(given) for k in fixed}
        flowing = {k: next(given) for k in carries}
        sums = [next(given) for _ in summed]
        flowing.update((k, next(given)) for k in ys)
        known.update((k, next(given)) for k in stepped)
        out = [flowing.get(k) for k in range(len(values))]
        started = dict(zip(summed, sums, strict=True))
        found = transpose_body(loop.body.body, [known.get(k) for k in range(len(arguments))], out, started)
        return [instantiate(found[k], arguments[k]) for k in returned]

    body = trace_closed(f"transposed_{loop.body.name}", run, types)
    return _Transposed(body, fixed, carries, summed, ys, stepped, returned)
