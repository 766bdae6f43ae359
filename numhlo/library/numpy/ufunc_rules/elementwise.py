"""What each NumPy ufunc means in StableHLO ops, given operands of the dtypes that NumPy's loop would use.

Operands arrive broadcast to one shape. The table `RULES` at the end is the index; `numhlo.library.numpy.elementwise`
does the promotion, the broadcasting, ``out=`` and ``where=`` around it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from numhlo.library.numpy.ufunc_rules import complex_numbers as complex_rules
from numhlo.library.numpy.ufunc_rules import division as division_rules
from numhlo.library.numpy.ufunc_rules import floats as float_rules
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.primitive import Primitive
from numhlo.tracer.building import bind1, composite, convert, full_of, shape_of
from numhlo.tracer.building import bitcast as bitcast
from numhlo.tracer.building import compare as compare
from numhlo.tracer.building import constant as constant
from numhlo.tracer.building import operations as b
from numhlo.tracer.building import select as select

Rule = Callable[..., Any]


def direct(op: Primitive) -> Rule:
    """Return the rule of a ufunc that is one StableHLO op."""
    return partial(bind1, op)


def named(name: str) -> Rule:
    """Return the rule of a ufunc that is one named composite, such as ``numhlo.sinh``."""
    return lambda x: composite(name, x)


def by_kind(rule: Rule, of_complex: Rule | None = None, of_integers: Rule | None = None) -> Rule:
    """Return the rule that treats complex numbers, or booleans and integers, in a way of their own."""

    def chosen(*operands: Any) -> Any:
        kind = operands[0].dtype.kind
        if kind == "c" and of_complex is not None:
            return of_complex(*operands)
        return (of_integers or rule)(*operands) if kind in "bui" else rule(*operands)

    return chosen


def unchanged(x: Any) -> Any:
    """Return the operand."""
    return x


def comparison(direction: str) -> Rule:
    """Return the rule of a comparison; signed integers compare with unsigned ones by value, as in NumPy."""

    def rule(x: Any, y: Any) -> Any:
        if x.dtype.kind == "c" and direction not in ("EQ", "NE"):
            return complex_rules.ordered(direction, x, y)
        if x.dtype == y.dtype:
            return b.compare(direction, x, y)
        signed, unsigned = (x, y) if x.dtype.kind == "i" else (y, x)
        wrapped = convert(signed, unsigned.dtype)
        ordinary = b.compare(direction, *((wrapped, y) if signed is x else (x, wrapped)))
        below = direction in ("LT", "LE", "NE") if signed is x else direction in ("GT", "GE", "NE")
        return b.select(b.less(signed, 0), below, ordinary)

    return rule


def logical(op: Primitive) -> Rule:
    """Return the rule of a logical function: the operands' truth, combined."""
    return lambda *operands: bind1(op, *[b.truth(x) for x in operands])


def _always(answer: bool) -> Rule:
    return lambda x: full_of(answer, shape_of(x), np.bool_)


def _ignoring_nan(op: Primitive) -> Rule:
    def rule(x: Any, y: Any) -> Any:
        if x.dtype.kind in "bui":
            return bind1(op, x, y)
        return b.select(b.is_nan(y), x, b.select(b.is_nan(x), y, bind1(op, x, y)))

    return rule


def _sign(x: Any) -> Any:
    if x.dtype.kind == "u":
        return convert(b.unequal(x, 0), x.dtype)
    sign = bind1(ops.SIGN, x)
    return b.select(b.equal(x, 0), 0, sign) if x.dtype.kind in "fV" else sign  # NumPy's of -0.0 is 0.0


def _whole_reciprocal(x: Any) -> Any:
    with np.errstate(all="ignore"):
        of_zero = np.reciprocal(np.zeros((), x.dtype))  # an infinity made an integer: by processor, and by width
    return b.select(b.equal(x, 0), full_of(of_zero, shape_of(x), x.dtype), b.divide(b.constant(1, x), x))


def _sign_bit(x: Any) -> Any:
    return b.less(b.sign_bits(x), 0)


def _absolute(x: Any) -> Any:
    return x if x.dtype.kind in "bu" else b.absolute(x)


def _right_shift(x: Any, y: Any) -> Any:
    return (b.shift_right if x.dtype.kind == "i" else b.shift_right_logical)(x, y)


def _scaled(factor: float) -> Rule:
    return lambda x: b.multiply(x, factor)


RULES: dict[np.ufunc, Rule] = {
    np.absolute: _absolute,
    np.add: direct(ops.ADD),
    np.arccos: named("acos"),
    np.arccosh: named("acosh"),
    np.arcsin: named("asin"),
    np.arcsinh: named("asinh"),
    np.arctan: named("atan"),
    np.arctan2: direct(ops.ATAN2),
    np.arctanh: named("atanh"),
    np.bitwise_and: direct(ops.AND),
    np.bitwise_count: lambda x: convert(bind1(ops.POPCNT, _absolute(x)), np.uint8),
    np.bitwise_or: direct(ops.OR),
    np.bitwise_xor: direct(ops.XOR),
    np.cbrt: direct(ops.CBRT),
    np.ceil: by_kind(direct(ops.CEIL), of_integers=unchanged),
    np.conjugate: by_kind(unchanged, b.conjugate),
    np.copysign: b.with_sign_of,
    np.cos: direct(ops.COSINE),
    np.cosh: named("cosh"),
    np.deg2rad: _scaled(math.pi / 180),
    np.divide: direct(ops.DIVIDE),
    np.divmod: division_rules.divmod,
    np.equal: comparison("EQ"),
    np.exp: direct(ops.EXPONENTIAL),
    np.exp2: named("exp2"),
    np.expm1: direct(ops.EXPONENTIAL_MINUS_ONE),
    np.fabs: direct(ops.ABS),
    np.float_power: direct(ops.POWER),
    np.floor: by_kind(direct(ops.FLOOR), of_integers=unchanged),
    np.floor_divide: division_rules.floor_divide,
    np.fmax: _ignoring_nan(ops.MAXIMUM),
    np.fmin: _ignoring_nan(ops.MINIMUM),
    np.fmod: division_rules.fmod,
    np.frexp: float_rules.frexp,
    np.gcd: division_rules.gcd,
    np.greater: comparison("GT"),
    np.greater_equal: comparison("GE"),
    np.heaviside: float_rules.heaviside,
    np.hypot: float_rules.hypot,
    np.invert: direct(ops.NOT),
    np.isfinite: by_kind(direct(ops.IS_FINITE), complex_rules.is_finite, _always(True)),
    np.isinf: by_kind(lambda x: b.equal(b.absolute(x), np.inf), complex_rules.is_infinite, _always(False)),
    np.isnan: by_kind(b.is_nan, of_integers=_always(False)),
    np.lcm: division_rules.lcm,
    np.ldexp: float_rules.ldexp,
    np.left_shift: direct(ops.SHIFT_LEFT),
    np.less: comparison("LT"),
    np.less_equal: comparison("LE"),
    np.log: direct(ops.LOG),
    np.log10: named("log10"),
    np.log1p: direct(ops.LOG_PLUS_ONE),
    np.log2: named("log2"),
    np.logaddexp: float_rules.logaddexp,
    np.logaddexp2: float_rules.logaddexp2,
    np.logical_and: logical(ops.AND),
    np.logical_not: logical(ops.NOT),
    np.logical_or: logical(ops.OR),
    np.logical_xor: logical(ops.XOR),
    np.maximum: direct(ops.MAXIMUM),
    np.minimum: direct(ops.MINIMUM),
    np.modf: float_rules.modf,
    np.multiply: direct(ops.MULTIPLY),
    np.negative: direct(ops.NEGATE),
    np.nextafter: float_rules.nextafter,
    np.not_equal: comparison("NE"),
    np.positive: unchanged,
    np.power: direct(ops.POWER),
    np.rad2deg: _scaled(180 / math.pi),
    np.reciprocal: by_kind(lambda x: b.divide(b.constant(1, x), x), complex_rules.reciprocal, _whole_reciprocal),
    np.remainder: division_rules.mod,
    np.right_shift: _right_shift,
    np.rint: by_kind(direct(ops.ROUND_NEAREST_EVEN), complex_rules.by_parts(b.round_even), unchanged),
    np.sign: by_kind(_sign, complex_rules.sign),
    np.signbit: _sign_bit,
    np.sin: direct(ops.SINE),
    np.sinh: named("sinh"),
    np.spacing: float_rules.spacing,
    np.sqrt: direct(ops.SQRT),
    np.square: lambda x: b.multiply(x, x),
    np.subtract: direct(ops.SUBTRACT),
    np.tan: direct(ops.TAN),
    np.tanh: direct(ops.TANH),
    np.trunc: float_rules.trunc,
}
"""Traced meaning of each ufunc."""
