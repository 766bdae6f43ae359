"""Division as NumPy rounds it: floored quotients, remainders of the divisor's sign, fmod, gcd and lcm.

StableHLO truncates toward zero and gives -1 for integers divided by zero; NumPy floors, and gives 0. Operands arrive
with the dtype and shape of the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy.ufunc_rules.greatest_values import note_greatest
from numhlo.lowering.ir import Op, TensorType
from numhlo.lowering.ops import control_flow, creation, layout, reduction
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building import Tracer, bind, bind1, convert, shape_of, trace_region
from numhlo.tracer.building import operations as b


def floor_divide(x: Any, y: Any) -> Any:
    """Return the floor of the quotient; 0 for integers divided by zero."""
    if x.dtype.kind not in "iu":
        return float_divmod(x, y)[0]
    divisor = _positive_constant(y)
    if divisor is not None:
        return _floor_by_constant(x, y, divisor)
    quotient = b.divide(x, y)
    if x.dtype.kind == "i":
        inexact = b.unequal(b.remainder(x, y), 0)
        opposite = b.less(b.differ(x, y), 0)
        quotient = b.subtract(quotient, convert(b.both(opposite, inexact), x.dtype))
    return b.select(b.equal(y, 0), 0, quotient)


def mod(x: Any, y: Any) -> Any:
    """Return the remainder that has the divisor's sign; 0 for integers divided by zero."""
    if x.dtype.kind not in "iu":
        return float_divmod(x, y)[1]
    divisor = _positive_constant(y)
    if divisor is not None and divisor & (divisor - 1) == 0:
        return b.both(x, divisor - 1)  # the greatest value is seen from it
    rest = b.remainder(x, y)
    if divisor is not None:
        rest = rest if x.dtype.kind == "u" else b.select(b.less(rest, 0), b.add(rest, y), rest)
        return note_greatest(rest, divisor - 1)
    if x.dtype.kind == "i":
        wrong = b.both(b.less(b.differ(rest, y), 0), b.unequal(rest, 0))
        rest = b.select(wrong, b.add(rest, y), rest)
    return b.select(b.equal(y, 0), 0, rest)


def _floor_by_constant(x: Any, y: Any, divisor: int) -> Any:
    """Return the floor of the quotient of integers; a shift for powers of two."""
    signed = x.dtype.kind == "i"
    if divisor & (divisor - 1) == 0:
        shift = b.shift_right if signed else b.shift_right_logical
        return shift(x, divisor.bit_length() - 1)
    quotient = b.divide(x, y)
    return b.subtract(quotient, convert(b.less(b.remainder(x, y), 0), x.dtype)) if signed else quotient


def _positive_constant(y: Any) -> int | None:
    """Return the positive integer that a divisor is everywhere, None where it may be another."""
    found: Any = y
    if isinstance(y, Tracer):
        value = y.value()
        while isinstance(value.owner, Op) and value.owner.definition in (layout.BROADCAST_IN_DIM, layout.RESHAPE):
            (value,) = value.owner.operands
        if not isinstance(value.owner, Op) or value.owner.definition is not creation.CONSTANT:
            return None
        found = value.owner.attributes["value"]
    numbers = np.asarray(found)
    return int(numbers.reshape(-1)[0]) if numbers.size == 1 and numbers.reshape(-1)[0] > 0 else None


def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """Return `floor_divide` and `mod`."""
    return (floor_divide(x, y), mod(x, y)) if x.dtype.kind in "iu" else float_divmod(x, y)


def fmod(x: Any, y: Any) -> Any:
    """Return the remainder that has the dividend's sign; 0 for integers divided by zero."""
    rest = b.remainder(x, y)
    return b.select(b.equal(y, 0), 0, rest) if x.dtype.kind in "iu" else rest


def float_divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """Return the floored quotient and its remainder, zeros, infinities and NaN as NumPy's ``npy_divmod`` has them."""
    zero = b.constant(0, x)
    truncated = b.remainder(x, y)
    nonzero = b.unequal(truncated, zero)
    opposite = b.differ(b.less(y, zero), b.less(truncated, zero))
    wrong = b.both(nonzero, opposite)
    quotient = b.divide(b.subtract(x, truncated), y)
    quotient = b.select(wrong, b.subtract(quotient, 1), quotient)
    rest = b.select(wrong, b.add(truncated, y), truncated)
    rest = b.select(nonzero, rest, b.with_slope_of(truncated, b.copysign(zero, y)))
    exact = b.fixed(b.divide(x, y))  # infinite where y is 0, and its slope too, but a whole number has none
    whole = b.floor(quotient)
    whole = b.select(b.greater(b.subtract(quotient, whole), 0.5), b.add(whole, 1), whole)
    whole = b.select(b.unequal(quotient, zero), whole, b.copysign(zero, exact))
    undefined = b.is_nan(truncated)
    whole = b.select(b.equal(y, zero), exact, b.select(undefined, b.fixed(truncated), whole))
    return whole, b.select(undefined, truncated, rest)


def gcd(x: Any, y: Any) -> Any:
    """Return the greatest common divisor."""
    return convert(_unsigned_gcd(_size(x), _size(y)), x.dtype)


def _unsigned_gcd(x: Any, y: Any) -> Any:
    """Return the greatest common divisor of all elements at once, by shifts and differences, which SIMD code does.

    Notes
    -----
    Stein, "Computational problems associated with Racah algebra", 1967: a stays odd, b becomes the difference of the
    smaller and the larger number, without its factors of two, until it is 0.
    """
    types = [TensorType(shape_of(x), x.dtype)] * 2

    def step(a: Any, c: Any) -> list[Any]:
        odd = b.shift_right_logical(c, _trailing_zeros(c))
        done = b.equal(c, 0)
        smaller, larger = b.minimum(a, odd), b.maximum(a, odd)
        return [b.select(done, a, smaller), b.select(done, 0, b.subtract(larger, smaller))]

    condition = trace_region(lambda _, c: [_any(b.unequal(c, 0))], types)
    either = b.equal(x, 0)
    first, second = b.select(either, y, x), b.select(either, 0, y)  # zero alone can't be made odd
    odd = b.shift_right_logical(first, _trailing_zeros(first))
    found = bind(control_flow.WHILE, odd, second, regions=[condition, trace_region(step, types)])[0]
    common = _trailing_zeros(b.either(first, second))
    return b.shift_left(found, common)


def _trailing_zeros(x: Any) -> Any:
    return bind1(ops.POPCNT, bind1(ops.AND, bind1(ops.NOT, x), b.subtract(x, 1)))


def _size(x: Any) -> Any:
    """Return the absolute value as an unsigned integer, which the least number has, too."""
    return x if x.dtype.kind == "u" else convert(b.absolute(x), np.dtype(f"u{x.dtype.itemsize}"))


def lcm(x: Any, y: Any) -> Any:
    """Return the least common multiple; 0 where either is 0."""
    lhs, rhs = _size(x), _size(y)
    divisor = _unsigned_gcd(lhs, rhs)
    quotient = b.divide(lhs, b.select(b.equal(divisor, 0), 1, divisor))
    return convert(b.multiply(quotient, rhs), x.dtype)


def _any(mask: Any) -> Any:
    scalar = TensorType((), mask.dtype)
    body = trace_region(lambda p, q: [bind1(ops.OR, p, q)], [scalar, scalar])
    attributes = {"dimensions": tuple(range(len(shape_of(mask))))}
    return bind1(reduction.REDUCE, mask, np.asarray(False), attributes=attributes, regions=[body])
