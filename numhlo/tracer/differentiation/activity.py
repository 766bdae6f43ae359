"""Which values of a graph may have a tangent, found from its structure, without tracing anything.

Branches and loops must know that before their bodies are differentiated. Each body is looked at once for every set of
arguments with tangents, so the work is in proportion to the graph, however deeply it is nested. A value that is marked
may turn out to have the tangent zero; one that is not marked never has a tangent.
Next: `control_flow` and `loops`, which ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Function, Op, Region, Value
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.annotations import STOP_GRADIENT
from numhlo.lowering.ops.loops import loop_body
from numhlo.tracer.core.custom_rules import custom_rule
from numhlo.tracer.differentiation.table import Environment, is_differentiable

FLAT = (ops.SIGN, ops.FLOOR, ops.CEIL, ops.ROUND_NEAREST_EVEN, ops.ROUND_NEAREST_AFZ)
"""Piecewise constant functions of real numbers."""


class Activity:
    """Marks values that may have tangents.

    Parameters
    ----------
    active : iterable of Value
        Those that are known to have one.
    """

    def __init__(self, active: Iterable[Value] = ()) -> None:
        self.values = set(active)
        self.known: dict[tuple[Function, tuple[bool, ...]], list[bool]] = {}

    @classmethod
    def around(cls, op: Op, environment: Environment) -> Activity:
        """Return the activity that the values around an op have in a walk."""
        return cls(v for v in (*op.operands, *free_values(op)) if environment[v].tangent is not None)

    def of_results(self, op: Op) -> list[bool]:
        """Return which results of an op may have tangents; its operands, and what its bodies use, are marked."""
        if op.definition is control_flow.CALL:
            found = self.of_function(op.attributes["callee"], self.flags(op.operands))
        elif op.definition is control_flow.COMPOSITE:
            found = self._of_composite(op)
        elif op.definition in (control_flow.IF, control_flow.CASE):
            branches = [self.of_region(region) for region in op.regions]
            found = [any(flags) for flags in zip(*branches, strict=True)]
        elif op.definition is control_flow.WHILE:
            found = self.of_while(op)
        else:
            found = [self._reaches(op)] * len(op.results)
        return [f and is_differentiable(v.tensor.dtype) for f, v in zip(found, op.results, strict=True)]

    def flags(self, values: Sequence[Value]) -> list[bool]:
        """Return which values are marked."""
        return [v in self.values for v in values]

    def of_region(self, region: Region) -> list[bool]:
        """Return which results of a region may have tangents, and mark values inside."""
        for op in region.ops:
            self.values.update(v for v, f in zip(op.results, self.of_results(op), strict=True) if f)
        return self.flags(region.returns)

    def of_while(self, op: Op) -> list[bool]:
        """Return which carries of a while loop may have tangents: initially, or after some step."""
        body = op.regions[1]
        self.values.update(v for v, f in zip(body.arguments, self.flags(op.operands), strict=True) if f)
        while True:
            fresh = [v for v, f in zip(body.arguments, self.of_region(body), strict=True) if f and v not in self.values]
            if not fresh:
                return self.flags(body.arguments)
            self.values.update(fresh)

    def of_function(self, function: Function, active: Sequence[bool]) -> list[bool]:
        """Return which results of a function may have tangents, given which arguments do."""
        key = function, tuple(active)
        if key not in self.known:
            inner = Activity(v for v, a in zip(function.body.arguments, active, strict=True) if a)
            inner.known = self.known
            self.known[key] = inner.of_region(function.body)
        return self.known[key]

    def of_scan(self, body: Function, active: Sequence[bool], carries: range) -> list[bool]:
        """Return which arguments of a scan's body may have tangents: those given, and carries that get one."""
        after = list(active)
        while True:
            found = self.of_function(body, after)
            fresh = [k for k, f in zip(carries, found, strict=False) if f and not after[k]]
            if not fresh:
                return after
            for k in fresh:
                after[k] = True

    def _of_composite(self, op: Op) -> list[bool]:
        name = op.attributes["name"]
        if custom_rule(op) is None and name in ("numhlo.scan", "numhlo.map"):
            p, body = op.attributes["composite_attributes"], loop_body(op)
            first = p["num_consts"]
            carries = range(first, first + p.get("num_carries", 0))
            return self.of_function(body, self.of_scan(body, self.flags(op.operands), carries))
        return [name != STOP_GRADIENT.name and self._reaches(op)] * len(op.results)

    def _reaches(self, op: Op) -> bool:
        if op.definition in FLAT and op.operands[0].tensor.dtype.kind != "c":
            return False
        outer = free_values(op) if op.regions else []
        return any(v in self.values for v in (*op.operands, *outer))
