"""Ops on large arrays, computed some rows at a time: op by op, what lies between two of them stays in a cache.

A million numbers and fifty ops would go through memory a hundred times, and each new array is pages that the system
clears first. A *row* is what belongs to one index of the first dimension; ops that make rows of the same rows run
together, for some rows, then for the next ones. Their results have the same bits.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from numhlo.backend.emit.support import emits_element
from numhlo.backend.runtime.sums_in_pieces import infer_given
from numhlo.lowering.interpreter import Plan, Plans, free_values
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import special
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.creation import CONSTANT, IOTA
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers
from numhlo.lowering.ops.effects import op_has_effects
from numhlo.lowering.ops.indexing import GATHER
from numhlo.lowering.ops.layout import BROADCAST_IN_DIM, CONCATENATE, RESHAPE
from numhlo.lowering.ops.primitive import Arrays, RegionFunction, Unlisted

LARGE = 1 << 17
"""Elements of a result from which on it is made by rows."""

PIECE = 1 << 16
"""Elements that are made at a time: fewer take as long, for Python, and more fall out of the second and third cache."""

FEW = 2
"""Ops that gain nothing: each goes through memory once anyway."""


def _evaluate(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    rows, step, sliced = attributes["rows"], attributes["step"], attributes["sliced"]
    results = [np.empty(type.shape, type.dtype) for type in attributes["types"]]
    for start in range(0, rows, step):
        piece = slice(start, min(start + step, rows))
        plan = attributes["plan"] if start + step <= rows else attributes["rest"]
        found = plan.run([a[piece] if cut else a for a, cut in zip(arrays, sliced, strict=True)])
        for result, part in zip(results, found, strict=True):
            result[piece] = part
    return results


ROWS_IN_PIECES = Unlisted("rows_in_pieces", infer_given, _evaluate, ("*operands",), (), (), True)


@record(slots=True)
class _Group:
    """Ops that run together, and which of their operands they take whole."""

    ops: list[Op] = field(default_factory=list)
    whole: dict[Op, frozenset[int]] = field(default_factory=dict)


def by_rows(ops: Sequence[Op], kept: Collection[Value], plans: Plans) -> list[Op]:
    """Return ops that compute the same values, large ones some rows at a time.

    Parameters
    ----------
    ops : sequence of Op
    kept : collection of Value
        What is needed of them.
    plans : Plans
    """
    rows = _common_rows(ops)
    return list(ops) if rows < 2 or any(map(op_has_effects, ops)) else _Rows(ops, set(kept), plans, rows).run()


def _common_rows(ops: Sequence[Op]) -> int:
    """Return how many rows most large results have, 0 where there are too few of them."""
    found = Counter(
        op.results[0].tensor.shape[0] for op in ops if _is_large(op) and op.definition not in (IOTA, CONSTANT)
    )
    rows, count = found.most_common(1)[0] if found else (0, 0)
    return rows if count > FEW else 0


def _is_large(op: Op) -> bool:
    type = op.results[0].type if len(op.results) == 1 else None
    return isinstance(type, TensorType) and type.ndim > 0 and type.size >= LARGE


class _Rows:
    """Puts ops into groups.

    A group's *level* is how many groups must have run before it; an op on its own runs after the groups of its level,
    and before those of the next one.
    """

    def __init__(self, ops: Sequence[Op], kept: set[Value], plans: Plans, rows: int) -> None:
        self.ops, self.kept, self.plans, self.rows = ops, kept, plans, rows
        self.level: dict[Value, int] = {}
        self.grouped: dict[Value, int] = {}

    def run(self) -> list[Op]:
        """Return the ops, groups among them."""
        groups: defaultdict[int, _Group] = defaultdict(_Group)
        alone: defaultdict[int, list[Op]] = defaultdict(list)
        for op in self.ops:
            whole = self._whole(op)
            if whole is None:
                level = max([self.level.get(v, -1) for v in _read(op)], default=-1)
                alone[level].append(op)
            else:
                level = max([self._ready(v, k in whole) for k, v in enumerate(op.operands)])
                groups[level].ops.append(op)
                groups[level].whole[op] = whole
                self.grouped[op.results[0]] = level
            self.level.update(dict.fromkeys(op.results, level))
        needed = self._needed_outside(groups, alone)
        found = alone[-1]
        for level in range(max([*groups, *alone], default=-1) + 1):
            found += self._joined(groups[level], needed)
            found += alone[level]
        return found

    def _ready(self, value: Value, whole: bool) -> int:
        """Return the first level whose group can take a value."""
        level = self.level.get(value, -1)
        return level if value in self.grouped and not whole else level + 1

    def _whole(self, op: Op) -> frozenset[int] | None:
        """Return which operands an op takes whole, None if it doesn't make rows of rows."""
        if not _is_large(op) or op.regions or op.result.tensor.shape[0] != self.rows:
            return None
        return _whole_operands(op)

    def _needed_outside(self, groups: Mapping[int, _Group], alone: Mapping[int, list[Op]]) -> set[Value]:
        """Return what a group makes for others."""
        needed = set(self.kept)
        for ops in alone.values():
            needed.update([v for op in ops for v in _read(op)])
        for level, group in groups.items():
            for op, whole in group.whole.items():
                needed.update([v for k, v in enumerate(op.operands) if k in whole or self.grouped.get(v) != level])
        return needed

    def _joined(self, group: _Group, needed: set[Value]) -> list[Op]:
        """Return what runs a group: one op, or the ops themselves where they gain nothing."""
        if len(group.ops) <= FEW:
            return group.ops
        made = [op.results[0] for op in group.ops]
        results = [value for value in made if value in needed]
        if not results:
            return []
        step = max(1, PIECE * self.rows // max(value.tensor.size for value in made))
        if step >= self.rows:
            return group.ops
        region, taken = _over(group, results, step)
        rest = _over(group, results, self.rows % step)[0] if self.rows % step else region
        attributes = {
            "plan": Plan(region, self.plans),
            "rest": Plan(rest, self.plans),
            "rows": self.rows,
            "step": step,
            "sliced": [not whole for _, whole in taken],
            "types": [value.tensor for value in results],
        }
        operands = [value for value, _ in taken]
        joined = Op(ROWS_IN_PIECES, operands, attributes, (), [v.type for v in results], group.ops[0].location)
        joined.results = results
        return [joined]


def _read(op: Op) -> list[Value]:
    return [*op.operands, *(free_values(op) if op.regions else ())]


def _whole_operands(op: Op) -> frozenset[int] | None:
    """Return which operands an op takes whole to make rows of the others' rows; None where it can't be cut so."""
    definition, type = op.definition, op.result.tensor
    shapes = [v.tensor.shape for v in op.operands if isinstance(v.type, TensorType)]
    if len(shapes) != len(op.operands) or not shapes:
        return None
    rows = type.shape[:1]
    if definition is BROADCAST_IN_DIM:
        places = op.attributes["broadcast_dimensions"]
        return frozenset() if places[:1] == (0,) and shapes[0][:1] == rows else None
    if definition is RESHAPE:
        return frozenset() if shapes[0][:1] == rows else None
    if definition is CONCATENATE:
        return frozenset() if op.attributes["dimension"] > 0 else None
    if definition is GATHER:
        return frozenset({0}) if _gathers_rows(op) else None
    if not emits_element(op) or not _is_special_or_plain(op):
        return None
    whole = frozenset(k for k, shape in enumerate(shapes) if shape == ())
    same = all(shape in ((), type.shape) for shape in shapes)
    return whole if same and len(whole) < len(shapes) else None


def _is_special_or_plain(op: Op) -> bool:
    """Return whether an op is no composite, or one whose decomposition can be had for another shape."""
    if op.definition is not COMPOSITE:
        return True
    known = op.attributes["name"].removeprefix("numhlo.") in special.FUNCTIONS
    return known and all(v.type == op.result.type for v in op.operands)


def _gathers_rows(op: Op) -> bool:
    """Return whether each row of indices gives a row of the result."""
    numbers: GatherDimensionNumbers = op.attributes["dimension_numbers"]
    plain = not numbers.operand_batching_dims and numbers.index_vector_dim > 0 and 0 not in numbers.offset_dims
    return plain and op.operands[1].tensor.shape[:1] == op.result.tensor.shape[:1]


def _over(group: _Group, results: Sequence[Value], rows: int) -> tuple[Region, list[tuple[Value, bool]]]:
    """Return a group's ops for so many rows, and what they take: values, and whether whole."""
    region = Region()
    made: dict[Value, Value] = {}
    taken: dict[tuple[Value, bool], Value] = {}
    for op in group.ops:
        operands = []
        for number, value in enumerate(op.operands):
            whole = number in group.whole[op]
            inner = None if whole else made.get(value)
            if inner is None and (inner := taken.get((value, whole))) is None:
                type = value.tensor if whole else _with_rows(value.tensor, rows)
                inner = taken[value, whole] = Value(type, region)
            operands.append(inner)
        attributes = op.attributes
        if op.definition is COMPOSITE:
            attributes = special.make(attributes["name"], [v.tensor for v in operands])
        type = _with_rows(op.result.tensor, rows)
        copy = Op(op.definition, operands, attributes, (), [type], op.location)
        region.ops.append(copy)
        made[op.results[0]] = copy.results[0]
    region.arguments = list(taken.values())
    region.returns = [made[value] for value in results]
    return region, list(taken)


def _with_rows(type: TensorType, rows: int) -> TensorType:
    return type.with_shape((rows, *type.shape[1:]))
