"""A function whose calls have a copy of their callee each, so that what every call computes has values of its own.

`checkpoint` keeps values by policy, and the calls of one function keep different arrays.
"""

from __future__ import annotations

from collections import Counter

from numhlo.lowering.ir import Function, Op, Region, Value
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.loops import LOOPS
from numhlo.lowering.passes.outlining import inlined_size


def separate_calls(function: Function, most: int) -> Function:
    """Return a function that does the same, where no function is called twice; it has ``most`` ops, or stays as it is.

    Bodies of composites with rules of their own, which nobody looks into, stay as they are too.

    Examples
    --------
    >>> nothing = Function("nothing")
    >>> separate_calls(nothing, 100) is nothing
    True
    """
    functions = function.reached()
    calls = Counter(callee for f in functions for op in f.body.walk() for callee in _callees(op).values())
    if all(count == 1 for count in calls.values()) or inlined_size(functions) > most:
        return function
    return _copy(function)


def _callees(op: Op) -> dict[str, Function]:
    """Return the functions that an op calls, by its attributes' names."""
    if op.definition is control_flow.CALL:
        return {"callee": op.attributes["callee"]}
    if op.definition is control_flow.COMPOSITE and op.attributes["name"] in LOOPS:
        return {"decomposition": op.attributes["decomposition"]}
    return {}


def _copy(source: Function) -> Function:
    copy = Function(source.name, _copy_region(source.body, {}), visibility=source.visibility)
    copy.location, copy.attributes = source.location, source.attributes
    return copy


def _copy_region(source: Region, values: dict[Value, Value]) -> Region:
    target = Region([v.type for v in source.arguments])
    values.update(zip(source.arguments, target.arguments, strict=True))
    for op in source.ops:
        attributes = {**op.attributes, **{name: _copy(callee) for name, callee in _callees(op).items()}}
        regions = [_copy_region(inner, values) for inner in op.regions]
        types = [v.type for v in op.results]
        copy = Op(op.definition, [values[v] for v in op.operands], attributes, regions, types, op.location)
        values.update(zip(op.results, copy.results, strict=True))
        target.ops.append(copy)
    target.returns = [values[v] for v in source.returns]
    return target
