"""Figures about a compiled program: cost, memory, kernels, and steps that run in Python.

Steps are told apart by what they have, so that looking at a program does not load the backend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from numhlo.compilation.programs import CompiledProgram, InterpretedProgram
from numhlo.lowering.ir.records import record


@record(frozen=True, slots=True)
class MemoryAnalysis:
    """Memory that one call takes, in bytes.

    Attributes
    ----------
    argument_bytes, result_bytes : int
        The caller's arrays, and new ones; the new value of an argument that is written into counts as no result.
    constant_bytes : int
        Constants, kept as long as the function.
    arena_bytes : int
        Intermediate results, reused from call to call.
    """

    argument_bytes: int
    result_bytes: int
    constant_bytes: int
    arena_bytes: int


def walk_steps(steps: Iterable[Any]) -> Iterator[Any]:
    """Yield all steps of a program, those inside loops and branches too, in program order."""
    for step in steps:
        yield step
        for inner in (getattr(step, "condition", ()), getattr(step, "body", ()), *getattr(step, "branches", ())):
            yield from walk_steps(inner)


def cost_analysis(program: CompiledProgram | InterpretedProgram) -> dict[str, int]:
    """Return estimates for one call, a loop's body counted once: flops, bytes accessed, launches, Python steps."""
    executable = program.executable
    steps = [] if executable is None else list(walk_steps(executable.program.steps))
    return {
        "flops": sum(getattr(s, "flops", 0) for s in steps),
        "bytes accessed": sum(getattr(s, "bytes", 0) for s in steps),
        "launches": sum(hasattr(s, "kernel") for s in steps),
        "python steps": sum(hasattr(s, "reason") for s in steps),
    }


def memory_analysis(program: CompiledProgram | InterpretedProgram) -> MemoryAnalysis:
    """Return the memory that one call takes."""
    function, executable = program.function, program.executable
    assert function is not None  # looked at are programs that keep it
    arguments = sum(v.tensor.nbytes for v in function.body.arguments)
    if executable is None:
        return MemoryAnalysis(arguments, sum(v.tensor.nbytes for v in function.body.returns), 0, 0)
    buffers = executable.program.buffers
    results = sum(buffers[number].type.nbytes for number in executable.program.results)
    constants = sum(b.data.nbytes for b in buffers if b.data is not None)
    return MemoryAnalysis(arguments, results, constants, executable.program.arena_bytes)


def kernel_sources(program: CompiledProgram | InterpretedProgram) -> dict[str, str]:
    """Return the kernels' Python sources by name; the second of a name is ``name_2``."""
    found: dict[str, str] = {}
    for kernel in program.kernels:
        names = (f"{kernel.name}_{number}" if number > 1 else kernel.name for number in count(1))
        found[next(name for name in names if name not in found)] = kernel.source
    return found


def describe_program(program: CompiledProgram | InterpretedProgram) -> list[str]:
    """Return lines on how a program runs: its kernels' states, what runs in Python and why, and, if kept, its steps."""
    executable = program.executable
    if executable is None:
        checks = getattr(program, "checks", ())
        why = f", and is checked for {', '.join(sorted(checks))}" if checks else ""
        return [f"runs op by op on the reference interpreter{why}"]
    states: dict[str, int] = {}
    for handle in executable.handles.values():
        state = "failed" if handle.error is not None else handle.origin if handle.done else "on its way"
        states[state] = states.get(state, 0) + 1
    shown = ", ".join(f"{count} {_STATES.get(state, state)}" for state, count in sorted(states.items()))
    lines = [f"kernels: {shown or 'none'}"]
    if "failed" in states:
        lines.append("NumPy does what the failed kernels should do")
    reasons = [handle.fallback for handle in executable.handles.values() if handle.fallback]
    lines += [f"a kernel lowered by Numba's front end: {' '.join(reason.split())}" for reason in reasons]
    ways = executable.ways_in_python()
    if ways:
        lines.append(f"so far in Python: {', '.join(f'{way}: {count}' for way, count in sorted(ways.items()))}")
    found: dict[str, int] = {}
    for step in walk_steps(executable.program.steps):
        if hasattr(step, "reason"):
            text = f"{step.op.definition.name} in Python: {step.reason}"
            found[text] = found.get(text, 0) + 1
    lines += [text if count == 1 else f"{count} times {text}" for text, count in found.items()]
    if program.function is not None:
        lines += [f"  {line}" for line in executable.steps_in_words()]
    return lines + list(dict.fromkeys(executable.program.notes))


_STATES = {"disk": "from the disk cache"}
