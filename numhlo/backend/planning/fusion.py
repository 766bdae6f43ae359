"""Which ops share a kernel, and which values get a buffer.

Every op has a *stage*: what is stored in one stage can be loaded in later ones, and within a stage everything is
computed from what earlier stages stored. So ops of one stage may be merged without ever making a cycle. An op's
stage is the least possible at first; then ops move down to the stage of their users, so that a value need not be
stored for them. Where that would make too long a kernel, `cutting` takes its ops apart. Ops of one stage and one
iteration domain that feed each other, or read the same array, become one kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import field

from numhlo.backend.emit.elementwise import COSTS
from numhlo.backend.planning.cutting import cut
from numhlo.backend.planning.operations import ELEMENT, ROOT, VIRTUAL, Operations
from numhlo.backend.planning.placed import CHEAP, MOST, SPREAD, Edge, Placed
from numhlo.backend.planning.views import View
from numhlo.backend.program import Kept, Obstacle
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.effects import op_has_effects

PER_ROW = 40
"""Operations that are computed again in every kernel that needs them once a row."""

SMALL_STEP = 2
"""Elements from one to the next of a row that is still read as SIMD code."""

TWICE = 8
"""Operations that are computed again for a reduction along other axes, instead of being stored."""

MOST_TIMES = 4
"""Times that every element of a cheap array is computed where it is spread over a larger one, instead of stored."""

MOST_AGAIN = 16
"""Operations for all uses of a value together that are rather done again than stored, and what they need read again."""

WORTH_STORING = 2000
"""Operations that are computed in several kernels rather than once into memory: one more launch takes about as long."""

MOST_SEEN = 32
"""Ops that are looked through for what an op on its own shares with other kernels."""


@record(slots=True, eq=False)
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


@record(slots=True)
class Fusion:
    """The result: units in program order, what is stored, and why what could have been fused is."""

    units: list[Unit] = field(default_factory=list)
    unit_of: dict[Op | Region, Unit] = field(default_factory=dict)
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
            if kind is not VIRTUAL:
                placed[op] = self._place(Placed(op, kind))
        order = list(placed.values())
        self._sink_all(order)
        if cut(order):
            self._sink_all(order)
        return self._group(order)

    # First walk: the least stage

    def _place(self, one: Placed) -> Placed:
        """Find an op's stage, and what computing it takes; note with what it needs that it does."""
        op, placed, kind = one.op, self.placed, one.kind
        stage, cost, read = 0, COSTS.get(op.definition, 1), 0
        computed: list[Placed] = []
        sources = self._sources_of(one)
        for value, seen, direct, may_fuse in sources:
            source = placed.get(value.owner)
            if source is None:
                if self.kinds.get(value.owner) is not VIRTUAL and (size := value.tensor.size) > 1:
                    read += size
                continue
            most = direct and kind is ELEMENT and source.kind is ELEMENT and seen.tensor.shape == one.domain
            obstacle = None if most else self._obstacle(one, source, seen, direct) if may_fuse else Obstacle.WHOLE
            source.edges.append(Edge(one, obstacle, direct))
            if obstacle is None:
                stage = max(stage, source.stage)
                cost += source.cost
                read += source.read
                computed.append(source)
            else:
                stage = max(stage, source.stage + 1)
                read += value.tensor.size
        if kind is ROOT and op_has_effects(op):
            stage = self._effects = max(stage, self._effects + 1)
        if kind is ROOT:
            for source in self._shared(one, computed):
                source.edges.append(Edge(one, Obstacle.AGAIN, False))
                stage = max(stage, source.stage + 1)
        one.stage = stage
        one.cost, one.read = min(cost, 1000), min(read, 1 << 62)
        if cost <= CHEAP and kind is ELEMENT:
            one.reads_little = not read or read * SPREAD <= op.results[0].tensor.size
            one.is_cheap = one.reads_little or self._reads_one_array(one, sources, computed)
        return one

    def _reads_one_array(self, one: Placed, sources: list[Source], computed: list[Placed]) -> bool:
        """Return whether a cheap op reads one large array, with what is computed for it, just as it would itself."""
        result = one.op.results[0]
        if one.cost * self.uses.get(result, 0) > MOST_AGAIN:
            return False
        size = 0
        for value, seen, direct, _ in sources:
            source = self.placed.get(value.owner)
            if source is not None and source in computed:
                array = source.array
                if array is None and not source.reads_little:
                    return False
            elif value is one.array or self.kinds.get(value.owner) is VIRTUAL:
                array = one.array
            else:
                size = size or result.tensor.size
                read = value.tensor.size
                array = value if read * SPREAD > size else None
                if read > 2 * size or value.tensor.dtype.itemsize > result.tensor.dtype.itemsize:
                    return False
            if array is None:
                continue
            if one.array not in (None, array) or not (direct or self._keeps_order(seen)):
                return False
            one.array = array
        return one.array is not None

    def _keeps_order(self, seen: Value) -> bool:
        """Return whether a view's neighbours are neighbours in what it looks at, or it is of few elements."""
        view = self.views.of.get(seen)
        if view is None or view.base.tensor.size * SPREAD <= seen.tensor.size:
            return True
        strides = [s for s, n in zip(view.access.strides, seen.tensor.shape, strict=True) if n > 1]
        return strides == sorted(strides, reverse=True) and strides[-1:] in ([], [1])

    def _shared(self, one: Placed, computed: list[Placed]) -> list[Placed]:
        """Return the dear ops that an op on its own would compute although other kernels need them as well."""
        dear = [source for source in computed if source.cost > TWICE]
        kernels = [[source] for source in dear] if self.operations.computes_apart(one.op) else [dear]
        shared = [source for sources in kernels for source in self._used_elsewhere(one, sources)]
        return list(dict.fromkeys(shared))

    def _used_elsewhere(self, one: Placed, sources: list[Placed]) -> Iterator[Placed]:
        """Give the ops whose results others use than those that are computed with them, and an op on its own.

        Where a kernel would become long, it is all that the op needs: nobody looks through it for what is shared.
        """
        inside = self._dear_sources(sources)
        if len(inside) > MOST_SEEN:
            yield from sources
            return
        for source in inside:
            result = source.op.results[0]
            within = sum(edge.user in inside or edge.user is one for edge in source.edges)
            if self.uses.get(result, 0) > within and source.cost * result.tensor.size > WORTH_STORING:
                yield source

    def _dear_sources(self, sources: list[Placed]) -> dict[Placed, None]:
        """Return dear ops that are computed in one kernel with some others, these included; or some more than many."""
        found: dict[Placed, None] = {}
        waiting = list(sources)
        while waiting and len(found) <= MOST_SEEN:
            one = waiting.pop()
            if one in found:
                continue
            found[one] = None
            for value, *_ in self._sources_of(one):
                source = self.placed.get(value.owner)
                if source is not None and source.cost > TWICE and source.stage == one.stage:
                    waiting += [source for edge in source.edges if edge.user is one and edge.obstacle is None][:1]
        return found

    def _sources_of(self, one: Placed) -> list[Source]:
        op, views, copied = one.op, self.views.of, self.copied
        found: list[Source] = []
        if op.results and op.results[0] in copied:
            self._through(views[op.results[0]], op.results[0], found, may_fuse=True)
        elif one.kind is ROOT:
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
        found[first:] = [(value, index_seen, False, fuses) for value, index_seen, _, fuses in found[first:]]

    def _obstacle(self, one: Placed, source: Placed, seen: Value, direct: bool) -> Obstacle | None:
        """Return why the kernel of an op may not compute a source itself; None if it may."""
        if source.kind is not ELEMENT:
            return Obstacle.WHOLE
        if direct and one.kind is not ROOT and seen.tensor.shape == one.domain:  # `_place` knows this of elements
            return None if one.kind is ELEMENT or self._suits(source, one) else Obstacle.AXES
        if seen.owner is one.op and source.cost > CHEAP and not self._keeps_rows(seen):
            return Obstacle.ORDER  # dear elements are computed in the order of memory, where that is SIMD code
        result = source.op.results[0]
        if source.is_cheap and (source.reads_little or seen.tensor.size <= MOST_TIMES * result.tensor.size):
            return None
        if self.uses.get(result, 2) <= 1 and seen.tensor.size <= result.tensor.size:
            return None
        if self.operations.read.get(result, sys.maxsize) <= result.tensor.size:
            return None  # different uses see different parts of it
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

    def _sink_all(self, order: Sequence[Placed]) -> None:
        for one in reversed(order):
            if one.edges and one.kind is ELEMENT:
                self._sink(one)

    def _sink(self, one: Placed) -> None:
        least, last = one.stage, one.latest
        for edge in one.edges:
            last = min(last, edge.user.stage if edge.obstacle is None else edge.user.stage - 1)
        one.stage = max(least, last)
        if self.operations.overwritten:
            limit = max(least, self._before_update(one))
            one.stage = min(one.stage, limit)
            for edge in one.edges:
                if edge.user.stage > limit:
                    edge.obstacle = edge.obstacle or Obstacle.OVERWRITTEN

    def _before_update(self, one: Placed) -> int:
        """Return the last stage in which everything that an op reads is there as it was."""
        overwritten = self.operations.overwritten
        updates = [overwritten.get(self.operations.root(source)) for source, *_ in self._sources_of(one)]
        return min((self.placed[u].stage for u in updates if u is not None and u is not one.op), default=sys.maxsize)

    # Third walk: kernels

    def _group(self, order: list[Placed]) -> Fusion:
        for one in order:
            one.above, one.members = None, 1
        # Who computes for whom comes first: there the first walks bound how many ops meet in a kernel.
        loaded = [(one, self._join_producers(one)) for one in order if one.kind is not ROOT]
        readers: dict[tuple[int, Value], Placed] = {}
        for one, operands in loaded:
            self._join_readers(one, operands, readers)
        return self._make_units(order)

    def _join_producers(self, one: Placed) -> list[Value]:
        """Join an op with those of its stage that make its operands; return the operands that none of them makes."""
        loaded: list[Value] = []
        for operand in one.op.operands:
            source = self.placed.get(operand.owner)
            if source is None or source.kind is not ELEMENT or source.stage != one.stage:
                loaded.append(operand)
                continue
            here, there = one.leader(), source.leader()
            if here is not there and (here.members + there.members <= MOST or not source.is_cheap):
                _merge(here, there)
        return loaded

    def _join_readers(self, one: Placed, operands: list[Value], readers: dict[tuple[int, Value], Placed]) -> None:
        for operand in operands:
            if operand.tensor.shape == one.domain and self.kinds.get(operand.owner) is not VIRTUAL:
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
                unit = Unit(position, one.stage, one.domain, leader.axes, one.kind is not ROOT)
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
        if one.kind is not ELEMENT:
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
            known = fusion.kept.get(result)
            if known is None or (known[0] is Obstacle.LATER and obstacle is not None):  # which says more
                fusion.kept[result] = obstacle or Obstacle.LATER, user
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
