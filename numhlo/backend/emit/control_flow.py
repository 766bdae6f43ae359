"""Loops and branches as one kernel, where all they touch is scalars, few elements, or single elements of arrays.

The state is in local variables; arrays of the state are updated in place. `numhlo.backend.planning.control_flow`
tries this first, and falls back to a tree of steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from numhlo.backend.emit import scalar_indexing, scalar_scatter  # noqa: F401 - they fill the table of writers
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.loop_state import LoopState, begun, current, variables
from numhlo.backend.emit.scalar_code import Content, InMemory, NotScalarError, ScalarWriter, writes
from numhlo.backend.primitives.layout import CUT_SHORT
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import control_flow as ops
from numhlo.lowering.ops.comparison import COMPARE
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.elementwise import ADD

POLL_ROUNDS = 4096
"""Rounds of loops between two looks at whether the user wants to stop; a power of two.

Loops that always end within as many, those inside them included, do without.
"""
MOST_COUNT = (1 << 31) - 1
"""Counters beyond this are not counted with: the sum of one and a strip could leave its type."""


@writes(ops.WHILE)
def write_while(writer: ScalarWriter, op: Op) -> None:
    """Write a loop; its state's variables are assigned at the end of each round."""
    body = op.regions[1]
    writer.intervals.enter(op)
    unchanged = [v is w for v, w in zip(body.returns, body.arguments, strict=True)]
    contents = [
        writer.content(v) if same else variables(writer, _initial(writer, v, result))
        for v, result, same in zip(op.operands, op.results, unchanged, strict=True)
    ]
    contents = [c if same else begun(c) for c, same in zip(contents, unchanged, strict=True)]
    changing = [None if same else v.tensor for v, same in zip(op.operands, unchanged, strict=True)]
    state = LoopState(writer, contents, changing)
    polls = unpolled_rounds(op) == 0
    counted = count_of(op) if polls else None
    if counted is None:
        _write_rounds(writer, op, state, polls)
    else:
        _write_strips(writer, op, state, counted)
    for result, content in zip(op.results, state.read(), strict=True):
        writer.contents[result] = current(content)


def _write_rounds(writer: ScalarWriter, op: Op, state: LoopState, polls: bool) -> None:
    """Write a loop that goes round while its condition holds."""
    condition, body = op.regions
    text = writer.text
    with text.block("while True:"):
        writer.contents.update(zip(condition.arguments, state.read(), strict=True))
        (test,) = writer.region(condition)
        with text.block(f"if not {_only_name(test)}:"):
            text.line("break")
        writer.contents.update(zip(body.arguments, state.contents, strict=True))
        state.assign(writer.region(body))
        if polls:
            write_poll(text, POLL_ROUNDS // rounds_inside(body))


def _write_strips(writer: ScalarWriter, op: Op, state: LoopState, counted: Count) -> None:
    """Write a loop that counts as one of strips, so that nothing in the inner one keeps the compiler from its best."""
    condition, body = op.regions
    text, counter = writer.text, _only_name(state.contents[counted.position])
    for constant in condition.ops[:-1]:
        writer.op(constant)
    end = _only_name(writer.names(counted.limit))
    strip = counted.step * (POLL_ROUNDS // rounds_inside(body))
    with text.block("while True:"):
        stop = text.let(f"min({counter} + {strip}, {end})", "stop")
        with text.block("while True:"):
            with text.block(f"if {counter} >= {stop}:"):
                text.line("break")
            writer.contents.update(zip(body.arguments, state.read(), strict=True))
            state.assign(writer.region(body))
        with text.block(f"if {counter} >= {end}:"):
            text.line("break")
        with text.block("if interrupted(ctx):"):
            text.line(f"fail(ctx, {CUT_SHORT})")
            text.line("return")


def write_poll(text: KernelText, every: int) -> None:
    """Write, at the end of a round, a look at whether the user wants to stop; rounds are counted across all loops.

    Parameters
    ----------
    text : KernelText
    every : int
        Rounds between two looks; a power of two.
    """
    text.counter("rounds")
    text.line("rounds += 1")
    with text.block(f"if rounds & {every - 1} == 0 and interrupted(ctx):"):
        text.line(f"fail(ctx, {CUT_SHORT})")
        text.line("return")


@dataclass(frozen=True, slots=True)
class Count:
    """How a loop counts: ``first, first + step, ...`` below ``limit`` in the state's value number ``position``."""

    position: int
    first: int
    step: int
    limit: Value
    rounds: int


def count_of(op: Op) -> Count | None:
    """Return how a loop counts up to a constant, None where it does not, or tests anything else."""
    condition, body = op.regions
    test = condition.returns[0].owner
    if not isinstance(test, Op) or test.definition is not COMPARE or test.attributes["comparison_direction"] != "LT":
        return None
    counter, limit = test.operands
    if counter not in condition.arguments or any(o.definition is not CONSTANT for o in condition.ops[:-1]):
        return None
    position = condition.arguments.index(counter)
    advance = body.returns[position].owner
    if not isinstance(advance, Op) or advance.definition is not ADD:
        return None
    if advance.operands[0] is not body.arguments[position]:
        return None
    first, end, step = map(_constant, (op.operands[position], limit, advance.operands[1]))
    if first is None or end is None or step is None or step <= 0 or end + step * POLL_ROUNDS > MOST_COUNT:
        return None
    return Count(position, first, step, limit, max(0, -(-(end - first) // step)))


def rounds_of(op: Op) -> float:
    """Return how often a loop goes round if it counts, else infinity."""
    counted = count_of(op)
    return math.inf if counted is None else counted.rounds


def _constant(value: Value) -> int | None:
    """Return the integer that a value always is, or None."""
    op = value.owner
    if not isinstance(op, Op) or op.definition is not CONSTANT:
        return None
    number = op.attributes["value"]
    return int(number.reshape(-1)[0]) if number.dtype.kind == "i" and number.size == 1 else None


def unpolled_rounds(op: Op) -> int:
    """Return how many rounds a loop goes without a look at whether the user wants to stop, 0 if it looks itself."""
    rounds = rounds_of(op) * rounds_inside(op.regions[1])
    return 0 if rounds > POLL_ROUNDS else int(rounds)


def rounds_inside(region: Region) -> int:
    """Return about how many rounds the loops in a region go that don't look themselves, as a power of two."""
    total = sum(unpolled_rounds(op) for op in _loops_of(region))
    return min(1 << total.bit_length(), POLL_ROUNDS)


def _loops_of(region: Region) -> Iterator[Op]:
    for op in region.ops:
        if op.definition is ops.WHILE:
            yield op
        else:
            for inner in op.regions:
                yield from _loops_of(inner)


def _initial(writer: ScalarWriter, operand: Value, result: Value) -> Content:
    found = writer.initial.get(result)
    return writer.content(operand) if found is None else found


def _only_name(content: Content) -> str:
    assert isinstance(content, np.ndarray)
    return str(content.reshape(-1)[0])


@writes(ops.IF, ops.CASE)
def write_branches(writer: ScalarWriter, op: Op) -> None:
    """Write a branch; each side assigns the same variables."""
    index = str(writer.names(op.operands[0]).reshape(-1)[0])
    shapes = [v.tensor.shape for v in op.results]
    names: list[Content | None] = [None] * len(shapes)
    versions: dict[int, tuple[InMemory, int]] = {}
    regions = op.regions
    for number, region in enumerate(regions):
        if op.definition is ops.IF:
            header = f"if {index}:" if number == 0 else "else:"
        elif number == len(regions) - 1:
            header = "else:" if number else "if True:"
        else:
            header = f"{'el' if number else ''}if {index} == {number}:"
        before = _versions(writer)
        with writer.text.block(header):
            _write_branch(writer, region, names)
        after = _versions(writer)
        versions |= {key: now for key, now in after.items() if key not in before or before[key][1] != now[1]}
        for array, version in before.values():
            array.memory.version = version
    for array, version in versions.values():
        array.memory.version = version + 1
    for result, content in zip(op.results, names, strict=True):
        assert content is not None
        writer.contents[result] = current(content)


def _versions(writer: ScalarWriter) -> dict[int, tuple[InMemory, int]]:
    return {
        id(content.memory): (content, content.memory.version)
        for content in writer.contents.values()
        if isinstance(content, InMemory)
    }


def _write_branch(writer: ScalarWriter, region: Region, names: list[Content | None]) -> None:
    for number, content in enumerate(writer.region(region)):
        known = names[number]
        if isinstance(content, InMemory):
            content.check()
            if known is None:
                names[number] = content
            else:
                _check_branch_memory(known, content)
            continue
        if known is None:
            known = np.empty(content.shape, object)
            for index in np.ndindex(content.shape):
                known[index] = writer.text.fresh("chosen")
            names[number] = known
        if isinstance(known, InMemory):
            raise NotScalarError("branches give arrays in different places")
        for index in np.ndindex(content.shape):
            writer.count()
            writer.text.line(f"{known[index]} = {content[index]}")


def _check_branch_memory(known: Content, content: InMemory) -> None:
    same = isinstance(known, InMemory) and (known.memory, known.access, known.offset) == (
        content.memory,
        content.access,
        content.offset,
    )
    if not same:
        raise NotScalarError("branches give arrays in different places")
