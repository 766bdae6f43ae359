"""An op on its way into a kernel, and its uses: what `fusion` finds out about them, step by step."""

from __future__ import annotations

import sys

from numhlo.backend.planning.operations import ELEMENT, REDUCTION, Kind
from numhlo.backend.program import Obstacle
from numhlo.lowering.ir import Op, Value

CHEAP = 2
"""Operations that are computed again in every kernel that needs them, if they read no large array."""

SPREAD = 16
"""Times that a value has the elements of what it is computed from, from where on that counts as no large array."""

LONGEST = 100
"""Ops in a row that may depend on each other within one kernel; compile times grow with it."""

MOST = 400
"""Ops of one kernel, whether they depend on each other or read the same arrays; compile times grow with it."""


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
    array : Value or None
        The large array that computing it reads where it reads no other, and its own elements would take no less.
    reads_little : bool
        Whether computing it takes few operations, and reads no large array.
    is_cheap : bool
        Whether every kernel that needs it may compute it again: it reads little, or one array instead of itself.
    latest : int
        The last stage that it may be in.
    edges : list of Edge
        Uses by other ops.
    above : Placed or None
        On the way to the op that stands for the set which this one is in; None for that op itself.
    members : int
        How many ops the set has, where the op stands for one.
    """

    __slots__ = (
        "above",
        "array",
        "axes",
        "cost",
        "domain",
        "edges",
        "is_cheap",
        "kind",
        "latest",
        "members",
        "op",
        "read",
        "reads_little",
        "stage",
    )

    def __init__(self, op: Op, kind: Kind) -> None:
        self.op, self.kind = op, kind
        self.domain: tuple[int, ...] = ()
        self.axes: tuple[int, ...] | None = None
        if kind is ELEMENT:
            self.domain = op.results[0].tensor.shape
        elif kind is REDUCTION:
            self.domain = op.operands[0].tensor.shape
            self.axes = tuple(sorted(op.attributes["dimensions"]))
        self.stage = self.cost = self.read = 0
        self.array: Value | None = None
        self.reads_little = self.is_cheap = False
        self.latest = sys.maxsize
        self.edges: list[Edge] = []
        self.above: Placed | None = None
        self.members = 1

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

    def __init__(self, user: Placed, obstacle: Obstacle | None, direct: bool) -> None:
        self.user = user
        self.obstacle = obstacle
        self.direct = direct

    def joins(self, source: Placed) -> bool:
        """Return whether the value's op and its user may come into one kernel, as far as this use is concerned."""
        return self.user.stage == source.stage and self.obstacle is None and not source.is_cheap
