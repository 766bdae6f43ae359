"""Whether a value that Python asks for depends on what is being differentiated.

Outside jit, derivatives are taken on traces that carry values, so that Python control flow works. Truth values, indices
and integers have no slopes to lose. A Python float has: whatever is computed from it would count as constant.
"""

from __future__ import annotations

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.annotations import STOP_GRADIENT
from numhlo.tracer.core.trace import Trace, Tracer


def loses_slope(array: Tracer) -> bool:
    """Return whether an array depends on an argument that is differentiated, other than through integers.

    Examples
    --------
    >>> from numhlo.tracer.transformations.differentiating import jvp
    >>> found = []
    >>> _ = jvp(lambda x: found.append([loses_slope(x * 2), loses_slope(x > 2)]), (3.0,), (1.0,))
    >>> found
    [[True, False]]
    """
    traces = [array.home]
    while traces[-1].parent is not None:
        traces.append(traces[-1].parent)
    if not any(trace.differentiates for trace in traces):
        return False
    moving = {v for t in traces if t.differentiates for v in _arguments(t)[0]}
    hidden = {v: c for t in traces for v, c in zip(_arguments(t)[1], t.captures, strict=True)}
    todo, seen = [array.value()], set[Value]()
    while todo:
        value = todo.pop()
        if value in seen or value.tensor.dtype.kind not in "fcV":
            continue
        seen.add(value)
        if value in moving:
            return True
        owner = value.owner
        if isinstance(owner, Op) and owner.attributes.get("name") != STOP_GRADIENT.name:
            todo += [*owner.operands, *(free_values(owner) if owner.regions else ())]
        captured = hidden.get(value)
        if isinstance(captured, Tracer):
            todo.append(captured.value())
    return False


def _arguments(trace: Trace) -> tuple[list[Value], list[Value]]:
    """Return a body's explicit and hidden arguments."""
    arguments = trace.region.arguments
    count = len(arguments) - len(trace.captures)
    return arguments[:count], arguments[count:]
