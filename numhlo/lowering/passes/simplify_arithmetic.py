"""Patterns of elementwise algebra, comparison and conversion that hold bit for bit in IEEE arithmetic.

`x + 0 -> x` does not hold for floats (-0.0 + 0.0 is 0.0); `x - 0.0 -> x` and `x * 1 -> x` do. NaN payloads may change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ir.types import FLOATS, INTEGERS
from numhlo.lowering.ops import comparison, conversion, layout
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.passes.rewriting import Rewriter, constant_array, made_by, pattern

EXACT_WIDENINGS = {
    (np.dtype(a), np.dtype(b))
    for a, b in [
        ("f4", "f8"), ("f2", "f4"), ("f2", "f8"), ("c8", "c16"), ("i1", "i2"), ("i1", "i4"), ("i1", "i8"), ("i2", "i4"),
        ("i2", "i8"), ("i4", "i8"), ("u1", "u2"), ("u1", "u4"), ("u1", "u8"), ("u2", "u4"), ("u2", "u8"), ("u4", "u8"),
        ("u1", "i2"), ("u1", "i4"), ("u1", "i8"), ("u2", "i4"), ("u2", "i8"), ("u4", "i8"), ("?", "i1"), ("?", "i4"),
        ("?", "i8"), ("?", "f4"), ("?", "f8"), ("i1", "f4"), ("i2", "f4"), ("i4", "f8"), ("u1", "f4"), ("u2", "f4"),
        ("u4", "f8"),
    ]
}  # fmt: skip
"""Conversions that lose nothing, so that converting back gives the operand."""

MOST_MULTIPLIED = 64
"""The greatest constant exponent of integers that becomes products."""


def splat(value: Value) -> Any:
    """Return the one scalar that fills a constant or a broadcast constant, else None."""
    owner = value.owner
    if isinstance(owner, Op) and owner.definition is layout.BROADCAST_IN_DIM:
        value = owner.operands[0]
    array = constant_array(value)
    return array.reshape(-1)[0] if array is not None and array.size == 1 else None


def _is(value: Value, number: float) -> bool:
    scalar = splat(value)
    return scalar is not None and _equals(scalar, number)


def _equals(scalar: Any, number: float) -> bool:
    if scalar != number:
        return False
    return number != 0 or not np.signbit(scalar) if scalar.dtype.kind == "f" else True


@pattern(ops.ADD)
def _add(rewriter: Rewriter, op: Op) -> Value | None:
    """X + 0 -> x for integers; x + -0.0 -> x for floats; false + x -> x for booleans."""
    for x, y in (op.operands, op.operands[::-1]):
        scalar = splat(y)
        if scalar is None or scalar != 0:
            continue
        if y.tensor.dtype.kind in "iub" or (y.tensor.dtype.kind == "f" and np.signbit(scalar)):
            return x
    return None


@pattern(ops.SUBTRACT)
def _subtract(rewriter: Rewriter, op: Op) -> Value | None:
    """X - 0 -> x, where a float zero is positive; x - x -> 0 for integers."""
    x, y = op.operands
    if x.tensor.dtype.kind in "iuf" and _is(y, 0):
        return x
    if x is y and x.tensor.dtype in INTEGERS:
        return _filled(rewriter, 0, x.tensor)
    return None


@pattern(ops.MULTIPLY)
def _multiply(rewriter: Rewriter, op: Op) -> Value | None:
    """X * 1 -> x; x * 0 -> 0 for integers; x * -1 -> -x for floats."""
    for x, y in (op.operands, op.operands[::-1]):
        scalar = splat(y)
        if scalar is None:
            continue
        if _equals(scalar, 1) and y.tensor.dtype.kind != "c":
            return x
        if _equals(scalar, 0) and y.tensor.dtype in INTEGERS:
            return _filled(rewriter, 0, y.tensor)
        if _equals(scalar, -1) and y.tensor.dtype in FLOATS:
            return rewriter.op(ops.NEGATE, x)
    return None


@pattern(ops.DIVIDE)
def _divide(rewriter: Rewriter, op: Op) -> Value | None:
    """X / 1 -> x.

    Powers of two are left to LLVM: a mean over 128 elements must be the same kernel as one over 127.
    """
    x, y = op.operands
    return x if y.tensor.dtype.kind != "c" and _is(y, 1) else None


@pattern(ops.POWER)
def _power(rewriter: Rewriter, op: Op) -> Value | None:
    """X ** 1 -> x; x ** 2 -> x * x; x ** 3 -> x * x * x; x ** -1 -> 1 / x for floats."""
    x, y = op.operands
    dtype = x.tensor.dtype
    if _is(y, 1):
        return x
    if _is(y, 2):
        return rewriter.op(ops.MULTIPLY, x, x)
    if _is(y, 3):
        return rewriter.op(ops.MULTIPLY, rewriter.op(ops.MULTIPLY, x, x), x)
    if _is(y, -1) and dtype.kind == "f":
        return rewriter.op(ops.DIVIDE, _filled(rewriter, 1, x.tensor), x)
    return _integer_power(rewriter, x, y) if dtype in INTEGERS else None


def _integer_power(rewriter: Rewriter, x: Value, y: Value) -> Value | None:
    """2 ** y -> 1 << y, which is 0 for negative y, too; x ** n -> squares and products; all modulo two to the width."""
    if _is(x, 2):
        return rewriter.op(ops.SHIFT_LEFT, _filled(rewriter, 1, x.tensor), y)
    exponent = splat(y)
    if exponent is None or not 3 < exponent <= MOST_MULTIPLIED:
        return None
    result = x
    for digit in format(int(exponent), "b")[1:]:
        result = rewriter.op(ops.MULTIPLY, result, result)
        if digit == "1":
            result = rewriter.op(ops.MULTIPLY, result, x)
    return result


def _filled(rewriter: Rewriter, number: Any, type: TensorType) -> Value:
    scalar = rewriter.constant(np.asarray(number).astype(type.dtype))
    if not type.shape:
        return scalar
    return rewriter.op(layout.BROADCAST_IN_DIM, scalar, result=type, broadcast_dimensions=())


@pattern(ops.NEGATE, ops.NOT)
def _involution(rewriter: Rewriter, op: Op) -> Value | None:
    """-(-x) -> x; ~(~x) -> x."""
    inner = made_by(op.operands[0], op.definition)
    return inner.operands[0] if inner is not None else None


@pattern(ops.ABS, ops.FLOOR, ops.CEIL, ops.ROUND_NEAREST_EVEN, ops.ROUND_NEAREST_AFZ)
def _idempotent(rewriter: Rewriter, op: Op) -> Value | None:
    """f(f(x)) -> f(x)."""
    inner = made_by(op.operands[0], op.definition)
    return inner.result if inner is not None and inner.operands[0].type == op.operands[0].type else None


@pattern(ops.AND, ops.OR)
def _lattice(rewriter: Rewriter, op: Op) -> Value | None:
    """X & x -> x; x | x -> x; true & x -> x; false | x -> x; false & x -> false; true | x -> true, on booleans."""
    x, y = op.operands
    if x is y:
        return x
    if x.tensor.dtype.kind != "b":
        return None
    unit = op.definition is ops.AND
    for a, b in ((x, y), (y, x)):
        scalar = splat(b)
        if scalar is not None:
            return a if bool(scalar) == unit else b
    return None


@pattern(comparison.SELECT)
def _select(rewriter: Rewriter, op: Op) -> Value | None:
    """select(true, x, y) -> x; select(false, x, y) -> y; select(p, x, x) -> x."""
    predicate, x, y = op.operands
    if x is y:
        return x
    scalar = splat(predicate)
    return None if scalar is None else (x if scalar else y)


@pattern(comparison.SELECT)
def _select_of_selects(rewriter: Rewriter, op: Op) -> Value | None:
    """select(p, select(p, x, y), z) -> select(p, x, z); select(p, x, select(p, y, z)) -> select(p, x, z)."""
    predicate, x, y = op.operands
    first, other = made_by(x, comparison.SELECT), made_by(y, comparison.SELECT)
    if first is not None and first.operands[0] is predicate:
        x = first.operands[1]
    if other is not None and other.operands[0] is predicate:
        y = other.operands[2]
    if [x, y] == op.operands[1:]:
        return None
    return x if x is y else rewriter.op(comparison.SELECT, predicate, x, y)


@pattern(comparison.COMPARE)
def _compare(rewriter: Rewriter, op: Op) -> Value | None:
    """Compare an integer with itself -> constant."""
    x, y = op.operands
    if x is not y or x.tensor.dtype.kind not in "iub":
        return None
    return _filled(rewriter, op.attributes["comparison_direction"] in ("EQ", "LE", "GE"), op.results[0].tensor)


@pattern(conversion.CONVERT)
def _convert(rewriter: Rewriter, op: Op) -> Value | None:
    """convert(x: T) to T -> x; converting there and back through an exact widening -> x."""
    (x,) = op.operands
    target = op.results[0].tensor
    if x.tensor == target:
        return x
    inner = made_by(x, conversion.CONVERT)
    if inner is None:
        return None
    source = inner.operands[0]
    if (source.tensor.dtype, x.tensor.dtype) not in EXACT_WIDENINGS:
        return None
    if source.tensor.dtype == target.dtype:
        return source
    if (x.tensor.dtype, target.dtype) in EXACT_WIDENINGS or (source.tensor.dtype, target.dtype) in EXACT_WIDENINGS:
        return rewriter.op(conversion.CONVERT, source, result=target)
    return None


@pattern(conversion.BITCAST_CONVERT)
def _bitcast(rewriter: Rewriter, op: Op) -> Value | None:
    """bitcast(x: T) to T -> x; bitcast there and back -> x."""
    (x,) = op.operands
    if x.type == op.results[0].type:
        return x
    inner = made_by(x, conversion.BITCAST_CONVERT)
    return inner.operands[0] if inner is not None and inner.operands[0].type == op.results[0].type else None


@pattern(ops.REAL, ops.IMAG)
def _part(rewriter: Rewriter, op: Op) -> Value | None:
    """real(complex(a, b)) -> a; imag(complex(a, b)) -> b; real of a real -> itself."""
    (x,) = op.operands
    if op.definition is ops.REAL and x.tensor.dtype.kind != "c":
        return x
    inner = made_by(x, ops.COMPLEX)
    return None if inner is None else inner.operands[op.definition is ops.IMAG]
