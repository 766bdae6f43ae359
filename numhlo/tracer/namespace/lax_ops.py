"""Strict elementwise operations under JAX's names: one StableHLO op each, no promotion, no broadcasting beyond scalars.

Operands must have one dtype (Python numbers adapt) and one shape (0-d arrays are spread). They run outside tracing too.
Structure is in `lax_structure`, slices in `lax_slices`, reductions and sorting in `lax_reductions`,
conversions in `lax_conversions`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError
from numhlo.lowering.ops import comparison
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.primitive import Primitive
from numhlo.tracer.bind import bind1
from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace import complex_rules, float_rules
from numhlo.tracer.namespace.core import (
    SCALARS,
    asarray,
    broadcast_to_shape,
    convert,
    is_weak,
    result_dtype,
    shape_of,
    spelling,
)
from numhlo.tracer.namespace.eager import operand_of
from numhlo.tracer.namespace.lax_arguments import RoundingMethod
from numhlo.tracer.namespace.special import composite

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e", "bessel_i1e", "betainc",
    "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "cbrt", "ceil", "clamp", "clz",
    "complex", "conj", "cos", "cosh", "digamma", "div", "eq", "erf", "erf_inv", "erfc", "exp",
    "exp2", "expm1", "floor", "ge", "gt", "igamma", "igammac", "imag", "integer_pow", "is_finite", "le", "lgamma",
    "log", "log1p", "logistic", "lt", "max", "min", "mul", "mulhi", "ne", "neg", "nextafter", "polygamma",
    "population_count", "pow", "real", "reciprocal", "rem", "round", "rsqrt", "select_n",
    "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "sqrt", "square", "sub",
    "tan", "tanh", "zeta",
]  # fmt: skip


def operands(name: str, *values: Any) -> list[Any]:
    """Return operands of one dtype and shape.

    Raises
    ------
    DTypeError, ShapeError
        If dtypes differ, or shapes differ and neither is that of a scalar.
    """
    strong = [v for v in values if not is_weak(v)]
    arrays = [v if type(v) in SCALARS else asarray(v) for v in values]
    if len({asarray(v).dtype for v in strong}) > 1:
        raise DTypeError(
            f"lax.{name}: operands {', '.join(map(spelling, arrays))} differ in dtype",
            where=capture_location(),
            why="functions of lax promote nothing",
            fix="convert one with lax.convert_element_type, or use numhlo.numpy",
        )
    wanted = result_dtype(*values)
    shapes = {shape_of(v) for v in arrays} - {()}
    if len(shapes) > 1:
        raise ShapeError(
            f"lax.{name}: operands {', '.join(map(spelling, arrays))} differ in shape",
            where=capture_location(),
            why="functions of lax broadcast scalars only",
            fix="use lax.broadcast_in_dim, or numhlo.numpy",
        )
    shape = shapes.pop() if shapes else ()
    return [operand_of(broadcast_to_shape(convert(v, wanted), shape)) for v in arrays]


def documented(rule: Callable[..., Any], name: str, documentation: str, *example: str) -> Callable[..., Any]:
    """Return a function with a name, and a docstring with an example: arguments as written, and what they give."""
    arguments, result = example
    rule.__name__ = rule.__qualname__ = name
    rule.__doc__ = f"{documentation}\n\n    Examples\n    --------\n    >>> {name}({arguments})\n    {result}\n    "
    return rule


def _unary(
    name: str, apply: Primitive | Callable[[Any], Any], documentation: str, *example: str
) -> Callable[[Any], Any]:
    def rule(x: Any) -> Any:
        (value,) = operands(name, x)
        return bind1(apply, value) if isinstance(apply, Primitive) else apply(value)

    return documented(rule, name, documentation, *example)


def _binary(
    name: str, apply: Primitive | Callable[[Any, Any], Any], documentation: str, *example: str, names: str = "x y"
) -> Callable[[Any, Any], Any]:
    def rule(x: Any, y: Any) -> Any:
        values = operands(name, x, y)
        return bind1(apply, *values) if isinstance(apply, Primitive) else apply(*values)

    return documented(rule if names == "x y" else _renamed(rule, names), name, documentation, *example)


def _renamed(rule: Callable[[Any, Any], Any], names: str) -> Callable[..., Any]:
    """Return a rule that has other names for its operands."""
    signature = inspect.Signature(
        [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names.split()]
    )

    def renamed(*args: Any, **kwargs: Any) -> Any:
        return rule(*signature.bind(*args, **kwargs).args)

    vars(renamed)["__signature__"] = signature
    return renamed


def _comparison(name: str, documentation: str, *example: str) -> Callable[[Any, Any], Any]:
    return _binary(name, lambda x, y: b.compare(name.upper(), x, y), documentation, *example)


abs = _unary(
    "abs",
    lambda x: x if x.dtype.kind in "bu" else b.absolute(x),
    "Return the absolute value.",
    "np.array([-1.5, 2.0])",
    "Array([1.5, 2. ])",
)
acos = _unary("acos", lambda x: composite("acos", x), "Return the inverse cosine.", "-1.0", "Array(3.14159265)")
acosh = _unary("acosh", lambda x: composite("acosh", x), "Return the inverse hyperbolic cosine.", "1.0", "Array(0.)")
add = _binary("add", ops.ADD, "Return the sum.", "np.array([1, 2]), 3", "Array([4, 5])")
asin = _unary("asin", lambda x: composite("asin", x), "Return the inverse sine.", "1.0", "Array(1.57079633)")
asinh = _unary(
    "asinh", lambda x: composite("asinh", x), "Return the inverse hyperbolic sine.", "0.5", "Array(0.48121183)"
)
atan = _unary("atan", lambda x: composite("atan", x), "Return the inverse tangent.", "1.0", "Array(0.78539816)")
atan2 = _binary(
    "atan2", ops.ATAN2, "Return the angle of the point ``(y, x)``, given as ``x, y``.", "1.0, -1.0", "Array(2.35619449)"
)
atanh = _unary(
    "atanh", lambda x: composite("atanh", x), "Return the inverse hyperbolic tangent.", "0.5", "Array(0.54930614)"
)
bessel_i0e = _unary(
    "bessel_i0e", lambda x: composite("bessel_i0e", x), "Return ``exp(-abs(x)) i0(x)``.", "1000.0", "Array(0.01261724)"
)
bessel_i1e = _unary(
    "bessel_i1e", lambda x: composite("bessel_i1e", x), "Return ``exp(-abs(x)) i1(x)``.", "1000.0", "Array(0.01261093)"
)
bitwise_and = _binary("bitwise_and", ops.AND, "Return the bitwise and.", "0b1100, 0b1010", "Array(8)")
bitwise_not = _unary(
    "bitwise_not", ops.NOT, "Return the bitwise complement.", "np.uint8(0b11110000)", "Array(15, dtype=uint8)"
)
bitwise_or = _binary("bitwise_or", ops.OR, "Return the bitwise or.", "0b1100, 0b1010", "Array(14)")
bitwise_xor = _binary("bitwise_xor", ops.XOR, "Return the bitwise exclusive or.", "0b1100, 0b1010", "Array(6)")
cbrt = _unary("cbrt", ops.CBRT, "Return the cube root.", "-27.0", "Array(-3.)")
ceil = _unary("ceil", ops.CEIL, "Return the least integer not below.", "np.array([-0.5, 0.5])", "Array([-0.,  1.])")
clz = _unary(
    "clz", ops.COUNT_LEADING_ZEROS, "Return the number of leading zero bits.", "np.int32(1)", "Array(31, dtype=int32)"
)
complex = _binary(
    "complex",
    ops.COMPLEX,
    "Return the complex number of a real and an imaginary part.",
    "1.0, np.array([2.0, 3.0])",
    "Array([1.+2.j, 1.+3.j])",
)
conj = _unary(
    "conj",
    lambda x: complex_rules.conjugate(x if x.dtype.kind == "c" else b.as_complex(x, 0.0)),
    "Return the complex conjugate.",
    "1 + 2j",
    "Array(1.-2.j)",
)
cos = _unary("cos", ops.COSINE, "Return the cosine.", "0.0", "Array(1.)")
cosh = _unary("cosh", lambda x: composite("cosh", x), "Return the hyperbolic cosine.", "0.0", "Array(1.)")
digamma = _unary(
    "digamma",
    lambda x: composite("digamma", x),
    "Return the logarithmic derivative of gamma.",
    "1.0",
    "Array(-0.57721566)",
)
div = _binary(
    "div",
    ops.DIVIDE,
    "Return the quotient; of integers, rounded toward zero.",
    "np.array([7, -7]), 2",
    "Array([ 3, -3])",
)
eq = _comparison("eq", "Return where operands are equal.", "np.array([1, 2]), 2", "Array([False,  True])")
erf = _unary("erf", lambda x: composite("erf", x), "Return the error function.", "0.5", "Array(0.52049988)")
erf_inv = _unary(
    "erf_inv",
    lambda x: composite("erf_inv", x),
    "Return the inverse of the error function.",
    "0.5",
    "Array(0.47693628)",
)
erfc = _unary(
    "erfc", lambda x: composite("erfc", x), "Return the complementary error function.", "10.0", "Array(2.08848758e-45)"
)
exp = _unary("exp", ops.EXPONENTIAL, "Return e to the power of the operand.", "1.0", "Array(2.71828183)")
exp2 = _unary("exp2", lambda x: composite("exp2", x), "Return 2 to the power of the operand.", "10.0", "Array(1024.)")
expm1 = _unary("expm1", ops.EXPONENTIAL_MINUS_ONE, "Return ``exp(x) - 1``, accurate near 0.", "1e-20", "Array(1.e-20)")
floor = _unary(
    "floor", ops.FLOOR, "Return the greatest integer not above.", "np.array([-0.5, 0.5])", "Array([-1.,  0.])"
)
ge = _comparison(
    "ge", "Return where the first operand is not less.", "np.array([1, 2, 3]), 2", "Array([False,  True,  True])"
)
gt = _comparison(
    "gt", "Return where the first operand is greater.", "np.array([1, 2, 3]), 2", "Array([False, False,  True])"
)
igamma = _binary(
    "igamma",
    lambda a, x: composite("igamma", a, x),
    "Return the lower incomplete gamma function of a, x.",
    "1.0, np.array([0.5, 2.0])",
    "Array([0.39346934, 0.86466472])",
    names="a x",
)
igammac = _binary(
    "igammac",
    lambda a, x: composite("igammac", a, x),
    "Return ``1 - igamma(a, x)``, accurately.",
    "1.0, np.array([0.5, 50.0])",
    "Array([6.06530660e-01, 1.92874985e-22])",
    names="a x",
)
imag = _unary("imag", ops.IMAG, "Return the imaginary part.", "1 + 2j", "Array(2.)")
is_finite = _unary(
    "is_finite",
    ops.IS_FINITE,
    "Return where the operand is neither infinite nor NaN.",
    "np.array([1.0, np.inf, np.nan])",
    "Array([ True, False, False])",
)
le = _comparison(
    "le", "Return where the first operand is not greater.", "np.array([1, 2, 3]), 2", "Array([ True,  True, False])"
)
lgamma = _unary(
    "lgamma",
    lambda x: composite("lgamma", x),
    "Return the logarithm of gamma's absolute value.",
    "np.array([5.0, -0.5])",
    "Array([3.17805383, 1.26551212])",
)
log = _unary("log", ops.LOG, "Return the natural logarithm.", "np.array([1.0, 0.0])", "Array([  0., -inf])")
log1p = _unary("log1p", ops.LOG_PLUS_ONE, "Return ``log(1 + x)``, accurate near 0.", "1e-20", "Array(1.e-20)")
logistic = _unary(
    "logistic", ops.LOGISTIC, "Return ``1 / (1 + exp(-x))``.", "np.array([0.0, -800.0])", "Array([0.5, 0. ])"
)
lt = _comparison(
    "lt", "Return where the first operand is less.", "np.array([1, 2, 3]), 2", "Array([ True, False, False])"
)
max = _binary(
    "max", ops.MAXIMUM, "Return the greater operand; NaN wins.", "np.array([1.0, np.nan]), 2.0", "Array([ 2., nan])"
)
min = _binary(
    "min", ops.MINIMUM, "Return the lesser operand; NaN wins.", "np.array([1.0, np.nan]), 2.0", "Array([ 1., nan])"
)
mul = _binary("mul", ops.MULTIPLY, "Return the product.", "np.array([1, 2]), 3", "Array([3, 6])")
ne = _comparison("ne", "Return where operands differ.", "np.array([1, 2]), 2", "Array([ True, False])")
neg = _unary("neg", ops.NEGATE, "Return the operand negated.", "np.array([1, -2])", "Array([-1,  2])")
nextafter = _binary(
    "nextafter",
    float_rules.nextafter,
    "Return the next float after the first operand.",
    "1.0, 2.0",
    "Array(1.)",
    names="x1 x2",
)
polygamma = _binary(
    "polygamma",
    lambda m, x: composite("polygamma", m, x),
    "Return digamma's m-th derivative at x.",
    "1.0, np.array([1.0, 2.0])",
    "Array([1.64493407, 0.64493407])",
    names="m x",
)
population_count = _unary(
    "population_count", ops.POPCNT, "Return the number of one bits.", "np.array([7, 8])", "Array([3, 1])"
)
real = _unary("real", ops.REAL, "Return the real part.", "1 + 2j", "Array(1.)")
reciprocal = _unary("reciprocal", lambda x: b.divide(1.0, x), "Return ``1 / x``.", "4.0", "Array(0.25)")
rem = _binary(
    "rem", ops.REMAINDER, "Return the remainder, of the dividend's sign.", "np.array([7, -7]), 4", "Array([ 3, -3])"
)
rsqrt = _unary("rsqrt", ops.RSQRT, "Return ``1 / sqrt(x)``.", "4.0", "Array(0.5)")
shift_left = _binary("shift_left", ops.SHIFT_LEFT, "Return bits shifted up.", "1, np.array([3, 4])", "Array([ 8, 16])")
shift_right_arithmetic = _binary(
    "shift_right_arithmetic",
    ops.SHIFT_RIGHT_ARITHMETIC,
    "Return bits shifted down, the sign bit copied.",
    "-8, 1",
    "Array(-4)",
)
shift_right_logical = _binary(
    "shift_right_logical",
    ops.SHIFT_RIGHT_LOGICAL,
    "Return bits shifted down, zeros before.",
    "np.int8(-8), np.int8(1)",
    "Array(124, dtype=int8)",
)
sign = _unary(
    "sign",
    lambda x: convert(b.unequal(x, 0), x.dtype) if x.dtype.kind == "u" else bind1(ops.SIGN, x),
    "Return -1, 0 or 1; of complex numbers, ``x / abs(x)``.",
    "np.array([-2.0, 0.0, 3.0])",
    "Array([-1.,  0.,  1.])",
)
sin = _unary("sin", ops.SINE, "Return the sine.", "0.0", "Array(0.)")
sinh = _unary("sinh", lambda x: composite("sinh", x), "Return the hyperbolic sine.", "0.0", "Array(0.)")
sqrt = _unary("sqrt", ops.SQRT, "Return the square root.", "np.array([4.0, 2.0])", "Array([2.        , 1.41421356])")
square = _unary("square", lambda x: b.multiply(x, x), "Return the square.", "np.array([3, -4])", "Array([ 9, 16])")
sub = _binary("sub", ops.SUBTRACT, "Return the difference.", "np.array([1, 2]), 3", "Array([-2, -1])")
tan = _unary("tan", ops.TAN, "Return the tangent.", "0.0", "Array(0.)")
tanh = _unary("tanh", ops.TANH, "Return the hyperbolic tangent.", "np.array([0.0, 100.0])", "Array([0., 1.])")


zeta = _binary(
    "zeta",
    lambda x, q: composite("zeta", x, q),
    "Return Hurwitz's zeta function of order x at q.",
    "2.0, np.array([1.0, 2.0])",
    "Array([1.64493407, 0.64493407])",
    names="x q",
)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """Return the regularized incomplete beta function.

    Examples
    --------
    >>> betainc(1.0, 2.0, np.array([0.5, 1.0]))
    Array([0.75, 1.  ])
    """
    return composite("betainc", *operands("betainc", a, b, x))


def pow(x: Any, y: Any) -> Any:
    """Return ``x`` to the power ``y``; integers are allowed as the power of floats.

    Examples
    --------
    >>> pow(np.array([2.0, 3.0]), 2)
    Array([4., 9.])
    """
    kinds = [asarray(v).dtype.kind for v in (x, y)]
    if kinds[1] in "iu" and kinds[0] in "fcV":
        y = convert(asarray(y), asarray(x).dtype)
    return bind1(ops.POWER, *operands("pow", x, y))


def mulhi(x: Any, y: Any, /) -> Any:
    """Return the high half of the product of integers: the bits that `mul` loses.

    Raises
    ------
    DTypeError, ShapeError
        If operands are no integers, or differ in dtype or shape.

    Examples
    --------
    >>> mulhi(np.array([2**40, -1]), np.array([2**40, 1]))
    Array([65536,    -1])
    """
    first, second = operands("mulhi", x, y)
    dtype = first.dtype
    if dtype.kind not in "iu" or dtype.itemsize * 8 not in (8, 16, 32, 64):
        raise DTypeError(f"lax.mulhi of {spelling(first)}", where=capture_location(), fix="use integers")
    if dtype.itemsize < 8:
        wide = np.dtype(f"{dtype.kind}8")
        shift = b.shift_right if dtype.kind == "i" else b.shift_right_logical
        return convert(shift(b.multiply(convert(first, wide), convert(second, wide)), 8 * dtype.itemsize), dtype)
    high = _high_half(convert(first, np.uint64), convert(second, np.uint64))
    if dtype.kind == "u":
        return high
    # of two's complement: x y = x' y' - 2^64 (y where x < 0, x where y < 0), modulo 2^128
    high = b.subtract(convert(high, dtype), b.select(b.less(first, 0), second, 0))
    return b.subtract(high, b.select(b.less(second, 0), first, 0))


def _high_half(x: Any, y: Any) -> Any:
    """Return the upper 64 bits of the product of uint64, from products of 32 bits."""
    low, half = 0xFFFFFFFF, 32
    x0, x1, y0, y1 = b.both(x, low), b.shift_right_logical(x, half), b.both(y, low), b.shift_right_logical(y, half)
    first = b.add(b.multiply(x1, y0), b.shift_right_logical(b.multiply(x0, y0), half))
    second = b.add(b.multiply(x0, y1), b.both(first, low))
    high = b.add(b.multiply(x1, y1), b.shift_right_logical(first, half))
    return b.add(high, b.shift_right_logical(second, half))


def integer_pow(x: Any, y: int) -> Any:
    """Return ``x`` to a Python integer power, by repeated multiplication.

    Examples
    --------
    >>> integer_pow(np.array([2.0, 4.0]), -2)
    Array([0.25  , 0.0625])
    """
    (base,) = operands("integer_pow", x)
    if y < 0:
        return b.divide(1.0, integer_pow(base, -y))
    result = None
    power = base
    while y:
        if y & 1:
            result = power if result is None else b.multiply(result, power)
        y >>= 1
        power = b.multiply(power, power) if y else power
    return b.constant(1, base) if result is None else result


def round(x: Any, rounding_method: Any = RoundingMethod.AWAY_FROM_ZERO) -> Any:
    """Return the nearest integer; halves go away from zero (method 0), or to even (method 1).

    Examples
    --------
    >>> round(np.array([0.5, 1.5])), round(np.array([0.5, 1.5]), 1)
    (Array([1., 2.]), Array([0., 2.]))
    """
    (value,) = operands("round", x)
    method = int(rounding_method)
    if method not in (0, 1):
        raise ArgumentError(f"lax.round(rounding_method={rounding_method})", where=capture_location(), fix="use 0 or 1")
    return bind1(ops.ROUND_NEAREST_EVEN if method else ops.ROUND_NEAREST_AFZ, value)


def clamp(min: Any, x: Any, max: Any) -> Any:
    """Return ``x`` limited to ``[min, max]``, which may be scalars.

    Examples
    --------
    >>> clamp(0, np.array([-3, 2, 9]), 5)
    Array([0, 2, 5])
    """
    return bind1(comparison.CLAMP, *operands("clamp", min, x, max))


def select_n(which: Any, *cases: Any) -> Any:
    """Return elements of the case that ``which`` names: a boolean or an integer in range.

    Examples
    --------
    >>> select_n(np.array([0, 2]), np.array([1, 2]), np.array([3, 4]), np.array([5, 6]))
    Array([1, 6])
    """
    selector = asarray(which)
    arrays = operands("select_n", *cases)
    if selector.dtype.kind == "b":
        if len(arrays) > 2:
            raise ArgumentError("lax.select_n: a boolean chooses between two cases", where=capture_location())
        selector = convert(selector, np.int32)
    selector = broadcast_to_shape(selector, shape_of(arrays[0]))
    result = arrays[-1]
    for number in reversed(range(len(arrays) - 1)):
        result = b.select(b.at_most(selector, number), arrays[number], result)
    return result
