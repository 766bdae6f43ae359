"""Runs programs by the NumPy engine alone, without machine code, loops in the way that a test asks for."""

from collections.abc import Sequence

import numpy as np

from numhlo.backend.executable import with_fresh_results
from numhlo.backend.primitives import layout
from numhlo.backend.program import Launch, Place
from numhlo.backend.runtime.frame import Frame
from numhlo.backend.runtime.numpy_engine import NumpyEngine
from numhlo.backend.runtime.step_plans import LoopPlan, StepPlan
from numhlo.backend.runtime.step_table import StepTable
from numhlo.lowering.ir import Function
from numhlo.lowering.ops.back_edges import at_back_edges
from tests.backend.programs import plan


class InPython:
    """A function planned as for compiling, and run step by step in Python.

    Attributes
    ----------
    plans : list of StepPlan
        Of its launches.
    """

    def __init__(self, function: Function) -> None:
        self.program, copies = with_fresh_results(plan(function), frozenset())
        self.table = StepTable(self.program, copies)
        self.engine = NumpyEngine(self.program, self.table)
        steps = enumerate(self.table.instructions)
        self.plans: list[StepPlan] = [
            self.engine._plan(k) for k, i in steps if isinstance(i.step, Launch) and not i.step.follows
        ]

    def translate(self) -> list[LoopPlan]:
        """Let every scalar loop run as plain Python from the start, and return these loops."""
        loops = [found for found in self.plans if isinstance(found, LoopPlan)]
        for loop in loops:
            loop.translate()
        return loops

    def frame(self, arrays: Sequence[np.ndarray]) -> tuple[Frame, dict[int, np.ndarray]]:
        """Return a frame for a call, and its arguments' and results' memory by buffer."""
        frame = Frame(self.program, self.table.gathered)
        frame.begin()
        places: dict[int, np.ndarray] = {}
        for number, buffer in enumerate(self.program.buffers):
            if buffer.place in (Place.ARGUMENT, Place.RESULT):
                made = np.zeros(buffer.type.shape, buffer.type.dtype)
                if buffer.place is Place.ARGUMENT:
                    made[...] = arrays[buffer.index]
                places[number] = made
                frame.place(number, made.ctypes.data)
        return frame, places

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the results."""
        frame, places = self.frame(arrays)
        step = 0
        while step != layout.DONE:
            step = self.engine.run_step(frame, step)
        return [places[number] for number in self.program.results]


class HandedOverError(Exception):
    """Something else goes on with a loop."""


def handed_over(function: Function, arguments: Sequence[np.ndarray], rounds_before: int) -> list[np.ndarray]:
    """Return the results where steps, as machine code has them, go on with loops after some rounds."""
    found = InPython(function)
    left = rounds_before

    def hook() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise HandedOverError

    frame, places = found.frame(arguments)
    step = 0
    while step != layout.DONE:
        try:
            with at_back_edges(hook):
                step = found.engine.run_step(frame, step)
        except HandedOverError:
            found.engine._loops, left = {}, 1 << 62
    return [places[number] for number in found.program.results]
