"""NumPy's ufuncs by name: called on concrete arrays they are NumPy's, called while tracing they append ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy.ufunc_calls import Comparison, Power, Ufunc
from numhlo.tracer.building import FUNCTIONS, Tracer, are_arrays_immutable, convert

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
    "ufunc",
]


SIMPLE_POWERS: dict[Any, np.ufunc] = {-1: np.reciprocal, 0.5: np.sqrt, 1: np.positive, 2: np.square}


def operator_power(x: Any, exponent: Any) -> Any:
    """Return ``x ** exponent``; simple exponents are computed more simply, and to the same bits, as NumPy does."""
    is_number = isinstance(x, Tracer) and x.weak and not are_arrays_immutable()
    if is_number and type(exponent) is int and exponent < 0 and x.dtype.kind in "bi":
        return power(convert(x, np.float64), exponent)  # as Python has it for its own integers
    simple = SIMPLE_POWERS.get(exponent) if type(exponent) in (int, float) else None
    if simple is None or not isinstance(x, Tracer) or is_number:
        return power(x, exponent)
    if x.dtype.kind not in "biu" or (exponent == 2 and type(exponent) is int):
        return FUNCTIONS[simple](x)
    return power(x, exponent)


ufunc = Ufunc
abs = absolute = Ufunc(np.absolute)
add = Ufunc(np.add)
acos = arccos = Ufunc(np.arccos)
acosh = arccosh = Ufunc(np.arccosh)
asin = arcsin = Ufunc(np.arcsin)
asinh = arcsinh = Ufunc(np.arcsinh)
atan = arctan = Ufunc(np.arctan)
atan2 = arctan2 = Ufunc(np.arctan2)
atanh = arctanh = Ufunc(np.arctanh)
bitwise_and = Ufunc(np.bitwise_and)
bitwise_count = Ufunc(np.bitwise_count)
bitwise_or = Ufunc(np.bitwise_or)
bitwise_xor = Ufunc(np.bitwise_xor)
cbrt = Ufunc(np.cbrt)
ceil = Ufunc(np.ceil)
conj = conjugate = Ufunc(np.conjugate)
copysign = Ufunc(np.copysign)
cos = Ufunc(np.cos)
cosh = Ufunc(np.cosh)
deg2rad = radians = Ufunc(np.deg2rad)
divide = true_divide = Ufunc(np.divide)
divmod = Ufunc(np.divmod)
equal = Comparison(np.equal)
exp = Ufunc(np.exp)
exp2 = Ufunc(np.exp2)
expm1 = Ufunc(np.expm1)
fabs = Ufunc(np.fabs)
float_power = Ufunc(np.float_power)
floor = Ufunc(np.floor)
floor_divide = Ufunc(np.floor_divide)
fmax = Ufunc(np.fmax)
fmin = Ufunc(np.fmin)
fmod = Ufunc(np.fmod)
frexp = Ufunc(np.frexp)
gcd = Ufunc(np.gcd)
greater = Comparison(np.greater)
greater_equal = Comparison(np.greater_equal)
heaviside = Ufunc(np.heaviside)
hypot = Ufunc(np.hypot)
invert = bitwise_invert = bitwise_not = Ufunc(np.invert)
isfinite = Ufunc(np.isfinite)
isinf = Ufunc(np.isinf)
isnan = Ufunc(np.isnan)
lcm = Ufunc(np.lcm)
ldexp = Ufunc(np.ldexp)
left_shift = bitwise_left_shift = Ufunc(np.left_shift)
less = Comparison(np.less)
less_equal = Comparison(np.less_equal)
log = Ufunc(np.log)
log10 = Ufunc(np.log10)
log1p = Ufunc(np.log1p)
log2 = Ufunc(np.log2)
logaddexp = Ufunc(np.logaddexp)
logaddexp2 = Ufunc(np.logaddexp2)
logical_and = Ufunc(np.logical_and)
logical_not = Ufunc(np.logical_not)
logical_or = Ufunc(np.logical_or)
logical_xor = Ufunc(np.logical_xor)
maximum = Ufunc(np.maximum)
minimum = Ufunc(np.minimum)
modf = Ufunc(np.modf)
multiply = Ufunc(np.multiply)
negative = Ufunc(np.negative)
nextafter = Ufunc(np.nextafter)
not_equal = Comparison(np.not_equal)
positive = Ufunc(np.positive)
power = pow = Power(np.power)
rad2deg = degrees = Ufunc(np.rad2deg)
reciprocal = Ufunc(np.reciprocal)
remainder = mod = Ufunc(np.remainder)
right_shift = bitwise_right_shift = Ufunc(np.right_shift)
rint = Ufunc(np.rint)
sign = Ufunc(np.sign)
signbit = Ufunc(np.signbit)
sin = Ufunc(np.sin)
sinh = Ufunc(np.sinh)
spacing = Ufunc(np.spacing)
sqrt = Ufunc(np.sqrt)
square = Ufunc(np.square)
subtract = Ufunc(np.subtract)
tan = Ufunc(np.tan)
tanh = Ufunc(np.tanh)
trunc = Ufunc(np.trunc)

FUNCTIONS[np.degrees], FUNCTIONS[np.radians] = rad2deg, deg2rad  # NumPy has two objects for each
