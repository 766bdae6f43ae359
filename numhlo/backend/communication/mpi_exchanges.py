"""Each collective as MPI does it, on buffers as they lie: what MPI has no layout for goes through one copy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.backend.communication.collectives import Collective, Transfer, part_of, shares
from numhlo.backend.communication.reducers import Reducer
from numhlo.backend.communication.transport import Arrays
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import CommunicationError

Wait = Callable[[Sequence[Any], Sequence[int], str], None]

GATHERED = 1 << 14
"""Bytes of an operand up to which every process gets all of them and reduces for itself: one exchange, not two."""

OPS = {
    "add": "SUM",
    "multiply": "PROD",
    "maximum": "MAX",
    "minimum": "MIN",
    "and": "BAND",
    "or": "BOR",
    "xor": "BXOR",
}
"""MPI's reductions of integers."""
IN_ANY_ORDER = frozenset({"add", "multiply"})
"""Reductions of floats that are MPI's, too, but for the order: its MAX and MIN know nothing of NaN."""
NATIVE = frozenset("bhilqBHILQfd")
"""Characters of NumPy dtypes that MPI reduces."""
HEADER = 512
"""Bytes of what a sender says of the arrays that follow."""


class Exchanges:
    """Runs collectives.

    Parameters
    ----------
    mpi : module
        mpi4py's.
    wait : callable
        ``wait(requests, ranks, what)`` returns when requests are done.
    deterministic : bool
    """

    def __init__(self, mpi: Any, wait: Wait, *, deterministic: bool) -> None:
        self._mpi, self._wait_for, self._deterministic = mpi, wait, deterministic

    def run(self, collective: Collective, inputs: Arrays, outputs: Arrays, ranks: tuple[int, ...], comm: Any) -> None:
        """Do what a collective says, with the processes of some ranks.

        Parameters
        ----------
        collective : Collective
        inputs, outputs : sequence of numpy.ndarray
        ranks : tuple of int
            The group's, in the job's numbers.
        comm : MPI.Comm
            Of the group, in its order.
        """

        def wait(*requests: Any) -> None:
            self._wait_for(requests, ranks, collective.name)

        for given, out in zip(inputs, outputs, strict=True):
            match collective.name:
                case "all_gather":
                    self._gather(collective, given, out, comm, wait)
                case "all_to_all":
                    self._exchange(collective, given, out, comm, wait)
                case "reduce_scatter":
                    self._reduce_part(collective, given, out, comm, wait)
                case "collective_broadcast" | "collective_permute":
                    self._pass_on(collective, given, out, comm, wait)
                case _:
                    self._reduce(collective, given, out, comm, wait)

    def _bytes(self, array: np.ndarray) -> list[Any]:
        return [array.reshape(-1).view(np.uint8), self._mpi.BYTE]

    def _gather(self, c: Collective, given: np.ndarray, out: np.ndarray, comm: Any, wait: Callable[..., None]) -> None:
        count = len(c.group)
        room = out if _leads(given.shape, c.axis) else np.empty((count, *given.shape), given.dtype)
        wait(comm.Iallgather(self._bytes(given), self._bytes(room)))
        if room is not out:
            for member in range(count):
                out[part_of(out.shape, c.axis, member, count)] = room[member]

    def _exchange(
        self, c: Collective, given: np.ndarray, out: np.ndarray, comm: Any, wait: Callable[..., None]
    ) -> None:
        count = len(c.group)
        sent, shape = _in_parts(given, c.axis, count), _part_shape(given.shape, c.axis, count)
        room = out if _leads(shape, c.concat_axis) else np.empty((count, *shape), out.dtype)
        wait(comm.Ialltoall(self._bytes(sent), self._bytes(room)))
        if room is not out:
            for member in range(count):
                out[part_of(out.shape, c.concat_axis, member, count)] = room[member]

    def _pass_on(self, c: Collective, given: np.ndarray, out: np.ndarray, comm: Any, wait: Callable[..., None]) -> None:
        if c.name == "collective_broadcast":
            if c.index == 0:
                out[...] = given
            wait(comm.Ibcast(self._bytes(out), 0))
            return
        source = c.sources[c.index]
        requests = []
        if source is None:
            out[...] = np.zeros((), out.dtype)
        elif source == c.index:
            out[...] = given
        else:
            requests.append(comm.Irecv(self._bytes(out), source))
        for target, origin in enumerate(c.sources):
            if origin == c.index != target:
                requests.append(comm.Isend(self._bytes(given), target))
        wait(*requests)

    def _native_op(self, reducer: Reducer, given: np.ndarray) -> Any:
        """Return MPI's own reduction, where it gives the same bits or any order will do; else None."""
        if given.dtype != reducer.dtype or given.dtype.char not in NATIVE:
            return None
        may = reducer.is_exact or (not self._deterministic and reducer.name in IN_ANY_ORDER)
        return getattr(self._mpi, OPS[reducer.name]) if may and reducer.name in OPS else None

    def _reduce(self, c: Collective, given: np.ndarray, out: np.ndarray, comm: Any, wait: Callable[..., None]) -> None:
        reducer, count = c.reducer, len(c.group)
        assert reducer is not None
        native = self._native_op(reducer, given)
        if native is not None:
            wait(comm.Iallreduce(given.reshape(-1), out.reshape(-1), native))
        elif given.nbytes <= GATHERED or not reducer.is_elementwise or len(c.phases) == 1:
            room = np.empty((count, *given.shape), given.dtype)
            wait(comm.Iallgather(self._bytes(given), self._bytes(room)))
            reducer.fold([*room], out)
        else:
            self._reduce_in_shares(c, given, out, comm, wait)

    def _reduce_in_shares(
        self, c: Collective, given: np.ndarray, out: np.ndarray, comm: Any, wait: Callable[..., None]
    ) -> None:
        """Give each process its share of all operands, which it reduces; then gather what they have made."""
        reducer, cut = c.reducer, shares(given.size, len(c.group))
        assert reducer is not None
        own = cut[c.index]
        size = own.stop - own.start
        room = np.empty((len(cut), size), given.dtype)
        sent, received = _counts(cut, given.itemsize), ([size * given.itemsize] * len(cut), None)
        byte = self._mpi.BYTE
        wait(comm.Ialltoallv([self._bytes(given)[0], sent, byte], [self._bytes(room)[0], received, byte]))
        flat = out.reshape(-1)
        reducer.fold([*room], flat[own])
        made = _counts(cut, out.itemsize)
        wait(comm.Iallgatherv(self._mpi.IN_PLACE, [self._bytes(out)[0], made, byte]))

    def _reduce_part(
        self, c: Collective, given: np.ndarray, out: np.ndarray, comm: Any, wait: Callable[..., None]
    ) -> None:
        reducer, count = c.reducer, len(c.group)
        assert reducer is not None
        sent = _in_parts(given, c.axis, count)
        native = self._native_op(reducer, given)
        if native is not None:
            wait(comm.Ireduce_scatter_block(sent.reshape(-1), out.reshape(-1), native))
            return
        room = np.empty((count, *out.shape), given.dtype)
        wait(comm.Ialltoall(self._bytes(sent), self._bytes(room)))
        reducer.fold([*room], out)

    def send(self, transfer: Transfer, arrays: Arrays, other: int, comm: Any) -> None:
        """Send arrays to a process, after a header that says what they are."""
        header = np.frombuffer(_types(arrays).encode()[:HEADER].ljust(HEADER), np.uint8)
        requests = [comm.Isend(self._bytes(array), other, transfer.channel) for array in (header, *arrays)]
        self._wait_for(requests, [other], f"channel {transfer.channel}")

    def receive(self, transfer: Transfer, outputs: Arrays, other: int, comm: Any) -> None:
        """Receive arrays from a process.

        Raises
        ------
        CommunicationError
            If they are not what the program says that it receives.
        """
        header, what = np.empty(HEADER, np.uint8), f"channel {transfer.channel}"
        self._wait_for([comm.Irecv(self._bytes(header), other, transfer.channel)], [other], what)
        sent, wanted = header.tobytes().decode().strip(), _types(outputs)[:HEADER]
        if sent != wanted:
            raise CommunicationError(f"stablehlo.recv is sent {sent}", why=f"it receives {wanted}")
        requests = [comm.Irecv(self._bytes(array), other, transfer.channel) for array in outputs]
        self._wait_for(requests, [other], what)


def _types(arrays: Arrays) -> str:
    return ", ".join(str(TensorType(a.shape, a.dtype)) for a in arrays) or "nothing"


def _leads(shape: Sequence[int], axis: int) -> bool:
    """Return whether parts along an axis lie one behind the other."""
    return math.prod(shape[:axis]) == 1


def _part_shape(shape: Sequence[int], axis: int, count: int) -> tuple[int, ...]:
    return (*shape[:axis], shape[axis] // count, *shape[axis + 1 :])


def _in_parts(given: np.ndarray, axis: int, count: int) -> np.ndarray:
    """Return an array's parts along an axis one behind the other: itself where they lie so."""
    return given if _leads(given.shape, axis) else np.stack(np.split(given, count, axis))


def _counts(cut: Sequence[slice], itemsize: int) -> tuple[list[int], list[int]]:
    """Return how many bytes shares have, and where they begin."""
    return [(s.stop - s.start) * itemsize for s in cut], [s.start * itemsize for s in cut]
