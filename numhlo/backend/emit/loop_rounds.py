"""How often loops go round, and when the native ones look whether the user wants to stop.

A loop that ends within `POLL_ROUNDS` rounds, those inside it included, does without. One that counts to a limit known
before it starts runs in strips with a look between them, so that nothing in a strip keeps LLVM from its best. All other
loops count the kernel's rounds down. `control_flow` writes the loops themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from numhlo.backend.emit.intervals import Intervals, whole_type
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.primitives import interrupted
from numhlo.backend.primitives.layout import CUT_SHORT, ROUNDS_LEFT
from numhlo.lowering.analysis.loops import Count, count_of, descent_of
from numhlo.lowering.ir import Op, Region
from numhlo.lowering.ops import control_flow as ops

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


def strips_of(op: Op, intervals: Intervals) -> Count | None:
    """Return how a loop counts if strips of it can be counted without leaving the counter's type."""
    counted = count_of(op)
    if counted is None or counted.reaches or not counted.tests_alone:
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
