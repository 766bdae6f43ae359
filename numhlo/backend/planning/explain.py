"""A program in words: which ops share a kernel, why others don't, what runs on NumPy and why; its memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from numhlo.backend.planning.parts import is_parts, part_count
from numhlo.backend.planning.reached import VIEWED
from numhlo.backend.program import (
    Branch,
    Buffer,
    Call,
    Communicate,
    Evaluate,
    Exchange,
    Launch,
    Loop,
    Place,
    Program,
    Step,
)
from numhlo.lowering.ir import Op
from numhlo.lowering.ir.counted import counted
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.reduction import REDUCE

INDENT = "  "

LONGEST_REPEAT = 64
"""Steps, of what may come again."""


def explain(program: Program) -> str:
    """Return a program's steps, as `steps_in_words` does, then its notes and memory.

    Examples
    --------
    >>> print(explain(Program([], [], 0)))
    memory: 0 bytes of arena, 0 of constants, 0 of results
    """
    lines = list(steps_in_words(program))
    lines += [f"note: {note}" for note in dict.fromkeys(program.notes)]
    sizes = {place: sum(b.type.nbytes for b in program.buffers if b.place is place) for place in Place}
    lines.append(
        f"memory: {program.arena_bytes} bytes of arena, {sizes[Place.CONSTANT]} of constants, "
        f"{sizes[Place.RESULT]} of results"
    )
    return "\n".join(lines)


def steps_in_words(program: Program) -> Iterator[str]:
    """Yield a line for each step: its kernel, the ops fused into it by source line, and into how many units it splits.

    Lines below a step say what it leaves in memory for later steps, and what kept these from computing that themselves.
    """
    words = _Words(program)
    yield from words.steps(program.steps, "")
    for subroutine in program.subroutines:
        yield f"@{subroutine.name}"
        yield from words.steps(subroutine.steps, INDENT)


class _Words:
    """Words for the steps of one program."""

    def __init__(self, program: Program) -> None:
        self._buffers: Sequence[Buffer] = program.buffers
        self._kept = program.kept

    def steps(self, steps: Sequence[Step], indent: str) -> Iterator[str]:
        return _without_repeats([tuple(self._step(step, indent)) for step in steps], indent)

    def _step(self, step: Step, indent: str) -> Iterator[str]:
        match step:
            case Launch():
                yield f"{indent}{step.kernel.name}: {_launch(step)}"
                yield from self._kept_by(step, indent + INDENT)
                yield from self.steps(step.parts, indent + INDENT)
                if step.loop is not None:
                    yield from self.steps([*step.loop.condition, *step.loop.body], indent + INDENT)
            case Evaluate():
                yield f"{indent}NumPy: {_op(step.op)} ({step.reason})"
            case Communicate():
                yield f"{indent}transport: {_op(step.op)}"
            case Loop():
                yield f"{indent}while {_place(step.op)}".rstrip()
                yield from self.steps(step.condition, indent + INDENT)
                yield f"{indent}do"
                yield from self.steps(step.body, indent + INDENT)
            case Branch():
                for number, branch in enumerate(step.branches):
                    yield f"{indent}branch {number} {_place(step.op)}".rstrip()
                    yield from self.steps(branch, indent + INDENT)
            case Exchange():
                yield f"{indent}exchange {len(step.pairs)} buffers"
            case Call():
                yield f"{indent}call @{step.subroutine.name} {_place(step.op)}".rstrip()

    def _kept_by(self, step: Launch, indent: str) -> Iterator[str]:
        """Yield why a launch leaves values in memory that fusion might have taken."""
        for value, number in step.outputs:
            op = value.owner
            if not isinstance(op, Op):
                continue
            if value in self._kept:
                obstacle, user = self._kept[value]
                reason = f"{obstacle.value} {_op(user)}"
            elif op.definition is REDUCE and self._buffers[number].place is Place.ARENA:
                reason = "it is there when all of it is reduced"
            else:
                continue
            yield f"{indent}keeps {value.tensor.short()} of {_op(op)}: {reason}"


def _without_repeats(steps: Sequence[tuple[str, ...]], indent: str) -> Iterator[str]:
    """Yield the lines of steps; what comes again at once, as a loop that Python unrolled does, is counted instead."""
    position = 0
    while position < len(steps):
        period, times = _repetition(steps, position)
        for lines in steps[position : position + period]:
            yield from lines
        if times > 1:
            what = "this step" if period == 1 else f"these {period} steps"
            yield f"{indent}{what} again, {times - 1} x"
        position += period * times


def _repetition(steps: Sequence[tuple[str, ...]], start: int) -> tuple[int, int]:
    """Return how many steps from ``start`` come again at once, and how often they stand there; to leave out most."""
    best = (1, 1)
    for period in range(1, min(LONGEST_REPEAT, (len(steps) - start) // 2) + 1):
        end = start + period
        while end < len(steps) and steps[end] == steps[end - period]:
            end += 1
        times = (end - start) // period
        if period * (times - 1) > best[0] * (best[1] - 1) + 1:  # a line saved is not worth the line that says so
            best = (period, times)
    return best


def _launch(step: Launch) -> str:
    units = counted(step.extent, "unit")
    if step.follows:
        return f"goes on, {units}"
    if step.parts:
        return f"{len(step.parts)} launches, one after the other"
    last = step.ops[-1] if step.ops else None
    if last is not None and is_parts(last):
        return f"{_in_parts(step.ops[:-1])}, in {part_count(last)} parts; {units}"
    places = groupby((op for op in step.ops if op.operands), _place)
    shown = [f"{', '.join(_counted(map(_name, ops)))} {place}".rstrip() for place, ops in places]
    return f"{'; '.join(shown) or 'copy'}; {units}"


def _in_parts(ops: Sequence[Op]) -> str:
    """Return ops that every part has anew, each once, by place."""
    names: dict[str, dict[str, None]] = {}
    for op in ops:
        if op.operands and op.definition not in VIEWED:  # which views a part takes depends on the part
            names.setdefault(_place(op), {})[_name(op)] = None
    return "; ".join(f"{', '.join(found)} {place}".rstrip() for place, found in names.items())


def _counted(names: Iterable[str]) -> Iterator[str]:
    """Yield names, one for several in a row and how many."""
    for name, several in groupby(names):
        count = sum(1 for _ in several)
        yield name if count == 1 else f"{name} x {count}"


def _op(op: Op) -> str:
    return f"{_name(op)} {_place(op)}".rstrip()


def _name(op: Op) -> str:
    return op.attributes["name"] if op.definition is COMPOSITE else op.definition.name


def _place(op: Op) -> str:
    location = op.location
    if not location.filename or location.filename == "unknown":
        return ""
    scope = f", {location.scope}" if location.scope else ""
    return f"({location.place}{scope})"
