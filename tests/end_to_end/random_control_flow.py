"""Random loops, branches, calls and composites, around bodies that are random programs themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import Function, TensorType, Value
from numhlo.lowering.ir.types import BOOL
from numhlo.lowering.ops import comparison, control_flow, elementwise, loops
from tests.end_to_end import random_elementwise, random_layout, random_structures
from tests.end_to_end.random_programs import Generator

INNER = [*random_elementwise.MAKERS, *random_layout.MAKERS, *random_structures.MAKERS]
"""What bodies are made of."""

INDEX = TensorType((), np.dtype(np.int64))
MOST_DEPTH = 2


def write(g: Generator, ops: int) -> None:
    """Append some ops to the innermost pool."""
    for _ in range(ops):
        maker = g.choose(MAKERS if g.depth < MOST_DEPTH and g.chance(0.1) else INNER)
        maker(g)


def results_like(g: Generator, types: Sequence[TensorType]) -> list[Value]:
    """Return exact values of the given types, the newest ones that there are."""
    return [g.like(type) for type in types]


def while_loop(g: Generator) -> None:
    """Run a body a few times: a counter up to a limit, and up to three values more."""
    carried = [g.pick() for _ in range(g.between(1, 3))]
    counter = g.b.constant(np.int64(0))
    types = [INDEX, *[v.tensor for v in carried]]
    outside = g.chance(0.5)
    limit = g.bounded(g.like(INDEX), 0, 4) if outside else None

    def condition(step: Value, *_: Value) -> Sequence[Value]:
        last = limit if limit is not None else g.b.constant(np.int64(g.between(0, 4)))
        return [g.b.op(comparison.COMPARE, step, last, comparison_direction="LT")]

    def advance(step: Value, *_: Value) -> Sequence[Value]:
        write(g, g.between(1, 4))
        following = g.b.op(elementwise.ADD, step, g.b.constant(np.int64(1)))
        return [following, *results_like(g, types[1:])]

    regions = [g.region(types, condition), g.region(types, advance)]
    g.emit_all(control_flow.WHILE, counter, *carried, regions=regions)


def branch(g: Generator) -> None:
    """Run one of two or more branches, whose results have one type each."""
    types = [g.pick().tensor for _ in range(g.between(1, 2))]
    two = g.chance(0.6)
    chosen = g.like(TensorType((), BOOL)) if two else g.like(TensorType((), np.dtype(np.int32)))

    def one() -> Sequence[Value]:
        write(g, g.between(0, 3))
        return results_like(g, types)

    regions = [g.region([], one) for _ in range(2 if two else g.between(1, 4))]
    g.emit_all(control_flow.IF if two else control_flow.CASE, chosen, regions=regions)


def _function(g: Generator, types: Sequence[TensorType], name: str) -> Function:
    """Return a function of a few ops, all of whose results are exact."""

    def body(*arguments: Value) -> Sequence[Value]:
        write(g, g.between(1, 4))
        exact = [v for v in g.pools[-1] if not g.error(v)]
        return exact[-g.between(1, 3) :]

    return g.function(name, types, body)


def call(g: Generator) -> None:
    """Call one function twice, by call or as a composite that nobody knows."""
    operands = [g.pick() for _ in range(g.between(1, 3))]
    types = [v.tensor for v in operands]
    callee = _function(g, types, "callee")
    for _ in range(g.between(1, 2)):
        if g.chance(0.5):
            g.emit_all(control_flow.CALL, *operands, results=callee.result_types, callee=callee)
        else:
            name = "user.op"
            g.emit_all(control_flow.COMPOSITE, *operands, results=callee.result_types, name=name, decomposition=callee)
        operands = results_like(g, types)


def scan(g: Generator) -> None:
    """Run a body over slices of stacked inputs, with carries."""
    stacked = g.pick(least_rank=1)
    length = stacked.tensor.shape[0]
    if length > 40:
        return
    consts, carries = [g.pick() for _ in range(g.below(2))], [g.pick() for _ in range(g.between(0, 2))]
    row = stacked.tensor.with_shape(stacked.tensor.shape[1:])
    carried = [v.tensor for v in carries]

    def step(*_: Value) -> Sequence[Value]:
        write(g, g.between(1, 4))
        return [*results_like(g, carried), *[g.pick() for _ in range(g.between(0, 2))]]

    body = g.function("step", [*[v.tensor for v in consts], *carried, row], step)
    reverse = g.chance(0.3)
    parts = body.result_types[len(carries) :]
    total = sum(t.size for t in parts) * length
    if total > g.settings.most_elements:
        return
    results = [*carried, *[t.with_shape((length, *t.shape)) for t in parts]]
    if carries or g.chance(0.3):
        name, made = "numhlo.scan", loops.make_scan(body, length, len(consts), len(carries), reverse)
        parameters = {"length": length, "num_consts": len(consts), "num_carries": len(carries), "reverse": reverse}
    else:
        name, made = "numhlo.map", loops.make_map(body, length, len(consts))
        parameters = {"lanes": length, "num_consts": len(consts)}
    g.emit_all(
        control_flow.COMPOSITE,
        *consts,
        *carries,
        stacked,
        results=results,
        name=name,
        composite_attributes=parameters,
        decomposition=made,
    )


def barrier(g: Generator) -> None:
    """Pass values through an optimization barrier."""
    values = [g.pick(exact=False) for _ in range(g.between(1, 2))]
    g.emit_all(control_flow.OPTIMIZATION_BARRIER, *values, error=[g.error(v) for v in values])


MAKERS = [*[while_loop] * 2, *[branch] * 2, call, *[scan] * 2, barrier]
