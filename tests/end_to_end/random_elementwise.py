"""Random elementwise ops, comparisons, conversions and special functions."""

from __future__ import annotations

import numpy as np

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, INTEGERS, NARROW_FLOATS, SIGNED, UNSIGNED
from numhlo.lowering.ops import comparison, control_flow, conversion, elementwise, special
from numhlo.lowering.ops.comparison import DIRECTIONS, compare_types
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.ops.type_rules import ANY_DTYPE, BITWISE, INEXACT, NUMERIC
from tests.end_to_end.random_arrays import DTYPES
from tests.end_to_end.random_programs import Generator

REALS = INTEGERS | FLOATS

BINARY: list[tuple[Primitive, frozenset[np.dtype]]] = [
    (elementwise.ADD, ANY_DTYPE),
    (elementwise.MULTIPLY, ANY_DTYPE),
    (elementwise.SUBTRACT, NUMERIC),
    (elementwise.MAXIMUM, REALS | {BOOL}),
    (elementwise.MINIMUM, REALS | {BOOL}),
    (elementwise.DIVIDE, REALS),
    (elementwise.REMAINDER, REALS),
    (elementwise.POWER, INTEGERS),
    (elementwise.AND, BITWISE),
    (elementwise.OR, BITWISE),
    (elementwise.XOR, BITWISE),
    (elementwise.SHIFT_LEFT, INTEGERS),
    (elementwise.SHIFT_RIGHT_ARITHMETIC, SIGNED),
    (elementwise.SHIFT_RIGHT_LOGICAL, UNSIGNED),
]
"""Exact ops of two operands, with their element types."""

UNPORTABLE: dict[Primitive, frozenset[np.dtype]] = {elementwise.POWER: INTEGERS, elementwise.ADD: frozenset({BOOL})}
"""Where XLA on the CPU has values of its own: large exponents, and true + true."""

UNARY: list[tuple[Primitive, frozenset[np.dtype]]] = [
    (elementwise.NEGATE, NUMERIC),
    (elementwise.ABS, SIGNED | FLOATS),
    (elementwise.SIGN, SIGNED | FLOATS),
    (elementwise.NOT, BITWISE),
    (elementwise.POPCNT, INTEGERS),
    (elementwise.COUNT_LEADING_ZEROS, INTEGERS),
    (elementwise.CEIL, FLOATS),
    (elementwise.FLOOR, FLOATS),
    (elementwise.ROUND_NEAREST_EVEN, FLOATS),
    (elementwise.ROUND_NEAREST_AFZ, FLOATS),
    (elementwise.IS_FINITE, FLOATS),
    (elementwise.SQRT, FLOATS),
    (elementwise.REAL, INEXACT),
    (elementwise.IMAG, INEXACT),
]

FUNCTIONS: list[Primitive] = [
    elementwise.CBRT,
    elementwise.COSINE,
    elementwise.EXPONENTIAL,
    elementwise.EXPONENTIAL_MINUS_ONE,
    elementwise.LOG,
    elementwise.LOG_PLUS_ONE,
    elementwise.LOGISTIC,
    elementwise.RSQRT,
    elementwise.SINE,
    elementwise.TAN,
    elementwise.TANH,
]
"""Functions of calculus on floats."""

FUNCTION_ULPS = 6.0
"""NumPy's functions and ours are each within a few units of the true value."""

GAMMAS = ("lgamma", "digamma")
"""Accurate in absolute terms only at negative arguments."""


def function_error(dtype: np.dtype) -> float:
    """Return how far two engines may be apart after a function of calculus; narrow floats round from float32."""
    return 1.0 if dtype in NARROW_FLOATS else FUNCTION_ULPS


def binary(g: Generator) -> None:
    """Apply an exact op to two values of one type; complex products by parts."""
    definition, dtypes = g.choose(BINARY)
    if g.settings.portable:
        dtypes = dtypes - UNPORTABLE.get(definition, frozenset())
    if not dtypes:
        return
    x = g.pick(dtypes)
    y = x if g.chance(0.05) else g.like(x.tensor)
    g.emit(definition, *((x, y) if g.chance(0.7) else (y, x)))


def unary(g: Generator) -> None:
    """Apply an exact op to one value."""
    definition, dtypes = g.choose(UNARY)
    g.emit(definition, g.pick(dtypes))


def function(g: Generator) -> None:
    """Apply a function of calculus, or one of two arguments."""
    x = g.pick(FLOATS)
    if g.chance(0.2):
        definition = g.choose([elementwise.POWER, elementwise.ATAN2])
        g.emit(definition, x, g.like(x.tensor), error=function_error(x.tensor.dtype))
    else:
        g.emit(g.choose(FUNCTIONS), x, error=function_error(x.tensor.dtype))


def special_function(g: Generator) -> None:
    """Apply one of numhlo's composites."""
    x = g.pick(FLOATS)
    short = g.choose(list(special.FUNCTIONS))
    if short in GAMMAS:
        x = g.magnitude(x)
    attributes = special.make(f"numhlo.{short}", [x.tensor])
    g.emit(control_flow.COMPOSITE, x, result=x.type, error=function_error(x.tensor.dtype), **attributes)


def scaled(g: Generator) -> None:
    """Multiply or divide an inexact value by an exact one, negate it, or take its size: errors stay small."""
    inexact = [v for v in g.visible() if g.error(v) and g.error(v) < 50 and v.tensor.dtype in FLOATS]
    if not inexact:
        return function(g)
    x = g.choose(inexact)
    error = g.error(x)
    kind = g.below(5)
    if kind < 3:
        definition = elementwise.DIVIDE if kind == 2 else elementwise.MULTIPLY
        g.emit(definition, x, g.like(x.tensor), error=2 * error + 1)
    else:
        g.emit(elementwise.NEGATE if kind == 3 else elementwise.ABS, x, error=error)
    return None


def complex_parts(g: Generator) -> None:
    """Compose a complex number of two floats."""
    x = g.pick({np.dtype("f4"), np.dtype("f8")} & set(g.settings.dtypes))
    g.emit(elementwise.COMPLEX, x, g.like(x.tensor))


def compare(g: Generator) -> None:
    """Compare two values of one type."""
    x = g.pick()
    y = g.like(x.tensor)
    kind = g.choose((None, *compare_types(x.tensor.dtype)))
    if kind == "TOTALORDER":
        x, y = g.tidy(x), g.tidy(y)
    direction = g.choose([d for d in DIRECTIONS if x.tensor.dtype not in COMPLEX or d in {"EQ", "NE"}])
    g.emit(comparison.COMPARE, x, y, comparison_direction=direction, compare_type=kind)


def select(g: Generator) -> None:
    """Choose by a mask of the same shape, or a scalar."""
    x = g.pick(exact=False)
    y = g.like(x.tensor, exact=False)
    mask = g.like(TensorType(() if g.chance(0.3) else x.tensor.shape, BOOL))
    g.emit(comparison.SELECT, mask, x, y, error=max(g.error(x), g.error(y)))


def clamp(g: Generator) -> None:
    """Cut to a range, which may be upside down."""
    x = g.pick(REALS | {BOOL})
    ends = [g.like(x.tensor.with_shape(()) if g.chance(0.5) else x.tensor) for _ in range(2)]
    g.emit(comparison.CLAMP, ends[0], x, ends[1])


def convert(g: Generator) -> None:
    """Convert to any other type; inexact values only to narrower floats."""
    x = g.pick()
    target = g.choose(g.dtypes if g.chance(0.7) else list(g.settings.dtypes))
    if g.settings.portable and x.tensor.dtype in COMPLEX:
        x = g.b.op(elementwise.REAL, x)  # XLA crashes on complex to real
    g.emit(conversion.CONVERT, x, result=x.tensor.with_dtype(target))


def bitcast(g: Generator) -> None:
    """Read bits as another type of the same width, or of another with one dimension more or less."""
    x = g.tidy(g.pick(ANY_DTYPE - {BOOL} - COMPLEX))
    source = x.tensor
    same = [d for d in g.settings.dtypes if d.itemsize == source.dtype.itemsize and d != BOOL and d not in COMPLEX]
    if g.chance(0.6) or source.ndim == 4 or not source.size:
        g.emit(conversion.BITCAST_CONVERT, x, result=source.with_dtype(g.choose(same)))
        return
    target = g.choose([d for d in DTYPES if d in INTEGERS])
    if target.itemsize < source.dtype.itemsize:
        shape = (*source.shape, source.dtype.itemsize // target.itemsize)
    elif target.itemsize == source.dtype.itemsize:
        shape = source.shape
    elif source.shape and source.shape[-1] * source.dtype.itemsize == target.itemsize:
        shape = source.shape[:-1]
    else:
        return
    g.emit(conversion.BITCAST_CONVERT, x, result=TensorType(shape, target))


def reduce_precision(g: Generator) -> None:
    """Round to fewer bits."""
    x = g.pick(FLOATS)
    g.emit(conversion.REDUCE_PRECISION, x, exponent_bits=g.between(2, 11), mantissa_bits=g.between(0, 52))


MAKERS = [
    *[binary] * 8,
    *[unary] * 3,
    *[function] * 2,
    special_function,
    *[scaled] * 2,
    complex_parts,
    *[compare] * 2,
    *[select] * 2,
    clamp,
    *[convert] * 2,
    bitcast,
    reduce_precision,
]
