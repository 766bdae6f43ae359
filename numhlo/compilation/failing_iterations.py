"""Whether Python, unrolling a graph's loops, would have met an error: an index out of bounds, a divisor that is zero.

What an iteration computes from its number alone is computed for all of them at once, by the ops' own definitions:
places in arrays, divisors, conditions. What depends on data is nobody's to know, here as in Python. Integers that a
loop counts by itself, from one iteration to the next, are not followed: where one says what is read or done, nothing
can be said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.analysis.loops import count_of
from numhlo.lowering.interpreter import evaluate_op
from numhlo.lowering.ir import Function, Op, Region, TensorType, Value
from numhlo.lowering.ops import comparison, control_flow, conversion, creation, elementwise, indexing
from numhlo.lowering.ops.elementwise import Elementwise

MOST_ITERATIONS = 1 << 20
"""Of more iterations of a nest, only so many are looked at, the first and the last among them."""

DIVISIONS = (elementwise.DIVIDE, elementwise.REMAINDER)
EXACT = (elementwise.ADD, elementwise.SUBTRACT, elementwise.MULTIPLY)
STARTS = {indexing.DYNAMIC_SLICE: 1, indexing.DYNAMIC_UPDATE_SLICE: 2}
"""Behind how many operands the places begin."""

FOLLOWED = (comparison.COMPARE, comparison.SELECT, conversion.CONVERT)


class _UnknownError(Exception):
    """It can't be said that no iteration fails."""


class _Iterations:
    """Values of scalars in all iterations in which a region runs.

    Parameters
    ----------
    outer : _Iterations, optional
        Those of the region around.
    chosen : ndarray, optional
        For each iteration, the one of the region around that it is in.
    """

    def __init__(self, outer: _Iterations | None = None, chosen: Any = None) -> None:
        self.outer, self.chosen = outer, chosen
        self.count: int = 1 if chosen is None else len(chosen)
        self.known: dict[Value, Any] = {}
        self.counted: set[Value] = set() if outer is None else outer.counted
        """Integers that loops count by themselves, and what is computed of them."""

    def find(self, value: Value) -> Any:
        """Return a value in all iterations, or one for all of them; None where it is not known."""
        if value in self.known:
            return self.known[value]
        owner = value.owner
        if isinstance(owner, Op) and owner.definition is creation.CONSTANT and not value.tensor.shape:
            return owner.attributes["value"]
        found = None if self.outer is None else self.outer.find(value)
        if found is not None and found.ndim:
            found = self.known[value] = found[self.chosen]
        return found

    def all_in(self, condition: Any) -> bool:
        """Return whether something holds in all iterations."""
        return not self.count or bool(np.all(condition))


def no_iteration_fails(function: Function) -> bool:
    """Return whether all that a function's loops compute from their iterations' numbers is as Python would have it.

    Examples
    --------
    >>> no_iteration_fails(Function("f", Region()))
    True
    """
    try:
        with np.errstate(all="ignore"):
            _follow(function.body, _Iterations())
    except _UnknownError:
        return False
    return True


def _follow(region: Region, iterations: _Iterations) -> None:
    for op in region.ops:
        definition = op.definition
        if definition in STARTS:
            _check_starts(op, STARTS[definition], iterations)
        elif definition is control_flow.WHILE:
            _follow_loop(op, iterations)
        elif definition in (control_flow.IF, control_flow.CASE):
            _follow_branches(op, iterations)
        elif isinstance(definition, Elementwise) or definition in FOLLOWED:
            _follow_scalar(op, iterations)


def _is_integer(value: Value) -> bool:
    type = value.type
    return isinstance(type, TensorType) and not type.shape and type.dtype.kind in "iub"


def _check_starts(op: Op, first: int, iterations: _Iterations) -> None:
    array = op.operands[0].tensor
    sizes = op.attributes["slice_sizes"] if first == 1 else op.operands[1].tensor.shape
    for start, extent, size in zip(op.operands[first:], array.shape, sizes, strict=True):
        found = iterations.find(start)
        if found is None and 1 < size < extent:
            raise _UnknownError  # a slice may be shorter at an end
        if start in iterations.counted or (
            found is not None and not iterations.all_in((found >= 0) & (found <= extent - size))
        ):
            raise _UnknownError


def _follow_scalar(op: Op, iterations: _Iterations) -> None:
    if op.result.tensor.shape:
        return
    operands = [iterations.find(v) for v in op.operands]
    if any(x is None for x in operands):
        if op.definition in DIVISIONS and op.operands[1] in iterations.counted:
            raise _UnknownError
        if any(v in iterations.counted for v in op.operands):
            iterations.counted.update(op.results)
        return
    (found,) = evaluate_op(op, dict(zip(op.operands, operands, strict=True)))
    kind = found.dtype.kind
    if kind in "iu" and op.definition in EXACT:
        wide: Any = [x.astype(np.float64) for x in operands]
        function = {elementwise.ADD: np.add, elementwise.SUBTRACT: np.subtract}.get(op.definition, np.multiply)
        fits = np.abs(function(*wide)) < float(np.iinfo(found.dtype).max)
    elif op.definition in DIVISIONS:
        fits = operands[1] != 0
    else:
        fits = np.isfinite(found) if kind in "fc" else op.definition is not elementwise.POWER
    if not iterations.all_in(fits):
        raise _UnknownError
    iterations.known[op.result] = found


def _follow_branches(op: Op, iterations: _Iterations) -> None:
    chosen = iterations.find(op.operands[0])
    if op.operands[0] in iterations.counted:
        raise _UnknownError
    if chosen is None:
        for region in op.regions:
            _follow(region, _Iterations(iterations, np.arange(iterations.count)))
        iterations.counted.update(v for v in op.results if _is_integer(v) and _is_of_iterations(op, v, iterations))
        return
    last = len(op.regions) - 1
    if op.definition is control_flow.IF:
        number = np.where(chosen, 0, 1)
    else:
        number = np.where((chosen >= 0) & (chosen < last), chosen, last)
    number = np.broadcast_to(number, (iterations.count,))
    sides = []
    for k, region in enumerate(op.regions):
        side = _Iterations(iterations, np.flatnonzero(number == k))
        if side.count:
            _follow(region, side)
            sides.append((side, region))
    for place, result in enumerate(op.results):
        if _is_integer(result):
            _join(result, [(side.chosen, side.find(region.returns[place])) for side, region in sides], iterations)


def _join(result: Value, parts: Sequence[tuple[Any, Any]], iterations: _Iterations) -> None:
    """Note what branches give, each in the iterations that take it."""
    if any(x is None for _, x in parts):
        iterations.counted.add(result)
        return
    whole = iterations.known[result] = np.zeros(iterations.count, result.tensor.dtype)
    for place, x in parts:
        whole[place] = x


def _is_of_iterations(op: Op, result: Value, iterations: _Iterations) -> bool:
    """Return whether a branch may give a number that Python would know."""
    values = [region.returns[op.results.index(result)] for region in op.regions]
    return any(v in iterations.counted or iterations.find(v) is not None for v in values)


def _follow_loop(op: Op, iterations: _Iterations) -> None:
    bounds = _bounds(op, iterations)
    condition, body = op.regions
    if bounds is None:
        inner = _Iterations(iterations, np.arange(iterations.count))
        carried = body.arguments
    else:
        starts, stops = (np.broadcast_to(x, (iterations.count,)).astype(np.int64) for x in bounds)
        counts = np.maximum(stops - starts, 0)
        chosen, numbers = _spread(counts)
        inner = _Iterations(iterations, chosen)
        inner.known[body.arguments[0]] = starts[chosen] + numbers
        carried = body.arguments[1:]
    first = len(body.arguments) - len(carried)
    for argument, result, start in zip(carried, op.results[first:], op.operands[first:], strict=True):
        if _is_integer(argument) and (start in iterations.counted or iterations.find(start) is not None):
            inner.counted |= {argument, result, condition.arguments[body.arguments.index(argument)]}
    if inner.count:
        _follow(body, inner)


def _spread(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each iteration of a loop in all iterations around it, which of these it is in, and its own number."""
    total = int(counts.sum())
    ends = np.cumsum(counts)
    rows = (
        np.arange(total)
        if total <= MOST_ITERATIONS
        else np.unique(np.linspace(0, total - 1, MOST_ITERATIONS).astype(int))
    )
    chosen = np.searchsorted(ends, rows, side="right")
    return chosen, rows - (ends - counts)[chosen]


def _bounds(op: Op, iterations: _Iterations) -> tuple[Any, Any] | None:
    """Return the first number of a loop that counts up by one, and where it ends; None where it is no such loop."""
    counted = count_of(op)
    if counted is None or counted.position or counted.reaches or not counted.tests_alone:
        return None
    by, bounds = iterations.find(counted.step), (iterations.find(op.operands[0]), iterations.find(counted.limit))
    if not _is_integer(op.operands[0]) or by is None or by.ndim or by != 1 or any(b is None for b in bounds):
        return None
    return bounds
