"""Which launches of a loop do nothing but count, so that the driver counts itself instead of running kernels.

Their kernels are there all the same: Python's engine, and the change from one engine to the other, know launches only.
`numhlo.backend.runtime.native_code.driver` counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.backend.program import Counting, Launch, Loop, Step
from numhlo.lowering.analysis.loops import count_of
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.control_flow import WHILE
from numhlo.lowering.ops.creation import CONSTANT

WORDS = {"int32": 4, "int64": 8}
"""Bytes of the counters that the driver knows."""


def counting_of(loop: Loop) -> Counting | None:
    """Return how a loop counts from step to step up to a constant, None where it does more, or anything else."""
    count = count_of(loop.op) if loop.op.definition is WHILE else None
    if count is None or count.reaches or count.constant_limit is None or count.constant_step is None:
        return None
    condition, body = loop.op.regions
    itemsize = WORDS.get(count.limit.tensor.dtype.name)
    test = _launch_of(loop.condition, condition.returns[0])
    advance = _launch_of(loop.body, body.returns[count.position])
    if itemsize is None or test is None or advance is None or len(loop.condition) != 1:
        return None
    tested = dict(test.inputs).get(condition.arguments[count.position])
    counter = dict(advance.inputs).get(body.arguments[count.position])
    if tested is None or counter is None:
        return None
    ((_, advanced),) = advance.outputs
    number = loop.body.index(advance)
    return Counting(number, tested, counter, advanced, count.constant_limit, count.constant_step, itemsize)


def _launch_of(steps: Sequence[Step], value: Value) -> Launch | None:
    """Return the launch that computes a value by its op alone."""
    for step in steps:
        if isinstance(step, Launch) and [v for v, _ in step.outputs] == [value]:
            ops = [op for op in step.ops if op.definition is not CONSTANT]
            return step if ops == [value.owner] and isinstance(value.owner, Op) else None
    return None
