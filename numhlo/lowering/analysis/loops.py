"""How while loops count, and how often they run.

A loop counts if it goes on while a value of its state is below a limit, or above one, that no iteration changes. What
the values are in numbers may be known to who asks alone, as while tracing: `trip_count` takes that from outside.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.comparison import COMPARE
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.effects import op_has_effects
from numhlo.lowering.ops.elementwise import ADD, SUBTRACT


@record(frozen=True, slots=True)
class Count:
    """How a loop counts.

    Attributes
    ----------
    position : int
        The number of the value of the state that counts.
    step, limit : Value
        What it moves by, and what it stays below, or above where it counts down.
    reaches : bool
        The loop also runs with a counter that is equal to the limit.
    tests_alone : bool
        The condition computes nothing but constants, and the test after them.
    """

    position: int
    step: Value
    limit: Value
    reaches: bool
    tests_alone: bool

    @property
    def constant_step(self) -> int | None:
        """Return the step if it is the same in every call."""
        return integer_of(self.step)

    @property
    def constant_limit(self) -> int | None:
        """Return the limit if it is the same in every call."""
        return integer_of(self.limit)


def count_of(op: Op) -> Count | None:
    """Return how a loop counts up by a step to a limit that it does not change; None where it does not."""
    found = _compared(op, "L")
    if found is None:
        return None
    position, limit, reaches, alone = found
    body = op.regions[1]
    advance, argument = body.returns[position].owner, body.arguments[position]
    if not isinstance(advance, Op) or advance.definition is not ADD or argument not in advance.operands:
        return None
    lhs, rhs = advance.operands
    step = rhs if lhs is argument else lhs
    if not _stays(op, limit, op.regions[0]) or (integer_of(step) is None and not _stays(op, step, body)):
        return None
    return Count(position, step, limit, reaches, alone)


def descent_of(op: Op) -> Count | None:
    """Return how a loop counts down by one, in int64, to a limit that it does not change; None where it does not.

    The condition may compute the limit of what stays: the weight in ``while c >= weights[i]``.
    """
    found = _compared(op, "G")
    if found is None:
        return None
    position, limit, reaches, alone = found
    body = op.regions[1]
    advance, argument = body.returns[position].owner, body.arguments[position]
    if not isinstance(advance, Op) or advance.definition is not SUBTRACT or advance.operands[0] is not argument:
        return None
    step = advance.operands[1]
    if argument.tensor.dtype != np.int64 or integer_of(step) != 1 or not _are_invariant(op, limit):
        return None
    return Count(position, step, limit, reaches, alone)


def integer_of(value: Value) -> int | None:
    """Return the integer that a value always is, or None."""
    op = value.owner
    if not isinstance(op, Op) or op.definition is not CONSTANT:
        return None
    number = op.attributes["value"]
    return int(number.reshape(-1)[0]) if number.dtype.kind in "iu" and number.size == 1 else None


def trip_count(op: Op, value_of: Callable[[Value], int | None] = integer_of) -> int | None:
    """Return how often a loop runs that counts up, None where that is not known.

    Parameters
    ----------
    op : Op
    value_of : callable
        Gives the integer that a value from outside the loop is, or None.
    """
    counted = count_of(op)
    if counted is None:
        return None
    used = op.operands[counted.position], _outside(op, counted.limit), _outside(op, counted.step)
    first, end, step = map(value_of, used)
    if first is None or end is None or step is None or step <= 0:
        return None
    return max(0, -(-(end + counted.reaches - first) // step))


def _compared(op: Op, direction: str) -> tuple[int, Value, bool, bool] | None:
    """Return which value of a loop's state is compared, with what, whether it reaches that; and if that is all."""
    condition = op.regions[0]
    test = condition.returns[0].owner
    if not isinstance(test, Op) or test.definition is not COMPARE:
        return None
    (counter, limit), written = test.operands, test.attributes["comparison_direction"]
    if written[0] != direction or counter not in condition.arguments:
        return None
    alone = all(other.definition is CONSTANT for other in condition.ops[:-1])
    return condition.arguments.index(counter), limit, written[1] == "E", alone


def _are_invariant(loop: Op, limit: Value) -> bool:
    """Return whether all that a condition computes, but for its test, is the same in all iterations."""
    condition = loop.regions[0]
    others = [op for op in condition.ops if op is not condition.returns[0].owner]
    read = {v for op in others for v in op.operands} | {limit}
    plain = not any(op.regions or op_has_effects(op) for op in others)
    return plain and all(_stays(loop, v, condition) for v in read if v in condition.arguments)


def _stays(loop: Op, value: Value, region: Region) -> bool:
    """Return whether a value is the same in all iterations: a constant, from outside, or state that stays."""
    if value in region.arguments:
        body = loop.regions[1]
        number = region.arguments.index(value)
        return body.returns[number] is body.arguments[number]
    return integer_of(value) is not None or all(value not in op.results for op in region.ops)


def _outside(loop: Op, value: Value) -> Value:
    """Return what a value that stays is outside a loop."""
    for region in loop.regions:
        if value in region.arguments:
            return loop.operands[region.arguments.index(value)]
    return value
