"""Many short launches of few kernels become one: a kernel that goes through a list of them.

A loop over elements that Python unrolled is hundreds of launches of a few kernels, each of which takes no longer than
the launch itself. A kernel that has all these kernels' texts, and a list of what to run with which arrays and numbers,
does without launches, and takes no longer to compile (`emit.launch_lists`). Knows which launches are short; those that
a list is made of stay with it, for the NumPy engine and for display.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from numhlo.backend.emit.cost import nanoseconds
from numhlo.backend.emit.joined_kernels import NotJoinedError, part_of
from numhlo.backend.emit.launch_lists import write_list
from numhlo.backend.planning.memory import Memory
from numhlo.backend.program import Kernel, Launch, Place, Program, Step

MOST_NANOSECONDS = 1000
"""Of a launch; beside longer ones it does not matter what a launch takes."""

MOST_LINES = 300
"""Of a list's kernel, each of which takes about a millisecond to compile."""

FEWEST = 8
"""Launches that are worth a kernel of their own."""

TIMES = 2
"""How often each kernel comes, on average, where a list pays: else programs had better share kernels."""

MOST = 4096
"""Launches of one list: a few milliseconds, after which the user may ask to stop."""


def with_lists(steps: Sequence[Step], memory: Memory) -> list[Step]:
    """Return steps with launches of lists in place of many short ones.

    Parameters
    ----------
    steps : sequence of Step
    memory : Memory
        Where all buffers have their places.
    """
    found: list[Step] = []
    waiting = _Waiting(memory)
    first = 0
    for place, step in enumerate(steps, 1):
        if place < len(steps) and isinstance(following := steps[place], Launch) and following.follows:
            continue  # launches that go on with one stay with it
        group = steps[first:place] if place - first > 1 else [step]
        first = place
        if not waiting.takes(group):
            found += waiting.close()
            if not waiting.takes(group):
                found += group
    found += waiting.close()
    return found


def with_own_buffers(program: Program) -> Program:
    """Return a program whose lists name each launch's own buffers, for frames in which no two begin at one address.

    Parameters
    ----------
    program : Program
        With its ops: lists know the launches that they are made of.
    """
    return replace(program, steps=[_with_own_buffers(step) for step in program.steps])


def _with_own_buffers(step: Step) -> Step:
    if not isinstance(step, Launch) or not step.parts:
        return step
    draft = write_list(step.parts, [launch.buffers for launch in step.parts])
    return replace(step, buffers=draft.buffers, dims=draft.dims)  # the kernel is the same: only its list changes


@lru_cache(maxsize=256)
def _lines(kernel: Kernel) -> int:
    """Return how many lines a kernel would be of a list's, 0 if it can't be a part of one."""
    try:
        part = part_of(kernel)
    except NotJoinedError:
        return 0
    return 0 if part.polls else max(part.lines, 1)


class _Waiting:
    """Launches in a row that may become a list."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._launches: list[Launch] = []
        self._kernels: set[Kernel] = set()
        self._lines = 0
        self._offsets: dict[int, int] = {}

    def takes(self, group: Sequence[Step]) -> bool:
        """Add launches that belong together, and return True, if they are short and so is the list with them."""
        launches: list[Launch] = []
        lines, kernels = self._lines, self._kernels
        for step in group:
            if not isinstance(step, Launch) or step.scalar or step.loop is not None:
                return False
            own = _lines(step.kernel)
            if not own or nanoseconds(step.flops, step.bytes) > MOST_NANOSECONDS:
                return False
            if step.kernel not in kernels:
                kernels = {*kernels, step.kernel}
                lines += own
            launches.append(step)
        if lines > MOST_LINES or len(self._launches) + len(launches) > MOST:
            return False
        self._launches += launches
        self._kernels, self._lines = kernels, lines
        return True

    def close(self) -> Sequence[Step]:
        """Return the steps that do what all launches do, and begin anew."""
        launches = self._launches
        pays = len(launches) >= max(FEWEST, TIMES * len(self._kernels))
        self._launches, self._kernels, self._lines = [], set(), 0
        return [self._list(launches)] if pays else launches

    def _list(self, launches: Sequence[Launch]) -> Launch:
        buffers = [[self._same(number) for number in launch.buffers] for launch in launches]
        kernel, numbers, dims, extent, grain, flops, traffic, _ = write_list(launches, buffers)
        return Launch(kernel, numbers, dims, extent, grain, (), (), (), flops, traffic, parts=launches)

    def _same(self, number: int) -> int:
        """Return the first buffer that begins where this one does, of which the runtime then has fewer to find."""
        buffer = self._memory.buffers[number]
        if buffer.place is not Place.ARENA or self._memory.is_tied(number):
            return number
        return self._offsets.setdefault(buffer.offset, number)
