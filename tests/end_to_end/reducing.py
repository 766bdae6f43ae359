"""A reducer: makes a failing program small, so that a person can see what fails.

It keeps one result, turns intermediate values into arguments (with the arrays that they had), and turns values inside
regions into constants, as long as the program still fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import Function, Module, Op, Region, TensorType, Value
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.primitive import make_op
from numhlo.lowering.passes.dead_ops import remove_dead_ops
from numhlo.lowering.text import print_module

COUNTING = (TensorType((), np.dtype(np.int64)), TensorType((), np.dtype(np.bool_)))
"""Types of counters and of what ends loops: with a constant in their place a loop might never end."""

Fails = Callable[[Function, list[np.ndarray]], bool]


class _Copier:
    """Copies a function; some values become arguments, others constants."""

    def __init__(self, cut: Mapping[Value, np.ndarray], filled: set[Value]) -> None:
        self.cut, self.filled = cut, filled
        self.values: dict[Value, Value] = {}

    def function(self, source: Function, arrays: Sequence[np.ndarray], returns: Sequence[Value]) -> tuple:
        body = Region()
        taken = list(zip(source.body.arguments, arrays, strict=True)) + list(self.cut.items())
        for value, _ in taken:
            self.values[value] = body.add_argument(value.type)
        self._ops(source.body, body)
        body.returns = [self.values[v] for v in returns]
        result = Function("main", body, visibility="public")
        remove_dead_ops(result.body)
        used = {v for op in body.walk() for v in op.operands} | set(body.returns)
        used |= {v for op in body.walk() for inner in op.regions for v in inner.returns}
        kept = [k for k, v in enumerate(body.arguments) if v in used]
        body.arguments = [body.arguments[k] for k in kept]
        return result, [taken[k][1] for k in kept]

    def _ops(self, source: Region, target: Region) -> None:
        for op in source.ops:
            if all(v in self.cut for v in op.results):
                continue
            if op.results and all(v in self.filled for v in op.results):
                made = [_constant(v) for v in op.results]
                target.ops += made
                self.values.update(zip(op.results, [m.result for m in made], strict=True))
                continue
            regions = [self._region(r) for r in op.regions]
            operands = [self.values[v] for v in op.operands]
            types = [v.type for v in op.results]
            copy = Op(op.definition, operands, op.attributes, regions, types, op.location)
            target.ops.append(copy)
            for old, new in zip(op.results, copy.results, strict=True):
                if old not in self.cut:
                    self.values[old] = new

    def _region(self, source: Region) -> Region:
        target = Region([v.type for v in source.arguments])
        self.values.update(zip(source.arguments, target.arguments, strict=True))
        self._ops(source, target)
        target.returns = [self.values[v] for v in source.returns]
        return target


def _constant(value: Value) -> Op:
    type = value.type
    assert isinstance(type, TensorType)
    return make_op(creation.CONSTANT, (), {"value": np.ones(type.shape, type.dtype)})


def with_results(function: Function, arrays: Sequence[np.ndarray], numbers: Sequence[int]) -> tuple:
    """Return the function with some of its results only, and the arrays that it still needs."""
    return _Copier({}, set()).function(function, arrays, [function.body.returns[k] for k in numbers])


def reduce_program(function: Function, arrays: list[np.ndarray], fails: Fails) -> tuple[Function, list[np.ndarray]]:
    """Return a smaller program that fails too.

    Parameters
    ----------
    function : Function
        Fails on ``arrays``.
    arrays : list of numpy.ndarray
    fails : callable
        ``fails(function, arrays)`` tells whether a program shows the failure. What it raises counts as False.
    """

    def still(candidate: Function, inputs: list[np.ndarray]) -> bool:
        try:
            return fails(candidate, inputs)
        except Exception:  # noqa: BLE001 - another failure is not this one
            return False

    for number in range(len(function.body.returns)):
        candidate = with_results(function, arrays, [number])
        if still(*candidate):
            function, arrays = candidate
            break
    changed = True
    while changed:
        changed = False
        for attempt in (_drop_result, _cut_one, _fill_one, _results_of_last):
            found = attempt(function, arrays, still)
            if found is not None:
                function, arrays = found
                changed = True
    return function, arrays


def _drop_result(function: Function, arrays: list[np.ndarray], still: Fails) -> tuple | None:
    """Leave one of several results out."""
    numbers = range(len(function.body.returns))
    for left_out in numbers if len(numbers) > 1 else ():
        candidate = with_results(function, arrays, [k for k in numbers if k != left_out])
        if still(*candidate):
            return candidate
    return None


def _cut_one(function: Function, arrays: list[np.ndarray], still: Fails) -> tuple | None:
    """Turn the results of one op into arguments."""
    ops = [op for op in function.body.ops if op.definition is not creation.CONSTANT]
    returned = set(function.body.returns)
    for op in reversed(ops):
        if all(v in returned for v in op.results):
            continue
        known = _values_of(function, arrays, op.results)
        candidate = _Copier(known, set()).function(function, arrays, function.body.returns)
        if _size(candidate[0]) < _size(function) and still(*candidate):
            return candidate
    return None


def _fill_one(function: Function, arrays: list[np.ndarray], still: Fails) -> tuple | None:
    """Turn the results of one op inside a region into constants."""
    for op in function.body.walk():
        if op in function.body.ops or op.definition is creation.CONSTANT:
            continue
        if any(v.type in COUNTING for v in op.results):
            continue
        candidate = _Copier({}, set(op.results)).function(function, arrays, function.body.returns)
        if still(*candidate):
            return candidate
    return None


def _results_of_last(function: Function, arrays: list[np.ndarray], still: Fails) -> tuple | None:
    """Return an operand instead of the result that is computed of it."""
    if len(function.body.returns) != 1 or not isinstance(function.body.returns[0].owner, Op):
        return None
    for value in function.body.returns[0].owner.operands:
        if isinstance(value.owner, Op):
            candidate = _Copier({}, set()).function(function, arrays, [value])
            if still(*candidate):
                return candidate
    return None


def _values_of(function: Function, arrays: list[np.ndarray], values: Sequence[Value]) -> dict[Value, np.ndarray]:
    copier = _Copier({}, set())
    probe, inputs = copier.function(function, arrays, values)
    return dict(zip(values, interpret(probe, inputs), strict=True))


def _size(function: Function) -> int:
    return sum(op.definition is not creation.CONSTANT for op in function.body.walk())


def describe(function: Function, arrays: Sequence[np.ndarray]) -> str:
    """Return a program as text, with its arrays."""
    text = print_module(Module([function]))
    inputs = "\n".join(f"  {a.dtype}{a.shape} {np.array2string(a, threshold=60)}" for a in arrays)
    return f"{text}\non\n{inputs}"
