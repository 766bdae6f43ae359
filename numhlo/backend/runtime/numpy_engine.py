"""The NumPy engine: runs a program's steps by the definitions of their ops, in Python.

It answers while kernels compile, and does the steps that have no kernel at all. Both engines keep everything in the
same buffers and walk the same table, so a call can change from one to the other at any step.
"""

from __future__ import annotations

from collections import Counter

from numhlo.backend.interim.searches import QuickPlans
from numhlo.backend.primitives import layout
from numhlo.backend.program import Evaluate, Program
from numhlo.backend.runtime.frame import Frame
from numhlo.backend.runtime.native_functions import native_callable
from numhlo.backend.runtime.step_plans import OpsPlan, StepPlan, make_plan
from numhlo.backend.runtime.step_table import StepTable


class NumpyEngine:
    """Runs single steps of a program in Python.

    Parameters
    ----------
    program : Program
    table : StepTable
    """

    def __init__(self, program: Program, table: StepTable) -> None:
        self.buffers = program.buffers
        self.instructions, self.launches = table.instructions, table.launches
        self._words = table.words
        self._plans = QuickPlans()
        self._steps: dict[int, StepPlan] = {}

    def run_step(self, frame: Frame, number: int) -> int:
        """Do step ``number`` and return the next one's number, or `layout.DONE`."""
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
                frame.view(target, self.buffers[target])[...] = frame.view(source, self.buffers[source])
                return number + 1
            case layout.DO_END:
                return layout.DONE
            case _:
                return number + 1  # holding or releasing BLAS matters to native code only

    def ways(self) -> dict[str, int]:
        """Return how steps have run in Python so far, and how many of them each way."""
        return dict(Counter(plan.way for plan in list(self._steps.values())))

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
