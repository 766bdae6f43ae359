"""Small pieces that traced rules are built of: one StableHLO op each, on operands of one dtype and shape.

A Python number beside an array becomes a constant of the array's dtype and shape; nothing else is promoted or broadcast
here. Outside tracing the same functions run on NumPy at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.types import SIGNED, UNSIGNED
from numhlo.lowering.ops import comparison, control_flow, conversion
from numhlo.lowering.ops import creation as creation_ops
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.annotations import STOP_GRADIENT, make_annotation
from numhlo.lowering.ops.primitive import Primitive
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.core.operands import SCALARS, full_of, shape_of


def compare_type(dtype: np.dtype) -> str:
    """Return how elements of a dtype are compared; integers of ml_dtypes are of no kind that NumPy knows."""
    return "SIGNED" if dtype in SIGNED else "UNSIGNED" if dtype in UNSIGNED or dtype.kind == "b" else "FLOAT"


def constant(value: Any, like: Any) -> Any:
    """Return a broadcast scalar of ``like``'s shape and dtype."""
    return full_of(value, shape_of(like), like.dtype)


def lift(x: Any, y: Any) -> tuple[Any, Any]:
    """Return two operands, a Python number among them as a constant like the other."""
    if type(x) in SCALARS:
        return constant(x, y), y
    return (x, constant(y, x)) if type(y) in SCALARS else (x, y)


def compare(direction: str, x: Any, y: Any) -> Any:
    """Return the boolean array of an elementwise comparison."""
    x, y = lift(x, y)
    attributes = {"comparison_direction": direction, "compare_type": compare_type(x.dtype)}
    return bind1(comparison.COMPARE, x, y, attributes=attributes)


def select(condition: Any, x: Any, y: Any) -> Any:
    """Return ``x`` where the condition holds, else ``y``; all of one shape."""
    return bind1(comparison.SELECT, condition, *lift(x, y))


def bitcast(x: Any, dtype: np.dtype) -> Any:
    """Return the bits of ``x`` as another dtype of the same width."""
    return bind1(conversion.BITCAST_CONVERT, x, results=[TensorType(shape_of(x), dtype)])


def iota(extent: int, dtype: Any = np.int64) -> Any:
    """Return 0, 1, ..., extent - 1."""
    return iota_along((extent,), 0, dtype)


def iota_along(shape: tuple[int, ...], axis: int, dtype: Any = np.int64) -> Any:
    """Return an array whose elements are their index along an axis."""
    results = [TensorType(shape, np.dtype(dtype))]
    return bind1(creation_ops.IOTA, attributes={"iota_dimension": axis}, results=results)


def finfo(dtype: np.dtype) -> Any:
    """Return the limits of a floating-point dtype, a narrow one or the parts of a complex one too."""
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


def _binary(op: Primitive) -> Callable[[Any, Any], Any]:
    return lambda x, y: bind1(op, *lift(x, y))


def _unary(op: Primitive) -> Callable[[Any], Any]:
    return lambda x: bind1(op, x)


def _comparison(direction: str) -> Callable[[Any, Any], Any]:
    return lambda x, y: compare(direction, x, y)


add, subtract, multiply, divide = map(_binary, (ops.ADD, ops.SUBTRACT, ops.MULTIPLY, ops.DIVIDE))
maximum, minimum, remainder, power = map(_binary, (ops.MAXIMUM, ops.MINIMUM, ops.REMAINDER, ops.POWER))
both, either, differ = map(_binary, (ops.AND, ops.OR, ops.XOR))
shift_left, shift_right = map(_binary, (ops.SHIFT_LEFT, ops.SHIFT_RIGHT_ARITHMETIC))
shift_right_logical, atan2, as_complex = map(_binary, (ops.SHIFT_RIGHT_LOGICAL, ops.ATAN2, ops.COMPLEX))
absolute, negate, invert, real, imag = map(_unary, (ops.ABS, ops.NEGATE, ops.NOT, ops.REAL, ops.IMAG))
sqrt, exp, log, log1p, sin, cos = map(
    _unary, (ops.SQRT, ops.EXPONENTIAL, ops.LOG, ops.LOG_PLUS_ONE, ops.SINE, ops.COSINE)
)
floor, ceil, round_even, is_finite = map(_unary, (ops.FLOOR, ops.CEIL, ops.ROUND_NEAREST_EVEN, ops.IS_FINITE))
equal, unequal, less, at_most, greater, at_least = map(_comparison, ("EQ", "NE", "LT", "LE", "GT", "GE"))


def is_nan(x: Any) -> Any:
    """Return where ``x`` is not equal to itself."""
    return unequal(x, x)


def truth(x: Any) -> Any:
    """Return where ``x`` is not zero."""
    return x if x.dtype.kind == "b" else unequal(x, 0)


def sign_bits(x: Any) -> Any:
    """Return a float's bits as signed integers of its width."""
    return bitcast(x, np.dtype(f"i{x.dtype.itemsize}"))


def copysign(x: Any, y: Any) -> Any:
    """Return floats with ``x``'s magnitude and ``y``'s sign."""
    bits = sign_bits(x)
    low = int(np.iinfo(bits.dtype).min)
    return bitcast(either(both(bits, ~low), both(sign_bits(y), low)), x.dtype)


def with_sign_of(x: Any, y: Any) -> Any:
    """Return what `copysign` does, with derivatives by ``x``: its own number, or the negated one."""
    return select(less(differ(sign_bits(x), sign_bits(y)), 0), negate(x), x)


def fixed(x: Any) -> Any:
    """Return the same array, a constant for derivatives."""
    type = TensorType(shape_of(x), x.dtype)
    return bind1(control_flow.COMPOSITE, x, attributes=make_annotation(STOP_GRADIENT, type), results=[type])


def with_slope_of(x: Any, zero: Any) -> Any:
    """Return a zero of either sign, for derivatives a finite ``x``: ``zero - (fixed x - x)``."""
    return subtract(zero, subtract(fixed(x), x))


def conjugate(z: Any) -> Any:
    """Return complex numbers with their imaginary parts negated."""
    return as_complex(real(z), negate(imag(z)))


def series(x: Any, coefficients: Sequence[float]) -> Any:
    """Return the polynomial with these coefficients, that of ``x ** 0`` first, by Horner's rule."""
    total = constant(coefficients[-1], x)
    for c in coefficients[-2::-1]:
        total = add(multiply(total, x), c)
    return total
