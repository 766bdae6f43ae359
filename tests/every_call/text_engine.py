"""Many calls of one program without a compiler: its kernels' text runs as Python, in one frame for all calls.

What a call leaves behind is there for the next one, as with native code: constants, the arena, and which buffers have
been exchanged. Only arguments and results are placed anew.
"""

from __future__ import annotations

import numpy as np

from numhlo.backend.program import Call, Program
from numhlo.backend.runtime.result_copies import with_fresh_results
from tests.backend.plain_engine import PlainEngine
from tests.backend.programs import all_steps


class TextEngine:
    """A program that can be called; the interface of an executable.

    Parameters
    ----------
    program : Program
    donated : frozenset of int, optional
        Arguments whose memory it may use.
    """

    def __init__(self, program: Program, donated: frozenset[int] = frozenset()) -> None:
        self.program, self.copies = with_fresh_results(program, donated)
        self.engine = PlainEngine(self.program)

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """Return the results for arrays in any layout."""
        laid = [np.asarray(x, order="C") for x in arrays]
        results = self.engine.call([x if x.flags.aligned else x.copy() for x in laid])
        for source, target in self.copies:
            self.engine.arrays[target][...] = self.engine.arrays[source]
        return results


def can_run(program: Program, most_elements: int) -> bool:
    """Return whether a program is small, and has no subroutines, which text engines know nothing of."""
    small = all(b.type.size <= most_elements for b in program.buffers)
    return small and not any(isinstance(step, Call) for step in all_steps(program))
