"""Functions that are called and not inlined: each is planned once, as a subroutine.

What a subroutine takes, makes and gives lies in memory of its own, apart from all other: it may be called between any
two steps. One set of buffers is enough, since no function is at work twice at a time. A call copies its operands in
and its results out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.backend.planning.buffers import Context, Routine
from numhlo.backend.planning.control_flow import NewTarget
from numhlo.backend.planning.expansion import expand
from numhlo.backend.planning.region import RegionPlanner
from numhlo.backend.program import Call, Subroutine
from numhlo.lowering.ir import Function, Op, TensorType
from numhlo.lowering.ops.control_flow import CALL
from numhlo.lowering.passes.outlining import is_outlined

PLACE = TensorType((), np.dtype(np.int32))


def plan_subroutines(function: Function, context: Context) -> None:
    """Plan what a function calls, callees before callers."""
    for callee in function.reached():
        if is_outlined(callee):
            context.subroutines[callee] = _planned(callee, context)


def _planned(callee: Function, context: Context) -> Routine:
    body, memory = expand(callee.body), context.memory
    inner = replace(context, loops=1, since=0, second_buffers=[])  # as inside a loop: it runs more than once
    with memory.apart():
        arguments = [memory.allocate(value.tensor) for value in body.arguments]
        context.buffer_of.update(zip(body.arguments, arguments, strict=True))
        planner = RegionPlanner(inner, body, [NewTarget(inner, value.tensor) for value in body.returns])
        steps = planner.run()
        place = memory.allocate(PLACE, since=0)
        subroutine = Subroutine(callee.name, steps, place, 0, body, arguments, planner.results)
    context.notes.append(f"@{callee.name} is called and not inlined: the program would be too large")
    return Routine(subroutine, arguments, planner.results)


def emit_call(op: Op, planner: RegionPlanner) -> None:
    """Append a call: operands in, the subroutine's steps, results out."""
    routine = planner.context.subroutines[op.attributes["callee"]]
    subroutine = routine.subroutine
    for operand, number in zip(op.operands, routine.arguments, strict=True):
        planner.copy(operand, planner.buffer(operand), number)
    number = planner.memory.constant(np.array(subroutine.calls, PLACE.dtype))
    planner.steps.append(Call(subroutine, subroutine.calls, number, op))
    subroutine.calls += 1
    for result, number in zip(op.results, routine.results, strict=True):
        planner.copy(result, number, planner.output(result))


KERNELS.register(CALL)(RootRule(emit_call))
