"""The NumPy engine: runs a program's steps by the definitions of their ops, in Python.

It answers while kernels compile, and does the steps that have no kernel at all. Both engines keep everything in the
same buffers and walk the same table, so a call can change from one to the other at any step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np

from numhlo.backend.interim.lane_loops import LaneLoop, suits_lanes
from numhlo.backend.interim.rounds import Rounds
from numhlo.backend.interim.searches import QuickPlans
from numhlo.backend.primitives import layout
from numhlo.backend.program import Communicate, Evaluate, Launch, Program
from numhlo.backend.runtime.communication_plans import CommunicationPlan
from numhlo.backend.runtime.frame import Frame
from numhlo.backend.runtime.launch_groups import LaunchGroups
from numhlo.backend.runtime.native_functions import native_callable
from numhlo.backend.runtime.step_plans import OpsPlan, StepPlan, make_plan
from numhlo.backend.runtime.step_table import StepTable
from numhlo.lowering.ops.back_edges import current_hook

LARGEST_BLOCK = (32 << 20) - (64 << 10)
"""Bytes of the largest block, a little below 32 MB, that glibc learns from when it is freed."""


@cache
def keep_freed_memory() -> None:
    """Let the C library keep the memory of freed arrays for the next ones, once in a process.

    Every op makes an array. What goes back to the system comes again page by page, cleared, which takes longer than
    most ops. glibc keeps twice the bytes of the largest block that the program ever freed: this frees one, untouched.
    """
    np.empty(LARGEST_BLOCK, np.uint8)


class NumpyEngine:
    """Runs single steps of a program in Python.

    Parameters
    ----------
    program : Program
    table : StepTable

    Attributes
    ----------
    groups : LaunchGroups
        What goes over to machine code together.
    communications : dict from int to CommunicationPlan
        Steps that a transport does, by number.
    """

    def __init__(self, program: Program, table: StepTable) -> None:
        keep_freed_memory()
        self.buffers = program.buffers
        self.groups = LaunchGroups(table)
        self.instructions, self.launches, self._loops = table.instructions, self.groups.launches, self.groups.loops
        self._words = table.words
        self.communications = {
            number: CommunicationPlan(instruction.step)
            for number, instruction in enumerate(table.instructions)
            if isinstance(instruction.step, Communicate)
        }
        self._plans = QuickPlans()
        self._steps: dict[int, StepPlan] = {}
        self._rounds: dict[int, Rounds | LaneLoop] = {}

    def launches_of(self, number: int) -> Sequence[Launch]:
        """Return what step ``number`` does: a launch and those that go on with it, or all that a loop launches."""
        if number in self._loops:
            return self.groups.launches_in(range(number, self._loops[number][1]))
        return self.launches.get(number, ())

    def is_loop(self, number: int) -> bool:
        """Return whether step ``number`` is a whole loop."""
        return number in self._loops

    def run_step(self, frame: Frame, number: int) -> int:
        """Do step ``number`` and return the next one's number, or `layout.DONE`."""
        return self._run_rounds(frame, number) if number in self._loops else self._run_instruction(frame, number)

    def _run_instruction(self, frame: Frame, number: int) -> int:
        instruction = self.instructions[number]
        numbers = instruction.numbers
        match instruction.opcode:
            case layout.DO_LAUNCH | layout.DO_EVALUATE:
                self._plan(number).run(frame, self.buffers)
                return number + len(self.launches.get(number, [0]))
            case layout.DO_JUMP | layout.DO_REPEAT:
                return numbers[0]
            case layout.DO_JUMP_UNLESS:
                return number + 1 if self._scalar(frame, numbers[0]) else numbers[1]
            case layout.DO_SWITCH:
                return self._switch(frame, numbers)
            case layout.DO_EXCHANGE:
                frame.exchange(*numbers)
                return number + 1
            case layout.DO_COPY:
                source, target, _ = numbers
                copied = frame.view(target, self.buffers[target])
                copied[...] = frame.view(source, self.buffers[source]).reshape(copied.shape)  # bytes have no shape
                return number + 1
            case layout.DO_END:
                return layout.DONE
            case _:
                return number + 1  # holding or releasing BLAS matters to native code only

    def ways(self) -> dict[str, int]:
        """Return how steps have run in Python so far, and how many of them each way."""
        return dict(
            Counter(
                [plan.way for plan in [*self._steps.values()]] + [rounds.way for rounds in [*self._rounds.values()]]
            )
        )

    def _run_rounds(self, frame: Frame, number: int) -> int:
        loop, end = self._loops[number]
        rounds = self._rounds.get(number)
        if rounds is None:
            rounds = self._rounds[number] = LaneLoop(loop) if suits_lanes(loop) else Rounds(loop)
        rounds.run(lambda buffer: frame.view(buffer, self.buffers[buffer]), current_hook() or (lambda: None))
        return end

    def run_kernels(self, frame: Frame, number: int) -> int:
        """Run the machine code of a launch without the driver, if it is there, and return the next step's number.

        The same number is returned where it is not. Kernels run on this thread, without the pool.
        """
        launches = self.launches.get(number, ())
        if not launches or self._words[number, layout.LAUNCH_KERNEL] == 0:
            return number
        for row, launch in enumerate(launches, number):
            kernel, dims = int(self._words[row, layout.LAUNCH_KERNEL]), int(self._words[row, layout.LAUNCH_DIMS])
            native_callable(kernel)(frame.address, frame.gather(launch.buffers), dims, 0, launch.extent)
        return number + len(launches)

    def _plan(self, number: int) -> StepPlan:
        plan = self._steps.get(number)
        if plan is None:
            plan = self._steps[number] = self._make_plan(number)
        return plan

    def _make_plan(self, number: int) -> StepPlan:
        step = self.instructions[number].step
        if isinstance(step, Evaluate):
            return OpsPlan([step.op], step.inputs, step.outputs, self._plans)
        return make_plan(self.launches[number], self._plans)

    def _scalar(self, frame: Frame, number: int) -> int:
        return int(frame.view(number, self.buffers[number]).reshape(()).view()[()])

    def _switch(self, frame: Frame, numbers: tuple[int, ...]) -> int:
        chosen = self._scalar(frame, numbers[0])
        branches = numbers[1:]
        return branches[chosen] if 0 <= chosen < len(branches) else branches[-1]
