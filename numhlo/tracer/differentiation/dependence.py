"""Which values of a linear graph some of its results depend on, found from its structure, without tracing anything.

Backwards a loop or branch must know that before its body is transposed: what it carries for nobody has no cotangent,
and not one that is zeros. Each body is looked at once for every set of results that are wanted.
Next: `loops` and `control_flow`, which ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Function, Op, Region, Value
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.loops import loop_body
from numhlo.tracer.core.custom_rules import custom_rule


class Dependence:
    """Marks values that others depend on.

    Parameters
    ----------
    wanted : iterable of Value
        Those others.
    """

    def __init__(self, wanted: Iterable[Value] = ()) -> None:
        self.values = set(wanted)
        self.known: dict[tuple[Function, tuple[bool, ...]], list[bool]] = {}

    def of_region(self, region: Region) -> list[bool]:
        """Return which arguments of a region are depended on, and mark values inside, and around it."""
        for op in reversed(region.ops):
            if not self.values.isdisjoint(op.results):
                self._of_op(op)
        return self._flags(region.arguments)

    def of_function(self, function: Function, wanted: Sequence[bool]) -> list[bool]:
        """Return which arguments of a function its wanted results depend on."""
        key = function, tuple(wanted)
        if key not in self.known:
            inner = Dependence(v for v, w in zip(function.body.returns, wanted, strict=True) if w)
            inner.known = self.known
            self.known[key] = inner.of_region(function.body)
        return self.known[key]

    def of_scan(self, body: Function, wanted: Sequence[bool], num_consts: int, num_carries: int) -> list[bool]:
        """Return which arguments of a scan's body are depended on: a carry that is, is wanted of every step."""
        after = list(wanted)
        while True:
            found = self.of_function(body, after)
            fresh = [k for k in range(num_carries) if found[num_consts + k] and not after[k]]
            if not fresh:
                return [f or a for f, a in zip(found, self._given(after, num_consts, num_carries, found), strict=True)]
            for k in fresh:
                after[k] = True

    @staticmethod
    def _given(wanted: Sequence[bool], num_consts: int, num_carries: int, found: Sequence[bool]) -> list[bool]:
        """Return which arguments are wanted themselves: carries, of a loop that may have no step."""
        rest = len(found) - num_consts - num_carries
        return [*[False] * num_consts, *wanted[:num_carries], *[False] * rest]

    def _flags(self, values: Sequence[Value]) -> list[bool]:
        return [v in self.values for v in values]

    def _of_op(self, op: Op) -> None:
        wanted = self._flags(op.results)
        if op.definition is control_flow.CALL:
            self._mark(op.operands, self.of_function(op.attributes["callee"], wanted))
        elif op.definition in (control_flow.IF, control_flow.CASE):
            self.of_branches(op, wanted)
        elif op.definition is control_flow.WHILE:
            self._of_while(op, wanted)
        elif _is_loop(op):
            p = op.attributes["composite_attributes"]
            self._mark(op.operands, self.of_scan(loop_body(op), wanted, p["num_consts"], p.get("num_carries", 0)))
        else:
            self.values.update((*op.operands, *(free_values(op) if op.regions else ())))

    def of_branches(self, op: Op, wanted: Sequence[bool]) -> None:
        """Mark what the wanted results of a branch depend on."""
        self.values.add(op.operands[0])
        for region in op.regions:
            self._mark(region.returns, wanted)
            self.of_region(region)

    def _of_while(self, op: Op, wanted: Sequence[bool]) -> None:
        condition, body = op.regions
        self.values.update((*condition.returns, *[v for v, w in zip(body.arguments, wanted, strict=True) if w]))
        self._mark(body.arguments, self.of_region(condition))
        count = -1
        while count != (count := len(self.values)):
            self._mark(body.returns, self._flags(body.arguments))
            self.of_region(body)
        self._mark(op.operands, self._flags(body.arguments))

    def _mark(self, values: Sequence[Value], flags: Sequence[bool]) -> None:
        self.values.update(v for v, f in zip(values, flags, strict=True) if f)


def _is_loop(op: Op) -> bool:
    if op.definition is not control_flow.COMPOSITE or custom_rule(op) is not None:
        return False
    return op.attributes["name"] in ("numhlo.scan", "numhlo.map")
