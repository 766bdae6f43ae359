"""Loops and branches as one kernel, where all they touch is scalars, few elements, or single elements of arrays.

The state is in local variables; arrays of the state are updated in place. `numhlo.backend.planning.control_flow`
tries this first, and falls back to a tree of steps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from numhlo.backend.emit import scalar_indexing, scalar_scatter  # noqa: F401 - they fill the table of writers
from numhlo.backend.emit.loop_rounds import (
    POLL_ROUNDS,
    goes_unpolled,
    rounds_inside,
    rounds_text,
    strips_of,
    write_look,
    write_poll,
)
from numhlo.backend.emit.loop_state import LoopState, begun, variables
from numhlo.backend.emit.scalar_code import Content, InMemory, NotScalarError, ScalarWriter, current, writes
from numhlo.backend.kernels.draft import Block
from numhlo.lowering.analysis.loops import Count, descent_of
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import control_flow as ops
from numhlo.lowering.ops.elementwise import AND

LOWEST = -(1 << 63)
"""The least counter."""

COPIES = 4
"""Rounds between two counts of them, where rounds are short."""

SHORT_ROUND = 16
"""Statements of a round that is short."""


@writes(ops.WHILE)
def write_while(writer: ScalarWriter, op: Op) -> None:
    """Write a loop; its state's variables are assigned at the end of each round."""
    body = op.regions[1]
    writer.intervals.enter(op)
    unchanged = [v is w for v, w in zip(body.returns, body.arguments, strict=True)]
    starts = [
        None if same else _initial(writer, v, result)
        for v, result, same in zip(op.operands, op.results, unchanged, strict=True)
    ]
    for number, start in enumerate(starts):
        if isinstance(start, InMemory):
            writer.keep(start.memory, (op, number))
    contents = [
        writer.content(v) if start is None else variables(writer, start)
        for v, start in zip(op.operands, starts, strict=True)
    ]
    contents = [c if same else begun(c, (op, n)) for n, (c, same) in enumerate(zip(contents, unchanged, strict=True))]
    changing = [None if same else v.tensor for v, same in zip(op.operands, unchanged, strict=True)]
    state = LoopState(writer, contents, changing)
    polls = not goes_unpolled(op, writer.intervals)
    counted = strips_of(op, writer.intervals) if polls else None
    descent = descent_of(op) if polls else None
    if counted is not None:
        _write_strips(writer, op, state, counted)
    elif descent is not None:
        _write_descent(writer, op, state, descent)
    else:
        _write_rounds(writer, op, state, polls)
    for result, content in zip(op.results, state.read(), strict=True):
        writer.contents[result] = current(content) if isinstance(content, InMemory) else content


def _write_rounds(writer: ScalarWriter, op: Op, state: LoopState, polls: bool) -> None:
    """Write a loop that goes round while its condition holds."""
    condition, body = op.regions
    text = writer.text
    asked = {v for inner in condition.walk() for v in inner.operands}.union(condition.returns)
    early = state.is_stored(asked.__contains__(v) for v in condition.arguments)
    with text.block("while True:") as block:
        _write_round(writer, op, state, early=early)
        copies = 1 if not polls else _copies(block, state)
        for _ in range(copies - 1):
            block.known.clear()  # all of it may be from before the state changed
            _write_round(writer, op, state, early=early)
        if polls:
            write_poll(text, rounds_text(text, body, writer.intervals) if copies == 1 else str(copies))


def _write_round(writer: ScalarWriter, op: Op, state: LoopState, *, early: bool) -> None:
    """Write one round of a loop, left where its condition no longer holds."""
    condition, body = op.regions
    writer.contents.update(zip(condition.arguments, state.read() if early else state.contents, strict=True))
    _write_tests(writer, condition)
    writer.contents.update(zip(body.arguments, state.contents if early else state.read(), strict=True))
    state.assign(writer.region(body))


def _write_tests(writer: ScalarWriter, condition: Region) -> None:
    """Write the ways out of a loop: one test after the other, so that LLVM knows of the first ones in what follows.

    ``(j >= 0) & (x[j] > y)`` needs no bounds for ``j`` then, and what has been loaded is not loaded again.
    """
    written: set[Op] = set()
    for test in _tests(condition.returns[0], condition):
        for op in writer.intervals.needed_ops(condition, [test]):
            if op not in written:
                written.add(op)
                writer.op(op)
        with writer.text.block(f"if not {_only_name(writer.content(test))}:"):
            writer.text.line("break")


def _tests(value: Value, region: Region) -> Iterator[Value]:
    """Yield the truth values that a region joins with `and` for its result, in the order in which they are written."""
    op = value.owner
    if isinstance(op, Op) and op.definition is AND and op in region.ops:
        for operand in op.operands:
            yield from _tests(operand, region)
    else:
        yield value


def _copies(block: Block, state: LoopState) -> int:
    """Return how often the one round in a block is written: where it is short, counting rounds takes a third of it."""
    inner = any(isinstance(item, Block) and item.items != ["break"] for item in block.items)
    in_memory = bool(state.arrays) or any(isinstance(content, InMemory) for content in state.contents)
    return 1 if in_memory or inner or len(block.items) > SHORT_ROUND else COPIES


def _write_strips(writer: ScalarWriter, op: Op, state: LoopState, counted: Count) -> None:
    """Write a loop that counts as one of strips, so that nothing in the inner one keeps the compiler from its best."""
    condition, counter = op.regions[0], _only_name(state.contents[counted.position])
    writer.contents.update(zip(condition.arguments, state.contents, strict=True))
    for constant in condition.ops[:-1]:
        writer.op(constant)
    end, strip = _only_name(writer.names(counted.limit)), _strip(writer, op, state, counted)
    at = "==" if counted.constant_step == 1 else ">="  # LLVM then knows how often a strip goes round, and unrolls it
    stop = f"min({counter} + {strip}, {end})"
    _write_in_strips(writer, op, state, f"{counter} < {end}", stop, f"{counter} {at}", f"{counter} >= {end}")


def _write_descent(writer: ScalarWriter, op: Op, state: LoopState, descent: Count) -> None:
    """Write a loop that counts down as one of strips; none ends so low that the counter could wrap around."""
    condition, body = op.regions
    counter = _only_name(state.contents[descent.position])
    writer.contents.update(zip(condition.arguments, state.contents, strict=True))
    for computed in writer.intervals.needed_ops(condition, [descent.limit]):
        writer.op(computed)
    end, past = _only_name(writer.names(descent.limit)), "<" if descent.reaches else "<="
    strip = max(1, POLL_ROUNDS // rounds_inside(body, writer.intervals))
    least = LOWEST + descent.reaches  # where a counter may be in the last round
    stop = f"max(max({counter}, to_i64({least + strip})) - {strip}, {end})"
    ends = f"{counter} {past} {end}"
    _write_in_strips(writer, op, state, f"not {ends}", stop, f"{counter} {past}", ends)


def _write_in_strips(
    writer: ScalarWriter, op: Op, state: LoopState, goes_on: str, stop: str, at: str, ends: str
) -> None:
    """Write a loop as one of strips: each goes on until ``at`` holds with its ``stop``; between them is a look."""
    body, text = op.regions[1], writer.text
    with text.block(f"while {goes_on}:"):
        end = text.let(stop, "stop")
        with text.block("while True:"):
            with text.block(f"if {at} {end}:"):
                text.line("break")
            writer.contents.update(zip(body.arguments, state.read(), strict=True))
            state.assign(writer.region(body))
        with text.block(f"if {ends}:"):
            text.line("break")
        write_look(text)


def _strip(writer: ScalarWriter, op: Op, state: LoopState, counted: Count) -> str:
    """Return the text of how far a strip goes."""
    body, text = op.regions[1], writer.text
    inside = rounds_inside(body, writer.intervals)
    rounds, step = max(1, POLL_ROUNDS // inside), counted.constant_step
    if step is not None:
        return str(rounds * step) if inside == 1 else text.number((op, "strip"), rounds * step, "strip")
    writer.contents.update(zip(body.arguments, state.contents, strict=True))
    factor = str(rounds) if inside == 1 else text.number((op, "strip"), rounds, "strip")
    return text.let(f"{_only_name(writer.names(counted.step))} * {factor}", "strip")


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
        writer.branches += 1
        with writer.text.block(header):
            _write_branch(writer, region, names)
        writer.branches -= 1
        after = _versions(writer)
        versions |= {key: now for key, now in after.items() if key in before and before[key][1] != now[1]}
        for array, version in before.values():
            array.memory.version = version
    for array, version in versions.values():
        array.memory.version = version + 1
    for result, content in zip(op.results, names, strict=True):
        assert content is not None
        writer.contents[result] = current(content) if isinstance(content, InMemory) else content


def _versions(writer: ScalarWriter) -> dict[int, tuple[InMemory, int]]:
    return {
        id(content.memory): (content, content.memory.version)
        for content in writer.contents.values()
        if isinstance(content, InMemory)
    }


def _write_branch(writer: ScalarWriter, region: Region, names: list[Content | None]) -> None:
    for number, given in enumerate(writer.region(region)):
        known, is_element = names[number], np.prod(given.shape, dtype=int) <= 1
        content = writer.load(given) if isinstance(given, InMemory) and is_element else given
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
