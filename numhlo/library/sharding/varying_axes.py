"""Which values differ along the axes of a mesh, found from the graph of one device's function.

A value that is computed from what all devices along an axis have alike is the same on all of them; sums and extrema
over the axis are, too. That is what results must be that a specification spreads over no axis, and it decides what
becomes of the corrections of cotangents (`numhlo.tracer.core.named_axes`). Functions are copied once for each set of
arguments that differ, since one body may be used with several.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Function, Op, Region, Value
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops import control_flow, layout
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.loops import loop_body, make_map, make_scan
from numhlo.tracer.building.named_axes import (
    CORRECTIONS,
    AxisName,
    Collective,
    attributes_of,
    collective_of,
    custom_rule,
    set_rule,
)

Axes = frozenset[AxisName]
"""Names of those along which a value differs."""

NONE: Axes = frozenset()

REDUCING = frozenset({"psum", "pmax", "pmin"})
"""Collectives whose results are the same on all devices along their axis; what others give counts as different."""


def resolve(
    function: Function, arguments: Sequence[Axes], names: Collection[AxisName], is_checked: bool
) -> tuple[Function, list[Axes]]:
    """Return a function without corrections of cotangents, and along which axes its results differ.

    Parameters
    ----------
    function : Function
        What one device does.
    arguments : sequence of frozenset
        Along which axes the arguments differ.
    names : collection of hashable
        Of the axes that are meant. Corrections along others, of a mesh around, stay.
    is_checked : bool
        Whether rules of users for cotangents rely on it, too.

    Raises
    ------
    ArgumentError
        If a cotangent differs from device to device, and what it belongs to does not.
    """
    return _Copies(names, is_checked).function(function, arguments)


class _Copies:
    """The copies of functions, by what of their arguments differs."""

    def __init__(self, names: Collection[AxisName], is_checked: bool) -> None:
        self.names, self.is_checked = names, is_checked
        self.known: dict[tuple[Function, tuple[Axes, ...]], tuple[Function, list[Axes]]] = {}
        self.corrects: dict[Function, bool] = {}

    def function(self, source: Function, arguments: Sequence[Axes]) -> tuple[Function, list[Axes]]:
        """Return a copy of a function, itself where nothing is to be done, and along which axes results differ."""
        key = source, tuple(arguments)
        if key not in self.known:
            walk = _Walk(self, FunctionBuilder(source.name, source.argument_types))
            walk.define(source.body.arguments, walk.builder.arguments, arguments)
            walk.fill(source.body)
            found = [walk.axes[v] for v in source.body.returns]
            copy = source
            if self.is_concerned(source):
                returns = [walk.values[v] for v in source.body.returns]
                copy = walk.builder.finish(returns, visibility=source.visibility).described_as(source)
            self.known[key] = copy, found
        return self.known[key]

    def is_concerned(self, source: Function) -> bool:
        """Return whether a function, or one that it reaches, has corrections, or rules that make some."""
        if source not in self.corrects:
            self.corrects[source] = any(self._changes(op) for f in source.reached() for op in f.body.walk())
        return self.corrects[source]

    def _changes(self, op: Op) -> bool:
        if op.definition is control_flow.COMPOSITE:
            return self.is_checked and custom_rule(op) is not None
        if op.definition is not control_flow.CUSTOM_CALL:
            return False
        collective = collective_of(op)
        return collective is not None and collective.kind in CORRECTIONS


class _Walk:
    """One function being copied: for each value its copy, and along which axes it differs."""

    def __init__(self, copies: _Copies, builder: FunctionBuilder) -> None:
        self.copies, self.builder = copies, builder
        self.values: dict[Value, Value] = {}
        self.axes: dict[Value, Axes] = {}

    def define(self, values: Sequence[Value], made: Sequence[Value], axes: Sequence[Axes]) -> None:
        """Note what values have become."""
        self.values.update(zip(values, made, strict=True))
        self.axes.update(zip(values, axes, strict=True))

    def fill(self, region: Region) -> None:
        """Append the copies of a region's ops."""
        for op in region.ops:
            operands = [self.values[v] for v in op.operands]
            self.define(op.results, *self.op(op, operands, [self.axes[v] for v in op.operands]))

    def op(self, op: Op, operands: list[Value], axes: list[Axes]) -> tuple[Sequence[Value], Sequence[Axes]]:
        """Append the copy of an op, and return its results, and along which axes they differ."""
        if op.definition is control_flow.CUSTOM_CALL and (collective := collective_of(op)) is not None:
            return self._collective(op, collective, operands, axes)
        if op.definition is control_flow.CALL:
            callee, found = self.copies.function(op.attributes["callee"], axes)
            return self._again(op, operands, {**op.attributes, "callee": callee}), found
        if op.definition is control_flow.COMPOSITE:
            return self._composite(op, operands, axes)
        if op.definition is control_flow.WHILE:
            return self._while(op, operands, axes)
        if op.definition in (control_flow.IF, control_flow.CASE):
            branches = [self._region(region, []) for region in op.regions]
            joined = [axes[0].union(*flags) for flags in zip(*[found for _, found in branches], strict=True)]
            return self._again(op, operands, op.attributes, [region for region, _ in branches]), joined
        around = [self.axes[v] for v in free_values(op)] if op.regions else []
        everywhere: Axes = NONE.union(*axes, *around)
        inside = [self._region(r, [everywhere] * len(r.arguments))[0] for r in op.regions]
        return self._again(op, operands, op.attributes, inside), [everywhere] * len(op.results)

    def _again(
        self, op: Op, operands: Sequence[Value], attributes: Mapping[str, Any], regions: Sequence[Region] = ()
    ) -> list[Value]:
        types = [v.type for v in op.results]
        return self.builder.append(Op(op.definition, operands, attributes, regions, types, op.location))

    def _region(self, region: Region, axes: Sequence[Axes]) -> tuple[Region, list[Axes]]:
        def write(*arguments: Value) -> list[Value]:
            self.define(region.arguments, arguments, axes)
            self.fill(region)
            return [self.values[v] for v in region.returns]

        copy = self.builder.region([v.type for v in region.arguments], write)
        return copy, [self.axes[v] for v in region.returns]

    def _collective(
        self, op: Op, collective: Collective, operands: list[Value], axes: list[Axes]
    ) -> tuple[Sequence[Value], Sequence[Axes]]:
        name = collective.name
        if collective.kind not in CORRECTIONS:
            others = axes[0] if axes else NONE
            found = others - {name} if collective.kind in REDUCING else others | {name}
            return self._again(op, operands, op.attributes), [found]
        cotangent, type = operands[0], op.results[0].tensor
        if name not in self.copies.names:
            return self._again(op, operands, op.attributes), axes[:1]
        if name in axes[1]:  # a cotangent differs where its value does
            return [cotangent], [axes[0] | {name}]
        if collective.kind == "total":
            total = attributes_of(Collective("psum", name, collective.size))
            made = Op(control_flow.CUSTOM_CALL, [cotangent], total, (), [type], op.location)
            return self.builder.append(made), [axes[0] - {name}]
        if name in axes[0]:
            raise ArgumentError(
                f"a cotangent differs along the axis {name!r}, and what it belongs to does not",
                where=op.location,
                why="what is the same on all devices has one cotangent",
                fix=f"add those of the devices by lax.psum(x, {name!r})",
            )
        size = self.builder.constant(np.asarray(collective.size).astype(type.dtype))
        wide = self.builder.op(layout.BROADCAST_IN_DIM, size, result=type, broadcast_dimensions=())
        return [self.builder.op(ops.DIVIDE, cotangent, wide)], axes[:1]

    def _composite(self, op: Op, operands: list[Value], axes: list[Axes]) -> tuple[Sequence[Value], Sequence[Axes]]:
        decomposition, attributes = op.attributes["decomposition"], dict(op.attributes)
        rule = custom_rule(op)
        if rule is not None:
            copy, found = self.copies.function(decomposition, axes)
            if self.copies.is_checked:
                again = Function(copy.name, copy.body, visibility=copy.visibility).described_as(copy)
                set_rule(again, rule.among_devices(axes, found))
                attributes["decomposition"] = again
            return self._again(op, operands, attributes), found
        if op.attributes["name"] not in ("numhlo.scan", "numhlo.map"):
            attributes["decomposition"], found = self.copies.function(decomposition, axes)
            return self._again(op, operands, attributes), found
        p, body = attributes["composite_attributes"], loop_body(op)
        first, count = p["num_consts"], p.get("num_carries", 0)
        while True:
            copy, found = self.copies.function(body, axes)
            after = [a | b for a, b in zip(axes[first : first + count], found, strict=False)]
            if after == axes[first : first + count]:
                break
            axes = [*axes[:first], *after, *axes[first + count :]]
        if copy is not body:
            is_map = op.attributes["name"] == "numhlo.map"
            attributes["decomposition"] = (
                make_map(copy, p["lanes"], first)
                if is_map
                else make_scan(copy, p["length"], first, count, p["reverse"])
            )
        return self._again(op, operands, attributes), [*axes[first : first + count], *found[count:]]

    def _while(self, op: Op, operands: list[Value], axes: list[Axes]) -> tuple[Sequence[Value], Sequence[Axes]]:
        condition, body = op.regions
        while True:
            test, (differs,) = self._region(condition, axes)
            step, found = self._region(body, axes)
            after = [a | b | differs for a, b in zip(axes, found, strict=True)]
            if after == axes:
                return self._again(op, operands, op.attributes, [test, step]), axes
            axes = after
