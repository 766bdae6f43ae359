"""Steps for ops between processes: the transport gets buffers as they lie.

Units with effects run in program order (`units`), so communication keeps the program's order in every process.
"""

from __future__ import annotations

from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.backend.planning.region import RegionPlanner
from numhlo.backend.program import Communicate
from numhlo.lowering.ir import Op
from numhlo.lowering.ops.communication import Communication, ProcessId


def emit_communication(op: Op, planner: RegionPlanner) -> None:
    """Append the step of a collective, of a transfer, or of a process's number."""
    inputs = [(value, planner.buffer(value)) for value in planner.layout.operations.inputs(op)]
    planner.steps.append(Communicate(op, inputs, [(value, planner.output(value)) for value in op.results]))


KERNELS.register_family(Communication)(RootRule(emit_communication))
KERNELS.register_family(ProcessId)(RootRule(emit_communication))
