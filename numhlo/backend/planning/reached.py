"""What elementwise ops reach through views, concatenations and padding, and where it is cut.

An axis of a value that is reached belongs to an axis of the ops' own shape, at a distance; or to none, where all of
them read the one element of it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import layout

JOINED = frozenset({layout.CONCATENATE, layout.PAD})
VIEWED = frozenset({layout.SLICE, layout.TRANSPOSE, layout.BROADCAST_IN_DIM, layout.RESHAPE})
"""Views that values are followed through, most of them."""

SPREAD = 4
"""Times that an array has the elements of a joined one that it is not worth being cut for."""

Axes = tuple[tuple[int | None, int], ...]
"""For each axis of a value: whose axis it is, and how far its elements are from there."""


def whole_axes(shape: Sequence[int]) -> Axes:
    """Return the axes of a value that is read element by element.

    Examples
    --------
    >>> whole_axes((2, 3))
    ((0, 0), (1, 0))
    """
    return tuple((axis, 0) for axis in range(len(shape)))


class Reached:
    """Follows values, from what elementwise ops read down to where it lies.

    Parameters
    ----------
    shape : tuple of int
        The ops' own.
    users : mapping from Value to Op
    returned : collection of Value
    members : collection of Op
        The ops: what others read, too, is in memory anyway.

    Attributes
    ----------
    cuts : list of list of int
        Where each axis of the shape is to be cut, in no order.
    followed : set of Value
        Concatenations and padded arrays, and views that lead to them.
    pads : bool
        Whether there is padding among them.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        users: Mapping[Value, Sequence[Op]],
        returned: Collection[Value],
        members: Collection[Op],
    ) -> None:
        self.shape, self.users, self.returned, self.members = shape, users, returned, members
        self.size = math.prod(shape)
        self.cuts: list[list[int]] = [[] for _ in shape]
        self.followed: set[Value] = set()
        self.pads = False
        self._known: dict[tuple[Value, Axes], bool] = {}
        self._ours: dict[Value, bool] = {}

    def visit(self, value: Value, axes: Axes) -> bool:
        """Follow a value that is reached through axes; return whether that leads to a seam."""
        found = self._known.get((value, axes))
        if found is None:
            found = self._known[value, axes] = self._leads(value, axes)
            if found:
                self.followed.add(value)
        return found

    def _leads(self, value: Value, axes: Axes) -> bool:
        op = value.owner
        if not isinstance(op, Op) or not self._is_ours(value):
            return False
        if op.definition is layout.CONCATENATE:
            return self._visit_joined(op, axes)
        if op.definition is layout.PAD:
            return self._visit_padded(op, axes)
        below = self.below(op, axes)
        return below is not None and self.visit(op.operands[0], below)

    def _is_ours(self, value: Value) -> bool:
        """Return whether nobody needs a value but the ops, through views and joined arrays."""
        known = self._ours.get(value)
        if known is None:
            users = self.users.get(value, ())
            known = value not in self.returned and all(
                u in self.members or (u.definition in JOINED | VIEWED and self._is_ours(u.result)) for u in users
            )
            self._ours[value] = known
        return known

    def _visit_joined(self, op: Op, axes: Axes) -> bool:
        if op.result.tensor.size * SPREAD < self.size:
            return False
        dimension: int = op.attributes["dimension"]
        axis, distance = axes[dimension]
        place = 0
        for operand in op.operands:
            self._cut(axis, place - distance)
            self.visit(operand, (*axes[:dimension], (axis, distance - place), *axes[dimension + 1 :]))
            place += operand.tensor.shape[dimension]
        return True

    def _visit_padded(self, op: Op, axes: Axes) -> bool:
        lows = op.attributes["edge_padding_low"]
        if any(op.attributes["interior_padding"]) or op.result.tensor.size * SPREAD < self.size:
            return False
        if op.operands[0].tensor.size == 0:
            return False
        inner = []
        for (axis, distance), low, extent in zip(axes, lows, op.operands[0].tensor.shape, strict=True):
            self._cut(axis, low - distance)
            self._cut(axis, low + extent - distance)
            inner.append((axis, distance - low))
        self.visit(op.operands[0], tuple(inner))
        self.pads = True
        return True

    def _cut(self, axis: int | None, place: int) -> None:
        if axis is not None and 0 < place < self.shape[axis]:
            self.cuts[axis].append(place)

    def below(self, op: Op, axes: Axes) -> Axes | None:
        """Return the axes of what a view looks at; None where it is not followed."""
        shape = op.results[0].tensor.shape if op.definition in VIEWED else ()
        match op.definition:
            case layout.SLICE if all(step == 1 for step in op.attributes["strides"]):
                starts = op.attributes["start_indices"]
                return tuple((axis, at + start) for (axis, at), start in zip(axes, starts, strict=True))
            case layout.TRANSPOSE:
                permutation: Sequence[int] = op.attributes["permutation"]
                return tuple(axes[permutation.index(k)] for k in range(len(axes)))
            case layout.BROADCAST_IN_DIM:
                dims, before = op.attributes["broadcast_dimensions"], op.operands[0].tensor.shape
                pairs = zip(dims, before, strict=True)
                return tuple((None, 0) if n == 1 and shape[dim] != 1 else axes[dim] for dim, n in pairs)
            case layout.RESHAPE:
                return _without_ones(op.operands[0].tensor.shape, shape, axes)
        return None


def _without_ones(before: Sequence[int], shape: Sequence[int], axes: Axes) -> Axes | None:
    """Return the axes of what is seen with axes of extent 1 more or fewer; None for other reshapes."""
    rest = [axis for axis, n in zip(axes, shape, strict=True) if n != 1]
    if [n for n in before if n != 1] != [n for n in shape if n != 1]:
        return None
    remaining = iter(rest)
    return tuple((None, 0) if n == 1 else next(remaining) for n in before)
