"""Which arrays of a loop are read or written at run-time positions: these live in memory, not in local variables.

An array is one thing under many names: what goes into a loop, the state inside, what comes out, and the results of
updates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import control_flow, indexing, layout

MOVED = frozenset({layout.RESHAPE, layout.TRANSPOSE, layout.SLICE, layout.REVERSE, layout.BROADCAST_IN_DIM})
READ = frozenset({indexing.DYNAMIC_SLICE, indexing.GATHER})
UPDATED = frozenset({indexing.DYNAMIC_UPDATE_SLICE, indexing.SCATTER})


class _Names:
    """Sets of values that are one array."""

    def __init__(self) -> None:
        self._parent: dict[Value, Value] = {}

    def find(self, value: Value) -> Value:
        """Return the value that stands for all names of an array."""
        parent = self._parent.setdefault(value, value)
        while parent is not value:
            self._parent[value] = self._parent.setdefault(parent, parent)
            value, parent = parent, self._parent[parent]
        return value

    def merge(self, values: Iterable[Value]) -> None:
        """Make some values names of one array."""
        first, *rest = values
        for value in rest:
            self._parent[self.find(value)] = self.find(first)

    def all_of(self, roots: set[Value]) -> set[Value]:
        """Return all names of some arrays."""
        return {value for value in list(self._parent) if self.find(value) in roots}


def indexed_values(scope: Op | Region) -> set[Value]:
    """Return the values, of a region or around an op and in its regions, that name arrays with run-time positions."""
    names = _Names()
    indexed: list[Value] = []
    region = Region() if isinstance(scope, Op) else scope
    if isinstance(scope, Op):
        region.ops.append(scope)
    for op in region.walk():
        if op.definition in READ:
            indexed.append(op.operands[0])
        elif op.definition in UPDATED:
            indexed.extend(op.operands[: len(op.results)])
        for same in _same_arrays(op):
            names.merge(same)
    return names.all_of({names.find(value) for value in indexed})


def updated_array(value: Value, region: Region) -> Value | None:
    """Return the array from outside a region of which a value is what updates in the region leave; None if of none.

    A branch updates an array if each of its sides does, or gives it as it was.
    """
    inside = set(region.ops)
    op = value.owner
    while isinstance(op, Op) and op in inside:
        number = op.results.index(value)
        if op.definition in (control_flow.IF, control_flow.CASE):
            sides = {updated_array(side.returns[number], side) for side in op.regions}
            given = sides.pop()
            if sides or given is None:
                return None
            value = given
        elif op.definition in UPDATED or op.definition is control_flow.WHILE:
            value = op.operands[number]
        else:
            return None
        op = value.owner
    return value


def _same_arrays(op: Op) -> Iterator[tuple[Value, ...]]:
    """Yield groups of values that are one array because of an op."""
    if op.definition in UPDATED:
        yield from zip(op.operands, op.results, strict=False)
    elif op.definition in MOVED:
        yield op.operands[0], op.result
    elif op.definition is control_flow.WHILE:
        condition, body = op.regions
        yield from zip(op.operands, op.results, condition.arguments, body.arguments, body.returns, strict=True)
    elif op.definition in (control_flow.IF, control_flow.CASE):
        for branch in op.regions:
            yield from zip(op.results, branch.returns, strict=True)
