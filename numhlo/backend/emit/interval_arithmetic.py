"""Arithmetic of intervals: what an op's integers can be, as those of its operands can.

Bounds are those of exact arithmetic; whether they fit a type is for `intervals` to ask.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import NamedTuple

from numhlo.lowering.ops import comparison, conversion, elementwise, indexing, layout
from numhlo.lowering.ops.primitive import Primitive


class Interval(NamedTuple):
    """All integers from ``low`` to ``high``; False is 0, True is 1."""

    low: int
    high: int

    def within(self, low: int, high: int) -> bool:
        """Return whether all of it lies between two numbers."""
        return low <= self.low and self.high <= high

    @property
    def only(self) -> int | None:
        """Return the one number that it holds, None if it holds several."""
        return self.low if self.low == self.high else None


TRUTH = Interval(0, 1)


def _comparison(holds: Callable[[int, int], bool]) -> Callable[[Interval, Interval], tuple[bool, bool]]:
    """Return a function that says whether an ordering always holds and whether it never does."""

    def decide(lhs: Interval, rhs: Interval) -> tuple[bool, bool]:
        corners = [holds(a, b) for a, b in ((lhs.low, rhs.high), (lhs.high, rhs.low))]
        return all(corners), not any(corners)

    return decide


def _equal(lhs: Interval, rhs: Interval) -> tuple[bool, bool]:
    return lhs.only is not None and lhs == rhs, lhs.high < rhs.low or rhs.high < lhs.low


COMPARISONS: dict[str, Callable[[Interval, Interval], tuple[bool, bool]]] = {
    "LT": _comparison(operator.lt),
    "LE": _comparison(operator.le),
    "GT": _comparison(operator.gt),
    "GE": _comparison(operator.ge),
    "EQ": _equal,
    "NE": lambda lhs, rhs: _equal(lhs, rhs)[::-1],
}


def union(*parts: Interval) -> Interval:
    """Return the least interval that holds all of some.

    Examples
    --------
    >>> union(Interval(1, 2), Interval(5, 9))
    Interval(low=1, high=9)
    """
    return Interval(min(p.low for p in parts), max(p.high for p in parts))


def _product(lhs: Interval, rhs: Interval) -> Interval:
    corners = [a * b for a in lhs for b in rhs]
    return Interval(min(corners), max(corners))


def _quotient(lhs: Interval, rhs: Interval) -> Interval | None:
    """Divide by positive numbers, truncating toward zero."""
    if rhs.low <= 0:
        return None
    corners = [abs(a) // b * (1 if a >= 0 else -1) for a in lhs for b in rhs]
    return Interval(min(corners), max(corners))


def _rest(lhs: Interval, rhs: Interval) -> Interval | None:
    """Return the remainder by positive numbers, which has the dividend's sign."""
    if rhs.low <= 0:
        return None
    return Interval(max(min(lhs.low, 0), 1 - rhs.high), min(max(lhs.high, 0), rhs.high - 1))


def _and(lhs: Interval, rhs: Interval) -> Interval | None:
    bounds = [part.high for part in (lhs, rhs) if part.low >= 0]
    low = 1 if lhs == rhs == Interval(1, 1) else 0
    return Interval(low, min(bounds)) if bounds else None


def _or(lhs: Interval, rhs: Interval) -> Interval | None:
    if min(lhs.low, rhs.low) < 0:
        return None
    return Interval(max(lhs.low, rhs.low), (1 << max(lhs.high.bit_length(), rhs.high.bit_length())) - 1)


def _xor(lhs: Interval, rhs: Interval) -> Interval | None:
    if min(lhs.low, rhs.low) < 0:
        return None
    return Interval(0, (1 << max(lhs.high.bit_length(), rhs.high.bit_length())) - 1)


def _shifted(operand: Interval, count: Interval) -> Interval | None:
    """Halve as often as ``count`` says, rounding down."""
    if not count.within(0, 63):
        return None
    corners = [a >> n for a in operand for n in count]
    return Interval(min(corners), max(corners))


def _absolute(operand: Interval) -> Interval:
    corners = [abs(operand.low), abs(operand.high)]
    return Interval(0 if operand.low <= 0 <= operand.high else min(corners), max(corners))


def _same(operand: Interval, *_: Interval) -> Interval:
    return operand


RULES: dict[Primitive, Callable[..., Interval | None]] = {
    elementwise.ADD: lambda a, b: Interval(a.low + b.low, a.high + b.high),
    elementwise.SUBTRACT: lambda a, b: Interval(a.low - b.high, a.high - b.low),
    elementwise.MULTIPLY: _product,
    elementwise.DIVIDE: _quotient,
    elementwise.REMAINDER: _rest,
    elementwise.MINIMUM: lambda a, b: Interval(min(a.low, b.low), min(a.high, b.high)),
    elementwise.MAXIMUM: lambda a, b: Interval(max(a.low, b.low), max(a.high, b.high)),
    elementwise.NEGATE: lambda a: Interval(-a.high, -a.low),
    elementwise.ABS: _absolute,
    elementwise.AND: _and,
    elementwise.OR: _or,
    elementwise.XOR: _xor,
    elementwise.SHIFT_RIGHT_ARITHMETIC: _shifted,
    comparison.CLAMP: lambda low, a, high: Interval(
        min(max(a.low, low.low), high.low), min(max(a.high, low.high), high.high)
    ),
    conversion.CONVERT: _same,
    layout.BROADCAST_IN_DIM: _same,
    layout.RESHAPE: _same,
    layout.TRANSPOSE: _same,
    layout.SLICE: _same,
    layout.REVERSE: _same,
    layout.CONCATENATE: union,
    indexing.DYNAMIC_SLICE: _same,
    indexing.GATHER: _same,
}
"""How the interval of a result follows from those of the operands; None where a type's own bounds are all there is."""
