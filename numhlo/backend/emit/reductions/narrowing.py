"""Reductions of few elements among many: ``sum(select(start <= i < stop, x[i], 0))`` looks at those between the bounds.

NumPy programs write ``a[start:stop].sum()`` and ``a[i, :i] @ b[:i]``. Traced bounds make a mask of them over all of the
axis, and for every element that it leaves out what changes no result. Lanes and blocks stay where they are in
`numhlo.lowering.ops.reduction_order`, so results have the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator

from numhlo.backend.emit.expressions import PLACED, Apply, Literal, Position, operand_nodes
from numhlo.backend.emit.nest import Nest
from numhlo.backend.emit.reductions.writer import Reduced
from numhlo.backend.emit.registers import Register, literal
from numhlo.lowering.ops import comparison, elementwise
from numhlo.lowering.ops.reduction_order import LANES

MOST_TESTS = 4
"""Comparisons that may bound the elements of one reduction, and reductions of one kernel that may have bounds."""

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


class Narrowing:
    """Where along its axis the elements of a kernel's reductions are others than what changes no result.

    Parameters
    ----------
    nest : Nest
    axis : int
        The only one that is reduced.
    reduced : list of Reduced
    """

    def __init__(self, nest: Nest, axis: int, reduced: list[Reduced]) -> None:
        self._nest, self._axis = nest, axis
        self._nodes = nest.expressions.nodes
        found = [self._tests_of(each) for each in reduced] if len(reduced) <= MOST_TESTS else [[]]
        self._tests = found if all(found) else []

    def __bool__(self) -> bool:
        return bool(self._tests)

    def write(self, count: str) -> tuple[str, str]:
        """Write the bounds of the elements to look at: multiples of the number of lanes, or the last one the count.

        There is always one element between them.
        """
        text = self._nest.text
        bounds = [self._bounds(tests, count) for tests in self._tests]
        start, stop = bounds[0]
        for first, last in bounds[1:]:
            start, stop = f"min({start}, {first})", f"max({stop}, {last})"
        start = text.let(f"min({start}, {count} - 1) & {-LANES}", "first")
        stop = text.let(f"min(max({stop} + {LANES - 1} & {-LANES}, {start} + {LANES}), {count})", "last")
        return start, stop

    def _bounds(self, tests: list[tuple[str, int]], count: str) -> tuple[str, str]:
        """Write the bounds of one reduction's elements."""
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

    def _tests_of(self, reduced: Reduced) -> list[tuple[str, int]]:
        """Return comparisons of an element's place with numbers: where one is false, the element changes no result."""
        if len(reduced.inputs) != 1 or not self._is_chosen(reduced):
            return []
        node = self._nodes[reduced.inputs[0]]
        assert isinstance(node, Apply)
        return list(self._bounding(node.operands[0]))[:MOST_TESTS]

    def _is_chosen(self, reduced: Reduced) -> bool:
        """Return whether the elements are chosen by a mask, and the others change no result."""
        node = self._nodes[reduced.inputs[0]]
        if not isinstance(node, Apply) or node.op.definition is not comparison.SELECT:
            return False
        other, init = self._nodes[node.operands[2]], self._nodes[reduced.inits[0]]
        register, neutral = reduced.combiner.registers[0], reduced.combiner.identity
        if not isinstance(other, Literal) or neutral is None:
            return False
        if reduced.combiner.name == "add" and register.kind == "f":  # 0.0 + -0.0 is 0.0: the initial value sees to that
            zero = _zero(register)
            return other.text == zero and isinstance(init, Literal) and init.text == zero
        return other.text == neutral

    def _bounding(self, mask: int) -> Iterator[tuple[str, int]]:
        node = self._nodes[mask]
        if not isinstance(node, Apply):
            return
        if node.op.definition is elementwise.AND and node.register.kind == "b":
            for operand in node.operands:
                yield from self._bounding(operand)
        if node.op.definition is comparison.COMPARE:
            direction = node.op.attributes["comparison_direction"]
            for place, bound, seen in (*_pairs(node.operands, direction),):
                if seen in (*FIRST, *LAST) and self._is_place(place) and not self._varies(bound):
                    yield seen, bound

    def _is_place(self, number: int) -> bool:
        """Return whether a node is the place along the axis, as an integer that holds all places."""
        node = self._nodes[number]
        if not isinstance(node, Position) or node.register.name != "i64" or node.access.offset or node.access.starts:
            return False
        return [(k, stride) for k, stride in enumerate(self._nest.strides(node.access)) if stride] == [(self._axis, 1)]

    def _varies(self, number: int) -> bool:
        """Return whether a node varies along the axis."""
        stack, seen = [number], set[int]()
        while stack:
            found = stack.pop()
            node = self._nodes[found]
            if isinstance(node, PLACED) and self._nest.strides(node.access)[self._axis]:
                return True
            if found not in seen:
                seen.add(found)
                stack += operand_nodes(node)
        return False


def _pairs(operands: tuple[int, ...], direction: str) -> list[tuple[int, int, str]]:
    left, right = operands
    return [(left, right, direction), (right, left, MIRRORED.get(direction, ""))]


def _zero(register: Register) -> str:
    return literal(register.dtype.type(0), register)
