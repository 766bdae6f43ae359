"""The composites ``numhlo.scan`` and ``numhlo.map``: loops that keep their structure above a plain ``while``.

``scan``: operands are constants, carries and stacked inputs; results are carries and stacked outputs. The body takes
constants, carries and one slice of every input, and returns carries and one slice of every output. ``map`` is a scan
without carries whose steps don't depend on each other. Attributes hold numbers only; the decomposition's ``while``
calls the one copy of the body, and `loop_body` finds it there again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, Op, Region, TensorType, Value
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.ops import comparison, elementwise, indexing, layout
from numhlo.lowering.ops.back_edges import current_hook
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.composites import CompositeDefinition, register
from numhlo.lowering.ops.control_flow import CALL, CASE, COMPOSITE, IF, WHILE
from numhlo.lowering.ops.primitive import Arrays, RegionFunction
from numhlo.lowering.ops.region_function import StructuredFunction

LOOPS = ("numhlo.scan", "numhlo.map")
"""Names of the composites."""

INDEX = TensorType((), np.dtype(np.int64))
"""Type of the loop counter."""


def make_scan(body: Function, length: int, num_consts: int, num_carries: int, reverse: bool = False) -> Function:
    """Return the decomposition of a scan: a counted ``while`` that calls ``body``.

    Parameters
    ----------
    body : Function
        ``body(consts..., carries..., x_slices...) -> (carries..., y_slices...)``.
    length : int
        Number of steps; the leading extent of stacked inputs and outputs. May be 0.
    num_consts, num_carries : int
    reverse : bool
        Run from the last slice to the first; outputs stay at their inputs' places.

    Returns
    -------
    Function
        ``(consts..., carries..., xs...) -> (carries..., ys...)``.
    """
    taken = [v.tensor for v in body.body.arguments]
    given = [v.tensor for v in body.body.returns]
    first_x = num_consts + num_carries
    stacked = [t.with_shape((length, *t.shape)) for t in taken[first_x:]]
    b = FunctionBuilder(f"scan_{body.name}", [*taken[:first_x], *stacked])
    consts, carries, xs = b.arguments[:num_consts], b.arguments[num_consts:first_x], b.arguments[first_x:]
    ys = [_zeros(b, t.with_shape((length, *t.shape))) for t in given[num_carries:]]
    types = [INDEX, *[v.type for v in (*carries, *ys)]]

    def condition(step: Value, *_: Value) -> list[Value]:
        limit = b.constant(np.int64(length))
        return [b.op(comparison.COMPARE, step, limit, comparison_direction="LT", compare_type="SIGNED")]

    def advance(step: Value, *state: Value) -> list[Value]:
        place = b.op(elementwise.SUBTRACT, b.constant(np.int64(length - 1)), step) if reverse else step
        old_carries, old_ys = state[:num_carries], state[num_carries:]
        slices = [_read(b, x, place, t) for x, t in zip(xs, taken[first_x:], strict=True)]
        results = b.ops(CALL, *consts, *old_carries, *slices, callee=body)
        new_ys = [_write(b, y, place, part) for y, part in zip(old_ys, results[num_carries:], strict=True)]
        return [b.op(elementwise.ADD, step, b.constant(np.int64(1))), *results[:num_carries], *new_ys]

    regions = [b.region(types, condition), b.region(types, advance)]
    results = b.ops(WHILE, b.constant(np.int64(0)), *carries, *ys, regions=regions)
    return b.finish(results[1:])


def make_map(body: Function, lanes: int, num_consts: int) -> Function:
    """Return the decomposition of a map: a scan without carries.

    Parameters
    ----------
    body : Function
        ``body(consts..., x_lanes...) -> results``.
    lanes : int
        How often; the leading extent of mapped inputs and of all results. May be 0.
    num_consts : int
    """
    return make_scan(body, lanes, num_consts, 0)


def _zeros(b: FunctionBuilder, type: TensorType) -> Value:
    zero = b.constant(np.zeros((), type.dtype))
    return b.op(layout.BROADCAST_IN_DIM, zero, result=type, broadcast_dimensions=())


def _read(b: FunctionBuilder, stacked: Value, place: Value, type: TensorType) -> Value:
    """Return slice number ``place``; of an empty stack, which no step ever reads, zeros."""
    if stacked.tensor.shape[0] == 0:
        return _zeros(b, type)
    zero = b.constant(np.int64(0))
    starts = [place, *[zero] * type.ndim]
    part = b.op(indexing.DYNAMIC_SLICE, stacked, *starts, slice_sizes=(1, *type.shape))
    return b.op(layout.RESHAPE, part, result=type)


def _write(b: FunctionBuilder, stacked: Value, place: Value, part: Value) -> Value:
    """Return ``stacked`` with slice number ``place`` replaced; an empty stack as it is."""
    if stacked.tensor.shape[0] == 0:
        return stacked
    zero = b.constant(np.int64(0))
    row = b.op(layout.RESHAPE, part, result=part.tensor.with_shape((1, *part.tensor.shape)))
    return b.op(indexing.DYNAMIC_UPDATE_SLICE, stacked, row, place, *[zero] * part.tensor.ndim)


def loop_body(scope: Op | Function) -> Function:
    """Return the body of a ``numhlo.scan`` or ``numhlo.map``: a composite op, or its decomposition.

    Raises
    ------
    InternalError
        If the decomposition is not one that `make_scan` or `make_map` wrote.
    """
    decomposition = scope.attributes["decomposition"] if isinstance(scope, Op) else scope
    for op in decomposition.body.ops:
        if op.definition is WHILE:
            for inner in op.regions[1].ops:
                if inner.definition is CALL:
                    body: Function = inner.attributes["callee"]
                    return body
    raise InternalError(
        f"{decomposition.name} has no loop that calls a body", why="it was rewritten, or made elsewhere"
    )


def evaluate_scan(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Run the body in a Python loop, reading slices as views and writing outputs in place."""
    parameters = attributes["composite_attributes"]
    num_carries, reverse = parameters["num_carries"], parameters["reverse"]
    return _run_loop(
        arrays, attributes["decomposition"], parameters["length"], parameters["num_consts"], num_carries, reverse
    )


def evaluate_map(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Run the body once a lane."""
    parameters = attributes["composite_attributes"]
    return _run_loop(arrays, attributes["decomposition"], parameters["lanes"], parameters["num_consts"], 0, False)


def _run_loop(
    arrays: Arrays,
    decomposition: RegionFunction,
    length: int,
    num_consts: int,
    num_carries: int,
    reverse: bool,
) -> Arrays:
    if not isinstance(decomposition, StructuredFunction):
        return decomposition(*arrays)
    function = loop_body(decomposition.function)
    body = decomposition.bind(function)
    first_x = num_consts + num_carries
    consts, xs = arrays[:num_consts], arrays[first_x:]
    carries: Arrays = arrays[num_consts:first_x]
    types = [v.tensor for v in function.body.returns[num_carries:]]
    ys = [np.empty((length, *t.shape), t.dtype) for t in types]
    hook = current_hook()
    for step in reversed(range(length)) if reverse else range(length):
        if hook is not None:
            hook()
        results = body(*consts, *carries, *[x[step, ...] for x in xs])
        carries = results[:num_carries]
        for y, part in zip(ys, results[num_carries:], strict=True):
            y[step] = part
    return [*carries, *ys]


def inner_bodies(op: Op) -> list[Region]:
    """Return the bodies of branches, of loops and of called functions; not those of ops with custom rules."""
    if op.definition is CALL:
        return [op.attributes["callee"].body]
    if op.definition is COMPOSITE and op.attributes["name"] in LOOPS:
        return [loop_body(op).body]
    if op.definition is WHILE:
        return [op.regions[1]]
    return list(op.regions) if op.definition in (IF, CASE) else []


def reached_bodies(*bodies: Region) -> Counter[Region]:
    """Return bodies and those in them, however deep, with the number of places where each is found."""
    times = Counter(bodies)
    waiting = list(bodies)
    for one in waiting:
        found = [inner for op in one.ops for inner in inner_bodies(op)]
        waiting += [inner for inner in dict.fromkeys(found) if inner not in times]
        times.update(found)
    return times


def values_inside(body: Region) -> set[Value]:
    """Return the results of all ops in a body, and in the bodies in it."""
    return {v for one in reached_bodies(body) for op in one.ops for v in op.results}


SCAN = register(
    CompositeDefinition("numhlo.scan", evaluate_scan, -1, -1, "A loop with carries over slices of stacked inputs.")
)
MAP = register(
    CompositeDefinition("numhlo.map", evaluate_map, -1, -1, "A function applied to every lane of its inputs.")
)
