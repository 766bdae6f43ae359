"""Communication, ready to run on a frame's buffers: they go to the transport of the process as they lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.backend.communication.operations import Operation, number_of
from numhlo.backend.communication.transport import Transport, current_transport
from numhlo.backend.program import Buffer, Communicate
from numhlo.backend.runtime.frame import Frame
from numhlo.lowering.interpreter import BoundRegion, Plan, Plans
from numhlo.lowering.ir.errors import NumhloError
from numhlo.lowering.ops.communication import ProcessId, refusal
from numhlo.lowering.ops.process_groups import Process


class CommunicationPlan:
    """One step between processes.

    Parameters
    ----------
    step : Communicate
    """

    __slots__ = ("_body", "_inputs", "_op", "_operation", "_outputs", "_places")
    way = "by the transport"

    def __init__(self, step: Communicate) -> None:
        self._op = step.op
        self._operation = Operation(step.op.definition.name, step.op.attributes)
        self._inputs = [(number, value.tensor.shape) for value, number in step.inputs]
        self._outputs = [(number, value.tensor.shape) for value, number in step.outputs]
        self._body = Plan(step.op.regions[0], Plans()) if step.op.regions else None
        numbers = {value: place for place, (value, _) in enumerate(step.inputs)}
        self._places = [] if self._body is None else [numbers[value] for value in self._body.captured]

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
            error.where = error.where or self._op.location
            raise

    def _run(self, transport: Transport | None, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
        name = self._operation.name
        if isinstance(self._op.definition, ProcessId):
            outputs[0][...] = number_of(name, Process(0, 0) if transport is None else transport.process)
        elif transport is None:
            raise refusal(name)
        else:
            body = None if self._body is None else BoundRegion(self._body, [inputs[k] for k in self._places])
            self._operation.run(transport, body, inputs[: len(self._op.operands)], outputs)


def _views(places: Sequence[tuple[int, tuple[int, ...]]], frame: Frame, buffers: Sequence[Buffer]) -> list[np.ndarray]:
    """Return buffers as arrays; one may stand for a value of another shape."""
    views = []
    for number, shape in places:
        view = frame.view(number, buffers[number])
        views.append(view if view.shape == shape else view.reshape(shape))
    return views
