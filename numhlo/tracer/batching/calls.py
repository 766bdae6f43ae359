"""Batching of functions: a large one is batched once, however often it is called; a small one where it is called.

In a graph whose functions call the next one twice, batching every call by itself doubles at every level. So do loops in
loops, whose bodies are batched several times each, before it is known which carries differ by lane: what was found of
a body is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from numhlo.lowering.ir import Function, Op
from numhlo.lowering.ops import control_flow
from numhlo.lowering.passes.outlining import inlined_size
from numhlo.tracer.batching.table import BATCHING, Environment, Lanes, batch_function
from numhlo.tracer.core.bind import bind, trace_function
from numhlo.tracer.core.named_axes import uses_batched_axis

LARGE = 1000
"""Ops of a function with its calls inlined, from where on it stays a function."""

MOST = 64
"""What is remembered of one body, for other numbers of lanes and other arguments that differ by lane."""

Found = TypeVar("Found")
Memo = MutableMapping[Any, dict[Hashable, Found]]

_BATCHED: Memo[tuple[Function, list[bool]]] = WeakKeyDictionary()
"""By function, number of lanes and which arguments are mapped; with which results are."""


def remember(memo: Memo[Found], op: Op, body: Any, key: Hashable, find: Callable[[], Found]) -> Found:
    """Return what was found of a body of an op, or what is found now.

    Parameters
    ----------
    memo : mapping
        By body, weakly.
    op : Op
        Collectives of the axis that is batched, inside it, may mean something else the next time.
    body : Function or Region
    key : hashable
        All that the answer depends on; it holds nothing of the body.
    find : callable
    """
    if uses_batched_axis(op):
        return find()
    known = memo.setdefault(body, {})
    if key not in known:
        found = find()
        if len(known) >= MOST:
            known.clear()
        known[key] = found
    return known[key]


@BATCHING.register(control_flow.CALL)
def _batch_call(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    return batch_callee(op, op.attributes["callee"], operands, size)


def batch_callee(op: Op, callee: Function, operands: list[Lanes], size: int) -> Sequence[Lanes]:
    """Run a function that an op stands for on lanes."""
    mapped = tuple(x.mapped for x in operands)
    is_known = (size, mapped) in _BATCHED.get(callee, {})
    if uses_batched_axis(op) or not (is_known or inlined_size(callee.reached()) >= LARGE):
        return batch_function(callee, operands, size)
    batched, flags = remember(_BATCHED, op, callee, (size, mapped), lambda: _batched(callee, operands, size))
    arrays = [x.array for x in operands]
    results = bind(control_flow.CALL, *arrays, attributes={"callee": batched}, results=batched.result_types)
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
