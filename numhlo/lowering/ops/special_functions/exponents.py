"""Formulas of 2**x, log2 and log10, exact where the result is: exponent and mantissa are taken apart by their bits."""

from __future__ import annotations

import numpy as np

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops import conversion, elementwise
from numhlo.lowering.ops.formula import Formula, compose, exp, imag, log, maximum, minimum, real, round_even, where

LN2 = float(np.log(2.0))
LOG10_2_HIGH = 0.301025390625
"""log10(2) in 13 bits, so that its product with an exponent is exact in float32."""
LOG10_2_LOW = 4.605038981195214e-06
"""What is missing in `LOG10_2_HIGH`."""


def _layout(x: Formula) -> tuple[int, int, np.dtype]:
    """Return the mantissa's bits, the exponent's bias, and the integer dtype of the same width."""
    info = np.finfo(x.type.dtype)
    return int(info.nmant), 1 - int(info.minexp), np.dtype(f"i{x.type.dtype.itemsize}")


def _bitcast(x: Formula, dtype: np.dtype) -> Formula:
    return x.wrap(conversion.BITCAST_CONVERT, x.value, result=TensorType(x.type.shape, dtype))


def _power_of_two(n: Formula) -> Formula:
    """Return 2**n for integral n in the range of normal exponents."""
    mantissa, bias, integer = _layout(n)
    bits = (n + float(bias)).astype(integer)
    return _bitcast(bits.apply(elementwise.SHIFT_LEFT, mantissa), n.type.dtype)


def exp2(x: Formula) -> Formula:
    """Return 2**n * exp(f ln 2) with n = round(x); 2**n in two factors, so that subnormal results are right."""
    _, bias, _ = _layout(x)
    clamped = minimum(maximum(x, 2.0 - 2.0 * bias), 2.0 * bias + 2.0)  # factors from the least normal number to inf
    whole = round_even(clamped)
    half = round_even(whole * 0.5)
    result = exp((clamped - whole) * LN2) * _power_of_two(half) * _power_of_two(whole - half)
    return where(x.compare("NE", x), x, result)


def _split(x: Formula) -> tuple[Formula, Formula]:
    """Return exponent and mantissa in [sqrt(1/2), sqrt(2)) of positive x, subnormals included."""
    mantissa, _, integer = _layout(x)
    dtype = x.type.dtype
    tiny = x < float(np.finfo(dtype).smallest_normal)
    bits = _bitcast(where(tiny, x * 2.0**mantissa, x), integer)
    root = int(np.sqrt(np.asarray(0.5, dtype)).view(integer))
    exponent = (bits - root).apply(elementwise.SHIFT_RIGHT_ARITHMETIC, mantissa)
    reduced = _bitcast(bits - exponent.apply(elementwise.SHIFT_LEFT, mantissa), dtype)
    whole = exponent.astype(dtype) - where(tiny, x.constant(float(mantissa)), x.constant(0.0))
    return whole, reduced


def log2(x: Formula) -> Formula:
    """Return the exponent plus log2 of the mantissa, exact at powers of two."""
    whole, reduced = _split(x)
    regular = (x > 0.0).apply(elementwise.AND, x < float(np.inf))
    return where(regular, whole + log(reduced) * (1 / LN2), log(x))


def log10(x: Formula) -> Formula:
    """Return exponent * log10(2), in two parts, plus log10 of the mantissa."""
    whole, reduced = _split(x)
    regular = (x > 0.0).apply(elementwise.AND, x < float(np.inf))
    fraction = log(reduced) * float(1 / np.log(10.0)) + whole * LOG10_2_LOW
    return where(regular, whole * LOG10_2_HIGH + fraction, log(x))


def complex_exp2(z: Formula) -> Formula:
    """Return exp(z ln 2)."""
    return exp(_scaled(z, LN2))


def complex_log2(z: Formula) -> Formula:
    """Return log(z) / log(2)."""
    return _scaled(log(z), 1 / LN2)


def complex_log10(z: Formula) -> Formula:
    """Return log(z) / log(10)."""
    return _scaled(log(z), float(1 / np.log(10.0)))


def _scaled(z: Formula, factor: float) -> Formula:
    """Return both parts times a real number: infinities and signs of zeros stay, which a complex product loses."""
    return compose(real(z) * factor, imag(z) * factor)
