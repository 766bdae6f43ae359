"""Loops over arrays whose elements don't meet become one kernel each, where `emit.blocked_loop` can do it."""

from __future__ import annotations

import numpy as np

from numhlo.backend.emit.blocked_loop import BlockedLoopWriter, NotBlockedError
from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.scalar_code import MOST_ELEMENTS, Content, NotScalarError, ScalarWriter, whole
from numhlo.backend.planning.region import RegionPlanner
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import creation

ROUNDS = 100
"""How often a loop goes round, for all that is known."""


def emit_blocked_kernel(op: Op, planner: RegionPlanner) -> str:
    """Append the launch of one kernel that runs a loop block by block; or return why that can't be.

    Parameters
    ----------
    op : Op
        A while.
    planner : RegionPlanner
    """
    attempt = _Attempt(op, planner)
    try:
        attempt.write()
    except (NotBlockedError, NotScalarError) as error:
        return str(error)
    attempt.append()
    return ""


class _Attempt:
    """The kernel of one loop, written before any buffer is claimed for its results."""

    def __init__(self, op: Op, planner: RegionPlanner) -> None:
        self.op, self.planner = op, planner
        self.numbers: dict[Value, int] = {}
        self.text = KernelText(self._buffer_of)
        self.scalars = ScalarWriter(self.text, self._outer, intervals=planner.context.intervals)
        self.stored: list[Value] = []

    def _buffer_of(self, value: Value) -> int:
        if value.owner is self.op:
            return self.numbers.setdefault(value, -1 - len(self.numbers))
        return self.planner.buffer(value)

    def _outer(self, value: Value) -> Content:
        type, op = value.tensor, value.owner
        if isinstance(op, Region) and op in self.op.regions:
            raise NotScalarError("what is the same for all elements depends on one of them")
        if isinstance(op, Op) and op.definition is creation.CONSTANT and type.size <= MOST_ELEMENTS:
            return self.scalars.constant(op)
        pointer = self.text.pointer(value)
        if type.size > 1:
            return whole(pointer, type, writable=False)
        names = np.empty(type.shape, object)
        names[...] = self.text.first(f"load_{REGISTERS[type.dtype].storage}({pointer}, 0)", "x")
        return names

    def write(self) -> None:
        """Write the kernel's statements."""
        self.writer = BlockedLoopWriter(self.op, self.text, self.scalars)
        used = [result for result in self.op.results if self.planner.is_used(result)]
        self.stored = self.writer.write(used)

    def append(self) -> None:
        """Claim buffers for the results and append the launch."""
        planner = self.planner
        inputs = planner.layout.operations.inputs(self.op)
        for part in self.writer.parts:
            if part.result not in self.stored:
                continue
            others = [v for k, v in enumerate(inputs) if k >= len(self.op.operands) or v is not part.operand]
            others += [v for v in inputs if inputs.count(v) > 1]
            if part.kind == "stack":
                planner.begin_update(part.result, part.operand, others)
            else:
                planner.output(part.result)
        actual = {number: planner.buffer(value) for value, number in self.numbers.items()}
        buffers = tuple(actual.get(number, number) for number in self.text.buffers)
        units = -(-self.writer.size // self.writer.block)
        flops = self.writer.size * self.scalars.statements * ROUNDS
        grain = grain_of(units, flops, 0)
        kernel = self.text.finish("blocked_loop")
        draft = Draft(kernel, buffers, tuple(self.text.dims), units, grain, flops, 0)
        planner.launch_op(self.op, draft, self.stored)
