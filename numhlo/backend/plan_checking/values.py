"""Which values are the same elements in the same order, so that one buffer holds all of them.

By what ops mean, not by what the planner makes of them: a reshape, a transposition of extents of 1, a window that is
everything, a part of a loop's state that each iteration hands on as it is, what all branches give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.control_flow import CASE, COMPOSITE, IF, OPTIMIZATION_BARRIER, WHILE
from numhlo.lowering.ops.conversion import CONVERT
from numhlo.lowering.ops.creation import CONSTANT, IOTA, make_iota
from numhlo.lowering.ops.indexing import DYNAMIC_SLICE, DYNAMIC_UPDATE_SLICE
from numhlo.lowering.ops.layout import BROADCAST_IN_DIM, CONCATENATE, PAD, RESHAPE, REVERSE, SLICE, TRANSPOSE
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.ops.sorting import SORT

Rule: TypeAlias = Callable[[Op], Value | None]

WINDOWS = "windows"
"""The planner's own op for all windows of an array."""

ANYTHING = "numhlo.unwritten"
"""The composite whose result is memory as it is: whatever lies there is right."""


def _whole(op: Op) -> Value | None:
    """Return the operand if the result is all of it, in its order."""
    return op.operands[0] if op.operands[0].tensor.size == op.result.tensor.size else None


def _spread(op: Op) -> Value | None:
    shape = op.operands[0].tensor.shape
    places = [dim for dim, extent in zip(op.attributes["broadcast_dimensions"], shape, strict=True) if extent != 1]
    return _whole(op) if places == sorted(places) else None


def _turned(op: Op) -> Value | None:
    shape = op.operands[0].tensor.shape
    axes = [axis for axis in op.attributes["permutation"] if shape[axis] != 1]
    return op.operands[0] if axes == sorted(axes) else None


def _reversed(op: Op) -> Value | None:
    shape = op.operands[0].tensor.shape
    return op.operands[0] if all(shape[dim] == 1 for dim in op.attributes["dimensions"]) else None


def _converted(op: Op) -> Value | None:
    return op.operands[0] if op.operands[0].tensor.dtype == op.result.tensor.dtype else None


def _updated(op: Op) -> Value | None:
    return op.operands[0] if op.operands[1].tensor.size == 0 else None


def _joined(op: Op) -> Value | None:
    return next((v for v in op.operands if v.tensor.size == op.result.tensor.size), None)


def _padded(op: Op) -> Value | None:
    padding = (*op.attributes["edge_padding_low"], *op.attributes["interior_padding"])
    return None if any(padding) else _whole(op)


def _windowed(op: Op) -> Value | None:
    """Return the operand if its windows, one after the other, are its elements in their order."""
    operand = op.operands[0]
    if operand.tensor.size != op.result.tensor.size:
        return None
    positions = np.arange(operand.tensor.size)
    (found,) = op.definition.evaluate([positions.reshape(operand.tensor.shape)], op.attributes, ())
    return operand if np.array_equal(np.asarray(found).reshape(-1), positions) else None


RULES: dict[Primitive, Rule] = {
    RESHAPE: _whole,
    BROADCAST_IN_DIM: _spread,
    TRANSPOSE: _turned,
    SLICE: _whole,
    DYNAMIC_SLICE: _whole,
    REVERSE: _reversed,
    CONVERT: _converted,
    DYNAMIC_UPDATE_SLICE: _updated,
    CONCATENATE: _joined,
    PAD: _padded,
}
"""The operand whose elements an op's only result has, in the same order; None if it has others."""


class Roots:
    """Stands for all values that are the same elements in the same order: the first of them."""

    def __init__(self) -> None:
        self._known: dict[Value, Value] = {}
        self._within: dict[Value, Value] = {}

    def enter(self, loop: Op) -> None:
        """Take note of which parts of a loop's state never change: its regions' arguments are the operands then."""
        condition, body = loop.regions
        for number in range(len(loop.operands)):
            if self._is_unchanged(loop, number):
                for region in (condition, body):
                    self._known[region.arguments[number]] = self.of(loop.operands[number])

    def of(self, value: Value) -> Value:
        """Return the value that stands for a value."""
        found = self._known.get(value)
        if found is None:
            below = self._below(value, self.of)
            found = self._known[value] = value if below is None else self.of(below)
        return found

    def within(self, value: Value) -> Value:
        """Return the value that stands for one where nothing is known of the arguments of regions."""
        found = self._within.get(value)
        if found is None:
            below = self._below(value, self.within)
            found = self._within[value] = value if below is None else self.within(below)
        return found

    def _is_unchanged(self, loop: Op, number: int) -> bool:
        """Return whether each iteration hands a part of a loop's state on as it is."""
        body = loop.regions[1]
        return self.within(body.returns[number]) is body.arguments[number]

    def _below(self, value: Value, root: Callable[[Value], Value]) -> Value | None:
        """Return a value that has the same elements, if there is one further up."""
        op = value.owner
        if not isinstance(op, Op):
            return None
        number = op.results.index(value)
        if op.definition is WHILE:
            return op.operands[number] if self._is_unchanged(op, number) else None
        if op.definition in (IF, CASE):
            given = {root(region.returns[number]) for region in op.regions}
            return given.pop() if len(given) == 1 < len(op.regions) else None  # from outside, as two regions give it
        if op.definition is SORT and op.operands[0].tensor.shape[op.attributes["dimension"]] == 1:
            return op.operands[number]
        if op.definition is OPTIMIZATION_BARRIER:
            return op.operands[number]
        if op.definition.dialect == "numhlo" and op.definition.name == WINDOWS:
            return _windowed(op)
        rule = RULES.get(op.definition)
        return None if rule is None else rule(op)


def parts_in_use(loop: Op) -> set[int]:
    """Return the numbers of the parts of a loop's state that its iterations need."""
    condition, body = loop.regions
    used = {value for region in loop.regions for op in region.ops for value in used_by(op)} | {*condition.returns}
    for argument, returned in zip(body.arguments, body.returns, strict=True):
        if returned is not argument:
            used.add(returned)
    pairs = enumerate(zip(condition.arguments, body.arguments, strict=True))
    return {number for number, arguments in pairs if not used.isdisjoint(arguments)}


def is_anything(value: Value) -> bool:
    """Return whether whatever lies in memory is right for a value: it has no elements, or nobody has written them."""
    if value.tensor.size == 0:
        return True
    op = value.owner
    return isinstance(op, Op) and op.definition is COMPOSITE and op.attributes["name"] == ANYTHING


def constant_of(value: Value) -> np.ndarray | None:
    """Return the elements of a value that a program has from the start."""
    op = value.owner
    if not isinstance(op, Op):
        return None
    if op.definition is CONSTANT:
        return np.asarray(op.attributes["value"])
    if op.definition is IOTA:
        type = op.result.tensor
        return make_iota(type.shape, type.dtype, op.attributes["iota_dimension"])
    return None


def values_inside(*regions: Region) -> frozenset[Value]:
    """Return the values that regions define, each iteration anew."""
    return frozenset(_inside(regions))


def _inside(regions: tuple[Region, ...]) -> Iterator[Value]:
    for region in regions:
        yield from region.arguments
        for op in region.ops:
            yield from op.results
            yield from _inside(tuple(op.regions))


def used_by(op: Op) -> list[Value]:
    """Return the values that an op needs: its operands, and what its regions use from outside."""
    return [*op.operands, *free_values(op)] if op.regions else op.operands
