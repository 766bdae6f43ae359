"""Loops that do nothing but count in some steps, which the driver does itself: it must do what these steps do."""

from __future__ import annotations

from numhlo.backend.plan_checking.listing import Finding
from numhlo.backend.plan_checking.values import constant_of
from numhlo.backend.program import Counting, Launch, Loop, Step
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.comparison import COMPARE
from numhlo.lowering.ops.elementwise import ADD


def require_counting(loop: Loop, finding: Finding) -> None:
    """Raise if a loop's counting is not what its steps do.

    Parameters
    ----------
    loop : Loop
    finding : Finding
    """
    counting = loop.counting
    if counting is None:
        return
    wrong = _wrong(loop, counting)
    if wrong:
        raise finding.error(f"the driver does not count as the loop does: {wrong}", loop)


def _wrong(loop: Loop, counting: Counting) -> str:
    """Return what is wrong with a loop's counting, if anything is."""
    condition, body = loop.op.regions
    if len(loop.condition) != 1:
        return "its condition takes more than one step"
    test, number = _test(condition.returns[0])
    if test is None or number is None or test.owner is not condition:
        return "its condition is no comparison of a part of its state with a constant"
    part = condition.arguments.index(test)
    places = _places(loop.condition[0])
    if places.get(test) != counting.tested:
        return f"it tests buffer {counting.tested}, the condition reads {places.get(test)}"
    if number != counting.limit:
        return f"it counts up to {counting.limit}, the condition to {number}"
    step = loop.body[counting.advance] if counting.advance < len(loop.body) else None
    counter, returned = body.arguments[part], body.returns[part]
    if not isinstance(step, Launch) or [value for value, _ in step.outputs] != [returned]:
        return "the step in whose place it counts does something else"
    if _places(step).get(counter) != counting.counter or step.outputs[0][1] != counting.advanced:
        return "it counts in other buffers than the step in whose place it does"
    if _advance(returned, counter) != counting.step:
        return f"it counts by {counting.step}, the step by {_advance(returned, counter)}"
    return "" if counter.tensor.dtype.itemsize == counting.itemsize else "its counter has another width"


def _places(step: Step) -> dict[Value, int]:
    return dict(step.inputs) if isinstance(step, Launch) else {}


def _test(value: Value) -> tuple[Value | None, int | None]:
    """Return what a value says is below a constant, and the constant."""
    op = value.owner
    if not isinstance(op, Op) or op.definition is not COMPARE:
        return None, None
    left, right = op.operands
    limit, direction = constant_of(right), op.attributes["comparison_direction"]
    if limit is not None and direction == "LT":
        return left, int(limit.reshape(-1)[0])
    limit = constant_of(left)
    if limit is not None and direction == "GT":
        return right, int(limit.reshape(-1)[0])
    return None, None


def _advance(value: Value, counter: Value) -> int | None:
    """Return the constant that is added to a counter."""
    op = value.owner
    if not isinstance(op, Op) or op.definition is not ADD or counter not in op.operands:
        return None
    step = constant_of(op.operands[1 - op.operands.index(counter)])
    return None if step is None else int(step.reshape(-1)[0])
