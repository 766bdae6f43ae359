"""Loops over few elements among many: where a mask is true only between bounds, and nothing happens elsewhere.

NumPy programs write ``a[start:stop].sum()``, ``a[i, :i] @ b[:i]`` and ``a[i, :i] += b``. Traced bounds make a mask of
them over all of the axis. Where what it leaves out changes no result, and where it is written as it was read, loops run
from bound to bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from numhlo.backend.emit.expressions import PLACED, Apply, Position, operand_nodes
from numhlo.backend.emit.nest import Nest
from numhlo.lowering.ops import comparison, elementwise

MOST_TESTS = 4
"""Comparisons that may bound the elements of one loop, and masks of one loop that may have bounds."""

MIRRORED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "EQ": "EQ"}
"""What a comparison is with its operands exchanged."""

FIRST = {
    "GE": "min(max({0}, 0), {1})",
    "GT": "min(max({0}, -1), {1} - 1) + 1",
    "EQ": "min(max({0}, 0), {1})",
}
LAST = {
    "LT": "min(max({0}, 0), {1})",
    "LE": "min(max({0}, -1), {1} - 1) + 1",
    "EQ": "min(max({0}, -1), {1} - 1) + 1",
}
"""By which a comparison of places with a number bounds them, if there are so many places as the second text says."""


class Bound(NamedTuple):
    """A comparison of an element's place with a number: where it is false, nothing happens."""

    direction: str
    number: int


class Narrowing:
    """Where along an axis something happens, as masks say.

    Parameters
    ----------
    nest : Nest
    axis : int
    masks : sequence of int
        Nodes: where one is true, something may happen.
    """

    def __init__(self, nest: Nest, axis: int, masks: Sequence[int]) -> None:
        self._nest, self._axis = nest, axis
        self._nodes = nest.expressions.nodes
        found = [list(self._tests(mask))[:MOST_TESTS] for mask in masks] if len(masks) <= MOST_TESTS else []
        self._bounded = found if all(found) else []

    def __bool__(self) -> bool:
        return bool(self._bounded)

    def write(self, count: str) -> tuple[str, str]:
        """Write and return the bounds, from 0 to the number of places."""
        bounds = [self._bounds(tests, count) for tests in self._bounded]
        start, stop = bounds[0]
        for first, last in bounds[1:]:
            start, stop = f"min({start}, {first})", f"max({stop}, {last})"
        return start, stop

    def _bounds(self, tests: Sequence[Bound], count: str) -> tuple[str, str]:
        text, starts, stops = self._nest.text, [], []
        for direction, node in tests:
            value = f"to_i64({self._nest.name(node)})"
            if direction in FIRST:
                starts.append(text.let(FIRST[direction].format(value, count), "start"))
            if direction in LAST:
                stops.append(text.let(LAST[direction].format(value, count), "stop"))
        start, stop = starts[0] if starts else "0", stops[0] if stops else count
        for other in starts[1:]:
            start = f"max({start}, {other})"
        for other in stops[1:]:
            stop = f"min({stop}, {other})"
        return start, stop

    def _tests(self, mask: int) -> Iterator[Bound]:
        """Yield comparisons without which a mask is not true."""
        node = self._nodes[mask]
        if not isinstance(node, Apply):
            return
        if node.op.definition is elementwise.AND and node.register.kind == "b":
            for operand in node.operands:
                yield from self._tests(operand)
        if node.op.definition is comparison.COMPARE:
            (left, right), direction = node.operands, node.op.attributes["comparison_direction"]
            for place, bound, seen in ((left, right, direction), (right, left, MIRRORED.get(direction))):
                if seen in (*FIRST, *LAST) and self._is_place(place) and not self._varies(bound):
                    yield Bound(seen, bound)

    def _is_place(self, number: int) -> bool:
        """Return whether a node is the place along the axis, as an integer that holds all places."""
        node = self._nodes[number]
        if not isinstance(node, Position) or node.register.name != "i64" or node.access.offset or node.access.starts:
            return False
        return [(k, stride) for k, stride in enumerate(self._nest.strides(node.access)) if stride] == [(self._axis, 1)]

    def _varies(self, number: int) -> bool:
        """Return whether a node varies along the axis, or along one whose loop is inside."""
        stack, seen = [number], set[int]()
        while stack:
            found = stack.pop()
            node = self._nodes[found]
            if isinstance(node, PLACED) and any(self._nest.strides(node.access)[self._axis :]):
                return True
            if found not in seen:
                seen.add(found)
                stack += operand_nodes(node)
        return False
