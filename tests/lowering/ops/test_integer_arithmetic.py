"""Integer ops against Python's integers: all pairs of 8-bit and narrower values, and the extremes of the wide types."""

import ml_dtypes
import numpy as np
import pytest

from numhlo.lowering.ir.types import ELEMENT_TYPES, SIGNED
from numhlo.lowering.ops import elementwise
from tests.lowering.ops.evaluation import all_codes, evaluate, pairs

WIDTHS = {f"{sign}{bits}": bits for sign in ("i", "ui") for bits in (2, 4, 8, 16, 32, 64)}


def truncated(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def divide(x, y, bits, signed):
    return truncated(x, y) if y else -1


def remainder(x, y, bits, signed):
    return x - truncated(x, y) * y if y else x


def power(x, y, bits, signed):
    if y >= 0:
        return pow(x, y, 1 << bits)
    return {1: 1, -1: 1 if y % 2 == 0 else -1}.get(x, 0)


def amount(y, bits):
    return y if 0 <= y < bits else bits


def shift_left(x, y, bits, signed):
    return x << amount(y, bits)


def shift_right_logical(x, y, bits, signed):
    return (x & ((1 << bits) - 1)) >> amount(y, bits)


def shift_right_arithmetic(x, y, bits, signed):
    return wrap(x, bits, True) >> amount(y, bits)


REFERENCES = {
    elementwise.ADD: lambda x, y, bits, signed: x + y,
    elementwise.SUBTRACT: lambda x, y, bits, signed: x - y,
    elementwise.MULTIPLY: lambda x, y, bits, signed: x * y,
    elementwise.DIVIDE: divide,
    elementwise.REMAINDER: remainder,
    elementwise.POWER: power,
    elementwise.MAXIMUM: lambda x, y, bits, signed: max(x, y),
    elementwise.MINIMUM: lambda x, y, bits, signed: min(x, y),
    elementwise.AND: lambda x, y, bits, signed: x & y,
    elementwise.OR: lambda x, y, bits, signed: x | y,
    elementwise.XOR: lambda x, y, bits, signed: x ^ y,
    elementwise.SHIFT_LEFT: shift_left,
    elementwise.SHIFT_RIGHT_LOGICAL: shift_right_logical,
    elementwise.SHIFT_RIGHT_ARITHMETIC: shift_right_arithmetic,
    elementwise.NEGATE: lambda x, bits, signed: -x,
    elementwise.NOT: lambda x, bits, signed: ~x,
    elementwise.ABS: lambda x, bits, signed: abs(x),
    elementwise.SIGN: lambda x, bits, signed: (x > 0) - (x < 0),
    elementwise.POPCNT: lambda x, bits, signed: (x & ((1 << bits) - 1)).bit_count(),
    elementwise.COUNT_LEADING_ZEROS: lambda x, bits, signed: bits - (x & ((1 << bits) - 1)).bit_length(),
}


def wrap(number, bits, signed):
    number &= (1 << bits) - 1
    return number - (1 << bits) if signed and number >> (bits - 1) else number


def check(name, values):
    dtype, bits = ELEMENT_TYPES[name], WIDTHS[name]
    signed = dtype in SIGNED
    columns = pairs(values)
    for op, reference in REFERENCES.items():
        if op in (elementwise.ABS, elementwise.SIGN) and not signed:
            continue
        arrays = columns[: len(op.operands)] if len(op.operands) == 2 else (values,)
        numbers = [a.astype(object).tolist() for a in arrays]
        expected = [wrap(reference(*map(int, row), bits, signed), bits, signed) for row in zip(*numbers, strict=True)]
        found = [int(n) for n in evaluate(op, *arrays)]
        wrong = [k for k, pair in enumerate(zip(found, expected, strict=True)) if pair[0] != pair[1]]
        assert not wrong, (op, [a[wrong[:3]] for a in arrays], [found[k] for k in wrong[:3]])


@pytest.mark.parametrize("name", ["i2", "ui2", "i4", "ui4"])
@pytest.mark.specifies("integers of 2 and 4 bits")
def test_all_pairs_of_narrow_integers(name):
    check(name, all_codes(ELEMENT_TYPES[name]))


@pytest.mark.parametrize("name", ["i8", "ui8"])
@pytest.mark.specifies("integers of 8 to 64 bits")
def test_all_pairs_of_8_bits(name):
    check(name, all_codes(ELEMENT_TYPES[name]))


@pytest.mark.parametrize("name", ["i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"])
@pytest.mark.specifies("integers of 8 to 64 bits")
def test_extremes(name):
    dtype, bits = ELEMENT_TYPES[name], WIDTHS[name]
    info = ml_dtypes.iinfo(dtype)
    numbers = {info.min, info.min + 1, info.min // 2, -bits, -3, -2, -1, 0, 1, 2, 3, bits - 1, bits, bits + 1}
    numbers |= {info.max // 3, info.max // 2 + 1, info.max - 1, info.max}
    check(name, np.array(sorted(n for n in numbers if info.min <= n <= info.max), dtype))


def test_scalars_of_no_dimension():
    least, minus_one = np.array(-(2**63)), np.array(-1)
    assert evaluate(elementwise.DIVIDE, least, minus_one) == -(2**63)
    assert evaluate(elementwise.DIVIDE, least, np.array(0)) == -1
    assert evaluate(elementwise.REMAINDER, least, minus_one) == 0
    assert evaluate(elementwise.POWER, np.array(3), minus_one) == 0
