"""Processes of a grid as processes of an MPI job, one each.

All exchanges are MPI's non-blocking ones, waited for in a loop that looks, too, for notices of processes that have
failed or ended: nobody waits for what can't come. Elements are bytes to MPI unless it reduces them itself, which it
does where the order can't change a bit, or where no fixed order is wanted.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from traceback import extract_tb
from typing import Any
from zlib import crc32

from numhlo.backend.communication.collectives import Collective, Transfer
from numhlo.backend.communication.mpi_exchanges import Exchanges
from numhlo.backend.communication.transport import Arrays
from numhlo.lowering.ir.errors import CommunicationError, NumhloError, UnsupportedError
from numhlo.lowering.ops.process_groups import GridShape, Group, Process

PACKAGE = str(Path(__file__).parents[2])

SPINS = 2000
"""Looks at a request before a process lets others have its core (some 0.5 ms), where each has one."""
NAPS_FROM = 20_000
"""Looks from which on a process sleeps between two of them: whoever it waits for is not about to come."""
NAP_SECONDS = 5e-5
LOOKS = 64
"""Looks at a request between two for notices."""
GRACE_SECONDS = 2.0
"""How long a process waits for one that has ended, which may have done its part, and an end for all others."""
FAILED, ENDED, ARRIVED = 1, 2, 3
"""Tags of notices."""
MOST_TEXT = 2000
"""Bytes of a notice."""
MOST_TAGS = 1 << 15
"""Tags that every MPI has."""
FINGERPRINT = 400
"""Bytes of what processes tell each other of a collective where everything is verified."""


class World:
    """What this process has of its MPI job.

    Parameters
    ----------
    mpi : module
        mpi4py's ``MPI``: importing it here would start MPI wherever this file is read.
    comm : MPI.Comm
        Of all processes of the grid; it is duplicated, so that nothing here meets what others send.
    version : str
        Numhlo's, which must be that of all processes.
    deterministic : bool
        Reductions combine in a fixed order.
    timeout : float or None
        Seconds to wait for other processes before an error is raised.
    verifies : callable
        Whether processes compare what they are about to do, before they do it.

    Attributes
    ----------
    rank, size : int
    sharers : int
        How many of the processes on this machine run on the processors of this one, which is among them.
    """

    def __init__(
        self,
        mpi: Any,
        comm: Any,
        version: str,
        *,
        deterministic: bool,
        timeout: float | None,
        verifies: Callable[[], bool],
    ) -> None:
        self.mpi, self.comm, self._control = mpi, comm.Dup(), comm.Dup()
        self.rank, self.size = int(comm.Get_rank()), int(comm.Get_size())
        self._version = version
        self.deterministic, self._timeout, self.verifies = deterministic, timeout, verifies
        local = comm.Split_type(self.mpi.COMM_TYPE_SHARED)
        own = _cores()
        self.sharers = sum(not own.isdisjoint(other) for other in local.allgather(own))
        self._spins = SPINS if self.sharers <= len(own) else 0
        local.Free()
        self._groups: dict[tuple[int, ...], Any] = {tuple(range(self.size)): self.comm}
        self._failure: CommunicationError | None = None
        self._ended: dict[int, float] = {}
        self._told: list[Any] = []
        self._has_failed = False
        self._transports: dict[GridShape, MpiTransport] = {}

    def transport(self, shape: GridShape) -> MpiTransport:
        """Return the way to the others in a grid of some shape."""
        found = self._transports.get(shape)
        if found is None:
            process = Process(*divmod(self.rank, shape.partitions))
            found = self._transports[shape] = MpiTransport(process, shape, self)
        return found

    def communicator(self, ranks: tuple[int, ...]) -> Any:
        """Return the communicator of a group of processes, in the group's order; all of them ask for it."""
        found = self._groups.get(ranks)
        if found is None:
            self._gather_first(ranks)
            group = self.comm.Get_group().Incl(list(ranks))
            found = self._groups[ranks] = self.comm.Create_group(group, crc32(repr(ranks).encode()) % MOST_TAGS)
            group.Free()
        return found

    def _gather_first(self, ranks: tuple[int, ...]) -> None:
        """Wait until all members of a group are here: making a communicator can't be interrupted."""
        others = [rank for rank in ranks if rank != self.rank]
        rooms = [bytearray(1) for _ in others]
        requests = [
            self._control.Irecv([room, self.mpi.BYTE], o, ARRIVED) for room, o in zip(rooms, others, strict=True)
        ]
        requests += [self._control.Isend([b"!", self.mpi.BYTE], other, ARRIVED) for other in others]
        self.wait(requests, ranks, "a group")

    def wait(self, requests: Sequence[Any], ranks: Sequence[int], what: str) -> None:
        """Wait until requests are done, for which processes of some ranks must do their part.

        Raises
        ------
        CommunicationError
            If one of them has failed or ended meanwhile, or nothing has come for too long.
        """
        testall, looks, began = self.mpi.Request.Testall, 0, 0.0
        while not testall(requests):
            looks += 1
            if looks > self._spins:
                time.sleep(NAP_SECONDS) if looks > NAPS_FROM else _let_others_run()
            if looks % LOOKS == 0:
                began = began or time.monotonic()
                self._look(ranks, what, time.monotonic() - began)

    def check(self) -> None:
        """Raise if the grid has failed."""
        if self._failure is not None:
            raise CommunicationError(self._failure.what, why=self._failure.why)

    def _look(self, ranks: Sequence[int], what: str, seconds: float) -> None:
        self._read_notices()
        self.check()
        gone = [rank for rank in ranks if time.monotonic() - self._ended.get(rank, time.monotonic()) > GRACE_SECONDS]
        if gone:
            raise CommunicationError(f"process {self.rank} waits for {what} of process {gone[0]}, which has ended")
        if self._timeout is not None and seconds > self._timeout:
            raise CommunicationError(
                f"process {self.rank} has waited for {what} of processes {list(ranks)} for {self._timeout} s",
                fix="set the timeout of numhlo.distributed.initialize higher, or look for what holds the others up",
            )

    def _read_notices(self) -> None:
        status = self.mpi.Status()
        for tag in (FAILED, ENDED):
            while self._control.Iprobe(self.mpi.ANY_SOURCE, tag, status):
                sender, room = int(status.Get_source()), bytearray(status.Get_count(self.mpi.BYTE))
                self._control.Recv([room, self.mpi.BYTE], sender, tag)
                self._ended.setdefault(sender, time.monotonic())
                if tag == FAILED:
                    self._failure = self._failure or CommunicationError(
                        f"process {sender} of {self.size} has failed", why=room.decode(errors="replace")
                    )

    def _tell(self, tag: int, text: str) -> None:
        data = text.encode()[:MOST_TEXT]
        others = [rank for rank in range(self.size) if rank != self.rank]
        self._told += [(self._control.Isend([data, self.mpi.BYTE], other, tag), data) for other in others]

    def fail(self, error: BaseException) -> None:
        """Tell all others that this process has failed, once; the job ends when this process does."""
        if not self._has_failed:
            self._has_failed = True
            if self._failure is None:
                self._failure = CommunicationError(
                    f"process {self.rank} of {self.size} has failed", why=in_words(error)
                )
                self._tell(FAILED, in_words(error))

    def agree(self, what: str, text: str) -> None:
        """Compare a text with that of all other processes.

        Raises
        ------
        CommunicationError
            In all of them, if theirs differ.
        """
        own = sha256(f"{self._version}\n{text}".encode()).digest()
        room = bytearray(len(own) * self.size)
        everybody = range(self.size)
        self.wait(
            [self.comm.Iallgather([own, self.mpi.BYTE], [room, self.mpi.BYTE])], everybody, f"a comparison of {what}"
        )
        found = [bytes(room[k * len(own) : (k + 1) * len(own)]) for k in everybody]
        others = [str(k) for k in everybody if found[k] != found[0]]
        if others:
            raise CommunicationError(
                f"{what} of process {', '.join(others)} differs from that of process 0",
                why="all processes of a grid run the same program, by the same version of numhlo",
            )

    def end(self) -> None:
        """Say that this process takes part no more; where it has failed, end the job, once the others had time."""
        uncaught = getattr(sys, "last_value", None)
        if uncaught is not None and not self._has_failed:
            self.fail(uncaught)
        if not self._has_failed:
            self._tell(ENDED, "")
            return
        end = time.monotonic() + GRACE_SECONDS
        while len(self._ended) < self.size - 1 and time.monotonic() < end:
            self._read_notices()
            time.sleep(0.01)
        if self._failure is not None:
            sys.stderr.write(f"numhlo: {self._failure.what}, which ends the job: {self._failure.why}\n")
        sys.stdout.flush()
        sys.stderr.flush()
        self.comm.Abort(1)

    def close(self) -> None:
        """Leave the grid together with all others; communicators are given back."""
        self.wait([self.comm.Ibarrier()], range(self.size), "the end")
        for comm in {id(c): c for c in (*self._groups.values(), self._control)}.values():
            comm.Free()


class MpiTransport:
    """The transport of an MPI process in a grid of some shape.

    Parameters
    ----------
    process : Process
    shape : GridShape
    world : World
    """

    def __init__(self, process: Process, shape: GridShape, world: World) -> None:
        self.process, self.shape = process, shape
        self._world = world
        self._exchanges = Exchanges(world.mpi, world.wait, deterministic=world.deterministic)
        self._ranks: dict[Group, tuple[int, ...]] = {}
        self.check = world.check

    def collective(self, collective: Collective, inputs: Arrays, outputs: Arrays) -> None:
        """Exchange with all of the group."""
        world = self._world
        world.check()
        ranks = self._ranks.get(collective.group)
        if ranks is None:
            ranks = self._ranks[collective.group] = tuple([self.shape.number(p) for p in collective.group])
        comm = world.communicator(ranks)
        if world.verifies():
            self._compare(collective, inputs, ranks, comm)
        self._exchanges.run(collective, inputs, outputs, ranks, comm)

    def _compare(self, collective: Collective, inputs: Arrays, ranks: tuple[int, ...], comm: Any) -> None:
        """Raise unless all members of a group are about to do the same."""
        types = ", ".join(f"{a.dtype.name}{list(a.shape)}" for a in inputs)
        how = collective.reducer.name if collective.reducer is not None else ""
        text = " ".join(filter(None, [collective.name, how, f"of ({types})"]))
        text += f" among {', '.join(map(str, collective.group))}"
        own = text.encode()[:FINGERPRINT].ljust(FINGERPRINT)
        room = bytearray(FINGERPRINT * len(ranks))
        self._world.wait(
            [comm.Iallgather([own, self._world.mpi.BYTE], [room, self._world.mpi.BYTE])],
            ranks,
            "a comparison of collectives",
        )
        found = [room[k * FINGERPRINT : (k + 1) * FINGERPRINT].decode().strip() for k in range(len(ranks))]
        if len(set(found)) > 1:
            shown = "; ".join(f"process {rank}: {what}" for rank, what in zip(ranks, found, strict=True))
            raise CommunicationError("processes are about to do different collectives", why=shown)

    def send(self, transfer: Transfer, arrays: Arrays) -> None:
        """Send arrays to the other process."""
        self._exchanges.send(transfer, arrays, self._other(transfer), self._world.comm)

    def receive(self, transfer: Transfer, outputs: Arrays) -> None:
        """Receive arrays from the other process."""
        self._exchanges.receive(transfer, outputs, self._other(transfer), self._world.comm)

    def _other(self, transfer: Transfer) -> int:
        """Return the rank at the other end of a channel: the program does not say, so there must be only one."""
        self._world.check()
        if transfer.with_host:
            raise UnsupportedError(
                f"stablehlo.{transfer.name} has no host in an MPI job",
                fix="give arrays as arguments and results, or run the program in a ProcessGrid",
            )
        if self._world.size != 2:
            raise UnsupportedError(
                f"stablehlo.{transfer.name} in a grid of {self._world.size} MPI processes",
                why="the program does not say who is at the other end of a channel; of two processes it is the other",
                fix="use collective_permute",
            )
        return 1 - self._world.rank

    def begin(self, words: memoryview) -> None:
        """Do nothing: a process that has failed is noticed at the next exchange."""

    def end(self, words: memoryview) -> None:
        """Do nothing."""


def in_words(error: BaseException) -> str:
    """Return an error in few lines, with the user's place where it is known.

    Examples
    --------
    >>> in_words(ValueError("no data"))
    'ValueError: no data'
    """
    if isinstance(error, NumhloError):
        place = f" at {error.where.describe()}" if error.where is not None else ""
        notes = getattr(error, "__notes__", [])[:1] if error.where is None else []
        return "\n".join([f"{type(error).__name__}: {error.what}{place}", *notes])
    frames = [f for f in extract_tb(error.__traceback__) if not f.filename.startswith(PACKAGE)]
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


def _cores() -> set[int]:
    """Return the processors that this process may use."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


_let_others_run: Callable[[], object] = getattr(os, "sched_yield", lambda: time.sleep(0))
