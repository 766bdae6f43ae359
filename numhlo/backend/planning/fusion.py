"""Which ops share a kernel, and which values get a buffer.

Every op has a *stage*: what is stored in one stage can be loaded in later ones, and within a stage everything is
computed from what earlier stages stored. So ops of one stage may be merged without ever making a cycle. An op's
stage is the least possible at first; then ops move down to the stage of their users, so that a value need not be
stored for them. Ops of one stage and one iteration domain that feed each other, or read the same array, become one
kernel.
"""

from __future__ import annotations

import sys
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
        Of its last op, among those that are in units.
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


class Placed:
    """An op on its way into a unit.

    Attributes
    ----------
    op : Op
    kind : Kind
    domain : tuple of int
        What its loop runs over; empty for ops on their own.
    axes : tuple of int or None
        Reduced dimensions: of the op and, where it stands for a set, of the set.
    stage : int
    cost, read : int
        Operations, and elements read, that computing it in its users' kernel would take.
    length : int
        Ops in a row that depend on each other there, up to this one.
    edges : list of Edge
        Uses by other ops.
    above : Placed or None
        On the way to the op that stands for the set which this one is in; None for that op itself.
    members : int
        How many ops the set has, where the op stands for one.
    """

    __slots__ = ("above", "axes", "cost", "domain", "edges", "kind", "length", "members", "op", "read", "stage")

    def __init__(self, op: Op, kind: Kind) -> None:
        self.op, self.kind = op, kind
        self.domain: tuple[int, ...] = ()
        self.axes: tuple[int, ...] | None = None
        if kind is Kind.ELEMENT:
            self.domain = op.results[0].tensor.shape
        elif kind is Kind.REDUCTION:
            self.domain = op.operands[0].tensor.shape
            self.axes = tuple(sorted(op.attributes["dimensions"]))
        self.stage = self.cost = self.read = self.length = 0
        self.edges: list[Edge] = []
        self.above: Placed | None = None
        self.members = 1

    @property
    def is_cheap(self) -> bool:
        """Return whether every kernel that needs it may compute it again."""
        return self.cost <= CHEAP and self.read * SPREAD <= self.op.results[0].tensor.size

    def leader(self) -> Placed:
        """Return the op that stands for the set."""
        found, above = self, self.above
        while above is not None:
            found.above = above.above or above
            found, above = above, above.above
        return found

    def join(self, other: Placed) -> Placed:
        """Make one set of two that these ops stand for, and return the op that stands for it."""
        if self.members < other.members:
            return other.join(self)
        other.above = self
        self.members += other.members
        return self


class Edge:
    """A use of a computed value: by which op, and why that op's kernel may not compute the value itself, if so."""

    __slots__ = ("direct", "obstacle", "user")

    def __init__(self, user: Placed, obstacle: Obstacle | None, *, direct: bool) -> None:
        self.user, self.obstacle, self.direct = user, obstacle, direct


@dataclass(slots=True)
class Fusion:
    """The result: units in program order, what is stored, and why what could have been fused is."""

    units: list[Unit] = field(default_factory=list)
    unit_of: dict[Op, Unit] = field(default_factory=dict)
    stored: set[Value] = field(default_factory=set)
    kept: dict[Value, Kept] = field(default_factory=dict)


Source = tuple[Value, Value, bool, bool]
"""What an op needs: a value, the view of it, whether that is the value itself, whether it may fuse."""


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
        self.placed: dict[Op | Region, Placed] = {}
        self.reduced: dict[Placed, tuple[int, ...] | None] = {}
        self._effects = -1

    def run(self) -> Fusion:
        """Return the fusion."""
        kinds, placed = self.kinds, self.placed
        for op in self.ops:
            kind = kinds[op]
            if kind is not Kind.VIRTUAL:
                placed[op] = self._place(Placed(op, kind))
        order = list(placed.values())
        for one in reversed(order):
            if one.edges and one.kind is Kind.ELEMENT:
                self._sink(one)
        return self._group(order)

    # First walk: the least stage

    def _place(self, one: Placed) -> Placed:
        """Find an op's stage, and what computing it takes; note with what it needs that it does."""
        op, placed = one.op, self.placed
        stage, length, cost, read = 0, 0, COSTS.get(op.definition, 1), 0
        uses: list[tuple[Placed, Edge]] = []
        for value, seen, direct, may_fuse in self._sources_of(one):
            source = placed.get(value.owner)
            if source is None:
                size = value.tensor.size
                if size > 1 and not self._is_virtual(value):
                    read += size
                continue
            obstacle = self._obstacle(one, source, seen, direct) if may_fuse else Obstacle.WHOLE
            uses.append((source, Edge(one, obstacle, direct=direct)))
            if obstacle is None:
                stage = max(stage, source.stage)
                cost += source.cost
                read += source.read
                length = max(length, source.length)
            else:
                stage = max(stage, source.stage + 1)
                read += value.tensor.size
        stage, length = self._bounded(one, uses, stage, length)
        if one.kind is Kind.ROOT and op_has_effects(op):
            stage = self._effects = max(stage, self._effects + 1)
        for source, edge in uses:
            source.edges.append(edge)
        one.stage, one.length = stage, length + 1
        one.cost, one.read = min(cost, 1000), min(read, 1 << 62)
        return one

    def _bounded(self, one: Placed, uses: list[tuple[Placed, Edge]], stage: int, length: int) -> tuple[int, int]:
        """Return the stage and length of an op; later, and none, where the kernel would become too long."""
        sets: list[Placed] = []
        members = 0
        for source, edge in uses:
            if edge.obstacle is None and source.stage == stage and not source.is_cheap:
                leader = source.leader()
                if leader not in sets:
                    sets.append(leader)
                    members += leader.members
        if length < LONGEST and members < MOST:
            leader = one
            for other in sets:
                leader = leader.join(other)
            return stage, length
        for source, edge in uses:
            edge.obstacle = edge.obstacle or Obstacle.LONG
            stage = max(stage, source.stage + 1)
        return stage, 0

    def _sources_of(self, one: Placed) -> list[Source]:
        op, views, copied = one.op, self.views.of, self.copied
        found: list[Source] = []
        if op.results and op.results[0] in copied:
            self._through(views[op.results[0]], op.results[0], found, may_fuse=True)
        elif one.kind is Kind.ROOT:
            fusible = self.operations.fusible(op)
            for number, operand in enumerate(self.operations.inputs(op)):
                self._source(operand, found, may_fuse=number in fusible)
        else:
            for operand in op.operands:
                if operand in views:
                    self._source(operand, found, may_fuse=True)
                else:
                    found.append((operand, operand, True, True))
        return found

    def _source(self, operand: Value, found: list[Source], *, may_fuse: bool) -> None:
        if not may_fuse:
            operand = self.operations.root(operand)
        view = None if operand in self.copied else self.views.of.get(operand)
        if view is None:
            found.append((operand, operand, True, may_fuse))
        else:
            self._through(view, operand, found, may_fuse=may_fuse)

    def _through(self, view: View, seen: Value, found: list[Source], *, may_fuse: bool) -> None:
        base = view.base
        found.append((self.operations.root(base), seen, False, may_fuse and base not in self.views.forced))
        first = len(found)
        for index in view.indices:
            self._source(index, found, may_fuse=may_fuse)
        found[first:] = [(value, index_seen, False, may_fuse) for value, index_seen, *_ in found[first:]]

    def _is_virtual(self, value: Value) -> bool:
        return isinstance(value.owner, Op) and self.kinds.get(value.owner) is Kind.VIRTUAL

    def _obstacle(self, one: Placed, source: Placed, seen: Value, direct: bool) -> Obstacle | None:
        """Return why the kernel of an op may not compute a source itself; None if it may."""
        if source.kind is not Kind.ELEMENT:
            return Obstacle.WHOLE
        if direct and one.kind is not Kind.ROOT and seen.tensor.shape == one.domain:
            return None if one.kind is Kind.ELEMENT or self._suits(source, one) else Obstacle.AXES
        if seen.owner is one.op and source.cost > CHEAP and not self._keeps_rows(seen):
            return Obstacle.ORDER  # dear elements are computed in the order of memory, where that is SIMD code
        result = source.op.results[0]
        if source.is_cheap or (self.uses.get(result, 2) <= 1 and seen.tensor.size <= result.tensor.size):
            return None
        return None if self._is_per_row(seen) and source.cost <= PER_ROW else Obstacle.AGAIN

    def _suits(self, source: Placed, reduction: Placed) -> bool:
        """Return whether dear elements are reduced along the axes along which a kernel reduces them already."""
        return self.reduced.setdefault(source, reduction.axes) == reduction.axes or source.cost <= TWICE

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

    def _sink(self, one: Placed) -> None:
        least = one.stage
        latest = min([edge.user.stage - (edge.obstacle is not None) for edge in one.edges])
        limit = max(least, self._before_update(one))
        one.stage = min(max(least, latest), limit)
        for edge in one.edges:
            if edge.user.stage > limit:
                edge.obstacle = edge.obstacle or Obstacle.OVERWRITTEN

    def _before_update(self, one: Placed) -> int:
        """Return the last stage in which everything that an op reads is there as it was."""
        overwritten = self.operations.overwritten
        if not overwritten:
            return sys.maxsize
        updates = [overwritten.get(self.operations.root(source)) for source, *_ in self._sources_of(one)]
        return min((self.placed[u].stage for u in updates if u is not None and u is not one.op), default=sys.maxsize)

    # Third walk: kernels

    def _group(self, order: list[Placed]) -> Fusion:
        for one in order:
            one.above, one.members = None, 1
        # Who computes for whom comes first: there the first walk bounds how many ops meet in a kernel.
        joined = [one for one in order if one.kind is not Kind.ROOT]
        for one in joined:
            self._join_producers(one)
        readers: dict[tuple[int, Value], Placed] = {}
        for one in joined:
            self._join_readers(one, readers)
        return self._make_units(order)

    def _computed_with(self, one: Placed, operand: Value) -> Placed | None:
        """Return the elementwise op of the same stage that makes an operand."""
        source = self.placed.get(operand.owner)
        if source is None or source.kind is not Kind.ELEMENT or source.stage != one.stage:
            return None
        return source

    def _join_producers(self, one: Placed) -> None:
        for operand in one.op.operands:
            source = self._computed_with(one, operand)
            if source is not None:
                here, there = one.leader(), source.leader()
                if here.members + there.members <= MOST or not source.is_cheap:
                    _merge(here, there)

    def _join_readers(self, one: Placed, readers: dict[tuple[int, Value], Placed]) -> None:
        for operand in one.op.operands:
            if self._computed_with(one, operand) is not None:
                continue
            if operand.tensor.shape == one.domain and not self._is_virtual(operand):
                key = one.stage, operand
                other = readers.setdefault(key, one)
                if other is not one and not _merge(one.leader(), other.leader(), MOST):
                    readers[key] = one

    def _make_units(self, order: list[Placed]) -> Fusion:
        fusion = Fusion()
        unit_of = fusion.unit_of
        units: dict[Placed, Unit] = {}
        for position, one in enumerate(order):
            leader = one.leader()
            unit = units.get(leader)
            if unit is None:
                unit = Unit(position, one.stage, one.domain, leader.axes, one.kind is not Kind.ROOT)
                units[leader] = unit
            unit.ops.append(one.op)
            unit.position = position
            unit_of[one.op] = unit
        for one in order:
            one.above = None  # no cycles are left behind
            self._store(one, fusion)
        fusion.units = sorted(units.values(), key=lambda unit: unit.position)
        return fusion

    def _store(self, one: Placed, fusion: Fusion) -> None:
        """Note which results of an op get a buffer."""
        if one.kind is not Kind.ELEMENT:
            fusion.stored.update(one.op.results)
            return
        here, result = fusion.unit_of[one.op], one.op.results[0]
        for edge in one.edges:
            obstacle, user = edge.obstacle, edge.user.op
            if obstacle is None:
                if not edge.direct:
                    continue
                there = fusion.unit_of[user]
                if there is here or there.stage <= here.stage or one.is_cheap:
                    continue
            fusion.stored.add(result)
            fusion.kept.setdefault(result, (obstacle or Obstacle.LATER, user))
        if result in self.needed:
            fusion.stored.add(result)


def _merge(one: Placed, other: Placed, most: int = sys.maxsize) -> bool:
    """Join the sets that two ops stand for, unless loops differ or ops are more; return whether they are one."""
    if one is other:
        return one.members <= most
    if one.members + other.members > most or one.domain != other.domain:
        return False
    axes = other.axes if one.axes is None else one.axes
    if other.axes not in (None, axes):
        return False
    one.join(other).axes = axes
    return True
