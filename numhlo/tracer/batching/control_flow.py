"""Batching of control flow: batched bodies where all lanes go the same way, else one ``map`` over the lanes or chunks.

A loop whose condition is the same for all lanes runs once with batched carries. A branch or a loop that differs by lane
becomes the ``numhlo.map`` composite: each lane runs the op by itself, so an untaken branch never runs and a finished
lane never waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Function, Op, Region, TensorType
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.annotations import ANNOTATIONS, make_annotation
from numhlo.lowering.ops.cumulative import COMBINERS, make_cumulative
from numhlo.lowering.ops.custom_calls import target_of
from numhlo.lowering.ops.factorizations import MEANINGS
from numhlo.lowering.ops.loops import loop_body, make_map, make_scan
from numhlo.lowering.ops.special import FUNCTIONS, make
from numhlo.lowering.ops.threefry import make_threefry2x32
from numhlo.tracer.batching.calls import Memo, batch_callee, remember
from numhlo.tracer.batching.collectives import batch_collective
from numhlo.tracer.batching.linear_algebra import batch_factorization
from numhlo.tracer.batching.table import BATCHING, Environment, Lanes, all_mapped, batch_body, batch_function, spread
from numhlo.tracer.core.arrangement import concatenate_arrays, move_axis, slice_axis
from numhlo.tracer.core.bind import bind, trace_function, trace_region
from numhlo.tracer.core.custom_rules import CustomRule, bind_with_rule, custom_rule
from numhlo.tracer.core.named_axes import collective_of, uses_batched_axis
from numhlo.tracer.core.operands import broadcast_to_shape, expand, reshape_to, shape_of
from numhlo.tracer.core.replay import replay_op
from numhlo.tracer.python.callbacks import call_with_lanes


def map_lanes(op: Op, operands: Sequence[Lanes], size: int, environment: Environment) -> list[Lanes]:
    """Run an op lane by lane: a ``numhlo.map`` whose body is the op itself, closed over what it uses from outside."""
    if uses_batched_axis(op):
        raise UnsupportedError(
            f"a function of a named axis inside a {op.definition.name} that differs from lane to lane",
            where=op.location,
            why="the lanes run one by one, each to its own end, and can't meet",
            fix="compute it before, or use where for both branches",
        )
    outer = free_values(op) if op.regions else []
    inputs = [*operands, *[environment[v] for v in outer]]
    types = [v.type for v in (*op.operands, *outer)]
    order = sorted(range(len(inputs)), key=lambda k: inputs[k].mapped)

    def body(*arrays: Any) -> list[Any]:
        values = dict(zip(order, arrays, strict=True))
        given = [values[k] for k in range(len(inputs))]
        count = len(operands)
        return replay_op(op, given[:count], dict(zip(outer, given[count:], strict=True)))

    lane, _ = trace_function(f"{op.definition.name}_lane", body, [types[k] for k in order])
    return all_mapped(_bind_map(lane, [inputs[k] for k in order], size))


def _bind_map(lane: Function, inputs: Sequence[Lanes], size: int) -> Sequence[Any]:
    """Bind the map of a lane's function; its inputs that differ by lane come last."""
    num_consts = sum(not x.mapped for x in inputs)
    attributes = {
        "name": "numhlo.map",
        "composite_attributes": {"lanes": size, "num_consts": num_consts},
        "decomposition": make_map(lane, size, num_consts),
    }
    results = [v.tensor.with_shape((size, *v.tensor.shape)) for v in lane.body.returns]
    return bind(control_flow.COMPOSITE, *[x.array for x in inputs], attributes=attributes, results=results)


def batch_in_chunks(function: Function, inputs: Sequence[Lanes], size: int, chunk: int) -> list[Lanes]:
    """Run a function on so many lanes at a time, one chunk after the other: a ``numhlo.map`` of batched lanes.

    What is left over is a chunk of its own.
    """
    whole = size // chunk * chunk
    if whole in (0, chunk):
        return batch_function(function, inputs, size)
    order = sorted(range(len(inputs)), key=lambda k: inputs[k].mapped)
    found: list[bool] = []

    def body(*arrays: Any) -> list[Any]:
        given = dict(zip(order, arrays, strict=True))
        outputs = batch_function(function, [Lanes(given[k], x.mapped) for k, x in enumerate(inputs)], chunk)
        found.extend(x.mapped for x in outputs)
        return [x.array for x in outputs]

    def part(x: Lanes, start: int, end: int) -> Lanes:
        return Lanes(slice_axis(x.array, start, end), True) if x.mapped else x

    def chunks(x: Lanes) -> Lanes:
        rest = shape_of(x.array)[1:]
        return Lanes(reshape_to(part(x, 0, whole).array, (whole // chunk, chunk, *rest)), True) if x.mapped else x

    parameters = [v.tensor for v in function.body.arguments]
    types = [
        parameters[k].with_shape((chunk, *parameters[k].shape)) if inputs[k].mapped else parameters[k] for k in order
    ]
    wide, _ = trace_function(f"chunk_{function.name}", body, types)
    stacked = _bind_map(wide, [chunks(inputs[k]) for k in order], whole // chunk)
    rest = batch_function(function, [part(x, whole, size) for x in inputs], size - whole) if whole < size else None
    results = []
    for number, (array, mapped) in enumerate(zip(stacked, found, strict=True)):
        if not mapped:
            results.append(Lanes(reshape_to(slice_axis(array, 0, 1), shape_of(array)[1:]), False))
            continue
        joined = reshape_to(array, (whole, *shape_of(array)[2:]))
        if rest is not None:
            joined = concatenate_arrays([joined, spread(rest[number], size - whole)], 0)
        results.append(Lanes(joined, True))
    return results


@BATCHING.register(control_flow.CUSTOM_CALL)
def _batch_custom_call(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    """Call once a lane, but for collectives, users' rules, and callbacks of whole batches: other axes are not known."""
    collective = collective_of(op)
    if collective is not None:
        return batch_collective(op, collective, operands, size)
    target = target_of(op)
    if target is not None and target.rules.batch is not None:
        return list(target.rules.batch(op, operands, size))
    results = call_with_lanes(op, operands, size)
    return map_lanes(op, operands, size, environment) if results is None else all_mapped(results)


@BATCHING.register(control_flow.IF, control_flow.CASE)
def _batch_branch(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    """Branch once on an unmapped index, with batched branches; lane by lane on a mapped one."""
    if operands[0].mapped:
        return map_lanes(op, operands, size, environment)

    def branch(region: Region) -> Region:
        def body() -> list[Any]:
            return [spread(x, size) for x in batch_body(region, [], size, environment)]

        return trace_region(body, [])

    return all_mapped(bind(op.definition, operands[0].array, regions=[branch(r) for r in op.regions]))


@BATCHING.register(control_flow.WHILE)
def _batch_while(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    """Loop once with batched carries while the condition is the same for all lanes, else lane by lane."""
    condition, body = op.regions
    mapped = _carries_mapped(op, [x.mapped for x in operands], size, environment)
    if _returns_mapped(op, condition, mapped, size, environment)[0]:
        return map_lanes(op, operands, size, environment)
    types = [
        v.tensor.with_shape((size, *v.tensor.shape)) if m else v.type for v, m in zip(op.operands, mapped, strict=True)
    ]

    def run(region: Region, arrays: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        lanes = [Lanes(a, m) for a, m in zip(arrays, mapped, strict=True)]
        outputs = batch_body(region, lanes, size, environment)
        return [spread(x, size) if m else x.array for x, m in zip(outputs, wanted, strict=True)]

    regions = [
        trace_region(lambda *arrays: run(condition, arrays, [False]), types),
        trace_region(lambda *arrays: run(body, arrays, mapped), types),
    ]
    inits = [spread(x, size) if m else x.array for x, m in zip(operands, mapped, strict=True)]
    outputs = bind(control_flow.WHILE, *inits, regions=regions)
    return [Lanes(a, m) for a, m in zip(outputs, mapped, strict=True)]


_RETURNS: Memo[list[bool]] = WeakKeyDictionary()
"""By region of a loop: which values it returns depend on the lane."""


def _returns_mapped(
    op: Op, region: Region, mapped: Sequence[bool], size: int, environment: Environment
) -> Sequence[bool]:
    """Return which values of a body depend on the lane, given which arguments do."""

    def find() -> list[bool]:
        found: list[bool] = []

        def body(*arrays: Any) -> list[Any]:
            lanes = [Lanes(a, m) for a, m in zip(arrays, mapped, strict=True)]
            found.extend(x.mapped for x in batch_body(region, lanes, size, environment))
            return []

        types = [
            v.tensor.with_shape((size, *v.tensor.shape)) if m else v.type
            for v, m in zip(region.arguments, mapped, strict=True)
        ]
        trace_region(body, types)
        return found

    around = tuple(environment[v].mapped for v in free_values(region))
    return remember(_RETURNS, op, region, (size, tuple(mapped), around), find)


def _carries_mapped(op: Op, mapped: list[bool], size: int, environment: Environment) -> list[bool]:
    while True:
        found = _returns_mapped(op, op.regions[1], mapped, size, environment)
        after = [m or n for m, n in zip(mapped, found, strict=True)]
        if after == mapped:
            return mapped
        mapped = after


@BATCHING.register(control_flow.COMPOSITE)
def _batch_composite(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    """Batch scan, map, cumulative, elementwise and matrix composites as such, any other through its decomposition."""
    name, rule = op.attributes["name"], custom_rule(op)
    if rule is not None:
        found = rule.batch(op, operands, size)
        return _batch_custom(op, operands, size, rule) if found is None else found
    if name == "numhlo.scan":
        return _batch_scan(op, operands, size)
    if name == "numhlo.map":
        return _batch_map(op, operands, size)
    if name.removeprefix("numhlo.") in COMBINERS:
        parameters = op.attributes["composite_attributes"]
        type = op.results[0].tensor
        wide = type.with_shape((size, *type.shape))
        kind = name.removeprefix("numhlo.")
        attributes = make_cumulative(kind, wide, parameters["axis"] + 1, parameters["reverse"])
        return all_mapped(bind(op.definition, operands[0].array, attributes=attributes, results=[wide]))
    if name in ANNOTATIONS or name.removeprefix("numhlo.") in FUNCTIONS:
        types = [v.tensor.with_shape((size, *v.tensor.shape)) for v in op.operands]
        results = [v.tensor.with_shape((size, *v.tensor.shape)) for v in op.results]
        parameters = op.attributes.get("composite_attributes", {})
        notes = ANNOTATIONS.get(name)
        attributes = make(name, types) if notes is None else make_annotation(notes, types[0], **parameters)
        arrays = [spread(x, size) for x in operands]
        return all_mapped(bind(op.definition, *arrays, attributes=attributes, results=results))
    if name == "numhlo.threefry2x32":
        shape = (size, *op.results[0].tensor.shape)
        arrays = [spread(x, size) for x in operands]
        results = [TensorType(shape, op.results[0].tensor.dtype)]
        return all_mapped(bind(op.definition, *arrays, attributes=make_threefry2x32(shape), results=results))
    if name.removeprefix("numhlo.") in MEANINGS:
        return batch_factorization(op, operands, size)
    return batch_callee(op, op.attributes["decomposition"], operands, size)


def _batch_custom(op: Op, operands: list[Lanes], size: int, rule: CustomRule) -> list[Lanes]:
    """Run a composite that brings a rule along on lanes, as a composite with the rule on lanes."""
    function: Function = op.attributes["decomposition"]
    types = [v.tensor.with_shape((size, *v.tensor.shape)) for v in op.operands]

    def run(*arrays: Any) -> list[Any]:
        return [spread(x, size) for x in batch_function(function, all_mapped(arrays), size)]

    wide, _ = trace_function(f"batched_{function.name}", run, types)
    return all_mapped(
        bind_with_rule(op.attributes["name"], wide, [spread(x, size) for x in operands], rule.batched(size))
    )


def _lane_major(x: Any) -> Any:
    """Return a stacked array with lanes first from one with steps first, and back."""
    return move_axis(x, 1, 0)


def _batch_scan(op: Op, operands: list[Lanes], size: int) -> list[Lanes]:
    p = op.attributes["composite_attributes"]
    body = loop_body(op)
    consts = operands[: p["num_consts"]]
    first_x = p["num_consts"] + p["num_carries"]
    carries, xs = operands[p["num_consts"] : first_x], operands[first_x:]
    fixed, stepped = [x.mapped for x in consts], [x.mapped for x in xs]
    mapped = [x.mapped for x in carries]
    while True:
        flags = [*fixed, *mapped, *stepped]
        wide, out = _batched_body(op, body, flags, size, p["num_carries"], mapped)
        after = [m or n for m, n in zip(mapped, out[: p["num_carries"]], strict=True)]
        if after == mapped:
            break
        mapped = after
    length = p["length"]
    arrays = [x.array for x in consts]
    arrays += [spread(x, size) if m else x.array for x, m in zip(carries, mapped, strict=True)]
    arrays += [_lane_major(x.array) if x.mapped else x.array for x in xs]
    types = [v.tensor for v in wide.body.returns]
    results = types[: p["num_carries"]] + [t.with_shape((length, *t.shape)) for t in types[p["num_carries"] :]]
    attributes = {
        **op.attributes,
        "decomposition": make_scan(wide, length, p["num_consts"], p["num_carries"], p["reverse"]),
    }
    outputs = bind(control_flow.COMPOSITE, *arrays, attributes=attributes, results=results)
    ys_mapped = out[p["num_carries"] :]
    ys = [Lanes(_lane_major(y) if m else y, m) for y, m in zip(outputs[p["num_carries"] :], ys_mapped, strict=True)]
    return [Lanes(c, m) for c, m in zip(outputs, mapped, strict=False)] + ys


_BODIES: Memo[tuple[Function, list[bool]]] = WeakKeyDictionary()
"""By body of a scan or map: the body on lanes, and which of its results are mapped."""


def _batched_body(
    op: Op, body: Function, flags: Sequence[bool], size: int, num_carries: int, mapped: Sequence[bool]
) -> tuple[Function, list[bool]]:
    """Return a loop body on lanes, with carries mapped as asked, and which of its results are mapped."""

    def find() -> tuple[Function, list[bool]]:
        types = [
            v.tensor.with_shape((size, *v.tensor.shape)) if m else v.type
            for v, m in zip(body.body.arguments, flags, strict=True)
        ]
        found: list[bool] = []

        def run(*arrays: Any) -> list[Any]:
            outputs = batch_function(body, [Lanes(a, m) for a, m in zip(arrays, flags, strict=True)], size)
            found.extend(x.mapped for x in outputs)
            carries = [spread(x, size) if m else x.array for x, m in zip(outputs, mapped, strict=False)]
            return carries + [x.array for x in outputs[num_carries:]]

        wide, _ = trace_function(f"batched_{body.name}", run, types)
        return wide, found

    return remember(_BODIES, op, body, (size, tuple(flags), num_carries, tuple(mapped)), find)


def _batch_map(op: Op, operands: list[Lanes], size: int) -> list[Lanes]:
    """A map of a map: the inner lanes' body gets the outer lanes as batched operands, or there is one map over both."""
    p = op.attributes["composite_attributes"]
    body = loop_body(op)
    flags = [x.mapped for x in operands]
    wide, found = _batched_body(op, body, flags, size, 0, [])
    count = p["num_consts"]
    if _goes_apart(op, wide, operands):
        return _join_maps(op, operands, size)
    arrays = [_lane_major(x.array) if x.mapped and k >= count else x.array for k, x in enumerate(operands)]
    types = [v.tensor for v in wide.body.returns]
    results = [t.with_shape((p["lanes"], *t.shape)) for t in types]
    attributes = {**op.attributes, "decomposition": make_map(wide, p["lanes"], count)}
    outputs = bind(control_flow.COMPOSITE, *arrays, attributes=attributes, results=results)
    return [Lanes(_lane_major(y) if m else y, m) for y, m in zip(outputs, found, strict=True)]


def _goes_apart(op: Op, wide: Function, operands: Sequence[Lanes]) -> bool:
    """Return whether a map's lanes go their own ways only now that they are batched, and share nothing but scalars.

    Larger arrays that an inner map's lanes share would have to be repeated for each of them.
    """
    inner = any(body_op.attributes.get("name") == "numhlo.map" for body_op in loop_body(op).body.walk())
    apart = any(body_op.attributes.get("name") == "numhlo.map" for body_op in wide.body.walk())
    shared = operands[: op.attributes["composite_attributes"]["num_consts"]]
    return apart and not inner and not any(x.mapped and shape_of(x.array)[1:] for x in shared)


def _join_maps(op: Op, operands: Sequence[Lanes], size: int) -> list[Lanes]:
    """A map of a map as one over all pairs of lanes, so that none waits for the others of its row."""
    p = op.attributes["composite_attributes"]
    body, pairs = loop_body(op), (size, p["lanes"])

    def join(x: Lanes, differs: bool) -> Lanes:
        if not (x.mapped or differs):
            return x
        rows = expand(x.array, 0) if not x.mapped else x.array if differs else expand(x.array, 1)
        lane = shape_of(rows)[2:]
        return Lanes(reshape_to(broadcast_to_shape(rows, (*pairs, *lane)), (size * p["lanes"], *lane)), True)

    inputs = [join(x, k >= p["num_consts"]) for k, x in enumerate(operands)]
    order = sorted(range(len(inputs)), key=lambda k: inputs[k].mapped)

    def run(*arrays: Any) -> list[Any]:
        given = dict(zip(order, arrays, strict=True))
        return [x.array for x in batch_function(body, [Lanes(given[k], False) for k in range(len(inputs))], 1)]

    lane, _ = trace_function(body.name, run, [body.body.arguments[k].type for k in order])
    outputs = _bind_map(lane, [inputs[k] for k in order], size * p["lanes"])
    return all_mapped([reshape_to(y, (*pairs, *shape_of(y)[1:])) for y in outputs])
