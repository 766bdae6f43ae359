"""Batching of calls: a large function is batched once, however often it is called; a small one where it is called.

In a graph whose functions call the next one twice, batching every call by itself doubles at every level.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from numhlo.lowering.ir import Function, Op
from numhlo.lowering.ops import control_flow
from numhlo.lowering.passes.outlining import inlined_size
from numhlo.tracer.batching.table import BATCHING, Environment, Lanes, batch_function
from numhlo.tracer.core.bind import bind, trace_function
from numhlo.tracer.core.named_axes import uses_batched_axis

LARGE = 1000
"""Ops of a function with its calls inlined, from where on it stays a function."""

_BATCHED: WeakKeyDictionary[Function, dict[tuple[int, tuple[bool, ...]], tuple[Function, list[bool]]]] = (
    WeakKeyDictionary()
)
"""By function, number of lanes and which arguments are mapped; with which results are."""


@BATCHING.register(control_flow.CALL)
def _batch_call(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    callee = op.attributes["callee"]
    if uses_batched_axis(op) or inlined_size(callee.reached()) < LARGE:
        return batch_function(callee, operands, size)
    mapped = tuple(x.mapped for x in operands)
    memo = _BATCHED.setdefault(callee, {})
    if (size, mapped) not in memo:
        memo[size, mapped] = _batched(callee, operands, size)
    batched, flags = memo[size, mapped]
    results = bind(
        op.definition, *[x.array for x in operands], attributes={"callee": batched}, results=batched.result_types
    )
    return [Lanes(*pair) for pair in zip(results, flags, strict=True)]


def _batched(callee: Function, operands: list[Lanes], size: int) -> tuple[Function, list[bool]]:
    flags: list[bool] = []

    def run(*arrays: object) -> list[object]:
        lanes = [Lanes(x, operand.mapped) for x, operand in zip(arrays, operands, strict=True)]
        results = batch_function(callee, lanes, size)
        flags.extend(x.mapped for x in results)
        return [x.array for x in results]

    types = [
        v.tensor.with_shape((size, *v.tensor.shape)) if operand.mapped else v.type
        for v, operand in zip(callee.body.arguments, operands, strict=True)
    ]
    function, captures = trace_function(f"batched_{callee.name}", run, types)
    assert not captures
    return function, flags
