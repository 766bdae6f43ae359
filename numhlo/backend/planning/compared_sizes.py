"""Absolute values of complex numbers that are only compared with a constant: sums of squares are compared instead.

``abs(z) <= 2`` is ``re**2 + im**2 <= 4``, without a square root. For each constant there is a greatest sum whose root,
rounded, is not beyond it; comparing with that one gives the same answers. Sums that overflow, or lose digits near 0,
are far from the constants in question. An infinite part makes the absolute value infinite even beside NaN.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numhlo.backend.planning.writing import Writer
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.comparison import COMPARE
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.layout import BROADCAST_IN_DIM

TURNED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}
"""What each direction is called with the operands the other way round."""

RANGE = 1e-100, 1e100
"""Constants whose squares are far from where sums of squares overflow, or lose digits."""

COMPLEX128 = np.dtype(np.complex128)


def is_size_comparison(op: Op) -> bool:
    """Return whether an op compares absolute values of complex128 with a constant."""
    return _parts(op) is not None


def _parts(op: Op) -> tuple[Op, str, float] | None:
    """Return the op that makes absolute values, and how they are compared with which number."""
    written = op.attributes["comparison_direction"]
    if written not in TURNED:
        return None
    for place, direction in enumerate((written, TURNED[written])):
        size = op.operands[place].owner
        if isinstance(size, Op) and size.definition is elementwise.ABS and size.operands[0].tensor.dtype == COMPLEX128:
            number = _constant(op.operands[1 - place])
            return None if number is None or not RANGE[0] < number < RANGE[1] else (size, direction, number)
    return None


def _constant(value: Value) -> float | None:
    owner = value.owner
    if isinstance(owner, Op) and owner.definition is BROADCAST_IN_DIM:
        owner = owner.operands[0].owner
    if not isinstance(owner, Op) or owner.definition is not CONSTANT:
        return None
    array = owner.attributes["value"]
    return float(array.reshape(-1)[0]) if array.size == 1 else None


def greatest_square(number: float, *, strictly: bool) -> float:
    """Return the greatest float64 whose rounded square root is at most, or less than, a number.

    Examples
    --------
    >>> greatest_square(2.0, strictly=False)
    4.000000000000001
    >>> greatest_square(2.0, strictly=True)
    3.9999999999999996
    """

    def is_beyond(square: float) -> bool:
        root = float(np.sqrt(square))
        return root >= number if strictly else root > number

    square = number * number
    while is_beyond(square):
        square = float(np.nextafter(square, 0.0))
    while not is_beyond(following := float(np.nextafter(square, np.inf))):
        square = following
    return square


def expand_size_comparison(op: Op, replaced: Callable[[Value], Value], append: Callable[[Op], None]) -> list[Value]:
    """Append the ops that compare squares, and return the booleans.

    Parameters
    ----------
    op : Op
        One that `is_size_comparison` accepts.
    replaced : callable
        Returns what takes the place of a value.
    append : callable
    """
    found = _parts(op)
    assert found is not None
    size, direction, number = found

    writer = Writer(append, op.location)

    def compared(direction: str, values: Value, scalar: float) -> Value:
        bound = writer.number(scalar, values.tensor.dtype)
        wide = writer.spread(bound, values.tensor.shape) if values.tensor.shape else bound
        return writer.op(COMPARE, values, wide, comparison_direction=direction, compare_type="FLOAT")

    z = replaced(size.operands[0])
    parts = [writer.op(part, z) for part in (elementwise.REAL, elementwise.IMAG)]
    total = writer.op(elementwise.ADD, *[writer.op(elementwise.MULTIPLY, part, part) for part in parts])
    square = greatest_square(number, strictly=direction in ("LT", "GE"))
    if direction in ("LT", "LE"):
        return [compared("LE", total, square)]
    beyond = compared("GT", total, square)
    for part in parts:
        beyond = writer.op(elementwise.OR, beyond, compared("EQ", writer.op(elementwise.ABS, part), np.inf))
    return [beyond]
