"""What iterations of a loop compute of rows of arrays from outside, and of nothing else: of all rows before the loop.

``log(u[i])`` in an iteration of single numbers is scalar code that the iteration waits for. ``log(u)`` before the loop
is SIMD code, and an iteration loads its row of it. That holds for every index, so nothing has to be known of its moves;
but that there are as many iterations as rows, for nobody to wait for rows that no iteration reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from numhlo.backend.emit.elementwise import COSTS
from numhlo.backend.emit.support import emits_element
from numhlo.lowering.analysis.loops import trip_count
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.control_flow import COMPOSITE, WHILE
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.indexing import DYNAMIC_SLICE
from numhlo.lowering.ops.layout import BROADCAST_IN_DIM, RESHAPE, SLICE
from numhlo.lowering.ops.primitive import make_op

DEAR = 20
"""What an op costs for each element that is worth an array in memory."""

MOST_IN_ROW = 16
"""Elements of a row; those of longer ones are SIMD code in the iteration."""

FEWEST_ROWS = 16
MOST_ELEMENTS = 1 << 20
"""Of an array that is computed before a loop."""


def has_rows_ahead(op: Op) -> bool:
    """Return whether a loop might compute something for all its iterations at once, as far as a glance at it tells."""
    return op.definition is WHILE and any(map(_is_dear, op.regions[1].ops))


def _is_dear(op: Op) -> bool:
    return COSTS.get(op.definition, 1) >= DEAR and op.result.tensor.size <= MOST_IN_ROW


def compute_rows_ahead(region: Region) -> int:
    """Move what loops compute of rows in front of them, in a region that nobody else holds; return how many values.

    The ops that nothing needs then stay.
    """
    moved = 0
    ops: list[Op] = []
    for op in region.ops:
        for inner in op.regions:
            moved += compute_rows_ahead(inner)
        if op.regions and has_rows_ahead(op):
            moved += Rows(op, ops).move()
        ops.append(op)
    region.ops = ops
    return moved


class Rows:
    """What one loop computes of rows.

    Parameters
    ----------
    loop : Op
    before : list of Op
        Takes the ops that compute arrays.
    """

    def __init__(self, loop: Op, before: list[Op]) -> None:
        self.loop, self.before = loop, before
        body = loop.regions[1]
        self.inside = {value for op in body.ops for value in op.results}
        self.outside = {a: v for a, v, r in zip(body.arguments, loop.operands, body.returns, strict=True) if a is r}
        self.changing = {a for a in body.arguments if a not in self.outside}
        self.index: dict[Value, Value] = {}
        self.costs: dict[Value, int] = {}
        self.arrays: dict[Value, Value] = {}
        self.fixed: set[Value] = set()
        self.copies: dict[Value, Value] = {}
        self.new: set[Op] = set()

    def move(self) -> int:
        """Move all that is worth it, and return how many values that are."""
        body = self.loop.regions[1]
        self.note_all()
        rows = {value: self._row(value) for value in self._wanted(body)}
        if rows:
            _replace(body, rows)
        return len(rows)

    def note_all(self) -> None:
        """Note all ops of iterations that compute of rows alone, if it is known how many iterations there are."""
        trips = trip_count(self.loop)
        for op in self.loop.regions[1].ops if trips is not None else ():
            if op.definition is CONSTANT or (is_moved(op) and all(map(self.is_fixed, op.operands))):
                self.fixed.add(op.result)
            elif trips is not None and self._is_of_rows(op, trips):
                self.note(op)

    def _is_of_rows(self, op: Op, trips: int) -> bool:
        """Return whether an op reads a row of an array from outside, or computes of rows at one index only."""
        if op.definition is DYNAMIC_SLICE:
            return op.result.tensor.size <= MOST_IN_ROW and self._reads_row(op, trips)
        if not is_moved(op):
            return False
        rows = [value for value in op.operands if value in self.index]
        if not rows or any(value not in self.index and not self.is_fixed(value) for value in op.operands):
            return False
        return len({(self.index[value], self.count(value)) for value in rows}) == 1

    def _reads_row(self, op: Op, trips: int) -> bool:
        array, first, *others = op.operands
        shape = array.tensor.shape
        whole = op.result.tensor.shape == (1, *shape[1:]) and all(map(_is_zero, others))
        if not whole or not self._is_outer(array) or self.is_fixed(first):
            return False
        return FEWEST_ROWS <= shape[0] <= trips and array.tensor.size <= MOST_ELEMENTS

    def _is_outer(self, value: Value) -> bool:
        return value not in self.inside and value not in self.changing

    def is_fixed(self, value: Value) -> bool:
        """Return whether a value is the same in all iterations, and can be made before the loop."""
        return value in self.fixed or self._is_outer(value)

    def is_at(self, value: Value, index: Value, count: int) -> bool:
        """Return whether a value is computed of rows at an index alone, of arrays of ``count`` rows."""
        return self.index.get(value) is index and self.count(value) == count

    def take(self, value: Value, index: Value, array: Value) -> None:
        """Take an array for all rows of a value, which an iteration knows as that at an index."""
        self.index[value], self.arrays[value], self.costs[value] = index, array, 0

    def count(self, value: Value) -> int:
        """Return how many rows there are of a value."""
        return self.arrays[value].tensor.shape[0]

    def note(self, op: Op) -> None:
        """Make the op of all rows, and note what a row costs; it is appended where somebody wants it."""
        result, cost = op.result, COSTS.get(op.definition, 1)
        if op.definition is DYNAMIC_SLICE:
            array = self._outer(op.operands[0])
            shape = (array.tensor.shape[0], *result.tensor.shape)
            shaped = make_op(RESHAPE, [array], results=[array.tensor.with_shape(shape)])
            self.take(result, op.operands[1], self.make(shaped))
            return
        row = next(value for value in op.operands if value in self.index)
        count = self.count(row)
        self.index[result] = self.index[row]
        self.costs[result] = cost + sum(self.costs.get(value, 0) for value in op.operands)
        operands = [self.arrays[v] if v in self.arrays else self._repeated(v, count) for v in op.operands]
        attributes = dict(op.attributes)
        if op.definition is BROADCAST_IN_DIM:
            attributes["broadcast_dimensions"] = (0, *(d + 1 for d in attributes["broadcast_dimensions"]))
        elif op.definition is SLICE:
            for name, number in (("start_indices", 0), ("limit_indices", count), ("strides", 1)):
                attributes[name] = (number, *attributes[name])
        type = result.tensor.with_shape((count, *result.tensor.shape))
        self.arrays[result] = self.make(Op(op.definition, operands, attributes, [], [type], op.location))

    def make(self, op: Op) -> Value:
        """Return the result of a new op, which `append` appends if it is needed."""
        self.new.add(op)
        return op.result

    def _outer(self, value: Value) -> Value:
        """Return what a value that is the same in all iterations is outside."""
        op = value.owner
        if not isinstance(op, Op) or value not in self.inside:
            return self.outside.get(value, value)
        if value not in self.copies:
            operands = [self._outer(operand) for operand in op.operands]
            self.copies[value] = self.make(Op(op.definition, operands, op.attributes, [], [value.type], op.location))
        return self.copies[value]

    def _repeated(self, value: Value, count: int) -> Value:
        """Return an array whose rows are all the same."""
        outer, type = self._outer(value), value.tensor
        dimensions = tuple(range(1, type.ndim + 1))
        results = [type.with_shape((count, *type.shape))]
        return self.make(make_op(BROADCAST_IN_DIM, [outer], {"broadcast_dimensions": dimensions}, results=results))

    def _wanted(self, body: Region) -> Iterator[Value]:
        """Yield the dear values that something needs which is not moved itself."""
        users: set[Value] = set(body.returns)
        for op in body.ops:
            if len(op.results) != 1 or op.result not in self.index:
                users.update([*op.operands, *(free_values(op) if op.regions else ())])
        yield from (value for value, cost in self.costs.items() if cost >= DEAR and value in users)

    def _row(self, value: Value) -> list[Op]:
        """Append what computes an array, and return the ops that read a row of it in an iteration."""
        array, index = self.arrays[value], self.index[value]
        self.append(array)
        zero = make_op(CONSTANT, [], {"value": np.zeros((), index.tensor.dtype)})
        starts = [index, *[zero.result] * value.tensor.ndim]
        row = make_op(DYNAMIC_SLICE, [array, *starts], {"slice_sizes": (1, *value.tensor.shape)})
        return [zero, row, make_op(RESHAPE, [row.result], results=[value.type])]

    def append(self, value: Value) -> None:
        """Append the new ops that a value needs."""
        op = value.owner
        if isinstance(op, Op) and op in self.new:
            self.new.remove(op)
            for operand in op.operands:
                self.append(operand)
            self.before.append(op)


def is_moved(op: Op) -> bool:
    """Return whether there is a way to do an op for all rows: few elements, each computed of those at its place."""
    if op.definition in (RESHAPE, BROADCAST_IN_DIM, SLICE):
        return op.result.tensor.size <= MOST_IN_ROW
    if op.definition is COMPOSITE or len(op.results) != 1 or not emits_element(op):
        return False
    shape = op.result.tensor.shape
    return op.result.tensor.size <= MOST_IN_ROW and all(v.tensor.shape == shape for v in op.operands)


def _is_zero(value: Value) -> bool:
    op = value.owner
    return isinstance(op, Op) and op.definition is CONSTANT and not np.any(op.attributes["value"])


def _replace(body: Region, rows: Mapping[Value, Sequence[Op]]) -> None:
    """Let a region use other values for some of its own; what makes them takes the place of what made these."""
    made = {value.owner: ops for value, ops in rows.items()}
    body.ops = [new for op in body.ops for new in made.get(op, [op])]
    known = {value: ops[-1].result for value, ops in rows.items()}
    for op in body.walk():
        op.operands = [known.get(v, v) for v in op.operands]
    for region in [body, *(inner for op in body.walk() for inner in op.regions)]:
        region.returns = [known.get(v, v) for v in region.returns]
