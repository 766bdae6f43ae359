"""Takes ops apart that would make too long a kernel; then all ops get their stages again.

`pieces` says where. A piece of ops is computed after those before it, all of it at once, and what a later piece needs
of it is stored. Ops of several long kernels are cut at the same places: what one stores per body the other reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numhlo.backend.planning.operations import Kind
from numhlo.backend.planning.pieces import pieces
from numhlo.backend.planning.placed import LONGEST, MOST, Edge, Placed
from numhlo.backend.program import Obstacle
from numhlo.lowering.ops.effects import op_has_effects

FAR = 0.25
"""Part of the ops of long kernels that are used far behind, from where on their order in the program says little."""


def cut(order: Sequence[Placed]) -> bool:
    """Cut what is too long, and return whether anything was.

    Parameters
    ----------
    order : sequence of Placed
        All ops in program order, with their stages and uses.
    """
    long = _long(order)
    if not long:
        return False
    found = [place for place, one in enumerate(order) if one.leader() in long]
    inside = [order[place] for place in found]
    gaps = [place - before for before, place in zip([0, *found], found, strict=False)]
    places = {one: place for place, one in enumerate(inside)}
    uses = [[edge for edge in one.edges if edge.joins(one)] for one in inside]
    far = sum(min((places[e.user] for e in edges), default=0) - k > MOST for k, edges in enumerate(uses))
    if far > len(inside) * FAR:
        _join_while_they_fit(order)
        return True
    names = [f"{one.op.definition.name} {gap}" for one, gap in zip(inside, gaps, strict=True)]
    numbers = pieces(names, [[places[edge.user] for edge in edges] for edges in uses], MOST, LONGEST)
    for number, edges in zip(numbers, uses, strict=True):
        for edge in edges:
            if numbers[places[edge.user]] != number:
                edge.obstacle = Obstacle.LONG
    _find_stages(order, dict(zip(inside, numbers, strict=True)))
    return True


def _long(order: Sequence[Placed]) -> set[Placed]:
    """Return the ops that stand for sets of which no one kernel is to be made."""
    lengths = dict.fromkeys(order, 1)
    long: list[Placed] = []
    for one in order:
        length, leader = lengths[one] + 1, one.leader()
        for edge in one.edges:
            if edge.joins(one):
                other = edge.user.leader()
                leader = leader if other is leader else leader.join(other)
                lengths[edge.user] = max(lengths[edge.user], length)
        if length > LONGEST + 1 or leader.members > MOST:
            long.append(one)
    return {one.leader() for one in long}


def _join_while_they_fit(order: Sequence[Placed]) -> None:
    """Find all stages again, an op's being later where a kernel with all that it needs would become too long.

    So a program that writes all terms before all sums has its sums together with their terms.
    """
    sources: dict[Placed, list[tuple[Placed, Edge]]] = {one: [] for one in order}
    for one in order:
        one.above, one.members = None, 1
        for edge in one.edges:
            sources[edge.user].append((one, edge))
    lengths: dict[Placed, int] = {}
    effects = -1
    for one in order:
        found = sources[one]
        one.stage = max([source.stage + (edge.obstacle is not None) for source, edge in found], default=0)
        inner = [source for source, edge in found if edge.joins(source)]
        leaders = {source.leader(): None for source in inner}
        length = max([lengths[source] for source, edge in found if edge.obstacle is None], default=0)
        if length < LONGEST and sum([leader.members for leader in leaders]) < MOST:
            leader = one
            for other in leaders:
                leader = leader.join(other)
        else:
            length = 0
            for source, edge in found:
                edge.obstacle = edge.obstacle or Obstacle.LONG
                one.stage = max(one.stage, source.stage + 1)
        if one.kind is Kind.ROOT and op_has_effects(one.op):
            one.stage = effects = max(one.stage, effects + 1)
        lengths[one] = length + 1


@dataclass(slots=True)
class _Current:
    """The piece of a set that stages are found for: its number, its first stage, and the last one so far."""

    number: int = 0
    first: int = 0
    last: int = -1


def _find_stages(order: Sequence[Placed], numbers: dict[Placed, int]) -> None:
    """Give every op the least stage again, but for pieces: each comes after those of its set that are before it."""
    current: dict[Placed, _Current] = {}
    last: dict[tuple[Placed, int], int] = {}
    effects = -1
    for one in order:
        one.stage = 0
    for one in order:
        number = numbers.get(one)
        piece = None if number is None else current.setdefault(one.leader(), _Current())
        if piece is not None and number is not None and number > piece.number:
            piece.number, piece.first = number, piece.last + 1
        first = 0 if piece is None else piece.first
        if one.kind is Kind.ROOT and op_has_effects(one.op):
            first = effects = max(one.stage, first, effects + 1)
        one.stage = max(one.stage, first)
        if piece is not None:
            piece.last = max(piece.last, one.stage)
            last[one.leader(), piece.number] = piece.last
        for edge in one.edges:
            edge.user.stage = max(edge.user.stage, one.stage + (edge.obstacle is not None))
    for one, number in numbers.items():
        one.latest = last[one.leader(), number]
