"""Decompositions of the hyperbolic and inverse functions of complex numbers, from real functions of their parts.

Formulas are Kahan's (Branch Cuts for Complex Elementary Functions, 1987): square roots are taken so that a zero's sign
decides the side of a branch cut. Beyond a quarter of the largest number, where these would overflow, asymptotic
forms take over.
"""

from __future__ import annotations

import math

import numpy as np

from numhlo.lowering.ops import elementwise, hyperbolic_functions
from numhlo.lowering.ops.formula import (
    Formula,
    absolute,
    atan2,
    compose,
    cos,
    imag,
    log,
    log1p,
    maximum,
    real,
    sign,
    sin,
    sqrt,
    where,
)

LOG_2 = math.log(2.0)


def sinh(z: Formula) -> Formula:
    """Return ``sinh(x) cos(y) + i cosh(x) sin(y)``."""
    x, y = real(z), imag(z)
    return compose(_times(hyperbolic_functions.sinh(x), cos(y)), _times(hyperbolic_functions.cosh(x), sin(y)))


def cosh(z: Formula) -> Formula:
    """Return ``cosh(x) cos(y) + i sinh(x) sin(y)``."""
    x, y = real(z), imag(z)
    return compose(_times(hyperbolic_functions.cosh(x), cos(y)), _times(hyperbolic_functions.sinh(x), sin(y)))


def _times(size: Formula, factor: Formula) -> Formula:
    """Return the product, where an exact zero wins over infinity."""
    return where(factor.compare("EQ", 0.0), sign(size) * factor, size * factor)


def asin(z: Formula) -> Formula:
    """Return the inverse sine, ``-i asinh(i z)``."""
    turned = asinh(compose(-imag(z), real(z)))
    return compose(imag(turned), -real(turned))


def acos(z: Formula) -> Formula:
    """Return the inverse cosine, from the square roots of ``1 - z`` and ``1 + z``."""
    x, y = real(z), imag(z)
    minus, plus = _root(1.0 - x, -y), _root(1.0 + x, y)
    angle = 2.0 * atan2(real(minus), real(plus))
    height = hyperbolic_functions.asinh(real(plus) * imag(minus) - imag(plus) * real(minus))
    far = _is_far(x, y)
    far_height = -_with_sign(_log_2_size(z), y)
    return compose(where(far, atan2(absolute(y), x), angle), where(far, far_height, height))


def atan(z: Formula) -> Formula:
    """Return the inverse tangent, ``-i atanh(i z)``."""
    turned = atanh(compose(-imag(z), real(z)))
    return compose(imag(turned), -real(turned))


def asinh(z: Formula) -> Formula:
    """Return the inverse hyperbolic sine, from the square roots of ``1 + i z`` and ``1 - i z``."""
    x, y = real(z), imag(z)
    first, second = _root(1.0 + y, -x), _root(1.0 - y, x)
    height = hyperbolic_functions.asinh(real(first) * imag(second) - real(second) * imag(first))
    angle = atan2(y, real(first) * real(second) - imag(first) * imag(second))
    far = _is_far(x, y)
    far_height = _with_sign(_log_2_size(z), x)
    return compose(where(far, far_height, height), where(far, atan2(y, absolute(x)), angle))


def acosh(z: Formula) -> Formula:
    """Return the inverse hyperbolic cosine, from the square roots of ``z - 1`` and ``z + 1``."""
    x, y = real(z), imag(z)
    minus, plus = _root(x - 1.0, y), _root(x + 1.0, y)
    height = hyperbolic_functions.asinh(real(minus) * real(plus) + imag(minus) * imag(plus))
    angle = 2.0 * atan2(imag(minus), real(plus))
    far = _is_far(x, y)
    return compose(where(far, _log_2_size(z), height), where(far, atan2(y, x), angle))


def atanh(z: Formula) -> Formula:
    """Return the inverse hyperbolic tangent: ``log1p(4 x / ((1 - x)^2 + y^2)) / 4``; half an angle."""
    x, y = real(z), imag(z)
    size, height = absolute(x), absolute(y)
    info = np.finfo(size.type.dtype)
    gap = 1.0 - size
    growth = 0.25 * log1p(4.0 * size / (gap * gap + height * height))
    # beside 1 the square of the height underflows
    close = where(height < float(np.sqrt(info.tiny)), size, 0.0).compare("EQ", 1.0)
    growth = where(close, 0.5 * (LOG_2 - log(height)), growth)
    angle = 0.5 * atan2(2.0 * y, gap * (1.0 + size) - height * height)
    radius = z.apply(elementwise.ABS)
    far = (size + height) > float(np.sqrt(info.max)) / 2
    far_growth = where(radius.compare("EQ", np.inf), 0.0, (size / radius) / radius)
    quarter = _with_sign(y.constant(math.pi / 2), y)
    return compose(sign(x) * where(far, far_growth, growth), where(far, quarter, angle))


def _root(re: Formula, im: Formula) -> Formula:
    return sqrt(compose(re, im))


def _is_far(x: Formula, y: Formula) -> Formula:
    """Return where a part is too large for sums and products with the other."""
    return maximum(absolute(x), absolute(y)) > float(np.finfo(x.type.dtype).max) / 4


def _log_2_size(z: Formula) -> Formula:
    """Return ``log(2 |z|)`` of huge numbers."""
    half = compose(real(z) * 0.5, imag(z) * 0.5)
    return log(half.apply(elementwise.ABS)) + 2 * LOG_2


def _with_sign(size: Formula, x: Formula) -> Formula:
    """Return ``size >= 0`` with the sign of ``x``, also of a zero."""
    return size * where(x.compare("EQ", 0.0), where((1.0 / x) < 0.0, -1.0, x.constant(1.0)), sign(x))
