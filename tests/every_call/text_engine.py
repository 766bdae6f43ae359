"""Many calls of one program without a compiler: its kernels' text runs as Python, in one frame for all calls.

What a call leaves behind is there for the next one, as with native code: constants, the arena, and which buffers have
been exchanged. Only arguments and results are placed anew.
"""

from __future__ import annotations

import numpy as np

from numhlo.backend.program import Call, Place, Program
from numhlo.backend.runtime.result_copies import with_fresh_results
from tests.backend.plain_engine import PlainEngine
from tests.backend.programs import all_steps


class TextEngine:
    """A program that can be called; the interface of an executable.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self.program, self.copies = with_fresh_results(program, frozenset())
        empty = [np.zeros(b.type.shape, b.type.dtype) for b in self.program.buffers if b.place is Place.ARGUMENT]
        numbers = [b.index for b in self.program.buffers if b.place is Place.ARGUMENT]
        known = dict(zip(numbers, empty, strict=True))
        self.engine = PlainEngine(self.program, [known.get(k) for k in range(1 + max(numbers, default=0))])

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """Return the results for arrays in any layout."""
        engine = self.engine
        for number, buffer in enumerate(self.program.buffers):
            if buffer.place is Place.ARGUMENT:
                array = np.asarray(arrays[buffer.index], buffer.type.dtype, order="C")
                engine.arrays[number] = array if array.flags.aligned else array.copy()
            elif buffer.place is Place.RESULT:
                engine.arrays[number] = np.empty(buffer.type.shape, buffer.type.dtype)
        results = engine.run()
        for source, target in self.copies:
            engine.arrays[target][...] = engine.arrays[source]
        return results


def can_run(program: Program, most_elements: int) -> bool:
    """Return whether a program is small, and has no subroutines, which text engines know nothing of."""
    small = all(b.type.size <= most_elements for b in program.buffers)
    return small and not any(isinstance(step, Call) for step in all_steps(program))
