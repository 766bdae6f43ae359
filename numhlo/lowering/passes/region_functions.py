"""Regions as functions of their own, whose first arguments are what they used from outside."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.ir import Function, Op, Region, Value
from numhlo.lowering.ops.builder import FunctionBuilder


def as_function(body: Region, captured: Sequence[Value]) -> Function:
    """Return a body as a function that takes what it used from outside as first arguments.

    Examples
    --------
    >>> as_function(Region(), [])
    <function @computation() -> ()>
    """
    b = FunctionBuilder("computation", [v.type for v in (*captured, *body.arguments)])
    values = dict(zip((*captured, *body.arguments), b.arguments, strict=True))
    _copy_ops(b, body, values)
    return b.finish([values[v] for v in body.returns])


def _copy_ops(b: FunctionBuilder, body: Region, values: dict[Value, Value]) -> None:
    for op in body.ops:
        regions = [_copy_region(b, region, values) for region in op.regions]
        types = [v.type for v in op.results]
        made = Op(op.definition, [values[v] for v in op.operands], op.attributes, regions, types, op.location)
        values.update(zip(op.results, b.append(made), strict=True))


def _copy_region(b: FunctionBuilder, source: Region, values: dict[Value, Value]) -> Region:
    def write(*arguments: Value) -> list[Value]:
        values.update(zip(source.arguments, arguments, strict=True))
        _copy_ops(b, source, values)
        return [values[v] for v in source.returns]

    return b.region([v.type for v in source.arguments], write)
