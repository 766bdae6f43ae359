"""Random elementwise ops: arithmetic, functions, comparisons, choices, conversions."""

from __future__ import annotations

import numpy as np

from numhlo.lowering.ir import TensorType, Value
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, INTEGERS, NARROW_FLOATS, SIGNED
from tests.sweep.program import DTYPES, Program, sample

NUMBERS = INTEGERS | FLOATS | COMPLEX
ARITHMETIC = {
    "add": NUMBERS | {BOOL},
    "subtract": NUMBERS,
    "multiply": NUMBERS | {BOOL},
    "maximum": NUMBERS - COMPLEX | {BOOL},
    "minimum": NUMBERS - COMPLEX | {BOOL},
    "divide": INTEGERS | FLOATS,
    "remainder": INTEGERS | FLOATS,
    "and": INTEGERS | {BOOL},
    "or": INTEGERS | {BOOL},
    "xor": INTEGERS | {BOOL},
    "shift_left": INTEGERS,
    "shift_right_arithmetic": INTEGERS,
    "shift_right_logical": INTEGERS,
}
UNARY = {
    "negate": NUMBERS,
    "abs": SIGNED | FLOATS,
    "sign": SIGNED | FLOATS,
    "not": INTEGERS | {BOOL},
    "popcnt": INTEGERS,
    "count_leading_zeros": INTEGERS,
    "ceil": FLOATS,
    "floor": FLOATS,
    "round_nearest_even": FLOATS,
    "round_nearest_afz": FLOATS,
    "is_finite": FLOATS,
    "real": FLOATS | COMPLEX,
    "imag": FLOATS | COMPLEX,
}
FUNCTIONS = [
    "cbrt",
    "cosine",
    "exponential",
    "exponential_minus_one",
    "log",
    "log_plus_one",
    "logistic",
    "rsqrt",
    "sine",
    "sqrt",
    "tan",
    "tanh",
]
DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")


def arithmetic(p: Program) -> None:
    """Combine two arrays exactly."""
    name = p.pick(list(ARITHMETIC))
    x = p.like(ARITHMETIC[name])
    inexact = x.tensor.dtype in COMPLEX or (name in {"divide", "remainder"} and x.tensor.dtype in FLOATS)
    p.add(name, x, p.operand(x.tensor), error=None if inexact else 0.0)


def functions_of_two(p: Program) -> None:
    """Raise to a power, or take an angle."""
    name = p.pick(["power", "atan2"])
    x = p.like(FLOATS)
    p.add(name, x, p.operand(x.tensor), error=None)


def integer_power(p: Program) -> None:
    """Raise integers to small powers; XLA looks at the lowest bits of an exponent only, and at no negative one."""
    x = p.like(INTEGERS)
    exponent = p.operand(x.tensor, "small")
    if x.tensor.dtype in SIGNED:
        exponent = p.op("abs", exponent)
    p.add("power", x, exponent)


def unary(p: Program) -> None:
    """Change every element exactly."""
    name = p.pick(list(UNARY))
    x = p.like(UNARY[name])
    if name == "count_leading_zeros":  # XLA folds those of constants to negative numbers
        x = p.op("abs" if x.tensor.dtype in SIGNED else "not", x)
        x = p.op("optimization_barrier", x)
    p.add(name, x)


def functions(p: Program) -> None:
    """Apply an elementary function."""
    p.add(p.pick(FUNCTIONS), p.like(FLOATS), error=None)


def complex_functions(p: Program) -> None:
    """Apply a function to finite complex numbers, or take them apart and put them together."""
    dtype = p.pick(sorted(COMPLEX, key=str))
    x = p.operand(TensorType(p.shape(), dtype), "plain")
    name = p.pick(["abs", "divide", "exponential", "log", "sqrt", "tanh", "sine", "cosine", "sign", "complex"])
    if name == "divide":
        p.add(name, x, p.operand(x.tensor, "ones"), error=None)
    elif name == "complex":
        part = x.tensor.with_dtype(np.dtype(f"f{dtype.itemsize // 2}"))
        p.add(name, p.operand(part), p.operand(part))
    else:
        p.add(name, x, error=None)


def compare(p: Program) -> None:
    """Compare, in every direction and order."""
    x = p.like(set(DTYPES))
    type, kind = x.tensor, None
    if type.dtype in FLOATS and p.chance():
        kind = "FLOAT"
    elif type.dtype in FLOATS:  # results may be NaN of either sign
        x, kind = p.argument(sample(p.rng, type)), "TOTALORDER"
    y = p.argument(sample(p.rng, type)) if kind == "TOTALORDER" else p.operand(type)
    direction = p.pick(DIRECTIONS[:2] if type.dtype in COMPLEX else DIRECTIONS)
    p.add("compare", x, y, comparison_direction=direction, compare_type=kind)


def choose(p: Program) -> None:
    """Select between two arrays, or clamp one."""
    x = p.like(set(DTYPES))
    type = x.tensor
    if p.chance() and type.dtype not in COMPLEX:
        low, high = (p.operand(type.with_shape(()) if p.chance() else type) for _ in range(2))
        p.add("clamp", low, x, high)
        return
    predicate = p.operand(TensorType(() if p.chance(0.3) else type.shape, BOOL))
    p.add("select", predicate, x, p.operand(type))


def convert(p: Program) -> None:
    """Convert, any pair of types."""
    x = p.like(set(DTYPES))
    target = p.dtype()
    if x.tensor.dtype in FLOATS | COMPLEX and target in INTEGERS:
        x = p.operand(x.tensor, "small")
    p.add("convert", x, result=x.tensor.with_dtype(target))


def bitcast(p: Program) -> None:
    """Look at bits as another type, of any width."""
    source, target = p.dtype(set(DTYPES) - {BOOL}), p.dtype(set(DTYPES) - {BOOL})
    if (source in COMPLEX) != (target in COMPLEX) or source in COMPLEX:
        return
    narrow, wide = sorted((source.itemsize, target.itemsize))
    shape = p.shape(0, 3)
    if source.itemsize < target.itemsize:
        before, after = (*shape, wide // narrow), shape
    else:
        before, after = shape, shape if wide == narrow else (*shape, wide // narrow)
    bits = p.op("bitcast_convert", p.operand(TensorType(before, source)), result=TensorType(after, target))
    p.look(bits, again=False)  # may be a subnormal


def reduce_precision(p: Program) -> None:
    """Round to fewer bits."""
    x = p.like({np.dtype(name) for name in ("float16", "float32", "float64")})
    p.add("reduce_precision", x, exponent_bits=p.below(1, 9), mantissa_bits=p.below(1, 24))


def chain(p: Program) -> None:
    """Put several elementwise ops of one type together, scalars broadcast among them."""
    dtype = p.dtype(INTEGERS | {np.dtype("float32"), np.dtype("float64"), *NARROW_FLOATS})
    type = TensorType(p.shape(), dtype)
    x: Value = p.operand(type)
    for _ in range(p.below(2, 6)):
        y = p.operand(type)
        if p.chance(0.4):
            scalar = p.operand(type.with_shape(()))
            y = p.op("broadcast_in_dim", scalar, result=type, broadcast_dimensions=())
        x = p.op(p.pick(["add", "multiply", "subtract", "maximum", "minimum"]), x, y)
    p.look(x)


MAKERS = [
    arithmetic, arithmetic, arithmetic, functions_of_two, integer_power, unary, unary, unary, functions, functions,
    complex_functions, compare, choose, convert, bitcast, reduce_precision, chain,
]  # fmt: skip
