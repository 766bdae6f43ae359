"""Ops between processes, run by this thread's transport: for compiled programs' steps, and for interpreters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.backend.communication.collectives import (
    TRANSFERS,
    Collective,
    Transfer,
    collective_of,
    is_received,
    transfer_of,
)
from numhlo.backend.communication.transport import Arrays, Transport, current_transport
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops.communication import ID, PARTITION_ID, REPLICA_ID
from numhlo.lowering.ops.primitive import RESULT_TYPES, RegionFunction
from numhlo.lowering.ops.process_groups import GridShape, Process

Place = tuple[Process, GridShape]


class Operation:
    """One op, and what is known of how processes take part in it.

    Parameters
    ----------
    name : str
    attributes : mapping
    """

    __slots__ = ("_attributes", "_known", "_transfer", "name")

    def __init__(self, name: str, attributes: Mapping[str, Any]) -> None:
        self.name, self._attributes = name, attributes
        self._known: dict[Place, Collective | None] = {}
        self._transfer: Transfer | None = transfer_of(name, attributes) if name in TRANSFERS else None

    def run(self, transport: Transport, body: RegionFunction | None, inputs: Arrays, outputs: Arrays) -> None:
        """Let a transport write the outputs.

        Parameters
        ----------
        transport : Transport
        body : callable or None
            Combines elements, where the op does.
        inputs, outputs : sequence of numpy.ndarray
        """
        if self._transfer is None:
            self._meet(transport, body, inputs, outputs)
        elif is_received(self._transfer):
            transport.receive(self._transfer, outputs)
        else:
            transport.send(self._transfer, inputs)

    def _meet(self, transport: Transport, body: RegionFunction | None, inputs: Arrays, outputs: Arrays) -> None:
        place = transport.process, transport.shape
        is_kept = not getattr(body, "captured", None)  # values from outside may differ from call to call
        if is_kept and place in self._known:
            collective = self._known[place]
        else:
            dtype = outputs[0].dtype if outputs else ID.dtype
            collective = collective_of(self.name, self._attributes, place, body, dtype)
            if is_kept:
                self._known[place] = collective
        if collective is not None:
            transport.collective(collective, inputs, outputs)
        else:
            for out in outputs:
                out[...] = np.zeros((), out.dtype)


def number_of(name: str, process: Process) -> int:
    """Return a process's number, as one of the two ops asks for it."""
    return process.replica if name == REPLICA_ID.name else process.partition


def run_in_process(
    name: str, arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> Arrays | None:
    """Return an op's results in the process that this thread is; None where it is none."""
    transport = current_transport()
    if transport is None:
        return None
    if name in {REPLICA_ID.name, PARTITION_ID.name}:
        return (np.array(number_of(name, transport.process), ID.dtype),)
    outputs = [np.empty(t.shape, t.dtype) for t in attributes[RESULT_TYPES] if isinstance(t, TensorType)]
    inputs = [np.asarray(array, order="C") for array in arrays]
    Operation(name, attributes).run(transport, regions[0] if regions else None, inputs, outputs)
    return outputs
