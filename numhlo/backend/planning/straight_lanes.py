"""Maps whose lanes are straight code with cheap choices, as elementwise ops on all lanes.

A branch that costs less than asking who takes it is computed for every lane, and a select chooses. Fusion then sees
plain ops, where a map is a kernel of its own and all it reads and writes is in memory. Knows ops only; what has loops,
or dear branches, is `mapped`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numhlo.backend.emit.elementwise import COSTS
from numhlo.backend.emit.lanes.values import CHEAP
from numhlo.backend.emit.support import emits_element
from numhlo.backend.planning.writing import Writer
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ops.comparison import COMPARE, SELECT
from numhlo.lowering.ops.control_flow import CASE, COMPOSITE, IF
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.layout import BROADCAST_IN_DIM
from numhlo.lowering.ops.loops import loop_body

Append = Callable[[Op], None]


def is_straight(op: Op) -> bool:
    """Return whether an op is a map whose lanes are elementwise ops and cheap branches of such."""
    return (
        op.definition is COMPOSITE
        and op.attributes["name"] == "numhlo.map"
        and _cost(loop_body(op).body, inside=False) is not None
    )


def _cost(region: Region, *, inside: bool) -> int | None:
    """Return the operations for an element of a region's results; None where it is not straight."""
    total = 0
    for op in region.ops:
        if op.definition in (IF, CASE):
            costs = [_cost(inner, inside=True) for inner in op.regions]
            if None in costs:
                return None
            total += sum(cost for cost in costs if cost is not None)
        elif op.definition in (CONSTANT, BROADCAST_IN_DIM):
            continue
        elif op.definition is COMPOSITE or not emits_element(op):
            return None
        else:
            total += COSTS.get(op.definition, 1)
    return None if inside and total > CHEAP else total


def straighten(op: Op, operands: Sequence[Value], append: Append) -> list[Value]:
    """Append the elementwise ops, and return what stands for the map's results.

    Parameters
    ----------
    op : Op
        A map that `is_straight`.
    operands : sequence of Value
    append : callable
    """
    parameters, body = op.attributes["composite_attributes"], loop_body(op).body
    writer = _Lanes(parameters["lanes"], append)
    pairs = list(zip(body.arguments, operands, strict=True))
    writer.same.update(pairs[: parameters["num_consts"]])
    writer.wide.update(pairs[parameters["num_consts"] :])
    writer.region(body)
    return [writer.widened(v, v.tensor.shape) for v in body.returns]


class _Lanes(Writer):
    """Appends the ops of a lane for all lanes; what is the same for all of them is computed once."""

    def __init__(self, lanes: int, append: Append) -> None:
        super().__init__(append)
        self.lanes = lanes
        self.same: dict[Value, Value] = {}
        self.wide: dict[Value, Value] = {}

    def region(self, region: Region) -> None:
        """Append a region's ops."""
        for op in region.ops:
            if op.definition in (IF, CASE):
                self._choose(op)
            elif op.definition is BROADCAST_IN_DIM and op.operands[0] in self.wide:
                self.wide[op.result] = self._broadcast(op)
            elif any(v in self.wide for v in op.operands):
                operands = [self.widened(v, op.result.tensor.shape) for v in op.operands]
                self.wide[op.result] = self._copied(op, operands, self._stacked(op.result.tensor.shape, op.result))
            else:
                self.same[op.result] = self._copied(op, [self.same[v] for v in op.operands], op.result.tensor)

    def _stacked(self, shape: Sequence[int], value: Value) -> TensorType:
        return TensorType((self.lanes, *shape), value.tensor.dtype)

    def _copied(self, op: Op, operands: list[Value], type: TensorType) -> Value:
        return self.append(Op(op.definition, operands, op.attributes, [], [type], op.location))[0]

    def _broadcast(self, op: Op) -> Value:
        dimensions = (0, *(dim + 1 for dim in op.attributes["broadcast_dimensions"]))
        return self.spread(self.wide[op.operands[0]], (self.lanes, *op.result.tensor.shape), dimensions)

    def widened(self, value: Value, shape: Sequence[int]) -> Value:
        """Return a value of all lanes, in the shape of what it is used with: scalars are used with arrays."""
        found = self.wide.get(value)
        if found is not None and value.tensor.shape == tuple(shape):
            return found
        source = self.same[value] if found is None else found
        ndim = value.tensor.ndim
        dimensions = tuple(range(1, ndim + 1)) if found is None else tuple(range(ndim + 1))
        return self.spread(source, (self.lanes, *shape), dimensions)

    def _choose(self, op: Op) -> None:
        """Append all branches, and the choices between their results."""
        (index,) = op.operands
        for region in op.regions:
            self.region(region)
        for number, result in enumerate(op.results):
            shape = result.tensor.shape
            chosen = self.widened(op.regions[-1].returns[number], shape)
            for place in reversed(range(len(op.regions) - 1)):
                part = self.widened(op.regions[place].returns[number], shape)
                chosen = self.op(SELECT, self._test(op, index, place, shape), part, chosen)
            self.wide[result] = chosen

    def _test(self, op: Op, index: Value, place: int, shape: Sequence[int]) -> Value:
        """Return which lanes take a branch; no place matches an index that is out of bounds, which takes the last."""
        wide = self.widened(index, shape)
        if op.definition is IF:
            return wide
        constant = self.number(place, index.tensor.dtype)
        self.same[constant] = constant
        return self.op(COMPARE, wide, self.widened(constant, shape), comparison_direction="EQ")
