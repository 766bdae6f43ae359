"""Communication, ready to run on a frame's buffers: they go to the transport of the process as they lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.backend.communication.collectives import (
    TRANSFERS,
    Collective,
    Transfer,
    collective_of,
    is_received,
    transfer_of,
)
from numhlo.backend.communication.transport import Transport, current_transport
from numhlo.backend.program import Buffer, Communicate
from numhlo.backend.runtime.frame import Frame
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir.errors import NumhloError
from numhlo.lowering.ops.communication import ProcessId, refusal
from numhlo.lowering.ops.process_groups import GridShape, Process


class CommunicationPlan:
    """One step between processes.

    Parameters
    ----------
    step : Communicate
    """

    __slots__ = ("_captured", "_inputs", "_known", "_outputs", "_step", "_transfer")
    way = "by the transport"

    def __init__(self, step: Communicate) -> None:
        op = step.op
        self._step = step
        self._inputs = [(number, value.tensor.shape) for value, number in step.inputs]
        self._outputs = [(number, value.tensor.shape) for value, number in step.outputs]
        self._captured = free_values(op) if op.regions else []
        self._known: dict[tuple[Process, GridShape], Collective | None] = {}
        self._transfer: Transfer | None = transfer_of(op) if op.definition.name in TRANSFERS else None

    def run(self, frame: Frame, buffers: Sequence[Buffer]) -> None:
        """Let the transport write the outputs.

        Raises
        ------
        UnsupportedError
            Outside a grid of processes.
        CommunicationError
            If other processes, or the host, do not what the program asks for.
        """
        inputs, outputs = _views(self._inputs, frame, buffers), _views(self._outputs, frame, buffers)
        try:
            self._run(current_transport(), inputs, outputs)
        except NumhloError as error:
            error.where = error.where or self._step.op.location
            raise

    def _run(self, transport: Transport | None, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
        op = self._step.op
        if isinstance(op.definition, ProcessId):
            process = Process(0, 0) if transport is None else transport.process
            outputs[0][...] = process.replica if op.definition.name == "replica_id" else process.partition
        elif transport is None:
            raise refusal(op.definition.name)
        elif self._transfer is None:
            self._meet(transport, inputs, outputs)
        elif is_received(self._transfer):
            transport.receive(self._transfer, outputs)
        else:
            transport.send(self._transfer, inputs)

    def _meet(self, transport: Transport, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
        key = transport.process, transport.shape
        count = len(self._step.op.operands)
        if self._captured:  # their values may differ from call to call
            place = {value: array for (value, _), array in zip(self._step.inputs, inputs, strict=True)}
            collective = collective_of(self._step.op, *key, [place[value] for value in self._captured])
        elif key in self._known:
            collective = self._known[key]
        else:
            collective = self._known[key] = collective_of(self._step.op, *key, ())
        if collective is not None:
            transport.collective(collective, inputs[:count], outputs)
        else:
            for out in outputs:
                out[...] = np.zeros((), out.dtype)


def _views(places: Sequence[tuple[int, tuple[int, ...]]], frame: Frame, buffers: Sequence[Buffer]) -> list[np.ndarray]:
    """Return buffers as arrays; one may stand for a value of another shape."""
    views = []
    for number, shape in places:
        view = frame.view(number, buffers[number])
        views.append(view if view.shape == shape else view.reshape(shape))
    return views
