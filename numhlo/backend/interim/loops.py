"""Runs a kernel of scalar code as plain Python: its text translated, executed on copies of the buffers it writes.

Copies, because who polls may end the run at any time, and the loop then starts again somewhere else.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.backend.interim.translation import Translation
from numhlo.backend.program import Kernel

VIEWED = frozenset("bBhHiIlLqQd?")
"""Element formats that a memoryview gives as registers, in half the time that an array takes for an element."""


class PlainLoop:
    """A kernel of scalar code, ready to run in Python.

    Parameters
    ----------
    kernel : Kernel

    Raises
    ------
    NotPlainError
        If the kernel is of another kind.
    """

    def __init__(self, kernel: Kernel) -> None:
        translation = Translation(kernel.source)
        filename = f"<numhlo loop {kernel.name}>"
        linecache.cache[filename] = (len(translation.text), None, translation.text.splitlines(keepends=True), filename)
        namespace: dict[str, Any] = dict(translation.names)
        exec(compile(translation.text, filename, "exec"), namespace)  # noqa: S102 - our own source
        self._function: Callable[..., None] = namespace["plain"]
        self.stored = translation.stored

    def run(self, arrays: Sequence[np.ndarray], dims: Sequence[int], extent: int, poll: Callable[[], object]) -> None:
        """Run all units on C-contiguous arrays, the kernel's buffers; nothing is written if ``poll`` raises."""
        used = [a.reshape(-1) for a in arrays]
        for number in self.stored:
            used[number] = used[number].copy()
        with np.errstate(all="ignore"):
            self._function([_container(a) for a in used], dims, 0, extent, poll)
        for number in self.stored:
            arrays[number][...] = used[number].reshape(arrays[number].shape)


def _container(array: Any) -> Any:
    return memoryview(array) if array.dtype.char in VIEWED else array
