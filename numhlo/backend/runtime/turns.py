"""Calls in Python and compilers take turns where there are too few cores for both.

A program that is called again and again while its kernels compile would take a core from the compilers, for answers
that are slow ones: machine code came 1.5 to 2 times later so. From the second call on, one waits before it begins, as
long as the one before it took, or until all kernels are there: nobody waits more than twice as long as he would have.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from numhlo.backend.compiler.current import are_cores_short, say_answered
from numhlo.backend.kernel_cache import KernelHandle

MOST_SECONDS = 0.5


class Turns:
    """The turns of one program.

    Attributes
    ----------
    seconds : float
        What the last call took that was not all native, 0 before there was one.
    """

    __slots__ = ("_began", "seconds")

    def __init__(self) -> None:
        self.seconds = 0.0
        self._began = 0.0

    def begin(self, pending: Iterable[KernelHandle]) -> None:
        """Let compilers have the core for a while, if they need it for some of the kernels that are pending."""
        if self.seconds and are_cores_short():
            end = time.perf_counter() + min(self.seconds, MOST_SECONDS)
            for handle in list(pending):
                left = end - time.perf_counter()
                if left <= 0.0 or not handle.wait(left):
                    break
        self._began = time.perf_counter()

    def end(self) -> None:
        """Note how long a call took, and let compilers start: there is an answer."""
        self.seconds = time.perf_counter() - self._began
        say_answered()
