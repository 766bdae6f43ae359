"""How often loops go round, and when the native ones look whether the user wants to stop.

A loop that ends within `POLL_ROUNDS` rounds, those inside it included, does without. One that counts to a limit known
before it starts runs in strips with a look between them, so that nothing in a strip keeps LLVM from its best. All other
loops count the kernel's rounds down. `control_flow` writes the loops themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from numhlo.backend.emit.intervals import Intervals, whole_type
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.primitives import interrupted
from numhlo.backend.primitives.layout import CUT_SHORT, ROUNDS_LEFT
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import control_flow as ops
from numhlo.lowering.ops.comparison import COMPARE
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.effects import op_has_effects
from numhlo.lowering.ops.elementwise import ADD, SUBTRACT

POLL_ROUNDS = 4096
"""Rounds of loops between two looks at whether the user wants to stop."""

LOOK = interrupted.__name__
"""What a kernel calls if it looks."""


def write_poll(text: KernelText, rounds: str = "1") -> None:
    """Write, at the end of a round, a look at whether the user wants to stop, once in a while.

    Parameters
    ----------
    text : KernelText
    rounds : str
        How many rounds this one counts for: itself, and those of loops inside that don't look.
    """
    text.counter(ROUNDS_LEFT, POLL_ROUNDS)
    text.line(f"{ROUNDS_LEFT} -= {rounds}")
    with text.block(f"if {ROUNDS_LEFT} < 0:"):
        text.line(f"{ROUNDS_LEFT} = {POLL_ROUNDS}")
        write_look(text)


def write_look(text: KernelText) -> None:
    """Write a look at whether the user wants to stop."""
    with text.block(f"if {LOOK}(ctx):"):
        text.line(f"fail(ctx, {CUT_SHORT})")
        text.line("return")


@record(frozen=True, slots=True)
class Count:
    """How a loop counts: the state's value number ``position`` moves by ``step`` while it is below ``limit``."""

    position: int
    step: Value
    limit: Value

    @property
    def constant_step(self) -> int | None:
        """Return the step if it is the same in every call."""
        return _constant(self.step)

    @property
    def constant_limit(self) -> int | None:
        """Return the limit if it is the same in every call."""
        return _constant(self.limit)


@record(frozen=True, slots=True)
class ConstantCount:
    """A loop that counts from a constant to a constant, ``rounds`` times."""

    position: int
    rounds: int


def count_of(op: Op) -> Count | None:
    """Return how a loop counts up to what it doesn't change itself, None where it does not, or tests anything else."""
    condition, body = op.regions
    test = condition.returns[0].owner
    if not isinstance(test, Op) or test.definition is not COMPARE or test.attributes["comparison_direction"] != "LT":
        return None
    counter, limit = test.operands
    if counter not in condition.arguments or any(o.definition is not CONSTANT for o in condition.ops[:-1]):
        return None
    position = condition.arguments.index(counter)
    advance, argument = body.returns[position].owner, body.arguments[position]
    if not isinstance(advance, Op) or advance.definition is not ADD or argument not in advance.operands:
        return None
    lhs, rhs = advance.operands
    step = rhs if lhs is argument else lhs
    if not _stays(op, limit, condition) or (_constant(step) is None and not _stays(op, step, body)):
        return None
    return Count(position, step, limit)


def constant_count_of(op: Op) -> ConstantCount | None:
    """Return how a loop counts from a constant up to a constant, None where it does not, or tests anything else."""
    counted = count_of(op)
    if counted is None:
        return None
    first, end, step = map(_constant, (op.operands[counted.position], counted.limit, counted.step))
    if first is None or end is None or step is None or step <= 0:
        return None
    return ConstantCount(counted.position, max(0, -(-(end - first) // step)))


@record(frozen=True, slots=True)
class Descent:
    """How a loop counts down by one: state ``position``, while it is above ``limit``, or equal to it if ``reaches``."""

    position: int
    limit: Value
    reaches: bool


def descent_of(op: Op) -> Descent | None:
    """Return how a loop counts down to what it doesn't change itself, None where it does not, or tests anything else.

    The limit may be computed by the condition, of what stays: the weight in ``while c >= weights[i]``.
    """
    condition, body = op.regions
    test = condition.returns[0].owner
    if not isinstance(test, Op) or test.definition is not COMPARE:
        return None
    (counter, limit), direction = test.operands, test.attributes["comparison_direction"]
    if direction not in ("GE", "GT") or counter not in condition.arguments or counter.tensor.dtype != np.int64:
        return None
    position = condition.arguments.index(counter)
    advance, argument = body.returns[position].owner, body.arguments[position]
    if not isinstance(advance, Op) or advance.definition is not SUBTRACT or advance.operands[0] is not argument:
        return None
    if _constant(advance.operands[1]) != 1 or not _are_invariant(op, limit):
        return None
    return Descent(position, limit, direction == "GE")


def _are_invariant(loop: Op, limit: Value) -> bool:
    """Return whether all that a condition computes, but for its test, is the same in all rounds."""
    condition = loop.regions[0]
    others = [op for op in condition.ops if op is not condition.returns[0].owner]
    read = {v for op in others for v in op.operands} | {limit}
    plain = not any(op.regions or op_has_effects(op) for op in others)
    return plain and all(_stays(loop, v, condition) for v in read if v in condition.arguments)


def _stays(loop: Op, value: Value, region: Region) -> bool:
    """Return whether a value is the same in all rounds: a constant, from outside the loop, or state that stays."""
    if value in region.arguments:
        body = loop.regions[1]
        number = region.arguments.index(value)
        return body.returns[number] is body.arguments[number]
    return _constant(value) is not None or all(value not in op.results for op in region.ops)


def _constant(value: Value) -> int | None:
    """Return the integer that a value always is, or None."""
    op = value.owner
    if not isinstance(op, Op) or op.definition is not CONSTANT:
        return None
    number = op.attributes["value"]
    return int(number.reshape(-1)[0]) if number.dtype.kind == "i" and number.size == 1 else None


def strips_of(op: Op, intervals: Intervals) -> Count | None:
    """Return how a loop counts if strips of it can be counted without leaving the counter's type."""
    counted = count_of(op)
    if counted is None:
        return None
    step, limit = intervals.of(counted.step), intervals.of(counted.limit)
    whole = whole_type(counted.limit.tensor.dtype)
    if step is None or limit is None or whole is None or counted.limit.tensor.dtype.kind != "i":
        return None
    return counted if step.low > 0 and limit.high + step.high * POLL_ROUNDS <= whole.high else None


def unpolled_rounds(op: Op, intervals: Intervals) -> int:
    """Return how many rounds a loop goes without a look at whether the user wants to stop, 0 if it counts with all.

    Parameters
    ----------
    op : Op
        A while that ``intervals`` has entered.
    intervals : Intervals
    """
    if goes_unpolled(op, intervals):
        return int(min(intervals.rounds_of(op) * rounds_inside(op.regions[1], intervals), POLL_ROUNDS))
    return 0 if strips_of(op, intervals) is None and descent_of(op) is None else POLL_ROUNDS


def goes_unpolled(op: Op, intervals: Intervals) -> bool:
    """Return whether a loop ends so soon that it needs no look at whether the user wants to stop."""
    rounds = intervals.rounds_of(op) * rounds_inside(op.regions[1], intervals)
    return rounds <= POLL_ROUNDS or (intervals.never_looks and rounds < math.inf)


def ends_soon(region: Region, intervals: Intervals) -> bool:
    """Return whether the loops of a region, one after the other, need no look at whether the user wants to stop.

    Those with loops inside that may go round for long, and so look themselves, are not told from others.
    """
    total = 1.0
    for op in _loops_of(region):
        intervals.enter(op)
        total += intervals.rounds_of(op) * rounds_inside(op.regions[1], intervals)
    return total <= POLL_ROUNDS


def rounds_inside(region: Region, intervals: Intervals) -> int:
    """Return how many rounds a region counts for, with the loops in it that don't look themselves."""
    total = 1
    for op in _loops_of(region):
        intervals.enter(op)
        total += unpolled_rounds(op, intervals)
    return min(total, POLL_ROUNDS)


def _loops_of(region: Region) -> Iterator[Op]:
    for op in region.ops:
        if op.definition is ops.WHILE:
            yield op
        else:
            for inner in op.regions:
                yield from _loops_of(inner)


def rounds_text(text: KernelText, region: Region, intervals: Intervals) -> str:
    """Return the text of how many rounds a region counts for: a run-time number where loops in it depend on shapes."""
    inside = rounds_inside(region, intervals)
    return "1" if inside == 1 else text.number((region, "rounds"), inside, "inside")
