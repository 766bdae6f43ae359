"""A program in words: which ops share a kernel, what runs on NumPy and why, how much memory it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numhlo.backend.program import Branch, Call, Evaluate, Exchange, Launch, Loop, Place, Program, Step
from numhlo.lowering.ir import Op

INDENT = "  "


def explain(program: Program) -> str:
    """Return a program's steps, one a line, with the ops and source lines behind each, then its notes and memory.

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
    """Yield a line for each step: the kernel, and the ops that were fused into it, with their source lines."""
    yield from _steps(program.steps, "")
    for subroutine in program.subroutines:
        yield f"@{subroutine.name}"
        yield from _steps(subroutine.steps, INDENT)


def _steps(steps: Sequence[Step], indent: str) -> Iterator[str]:
    for step in steps:
        match step:
            case Launch():
                yield f"{indent}{step.kernel.name}: {_launch(step)}"
            case Evaluate():
                yield f"{indent}NumPy: {_op(step.op)} ({step.reason})"
            case Loop():
                yield f"{indent}while {_place(step.op)}".rstrip()
                yield from _steps(step.condition, indent + INDENT)
                yield f"{indent}do"
                yield from _steps(step.body, indent + INDENT)
            case Branch():
                for number, branch in enumerate(step.branches):
                    yield f"{indent}branch {number} {_place(step.op)}".rstrip()
                    yield from _steps(branch, indent + INDENT)
            case Exchange():
                yield f"{indent}exchange {len(step.pairs)} buffers"
            case Call():
                yield f"{indent}call @{step.subroutine.name} {_place(step.op)}".rstrip()


def _launch(step: Launch) -> str:
    units = f"{step.extent} units" if step.extent != 1 else "1 unit"
    if step.follows:
        return f"goes on, {units}"
    ops = ", ".join(_op(op) for op in step.ops if op.operands) or "copy"
    return f"{ops}; {units}"


def _op(op: Op) -> str:
    return f"{op.definition.name} {_place(op)}".rstrip()


def _place(op: Op) -> str:
    location = op.location
    if not location.filename or location.filename == "unknown":
        return ""
    scope = f", {location.scope}" if location.scope else ""
    return f"({location.filename.rpartition('/')[2]}:{location.line}{scope})"
