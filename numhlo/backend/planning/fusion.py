"""Which ops share a kernel, and which values get a buffer.

Every op has a *stage*: what is stored in one stage can be loaded in later ones, and within a stage everything is
computed from what earlier stages stored. So ops of one stage may be merged without ever making a cycle. An op's
stage is the least possible at first; then ops move down to the stage of their users, so that a value need not be
stored for them. Ops of one stage and one iteration domain that feed each other, or read the same array, become one
kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from numhlo.backend.emit.elementwise import COSTS
from numhlo.backend.planning.operations import Kind, Operations
from numhlo.backend.planning.views import View
from numhlo.backend.program import Kept, Obstacle
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.effects import op_has_effects

CHEAP = 2
"""Operations that are computed again in every kernel that needs them, if they read no large array."""

SPREAD = 16
"""Times that a value has the elements of what it is computed from, from where on that counts as no large array."""

PER_ROW = 40
"""Operations that are computed again in every kernel that needs them once a row."""

SMALL_STEP = 2
"""Elements from one to the next of a row that is still read as SIMD code."""

TWICE = 8
"""Operations that are computed again for a reduction along other axes, instead of being stored."""

LONGEST = 100
"""Ops in a row that may depend on each other within one kernel; compile times grow with it."""

MOST = 400
"""Ops of one kernel, whether they depend on each other or read the same arrays; compile times grow with it."""


@dataclass(slots=True, eq=False)
class Unit:
    """Ops that run together: a fused loop nest, or one op that is emitted on its own.

    Attributes
    ----------
    position : int
        Of its last op in the region.
    stage : int
    domain : tuple of int
        What the loops run over; empty for ops on their own.
    axes : tuple of int or None
        Reduced dimensions, where reductions are among the ops.
    is_fused : bool
        Whether this is a loop nest over a domain.
    members : list of Unit
        The units that this one runs row by row, one after the other; empty for a plain unit.
    ops : list of Op
        In program order.
    """

    position: int
    stage: int
    domain: tuple[int, ...]
    axes: tuple[int, ...] | None
    is_fused: bool
    ops: list[Op] = field(default_factory=list)
    members: list[Unit] = field(default_factory=list)


@dataclass(slots=True)
class Edge:
    """A use of a computed value: by which op, and why that op's kernel may not compute the value itself, if so."""

    user: Op
    obstacle: Obstacle | None
    direct: bool


@dataclass(slots=True)
class Fusion:
    """The result: units in program order, what is stored, and why what could have been fused is."""

    units: list[Unit] = field(default_factory=list)
    unit_of: dict[Op, Unit] = field(default_factory=dict)
    stored: set[Value] = field(default_factory=set)
    kept: dict[Value, Kept] = field(default_factory=dict)


class FusionPass:
    """Computes a `Fusion` in four walks over a region's ops, each linear.

    Parameters
    ----------
    region : Region
    operations : Operations
        What kind each op is, and who needs what in a buffer.
    """

    def __init__(self, region: Region, operations: Operations) -> None:
        self.ops = region.ops
        self.operations = operations
        self.kinds = operations.kinds
        self.needed = operations.needed
        self.copied = operations.copied
        self.uses = operations.uses
        self.views = operations.views
        self.stage: dict[Op, int] = {}
        self.edges: dict[Op, list[Edge]] = {}
        self.cost: dict[Op, int] = {}
        self.read: dict[Op, int] = {}
        self.length: dict[Op, int] = {}
        self.reduced: dict[Op, tuple[int, ...] | None] = {}
        self._effects = -1
        self._joined = _Sets()

    def run(self) -> Fusion:
        """Return the fusion."""
        for op in self.ops:
            if self.kinds[op] is not Kind.VIRTUAL:
                self._place(op)
        for op in reversed(self.ops):
            if op in self.edges:
                self._sink(op)
        return self._group()

    # First walk: the least stage

    def _place(self, op: Op) -> None:
        stage, length, cost, read = 0, 0, COSTS.get(op.definition, 1), 0
        edges: list[tuple[Op, Edge]] = []
        for value, seen, direct, may_fuse in self._sources_of(op):
            source = value.owner
            if not isinstance(source, Op) or source not in self.stage:
                if value.tensor.size > 1 and not self._is_virtual(value):
                    read += value.tensor.size
                continue
            obstacle = self._obstacle(op, source, seen, direct) if may_fuse else Obstacle.WHOLE
            edges.append((source, Edge(op, obstacle, direct)))
            stage = max(stage, self.stage[source] + (obstacle is not None))
            if obstacle is None:
                cost += self.cost[source]
                read += self.read[source]
                length = max(length, self.length[source])
            else:
                read += value.tensor.size
        here = [source for source, edge in edges if edge.obstacle is None and self.stage[source] == stage]
        computed = [source for source in here if not self._is_cheap(source)]
        self._joined.add(op)
        if length >= LONGEST or self._joined.size(computed) >= MOST:
            length = 0
            for source, edge in edges:
                edge.obstacle = edge.obstacle or Obstacle.LONG
                stage = max(stage, self.stage[source] + 1)
        else:
            self._joined.join([op, *computed])
        if self.kinds[op] is Kind.ROOT and op_has_effects(op):
            stage = self._effects = max(stage, self._effects + 1)
        for source, edge in edges:
            self.edges.setdefault(source, []).append(edge)
        self.stage[op] = stage
        self.cost[op], self.read[op], self.length[op] = min(cost, 1000), min(read, 1 << 62), length + 1

    def _sources_of(self, op: Op) -> Iterable[tuple[Value, Value, bool, bool]]:
        """Yield what an op needs: a value, the view of it, whether that is the value itself, whether it may fuse."""
        if op.results and op.results[0] in self.copied:
            yield from self._through(self.views.of[op.results[0]], op.results[0], True)
            return
        fusible = self.operations.fusible(op)
        for number, operand in enumerate(self.operations.inputs[op]):
            yield from self._sources(operand, number in fusible)

    def _sources(self, operand: Value, may_fuse: bool) -> Iterable[tuple[Value, Value, bool, bool]]:
        if not may_fuse:
            operand = self.operations.root(operand)
        view = None if operand in self.copied else self.views.of.get(operand)
        if view is None:
            yield operand, operand, True, may_fuse
        else:
            yield from self._through(view, operand, may_fuse)

    def _through(self, view: View, seen: Value, may_fuse: bool) -> Iterable[tuple[Value, Value, bool, bool]]:
        base = view.base
        yield self.operations.root(base), seen, False, may_fuse and base not in self.views.forced
        for index in view.indices:
            for value, index_seen, _, _ in self._sources(index, may_fuse):
                yield value, index_seen, False, may_fuse

    def _is_virtual(self, value: Value) -> bool:
        return isinstance(value.owner, Op) and self.kinds.get(value.owner) is Kind.VIRTUAL

    def _obstacle(self, op: Op, source: Op, seen: Value, direct: bool) -> Obstacle | None:
        """Return why the kernel of ``op`` may not compute a source itself; None if it may."""
        if self.kinds[source] is not Kind.ELEMENT:
            return Obstacle.WHOLE
        if direct and seen.tensor.shape == self._domain(op) and self.kinds[op] is not Kind.ROOT:
            return None if self._suits(source, op) else Obstacle.AXES
        if seen.owner is op and self.cost[source] > CHEAP and not self._keeps_rows(seen):
            return Obstacle.ORDER  # dear elements are computed in the order of memory, where that is SIMD code
        if self._is_cheap(source) or (self.uses.get(source.result, 2) <= 1 and self._is_injective(seen, source)):
            return None
        return None if self._is_per_row(seen) and self.cost[source] <= PER_ROW else Obstacle.AGAIN

    def _suits(self, source: Op, op: Op) -> bool:
        """Return whether dear elements are reduced along the axes along which a kernel reduces them already."""
        if self.kinds[op] is not Kind.REDUCTION:
            return True
        axes = self._axes(op)
        return self.reduced.setdefault(source, axes) == axes or self.cost[source] <= TWICE

    def _is_cheap(self, source: Op) -> bool:
        return self.cost[source] <= CHEAP and self.read[source] * SPREAD <= source.result.tensor.size

    def _is_injective(self, seen: Value, source: Op) -> bool:
        return seen.tensor.size <= source.result.tensor.size

    def _keeps_rows(self, seen: Value) -> bool:
        """Return whether neighbours in a view's rows are neighbours in what it looks at, but for small steps."""
        strides = self.views.of[seen].access.strides
        return not strides or abs(strides[-1]) <= SMALL_STEP

    def _is_per_row(self, seen: Value) -> bool:
        view = self.views.of.get(seen)
        if view is None:
            return seen.tensor.size == 1
        strides = [s for s, n in zip(view.access.strides, seen.tensor.shape, strict=True) if n > 1]
        return not strides or strides[-1] == 0

    # Second walk: down to the users

    def _sink(self, op: Op) -> None:
        if self.kinds[op] is not Kind.ELEMENT:
            return
        edges = self.edges.get(op, ())
        least = self.stage[op]
        latest = min((self.stage[e.user] - (e.obstacle is not None) for e in edges), default=least)
        limit = max(least, self._before_update(op))
        self.stage[op] = min(max(least, latest), limit)
        for edge in edges:
            if self.stage[edge.user] > limit:
                edge.obstacle = edge.obstacle or Obstacle.OVERWRITTEN

    def _before_update(self, op: Op) -> int:
        """Return the last stage in which everything that an op reads is there as it was."""
        overwritten = self.operations.overwritten
        if not overwritten:
            return sys.maxsize
        updates = [overwritten.get(self.operations.root(source)) for source, *_ in self._sources_of(op)]
        return min((self.stage[u] for u in updates if u is not None and u is not op), default=sys.maxsize)

    # Third walk: kernels

    def _group(self) -> Fusion:
        groups = _Groups()
        readers: dict[tuple[int, Value], Op] = {}
        for op in self.ops:
            if self.kinds[op] is Kind.VIRTUAL or op not in self.stage:
                continue
            groups.add_over(op, self._domain(op), self._axes(op))
        # Who computes for whom comes first: there the first walk bounds how many ops meet in a kernel.
        joined = [op for op in self.ops if op in self.stage and self.kinds[op] in (Kind.ELEMENT, Kind.REDUCTION)]
        for op in joined:
            self._join_producers(op, groups)
        for op in joined:
            self._join_readers(op, groups, readers)
        fusion = Fusion()
        self._make_units(groups, fusion)
        return fusion

    def _computed_with(self, op: Op, operand: Value) -> Op | None:
        """Return the elementwise op of the same stage that makes an operand."""
        source = operand.owner
        if not isinstance(source, Op) or self.kinds.get(source) is not Kind.ELEMENT:
            return None
        return source if self.stage[source] == self.stage[op] else None

    def _join_producers(self, op: Op, groups: _Groups) -> None:
        for operand in op.operands:
            source = self._computed_with(op, operand)
            if source is not None and (groups.size([op, source]) <= MOST or not self._is_cheap(source)):
                groups.merge(op, source)

    def _join_readers(self, op: Op, groups: _Groups, readers: dict[tuple[int, Value], Op]) -> None:
        for operand in op.operands:
            if self._computed_with(op, operand) is not None:
                continue
            if operand.tensor.shape == groups.domain(op) and not self._is_virtual(operand):
                key = self.stage[op], operand
                other = readers.setdefault(key, op)
                if other is not op and not (groups.size([op, other]) <= MOST and groups.merge(op, other)):
                    readers[key] = op

    def _domain(self, op: Op) -> tuple[int, ...]:
        if self.kinds[op] is Kind.REDUCTION:
            return op.operands[0].tensor.shape
        return op.result.tensor.shape if self.kinds[op] is Kind.ELEMENT else ()

    def _axes(self, op: Op) -> tuple[int, ...] | None:
        return tuple(sorted(op.attributes["dimensions"])) if self.kinds[op] is Kind.REDUCTION else None

    def _make_units(self, groups: _Groups, fusion: Fusion) -> None:
        for position, op in enumerate(self.ops):
            if op not in self.stage:
                continue
            group = groups.find(op)
            unit = fusion.unit_of.get(group)
            if unit is None:
                fused = self.kinds[op] is not Kind.ROOT
                unit = Unit(position, self.stage[op], groups.domain(op), groups.axes(op), fused)
                fusion.unit_of[group] = unit
                fusion.units.append(unit)
            unit.ops.append(op)
            unit.position = position
            fusion.unit_of[op] = unit
        for op in self.ops:
            if op in self.stage:
                self._store(op, fusion)
        fusion.units.sort(key=lambda u: u.position)

    def _store(self, op: Op, fusion: Fusion) -> None:
        """Note which results of an op get a buffer."""
        if self.kinds[op] is not Kind.ELEMENT:
            fusion.stored.update(op.results)
            return
        here = fusion.unit_of[op]
        for edge in self.edges.get(op, ()):
            there = fusion.unit_of[edge.user]
            elsewhere = edge.direct and there is not here and there.stage > here.stage
            if edge.obstacle is not None or (elsewhere and not self._is_cheap(op)):
                fusion.stored.add(op.result)
                fusion.kept.setdefault(op.result, (edge.obstacle or Obstacle.LATER, edge.user))
        if op.result in self.needed:
            fusion.stored.add(op.result)


class _Sets:
    """Disjoint sets of ops."""

    def __init__(self) -> None:
        self._parent: dict[Op, Op] = {}
        self._size: dict[Op, int] = {}

    def add(self, op: Op) -> None:
        """Add an op as a set of its own."""
        self._parent[op], self._size[op] = op, 1

    def find(self, op: Op) -> Op:
        """Return the op that stands for a set."""
        while self._parent[op] is not op:
            self._parent[op] = self._parent[self._parent[op]]
            op = self._parent[op]
        return op

    def size(self, ops: Iterable[Op]) -> int:
        """Return how many ops the sets of some ops have together."""
        return sum(self._size[op] for op in dict.fromkeys(map(self.find, ops)))

    def join(self, ops: Iterable[Op]) -> Op:
        """Make one set of the sets of some ops, and return the op that stands for it: the first one's."""
        first, *others = dict.fromkeys(map(self.find, ops))
        for op in others:
            self._parent[op] = first
            self._size[first] += self._size[op]
        return first


class _Groups(_Sets):
    """Disjoint sets of ops, each with a domain and the axes that its reductions share."""

    def __init__(self) -> None:
        super().__init__()
        self._domains: dict[Op, tuple[int, ...]] = {}
        self._axes: dict[Op, tuple[int, ...] | None] = {}

    def add_over(self, op: Op, domain: tuple[int, ...], axes: tuple[int, ...] | None) -> None:
        """Add an op as a set of its own."""
        self.add(op)
        self._domains[op], self._axes[op] = domain, axes

    def domain(self, op: Op) -> tuple[int, ...]:
        """Return the domain of an op's set."""
        return self._domains[self.find(op)]

    def axes(self, op: Op) -> tuple[int, ...] | None:
        """Return the reduced axes of an op's set."""
        return self._axes[self.find(op)]

    def merge(self, op: Op, other: Op) -> bool:
        """Join two sets, unless their loops differ."""
        one, two = self.find(op), self.find(other)
        if one is two:
            return True
        axes = {self._axes[one], self._axes[two]} - {None}
        if self._domains[one] != self._domains[two] or len(axes) > 1:
            return False
        self._axes[self.join([one, two])] = next(iter(axes), None)
        return True
