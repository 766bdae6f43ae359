"""A program's tree of steps as one flat table, which both engines walk.

Loops and branches become jumps. The table is int64 words that native code reads (`numhlo.backend.primitives.layout`),
and beside it the steps themselves, for the NumPy engine. It is shared by all calls and never changes, except that a
launch's word for the kernel's address is 0 until there is machine code, and that its last words say how trials of the
launch on other threads went.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from numhlo.backend import primitives
from numhlo.backend.primitives import layout
from numhlo.backend.primitives.native import MatrixProduct
from numhlo.backend.program import (
    Branch,
    Call,
    Communicate,
    Evaluate,
    Exchange,
    Kernel,
    Launch,
    Loop,
    Program,
    Step,
    Subroutine,
)
from numhlo.lowering.ir.records import record

BLAS = frozenset(
    {
        primitives.call_fortran.__name__,
        *(name for name in primitives.__all__ if isinstance(getattr(primitives, name), MatrixProduct)),
    }
)
"""Primitives that call BLAS or LAPACK."""
LOOK = primitives.interrupted.__name__
"""What looks at whether the user wants to stop."""
CALL_BYTES = 4
"""Of the number of a call of a subroutine."""
SPAN_WORK = 50_000_000
"""Flops plus bytes of some 20 ms: what may pass without a look at whether the user wants to stop."""

UNTRIED = 8
"""Launches before the first trial: threads have begun by then."""


@record(frozen=True, slots=True)
class Instruction:
    """One row of the table: an operation code, its numbers, and the step where it came from."""

    opcode: int
    numbers: tuple[int, ...] = ()
    step: Step | None = None


class StepTable:
    """The flattened steps of a program.

    Parameters
    ----------
    program : Program
    copies : sequence of (int, int)
        Buffers that are copied into others at the end.

    Attributes
    ----------
    instructions : list of Instruction
        The table for Python.
    words : np.ndarray
        The table for native code, ``(len(instructions), STEP_WORDS) int64``.
    address : int
        Of ``words``.
    clean_up : int
        The step at which what a call holds is released.
    uses_blas, has_loops, takes_long, needs_python : bool
        Whether a kernel calls BLAS, whether there are loops, whether a call may take long and be broken off, whether a
        step has no kernel.
    gathered : int
        The largest number of buffers of a launch.
    work : int
        Estimate of one pass, flops plus bytes.
    """

    __slots__ = (
        "_block",
        "_calls",
        "_counts",
        "address",
        "clean_up",
        "gathered",
        "has_loops",
        "instructions",
        "needs_python",
        "takes_long",
        "uses_blas",
        "words",
        "work",
    )

    def __init__(self, program: Program, copies: Sequence[tuple[int, int]] = ()) -> None:
        self.instructions: list[Instruction] = []
        self._counts: dict[int, list[int]] = {}
        self._calls: dict[Subroutine, dict[int, int]] = {subroutine: {} for subroutine in program.subroutines}
        kernels = program.kernels
        self.uses_blas = any(not BLAS.isdisjoint(kernel.callees) for kernel in kernels)
        if self.uses_blas:
            self._add(layout.DO_HOLD_BLAS)
        self._add_steps(program.steps)
        for source, target in copies:
            self._add(layout.DO_COPY, (source, target, program.buffers[source].type.nbytes))
        self.clean_up = len(self.instructions)  # behind the copies: a call that failed has nothing to hand out
        if self.uses_blas:
            self._add(layout.DO_RELEASE_BLAS)
        self._add(layout.DO_END)
        for subroutine in reversed(program.subroutines):  # after all steps that call it
            self._add_subroutine(subroutine)
        launches = [i.step for i in self.instructions if isinstance(i.step, Launch)]
        opcodes = {i.opcode for i in self.instructions}
        self.needs_python = layout.DO_EVALUATE in opcodes
        self.gathered = max((len(launch.buffers) for launch in launches), default=0)
        self.work = sum(launch.flops + launch.bytes for launch in launches)
        loops = layout.DO_REPEAT in opcodes or any(LOOK in kernel.callees for kernel in kernels)
        self.has_loops = loops
        self.takes_long = loops or (self.work > SPAN_WORK and not program.overwritten)
        self.words, self._block = self._encode(program)
        self.address = int(self.words.ctypes.data)

    def forget_steps(self) -> None:
        """Drop the table for Python; all kernels are in their places."""
        self.instructions = []

    def place_kernels(self, addresses: Mapping[Kernel, int]) -> None:
        """Let launches run these kernels' machine code."""
        for row, instruction in enumerate(self.instructions):
            if isinstance(instruction.step, Launch) and instruction.step.kernel in addresses:
                self.words[row, layout.LAUNCH_KERNEL] = addresses[instruction.step.kernel]

    def _add(self, opcode: int, numbers: Sequence[int] = (), step: Step | None = None) -> int:
        self.instructions.append(Instruction(opcode, tuple(numbers), step))
        return len(self.instructions) - 1

    def _add_steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            match step:
                case Launch():
                    self._add(layout.DO_LAUNCH, (), step)
                case Evaluate() | Communicate():
                    self._add(layout.DO_EVALUATE, (), step)
                case Exchange():
                    for pair in step.pairs:
                        self._add(layout.DO_EXCHANGE, pair, step)
                case Loop():
                    self._add_loop(step)
                case Branch():
                    self._add_branch(step)
                case Call():
                    self._add(layout.DO_COPY, (step.number, step.subroutine.place, CALL_BYTES))
                    self._calls[step.subroutine][step.index] = self._add(layout.DO_REPEAT, (), step)

    def _add_loop(self, loop: Loop) -> None:
        start = len(self.instructions)
        self._add_steps(loop.condition)
        leave = self._add(layout.DO_JUMP_UNLESS)
        self._add_steps(loop.body)
        self._add(layout.DO_REPEAT, (start,), loop)
        end = len(self.instructions)
        self.instructions[leave] = Instruction(layout.DO_JUMP_UNLESS, (loop.predicate, end), loop)
        found = loop.counting
        if found is not None:
            row = next(n for n in range(leave, end) if self.instructions[n].step is loop.body[found.advance])
            counts = (found.counter, found.itemsize, found.advanced, found.step)
            self._counts[row] = [layout.DO_ADVANCE, 0, *counts]
            self._counts[start] = [layout.DO_LEAVE_UNLESS_BELOW, 0, found.tested, found.itemsize, found.limit, end]

    def _add_branch(self, branch: Branch) -> None:
        switch = self._add(layout.DO_SWITCH)
        starts, jumps = [], []
        for steps in branch.branches:
            starts.append(len(self.instructions))
            self._add_steps(steps)
            jumps.append(self._add(layout.DO_JUMP))
        for jump in jumps:
            self.instructions[jump] = Instruction(layout.DO_JUMP, (len(self.instructions),), branch)
        self.instructions[switch] = Instruction(layout.DO_SWITCH, (branch.index, *starts), branch)

    def _add_subroutine(self, subroutine: Subroutine) -> None:
        """Append the steps that calls jump to, and the jump back; whatever calls them is there already.

        A call goes where a loop's next round would, so that between two of them the user may ask to stop.
        """
        rows, start = self._calls[subroutine], len(self.instructions)
        for row in rows.values():
            self.instructions[row] = replace(self.instructions[row], numbers=(start,))
        self._add_steps(subroutine.steps)
        self._add(layout.DO_SWITCH, (subroutine.place, *[rows[k] + 1 for k in range(subroutine.calls)]))

    def _encode(self, program: Program) -> tuple[np.ndarray, np.ndarray]:
        """Return the words, and the array of all numbers that words refer to by address."""
        numbers = Numbers()
        rows = [_encode_row(instruction, program, numbers) for instruction in self.instructions]
        block = np.array([*numbers.all, 0], np.int64)
        start = int(block.ctypes.data)
        for row, word, place in numbers.references:
            row[word] = start + place * layout.WORD
        for number, counting in self._counts.items():
            rows[number][: len(counting)] = counting
        return np.array(rows, np.int64), block


class Numbers:
    """Numbers that words of a table refer to by address.

    Attributes
    ----------
    all : list of int
    references : list of (list of int, int, int)
        Row, word in it, and the place of the first number.
    """

    def __init__(self) -> None:
        self.all: list[int] = []
        self.references: list[tuple[list[int], int, int]] = []

    def refer(self, row: list[int], word: int, numbers: Sequence[int]) -> None:
        """Let a word of a row become the address of some numbers."""
        self.references.append((row, word, len(self.all)))
        self.all += numbers


def _encode_row(instruction: Instruction, program: Program, numbers: Numbers) -> list[int]:
    row = [0] * layout.STEP_WORDS
    row[layout.OPCODE] = instruction.opcode
    step, given = instruction.step, instruction.numbers
    if isinstance(step, Launch):
        numbers.refer(row, layout.LAUNCH_NUMBERS, step.buffers)
        row[layout.LAUNCH_COUNT] = len(step.buffers)
        numbers.refer(row, layout.LAUNCH_DIMS, step.dims)
        row[layout.LAUNCH_EXTENT] = step.extent
        row[layout.LAUNCH_GRAIN] = max(step.grain, 1)
        row[layout.LAUNCH_SPAN] = span_of(step)
        row[layout.LAUNCH_TURN] = UNTRIED
    elif instruction.opcode == layout.DO_SWITCH:
        row[layout.SWITCH_BUFFER] = given[0]
        row[layout.SWITCH_BYTES] = program.buffers[given[0]].type.dtype.itemsize
        row[layout.SWITCH_COUNT] = len(given) - 1
        numbers.refer(row, layout.SWITCH_TARGETS, given[1:])
    else:
        row[1 : 1 + len(given)] = given
    return row


def span_of(launch: Launch) -> int:
    """Return how many units of a launch take some 20 ms, at least as many as are worth a chunk."""
    units = launch.extent * SPAN_WORK // max(launch.flops + launch.bytes, 1)
    return max(units, launch.grain, 1)
