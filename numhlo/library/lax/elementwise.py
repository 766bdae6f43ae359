"""Strict elementwise operations under JAX's names: one StableHLO op each, no promotion, no broadcasting beyond scalars.

Operands must have one dtype (Python numbers adapt) and one shape (0-d arrays are spread). They run outside tracing too.
Structure is in `structure`, slices in `slices`, reductions and sorting in `reductions`, conversions in `conversions`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from numhlo.library.lax.operands import (
    ANY,
    BITS,
    FLOAT,
    INEXACT,
    INTEGER,
    NUMBERS,
    REAL,
    WIDE,
    Domain,
    document,
    operands,
)
from numhlo.library.numpy.ufunc_rules import floats as float_rules
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.primitive import Primitive
from numhlo.tracer.building import bind1, composite, convert
from numhlo.tracer.building import operations as b

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e", "bessel_i1e",
    "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "cbrt", "ceil", "clz",
    "complex", "conj", "cos", "cosh", "digamma", "div", "eq", "erf", "erf_inv", "erfc", "exp",
    "exp2", "expm1", "floor", "ge", "gt", "igamma", "igammac", "imag", "is_finite", "le", "lgamma",
    "log", "log1p", "logistic", "lt", "max", "min", "mul", "ne", "neg", "nextafter", "polygamma",
    "population_count", "real", "reciprocal", "rem", "rsqrt",
    "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "sqrt", "square", "sub",
    "tan", "tanh", "zeta",
]  # fmt: skip


def _sections(names: str, of: Domain, gives: str, apply: Any, source: str) -> dict[str, str]:
    """Return what all docstrings here say of operands, result and errors."""
    several = "; of one dtype and shape, to which Python numbers and scalars adapt" if " " in names else ""
    if isinstance(apply, Primitive):
        source = f"StableHLO specification, section ``{apply.name}``."
    return {
        "Parameters": f"{', '.join(names.split())} : array_like\n    Of {of.words}{several}.",
        "Returns": f"Array\n    Of {gives}.",
        "Raises": f"DTypeError{', OperandError' if several else ''}\n    If operands are not such.",
        **({"Notes": source} if source else {}),
    }


def _applied(apply: Primitive | str | Callable[..., Any], *values: Any) -> Any:
    """Return what an op, a composite of that name, or a function of traced arrays makes of operands."""
    if isinstance(apply, str):
        return composite(apply, *values)
    return bind1(apply, *values) if isinstance(apply, Primitive) else apply(*values)


def _unary(
    name: str,
    apply: Primitive | str | Callable[[Any], Any],
    documentation: str,
    *example: str,
    of: Domain = INEXACT,
    gives: str = "the shape and dtype of ``x``",
    source: str = "",
) -> Callable[[Any], Any]:
    def rule(x: Any) -> Any:
        (value,) = operands(name, x)
        of.require(name, value)
        return _applied(apply, value)

    return document(rule, name, documentation, _sections("x", of, gives, apply, source), *example)


def _binary(
    name: str,
    apply: Primitive | str | Callable[[Any, Any], Any],
    documentation: str,
    *example: str,
    of: Domain,
    gives: str = "that shape and dtype",
    names: str = "x y",
    source: str = "",
) -> Callable[[Any, Any], Any]:
    def rule(x: Any, y: Any) -> Any:
        values = operands(name, x, y)
        of.require(name, values[0])
        return _applied(apply, *values)

    public = rule if names == "x y" else _renamed(rule, names)
    return document(public, name, documentation, _sections(names, of, gives, apply, source), *example)


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
    return _binary(
        name,
        lambda x, y: b.compare(name.upper(), x, y),
        documentation,
        *example,
        of=ANY,
        gives=f"booleans, of that shape; {'true' if name == 'ne' else 'false'} where an operand is NaN",
        source="StableHLO specification, section ``compare``.",
    )


abs = _unary(
    "abs",
    lambda x: x if x.dtype.kind in "bu" else b.absolute(x),
    "Return the absolute value.",
    "np.array([-1.5, 2.0])",
    "Array([1.5, 2. ])",
    of=ANY,
    gives="the shape of ``x``, and the dtype of its parts",
)
acos = _unary("acos", "acos", "Return the inverse cosine.", "-1.0", "Array(3.14159265)")
acosh = _unary("acosh", "acosh", "Return the inverse hyperbolic cosine.", "1.0", "Array(0.)")
add = _binary("add", ops.ADD, "Return the sum.", "np.array([1, 2]), 3", "Array([4, 5])", of=ANY)
asin = _unary("asin", "asin", "Return the inverse sine.", "1.0", "Array(1.57079633)")
asinh = _unary("asinh", "asinh", "Return the inverse hyperbolic sine.", "0.5", "Array(0.48121183)")
atan = _unary("atan", "atan", "Return the inverse tangent.", "1.0", "Array(0.78539816)")
atan2 = _binary(
    "atan2",
    ops.ATAN2,
    "Return the angle of the point ``(y, x)``, given as ``x, y``.",
    "1.0, -1.0",
    "Array(2.35619449)",
    of=INEXACT,
)
atanh = _unary("atanh", "atanh", "Return the inverse hyperbolic tangent.", "0.5", "Array(0.54930614)")
bessel_i0e = _unary(
    "bessel_i0e",
    "bessel_i0e",
    "Return ``exp(-abs(x)) i0(x)``.",
    "1000.0",
    "Array(0.01261724)",
    of=FLOAT,
    source="NIST DLMF section 10.25.",
)
bessel_i1e = _unary(
    "bessel_i1e",
    "bessel_i1e",
    "Return ``exp(-abs(x)) i1(x)``.",
    "1000.0",
    "Array(0.01261093)",
    of=FLOAT,
    source="NIST DLMF section 10.25.",
)
bitwise_and = _binary("bitwise_and", ops.AND, "Return the bitwise and.", "0b1100, 0b1010", "Array(8)", of=BITS)
bitwise_not = _unary(
    "bitwise_not", ops.NOT, "Return the bitwise complement.", "np.uint8(0b11110000)", "Array(15, dtype=uint8)", of=BITS
)
bitwise_or = _binary("bitwise_or", ops.OR, "Return the bitwise or.", "0b1100, 0b1010", "Array(14)", of=BITS)
bitwise_xor = _binary("bitwise_xor", ops.XOR, "Return the bitwise exclusive or.", "0b1100, 0b1010", "Array(6)", of=BITS)
cbrt = _unary("cbrt", ops.CBRT, "Return the cube root.", "-27.0", "Array(-3.)")
ceil = _unary(
    "ceil", ops.CEIL, "Return the least integer not below.", "np.array([-0.5, 0.5])", "Array([-0.,  1.])", of=FLOAT
)
clz = _unary(
    "clz",
    ops.COUNT_LEADING_ZEROS,
    "Return the number of leading zero bits.",
    "np.int32(1)",
    "Array(31, dtype=int32)",
    of=INTEGER,
)
complex = _binary(
    "complex",
    ops.COMPLEX,
    "Return the complex number of a real and an imaginary part.",
    "1.0, np.array([2.0, 3.0])",
    "Array([1.+2.j, 1.+3.j])",
    of=WIDE,
    gives="complex numbers, of that shape",
)
conj = _unary(
    "conj",
    lambda x: b.conjugate(x if x.dtype.kind == "c" else b.as_complex(x, 0.0)),
    "Return the complex conjugate.",
    "1 + 2j",
    "Array(1.-2.j)",
    gives="the shape of ``x``, and complex",
)
cos = _unary("cos", ops.COSINE, "Return the cosine.", "0.0", "Array(1.)")
cosh = _unary("cosh", "cosh", "Return the hyperbolic cosine.", "0.0", "Array(1.)")
digamma = _unary(
    "digamma",
    "digamma",
    "Return the logarithmic derivative of gamma.",
    "1.0",
    "Array(-0.57721566)",
    of=FLOAT,
    source="NIST DLMF section 5.2.",
)
div = _binary(
    "div",
    ops.DIVIDE,
    "Return the quotient; of integers, rounded toward zero.",
    "np.array([7, -7]), 2",
    "Array([ 3, -3])",
    of=NUMBERS,
)
eq = _comparison("eq", "Return where operands are equal.", "np.array([1, 2]), 2", "Array([False,  True])")
erf = _unary(
    "erf", "erf", "Return the error function.", "0.5", "Array(0.52049988)", of=FLOAT, source="NIST DLMF section 7.2."
)
erf_inv = _unary(
    "erf_inv",
    "erf_inv",
    "Return the inverse of the error function.",
    "0.5",
    "Array(0.47693628)",
    of=FLOAT,
    source="NIST DLMF section 7.17.",
)
erfc = _unary(
    "erfc",
    "erfc",
    "Return the complementary error function.",
    "10.0",
    "Array(2.08848758e-45)",
    of=FLOAT,
    source="NIST DLMF section 7.2.",
)
exp = _unary("exp", ops.EXPONENTIAL, "Return e to the power of the operand.", "1.0", "Array(2.71828183)")
exp2 = _unary("exp2", "exp2", "Return 2 to the power of the operand.", "10.0", "Array(1024.)")
expm1 = _unary("expm1", ops.EXPONENTIAL_MINUS_ONE, "Return ``exp(x) - 1``, accurate near 0.", "1e-20", "Array(1.e-20)")
floor = _unary(
    "floor", ops.FLOOR, "Return the greatest integer not above.", "np.array([-0.5, 0.5])", "Array([-1.,  0.])", of=FLOAT
)
ge = _comparison(
    "ge", "Return where the first operand is not less.", "np.array([1, 2, 3]), 2", "Array([False,  True,  True])"
)
gt = _comparison(
    "gt", "Return where the first operand is greater.", "np.array([1, 2, 3]), 2", "Array([False, False,  True])"
)
igamma = _binary(
    "igamma",
    "igamma",
    "Return the regularized lower incomplete gamma function of a, x.",
    "1.0, np.array([0.5, 2.0])",
    "Array([0.39346934, 0.86466472])",
    names="a x",
    of=FLOAT,
    source="NIST DLMF section 8.2.",
)
igammac = _binary(
    "igammac",
    "igammac",
    "Return ``1 - igamma(a, x)``, accurately.",
    "1.0, np.array([0.5, 50.0])",
    "Array([6.06530660e-01, 1.92874985e-22])",
    names="a x",
    of=FLOAT,
    source="NIST DLMF section 8.2.",
)
imag = _unary(
    "imag",
    ops.IMAG,
    "Return the imaginary part.",
    "1 + 2j",
    "Array(2.)",
    gives="the shape of ``x``, and the dtype of its parts",
)
is_finite = _unary(
    "is_finite",
    ops.IS_FINITE,
    "Return where the operand is neither infinite nor NaN.",
    "np.array([1.0, np.inf, np.nan])",
    "Array([ True, False, False])",
    of=FLOAT,
    gives="booleans, of the shape of ``x``",
)
le = _comparison(
    "le", "Return where the first operand is not greater.", "np.array([1, 2, 3]), 2", "Array([ True,  True, False])"
)
lgamma = _unary(
    "lgamma",
    "lgamma",
    "Return the logarithm of gamma's absolute value.",
    "np.array([5.0, -0.5])",
    "Array([3.17805383, 1.26551212])",
    of=FLOAT,
    source="NIST DLMF section 5.2.",
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
    "max",
    ops.MAXIMUM,
    "Return the greater operand; NaN wins.",
    "np.array([1.0, np.nan]), 2.0",
    "Array([ 2., nan])",
    of=ANY,
)
min = _binary(
    "min",
    ops.MINIMUM,
    "Return the lesser operand; NaN wins.",
    "np.array([1.0, np.nan]), 2.0",
    "Array([ 1., nan])",
    of=ANY,
)
mul = _binary("mul", ops.MULTIPLY, "Return the product.", "np.array([1, 2]), 3", "Array([3, 6])", of=ANY)
ne = _comparison("ne", "Return where operands differ.", "np.array([1, 2]), 2", "Array([ True, False])")
neg = _unary("neg", ops.NEGATE, "Return the operand negated.", "np.array([1, -2])", "Array([-1,  2])", of=NUMBERS)
nextafter = _binary(
    "nextafter",
    float_rules.nextafter,
    "Return the next float after the first operand.",
    "1.0, 2.0",
    "Array(1.)",
    names="x1 x2",
    of=FLOAT,
)
polygamma = _binary(
    "polygamma",
    "polygamma",
    "Return digamma's m-th derivative at x.",
    "1.0, np.array([1.0, 2.0])",
    "Array([1.64493407, 0.64493407])",
    names="m x",
    of=FLOAT,
    source="NIST DLMF section 5.15.",
)
population_count = _unary(
    "population_count", ops.POPCNT, "Return the number of one bits.", "np.array([7, 8])", "Array([3, 1])", of=INTEGER
)
real = _unary(
    "real",
    ops.REAL,
    "Return the real part.",
    "1 + 2j",
    "Array(1.)",
    gives="the shape of ``x``, and the dtype of its parts",
)
reciprocal = _unary("reciprocal", lambda x: b.divide(1.0, x), "Return ``1 / x``.", "4.0", "Array(0.25)")
rem = _binary(
    "rem",
    ops.REMAINDER,
    "Return the remainder, of the dividend's sign.",
    "np.array([7, -7]), 4",
    "Array([ 3, -3])",
    of=REAL,
)
rsqrt = _unary("rsqrt", ops.RSQRT, "Return ``1 / sqrt(x)``.", "4.0", "Array(0.5)")
shift_left = _binary(
    "shift_left", ops.SHIFT_LEFT, "Return bits shifted up.", "1, np.array([3, 4])", "Array([ 8, 16])", of=INTEGER
)
shift_right_arithmetic = _binary(
    "shift_right_arithmetic",
    ops.SHIFT_RIGHT_ARITHMETIC,
    "Return bits shifted down, the sign bit copied.",
    "-8, 1",
    "Array(-4)",
    of=INTEGER,
)
shift_right_logical = _binary(
    "shift_right_logical",
    ops.SHIFT_RIGHT_LOGICAL,
    "Return bits shifted down, zeros before.",
    "np.int8(-8), np.int8(1)",
    "Array(124, dtype=int8)",
    of=INTEGER,
)
sign = _unary(
    "sign",
    lambda x: convert(b.unequal(x, 0), x.dtype) if x.dtype.kind == "u" else bind1(ops.SIGN, x),
    "Return -1, 0 or 1; of complex numbers, ``x / abs(x)``.",
    "np.array([-2.0, 0.0, 3.0])",
    "Array([-1.,  0.,  1.])",
    of=NUMBERS,
)
sin = _unary("sin", ops.SINE, "Return the sine.", "0.0", "Array(0.)")
sinh = _unary("sinh", "sinh", "Return the hyperbolic sine.", "0.0", "Array(0.)")
sqrt = _unary("sqrt", ops.SQRT, "Return the square root.", "np.array([4.0, 2.0])", "Array([2.        , 1.41421356])")
square = _unary(
    "square", lambda x: b.multiply(x, x), "Return the square.", "np.array([3, -4])", "Array([ 9, 16])", of=ANY
)
sub = _binary("sub", ops.SUBTRACT, "Return the difference.", "np.array([1, 2]), 3", "Array([-2, -1])", of=NUMBERS)
tan = _unary("tan", ops.TAN, "Return the tangent.", "0.0", "Array(0.)")
tanh = _unary("tanh", ops.TANH, "Return the hyperbolic tangent.", "np.array([0.0, 100.0])", "Array([0., 1.])")


zeta = _binary(
    "zeta",
    "zeta",
    "Return Hurwitz's zeta function of order x at q.",
    "2.0, np.array([1.0, 2.0])",
    "Array([1.64493407, 0.64493407])",
    names="x q",
    of=FLOAT,
    source="NIST DLMF section 25.11.",
)
