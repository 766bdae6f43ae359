"""A traced graph run again through `bind`: the base of every transformation.

The environment maps the graph's values to arrays of the current trace. Ops whose operands a transformation leaves alone
are simply bound again; their regions are traced again, so that values they use from outside are found in the
environment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Function, Op, Region, Value
from numhlo.tracer.core.bind import bind, bind_again, trace_region

Environment = dict[Value, Any]


def replay_op(op: Op, operands: Sequence[Any], environment: Mapping[Value, Any]) -> list[Any]:
    """Bind an op again on other operands of the same types."""
    if not op.regions:
        return bind_again(op, operands)
    regions = [replay_region(r, environment) for r in op.regions]
    results = [v.type for v in op.results] if op.definition.explicit_result else None
    return bind(op.definition, *operands, attributes=op.attributes, regions=regions, results=results)


def replay_region(region: Region, environment: Mapping[Value, Any]) -> Region:
    """Trace a region again; the values that it uses from outside are looked up in the environment."""

    def body(*arguments: Any) -> list[Any]:
        return replay_body(region, arguments, environment)

    return trace_region(body, [v.type for v in region.arguments])


def replay_body(region: Region, arguments: Sequence[Any], environment: Mapping[Value, Any]) -> list[Any]:
    """Bind all ops of a body again, here, and return what it returns."""
    inner: Environment = {v: environment[v] for v in free_values(region)}
    inner.update(zip(region.arguments, arguments, strict=True))
    for op in region.ops:
        outputs = replay_op(op, [inner[v] for v in op.operands], inner)
        inner.update(zip(op.results, outputs, strict=True))
    return [inner[v] for v in region.returns]


def replay_function(function: Function, arguments: Sequence[Any]) -> list[Any]:
    """Bind a function's ops again, here, on other arguments."""
    return replay_body(function.body, arguments, {})
