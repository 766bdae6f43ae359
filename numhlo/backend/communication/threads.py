"""Processes of a grid as threads of this Python process: they read each other's buffers where they lie.

Members of a group meet: the last one that comes finds what all have brought. It does small collectives for all of them;
in large ones each member does its share, and nobody leaves before all are done. A process waits without the GIL, for
a lock that whoever it waits for releases. When all that still run wait for what nobody does any more, one of them
raises, and says who waits for what.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from numhlo.backend.communication.collectives import HOST_OPS, Collective, Post, Transfer
from numhlo.backend.communication.operations import run_in_process
from numhlo.backend.communication.transport import bound_transport
from numhlo.backend.primitives import layout
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import CommunicationError
from numhlo.lowering.ops.communication import run_by
from numhlo.lowering.ops.process_groups import GridShape, Process
from numhlo.lowering.process_grid import (
    CHANNEL,
    FROM_HOST,
    HOST,
    INFEED,
    OUTFEED,
    TO_HOST,
    Exchange,
    Key,
    Mailboxes,
    run_in_threads,
)

Result = TypeVar("Result")
Arrays = Sequence[np.ndarray]

SMALL = 1 << 19
"""Bytes of all members' buffers up to which one of them does the work of all (512 KiB, some 50 µs of copying): to wake
the others once more takes longer."""


class Meeting:
    """Members of a group that come together for one collective.

    Attributes
    ----------
    posts : list of Post or None
        What they bring, None for those that have not come.
    ready : bool
        All have come, and what is small is done.
    is_small : bool
        One member does all there is to do.
    passed, barriers : int
        How many have come to barriers, and how many barriers all have passed.
    """

    __slots__ = ("barriers", "collective", "is_small", "passed", "posts", "ready")

    def __init__(self, collective: Collective, post: Post) -> None:
        self.collective = collective
        nbytes = sum([a.nbytes for a in post.inputs]) + sum([a.nbytes for a in post.outputs])
        self.is_small = nbytes * len(collective.group) <= SMALL
        self.posts: list[Any] = [None] * len(collective.group)
        self.ready = False
        self.passed = self.barriers = 0

    def __str__(self) -> str:
        missing = [str(p) for p, post in zip(self.collective.group, self.posts, strict=True) if post is None]
        return " and ".join(missing)

    def do_all(self) -> None:
        """Do what all members want."""
        if self.collective.together is not None:
            self.collective.together(self.posts)
            return
        for number in range(len(self.collective.phases)):
            for index, post in enumerate(self.posts):
                post.phases[number](self.posts, index)


class Hub(Exchange):
    """What the processes of one run share: meetings, and the queues between them and with their host.

    Parameters
    ----------
    processes : iterable of Process
    host : Mailboxes
    """

    def __init__(self, processes: Iterable[Process], host: Mailboxes) -> None:
        processes = list(processes)
        super().__init__(processes, host)
        self._meetings: dict[Any, Meeting] = {}
        self._wakes = {process: threading.Lock() for process in processes}
        for lock in self._wakes.values():
            lock.acquire()
        self._calls: dict[int, tuple[memoryview, int]] = {}
        self._stop = np.zeros(1, np.int64)

    def meet(self, process: Process, collective: Collective, post: Post) -> None:
        """Take part in a collective.

        Raises
        ------
        CommunicationError
            If members bring arrays of different types, or wait for what never comes.
        Abandoned
            If another process has failed meanwhile.
        """
        with self._changed:
            self.check()
            meeting = self._meetings.get(collective.key)
            if meeting is None:
                meeting = self._meetings[collective.key] = Meeting(collective, post)
            meeting.posts[collective.index] = post
            is_last = None not in meeting.posts
            if is_last:
                del self._meetings[collective.key]
            else:
                self._waiting[process] = (collective.name, meeting, process)
                self._require_hope(process)
        if not is_last:
            self._sleep(process, lambda: meeting.ready)
        else:
            _require_alike(meeting)
            if meeting.is_small:
                meeting.do_all()
            with self._changed:
                meeting.ready = True
                for other in collective.group:
                    self._waiting.pop(other, None)
            self._wake(collective.group, process)
        if not meeting.is_small:
            for phase in collective.phases:
                phase(meeting.posts, collective.index)
                self._pass_barrier(meeting, process)

    def _pass_barrier(self, meeting: Meeting, process: Process) -> None:
        """Wait until all members are here."""
        with self._changed:
            meeting.passed += 1
            number = (meeting.passed - 1) // len(meeting.posts)
            is_last = meeting.passed % len(meeting.posts) == 0
            if is_last:
                meeting.barriers = number + 1
        if is_last:
            self._wake(meeting.collective.group, process)
        else:
            self._sleep(process, lambda: meeting.barriers > number)

    def _sleep(self, process: Process, is_over: Callable[[], bool]) -> None:
        """Wait until something holds, which another process sees to."""
        wake = self._wakes[process]
        while True:
            wake.acquire()
            with self._changed:
                if is_over():
                    return
                self._require_hope(process)

    def _wake(self, processes: Iterable[Process], but: Process | None = None) -> None:
        for process in processes:
            if process != but:
                with contextlib.suppress(RuntimeError):  # it was told before, and has not looked yet
                    self._wakes[process].release()

    def stop(self, process: Process) -> None:
        """Say that a process has ended: what it has not sent it never will."""
        super().stop(process)
        self._wake(self._wakes)

    def fail(self, error: BaseException) -> None:
        """Make all processes end, those in machine code, too."""
        super().fail(error)
        with self._changed:
            for words, _ in self._calls.values():
                words[layout.STATUS] = layout.INTERRUPTED
        self._stop[0] = 1  # after the statuses, which loops look at then
        self._wake(self._wakes)

    def begin(self, words: memoryview) -> None:
        """Let a call's loops end once a process has failed."""
        with self._changed:
            self._calls[id(words)] = words, words[layout.INTERRUPT]
            words[layout.INTERRUPT] = int(self._stop.ctypes.data)
        self.check()

    def end(self, words: memoryview) -> None:
        """Leave a call's words alone from here on."""
        with self._changed:
            _, words[layout.INTERRUPT] = self._calls.pop(id(words), (words, words[layout.INTERRUPT]))


def _require_alike(meeting: Meeting) -> None:
    """Raise unless all members bring arrays of the same types."""
    types = [[(a.shape, a.dtype) for a in post.inputs] for post in meeting.posts]
    if any(found != types[0] for found in types):
        name = meeting.collective.name
        raise CommunicationError(f"stablehlo.{name} joins arrays of different types", why=f"they are {types}")


class ThreadTransport:
    """The transport of one process that is a thread.

    Parameters
    ----------
    process : Process
    shape : GridShape
    hub : Hub
    """

    def __init__(self, process: Process, shape: GridShape, hub: Hub) -> None:
        self.process, self.shape = process, shape
        self._hub = hub
        self.check, self.begin, self.end = hub.check, hub.begin, hub.end

    def collective(self, collective: Collective, inputs: Arrays, outputs: Arrays) -> None:
        """Meet the others of the group."""
        self._hub.meet(self.process, collective, Post(inputs, outputs, collective.phases))

    def send(self, transfer: Transfer, arrays: Arrays) -> None:
        """Leave copies of arrays where the channel's receiver, or the host, finds them."""
        self._hub.put(self._key(transfer, OUTFEED, TO_HOST), [np.array(array) for array in arrays])

    def receive(self, transfer: Transfer, outputs: Arrays) -> None:
        """Wait for arrays, and copy them.

        Raises
        ------
        CommunicationError
            If they are not what the program says that it receives, or nobody sends any.
        """
        found = self._hub.take(self._key(transfer, INFEED, FROM_HOST), self.process)
        types, wanted = ([TensorType(a.shape, a.dtype) for a in arrays] for arrays in (found, outputs))
        if types != wanted:
            sent, received = (", ".join(map(str, listed)) or "nothing" for listed in (types, wanted))
            raise CommunicationError(f"stablehlo.{transfer.name} is sent {sent}", why=f"it receives {received}")
        for out, array in zip(outputs, found, strict=True):
            out[...] = array

    def _key(self, transfer: Transfer, feed: str, host: str) -> Key:
        if transfer.name in HOST_OPS:
            return feed, self.process
        return (host, transfer.channel, self.process) if transfer.with_host else (CHANNEL, transfer.channel)


def run_threads(
    calls: Mapping[Process, Callable[[], Result]],
    shape: GridShape,
    host: Mailboxes,
    answer: Callable[[Exchange], Any] | None = None,
) -> dict[Process, Result]:
    """Return what functions return that run at once, each in a thread whose transport is its process's.

    Parameters
    ----------
    calls : mapping from Process to callable
    shape : GridShape
    host : Mailboxes
    answer : callable, optional
        The host's function, which runs beside them, as `HOST`.

    Raises
    ------
    CommunicationError
        If processes wait for what nobody does, or what one has sent nobody receives.
    """
    run_by(run_in_process)
    hub = Hub([*calls, *([HOST] if answer is not None else [])], host)

    def started(process: Process) -> Callable[[], Result]:
        def call() -> Result:
            with bound_transport(ThreadTransport(process, shape, hub)):
                return calls[process]()

        return call

    return run_in_threads({process: started(process) for process in calls}, hub, shape, answer)
