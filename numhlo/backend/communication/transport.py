"""What compiled programs ask of a transport: exchange these buffers with other processes, now and in this order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import numpy as np

from numhlo.backend.communication.collectives import Collective, Transfer
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.lowering.ops.process_groups import GridShape, Process

Arrays = Sequence[np.ndarray]


class Transport(Protocol):
    """One process's way to the others.

    Arrays are buffers of the program as they lie in memory: C-contiguous, of any of StableHLO's element types. Inputs
    may be read, and outputs written, until a method returns, and not a moment longer.

    Attributes
    ----------
    process : Process
        Which one this is.
    shape : GridShape
    """

    @property
    def process(self) -> Process:
        """Return which process this is."""
        ...

    @property
    def shape(self) -> GridShape:
        """Return the grid's shape."""
        ...

    def collective(self, collective: Collective, inputs: Arrays, outputs: Arrays) -> None:
        """Take part in a collective, with all of its group."""
        ...

    def send(self, transfer: Transfer, arrays: Arrays) -> None:
        """Send arrays over a channel, or to the host."""
        ...

    def receive(self, transfer: Transfer, outputs: Arrays) -> None:
        """Wait for arrays that come over a channel, or from the host."""
        ...

    def check(self) -> None:
        """Raise if this process is to end, since another one has failed."""
        ...

    def begin(self, words: memoryview) -> None:
        """Let a call with this context be interrupted, after which it asks `check`."""
        ...

    def end(self, words: memoryview) -> None:
        """Say that a call has ended."""
        ...


class World(Protocol):
    """What a whole Python process is of, where it is one process of a grid.

    Attributes
    ----------
    rank, size : int
        Which process this is, and how many there are.
    """

    @property
    def rank(self) -> int:
        """Return which process this is."""
        ...

    @property
    def size(self) -> int:
        """Return how many processes there are."""
        ...

    def transport(self, shape: GridShape) -> Transport:
        """Return the way to the others in a grid of some shape."""
        ...

    def agree(self, what: str, text: str) -> None:
        """Raise in all processes unless this text is the same in all of them."""
        ...

    def fail(self, error: BaseException) -> None:
        """Tell the others that this process has failed."""
        ...

    def end(self) -> None:
        """Say that this process takes part no more."""
        ...

    def close(self) -> None:
        """Leave the grid together with all others."""
        ...


_own: ScopedValue[Transport | None] = ScopedValue(None)
_worlds: list[World] = []


def current_transport() -> Transport | None:
    """Return the transport of this thread's process: the one that is bound, else that of the whole Python process.

    The latter is of a grid of partitions: programs that say no more number all processes so.
    """
    found = _own.get()
    return found if found is not None or not _worlds else _worlds[-1].transport(GridShape(1, _worlds[-1].size))


bound_transport = _own.bound
"""Make a transport this thread's for a block: ``with bound_transport(transport): ...``."""


def check_process() -> None:
    """Raise if this thread's process is to end, since another one of its grid has failed."""
    transport = current_transport()
    if transport is not None:
        transport.check()


@contextmanager
def in_process(words: memoryview) -> Iterator[bool]:
    """Let a call with this context be interrupted when its process is to end; gives whether it is in a grid."""
    transport = current_transport()
    if transport is None:
        yield False
        return
    try:
        transport.begin(words)
        yield True
    finally:
        transport.end(words)


def current_world() -> World | None:
    """Return what this Python process is one process of, if it is."""
    return _worlds[-1] if _worlds else None


def set_world(world: World | None) -> None:
    """Make this Python process one of many; None makes it one alone."""
    _worlds[:] = [] if world is None else [world]
