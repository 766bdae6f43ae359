"""Takes ops apart that would make too long a kernel; then all ops get their stages again.

`pieces` says where. A piece of ops is computed after those before it, all of it at once, and what a later piece needs
of it is stored. Ops of several long kernels are cut at the same places: what one stores per body the other reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.backend.planning.operations import ROOT
from numhlo.backend.planning.pieces import pieces
from numhlo.backend.planning.placed import LONGEST, MOST, Edge, Placed
from numhlo.backend.program import Obstacle
from numhlo.lowering.ir.records import record
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
    joining = [[edge for edge in one.edges if edge.joins(one)] if one.edges else [] for one in inside]
    uses = [[places[edge.user] for edge in edges] for edges in joining]
    far = sum([min(users) - k > MOST for k, users in enumerate(uses) if users])
    if far > len(inside) * FAR:
        _join_while_they_fit(order)
        return True
    names = [f"{one.op.definition.name} {gap}" for one, gap in zip(inside, gaps, strict=True)]
    numbers = pieces(names, uses, MOST, LONGEST)
    for number, edges, users in zip(numbers, joining, uses, strict=True):
        for edge, user in zip(edges, users, strict=True):
            if numbers[user] != number:
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
                user = edge.user
                other = user.leader()
                leader = leader if other is leader else leader.join(other)
                lengths[user] = max(lengths[user], length)
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
        if one.kind is ROOT and op_has_effects(one.op):
            one.stage = effects = max(one.stage, effects + 1)
        lengths[one] = length + 1


@record(slots=True)
class _Piece:
    """A piece of a set: its number, its first stage, and the last one so far."""

    number: int
    first: int
    last: int


def _find_stages(order: Sequence[Placed], numbers: dict[Placed, int]) -> None:
    """Give every op the least stage again, but for pieces: each comes after those of its set that are before it."""
    current: dict[Placed, _Piece] = {}
    piece_of: list[tuple[Placed, _Piece]] = []
    effects = -1
    for one in order:
        one.stage = 0
    for one in order:
        number = numbers.get(one)
        piece = None
        if number is not None:
            leader = one.leader()
            piece = current.get(leader)
            if piece is None or number > piece.number:
                after = 0 if piece is None else piece.last + 1
                piece = current[leader] = _Piece(number, after, after - 1)
            piece_of.append((one, piece))
            one.stage = max(one.stage, piece.first)
        if one.kind is ROOT and op_has_effects(one.op):
            one.stage = effects = max(one.stage, effects + 1)
        stage = one.stage
        if piece is not None and piece.last < stage:
            piece.last = stage
        for edge in one.edges:
            least = stage if edge.obstacle is None else stage + 1
            edge.user.stage = max(edge.user.stage, least)
    for one, piece in piece_of:
        one.latest = piece.last
