"""Differentiation of calls: a function that a large program calls from several places is differentiated once.

All other callees are differentiated where they are called, as if their ops stood there. In a graph whose functions
call the next one twice that doubles at every level; `Calls` says where. Reverse mode cuts such a function in
two, one that also gives its residuals and a linear one. Residuals add up over levels, too: `packing` keeps them few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from numhlo.lowering.ir import Function, Op, Value
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.tracer.core.bind import bind, trace_closed
from numhlo.tracer.differentiation.halves import split_function
from numhlo.tracer.differentiation.packing import pack_residuals
from numhlo.tracer.differentiation.table import (
    ADDING,
    JOINT,
    Calls,
    Dual,
    Environment,
    Walker,
    add_results,
    instantiate,
    transpose_body,
)

Flags = tuple[bool, ...]


class _Split(NamedTuple):
    """A function cut in two.

    Attributes
    ----------
    primal : Function
        May also return residuals.
    linear : Function
    sources : list of (str, object)
        Where each residual is found: ``"input"`` and ``"output"`` have a number, ``"constant"`` an array.
    out_active : list of bool
    """

    primal: Function
    linear: Function
    sources: list[tuple[str, Any]]
    out_active: list[bool]


@JOINT.register(control_flow.CALL)
def _joint_call(
    walker: Walker, op: Op, primals: list[Any], tangents: list[Any], environment: Environment
) -> tuple[Sequence[Any], Sequence[Any]]:
    return differentiate_callee(walker, op.attributes["callee"], primals, tangents)


def differentiate_callee(
    walker: Walker, callee: Function, primals: list[Any], tangents: list[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the results of a function that an op stands for, and their tangents."""
    if walker.calls is not None and callee in walker.calls.shared:
        shared = _linearize if walker.linearizes else _forward
        return shared(walker, walker.calls, callee, primals, tangents)
    outputs = walker.function(callee, [Dual(*pair) for pair in zip(primals, tangents, strict=True)])
    return [d.primal for d in outputs], [d.tangent for d in outputs]


def _call(callee: Function, operands: Sequence[Any]) -> list[Any]:
    return bind(control_flow.CALL, *operands, attributes={"callee": callee}, results=callee.result_types)


def _spread(flags: Sequence[bool], found: Sequence[Any]) -> list[Any]:
    """Return one item for each flag: the next of what was found, or None."""
    items = iter(found)
    return [next(items) if flag else None for flag in flags]


def _forward(
    walker: Walker, calls: Calls, callee: Function, primals: list[Any], tangents: list[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Call the function that also has tangents for arguments and results."""
    active = tuple(t is not None for t in tangents)
    if (callee, active) not in calls.forward:
        calls.forward[callee, active] = _doubled(walker, callee, active)
    wide, flags = calls.forward[callee, active]
    results = _call(wide, [*primals, *[t for t in tangents if t is not None]])
    count = len(callee.body.returns)
    return results[:count], _spread(flags, results[count:])


def _doubled(walker: Walker, callee: Function, active: Flags) -> tuple[Function, list[bool]]:
    arguments = callee.body.arguments
    flags: list[bool] = []

    def run(*arrays: Any) -> list[Any]:
        moved = _spread(active, arrays[len(arguments) :])
        duals = [Dual(*pair) for pair in zip(arrays[: len(arguments)], moved, strict=True)]
        outputs = walker.within().function(callee, duals)
        flags.extend(d.tangent is not None for d in outputs)
        return [*[d.primal for d in outputs], *[d.tangent for d in outputs if d.tangent is not None]]

    types = [*[v.type for v in arguments], *[v.type for v, a in zip(arguments, active, strict=True) if a]]
    wide = trace_closed(f"jvp_{callee.name}", run, types)
    return wide, flags


def _linearize(
    walker: Walker, calls: Calls, callee: Function, primals: list[Any], tangents: list[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Call the primal half in the primal trace, the linear half in the linear one."""
    active = tuple(t is not None for t in tangents)
    if (callee, active) not in calls.halves:
        calls.halves[callee, active] = _cut(walker, callee, active)
    split = calls.halves[callee, active]
    with walker.in_primal():
        outputs = _call(split.primal, primals)
    found = {"input": primals, "output": outputs}
    residuals = [where if kind == "constant" else found[kind][where] for kind, where in split.sources]
    results = (
        _call(split.linear, [*[t for t in tangents if t is not None], *residuals]) if any(split.out_active) else ()
    )
    return outputs[: len(callee.body.returns)], _spread(split.out_active, results)


def _cut(walker: Walker, callee: Function, active: Flags) -> _Split:
    halves = split_function(walker, callee, active)
    region, count = halves.primal.body, len(callee.body.returns)
    residuals, region.returns = region.returns[count:], region.returns[:count]
    sources: list[tuple[str, Any]] = []
    for value in residuals:
        if value in region.arguments:
            sources.append(("input", region.arguments.index(value)))
        elif isinstance(value.owner, Op) and value.owner.definition is CONSTANT:
            sources.append(("constant", value.owner.attributes["value"]))
        else:
            if value not in region.returns:
                region.returns.append(value)
            sources.append(("output", region.returns.index(value)))
    return _Split(*pack_residuals(halves.primal, halves.linear, sources, count, "output"), halves.out_active)


_TRANSPOSED: WeakKeyDictionary[Function, dict[tuple[Flags, Flags, Flags], tuple[Function, list[bool]]]] = (
    WeakKeyDictionary()
)
"""By linear function; which arguments are linear, which results have cotangents, which sums are begun."""


@ADDING.register(control_flow.CALL)
def _transpose_call(
    op: Op, operands: list[Any], cotangents: list[Any], known: Mapping[Value, Any], totals: Mapping[Value, Any]
) -> Mapping[Value, Any]:
    return transpose_callee(op, op.attributes["callee"], operands, cotangents, known, totals)


def transpose_callee(
    op: Op,
    callee: Function,
    operands: list[Any],
    cotangents: list[Any],
    known: Mapping[Value, Any],
    totals: Mapping[Value, Any],
) -> Mapping[Value, Any]:
    """Call the transposed function of the one that an op stands for; cotangents go on from what they are."""
    found = dict(totals)
    places = {v: k for k, v in enumerate(op.operands) if v in found}
    sums = {k: found.pop(v) for v, k in places.items()}
    linear = tuple(x is None for x in operands)
    present = tuple(c is not None for c in cotangents)
    started = tuple(k in sums for k in range(len(operands)))
    memo = _TRANSPOSED.setdefault(callee, {})
    if (linear, present, started) not in memo:
        memo[linear, present, started] = _turned(callee, linear, present, started)
    turned, flags = memo[linear, present, started]
    given = [x for x in (*operands, *cotangents) if x is not None]
    add_results(op, _spread(flags, _call(turned, [*given, *[sums[k] for k in sorted(sums)]])), known, found)
    return found


def _turned(callee: Function, linear: Flags, present: Flags, started: Flags) -> tuple[Function, list[bool]]:
    """Return the transposed function, and which arguments it has cotangents for."""
    arguments, values = callee.body.arguments, callee.body.returns
    fixed = tuple(not flag for flag in linear)
    flags: list[bool] = []

    def run(*arrays: Any) -> list[Any]:
        parts = _spread((*fixed, *present, *started), arrays)
        inputs, flowing, sums = (
            parts[: len(arguments)],
            parts[len(arguments) : -len(arguments)],
            parts[-len(arguments) :],
        )
        totals = {k: total for k, total in enumerate(sums) if total is not None}
        found = transpose_body(callee.body, inputs, flowing, totals)
        flags.extend(c is not None for c in found)
        return [instantiate(c, v) for c, v in zip(found, arguments, strict=True) if c is not None]

    chosen = zip((*arguments, *values, *arguments), (*fixed, *present, *started), strict=True)
    turned = trace_closed(f"transposed_{callee.name}", run, [v.type for v, flag in chosen if flag])
    return turned, flags
