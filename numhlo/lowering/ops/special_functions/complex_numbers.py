"""Decompositions of the hyperbolic and inverse functions of complex numbers, from real functions of their parts.

Formulas are Kahan's (Branch Cuts for Complex Elementary Functions, 1987): square roots are taken so that a zero's sign
decides the side of a branch cut. Beyond a quarter of the largest number, where these would overflow, asymptotic
forms take over.
"""

from __future__ import annotations

import math

import numpy as np

from numhlo.lowering.ops import elementwise
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
from numhlo.lowering.ops.special_functions import hyperbolic

LOG_2 = math.log(2.0)


def sinh(z: Formula) -> Formula:
    """Return ``sinh(x) cos(y) + i cosh(x) sin(y)``."""
    x, y = real(z), imag(z)
    re = _times_endless(hyperbolic.sinh(x), cos(y), x)
    return compose(re, _times(hyperbolic.cosh(x), sin(y)))


def cosh(z: Formula) -> Formula:
    """Return ``cosh(x) cos(y) + i sinh(x) sin(y)``."""
    x, y = real(z), imag(z)
    re = _times_endless(hyperbolic.cosh(x), cos(y), x)
    return compose(re, _times(hyperbolic.sinh(x), sin(y)))


def _times(size: Formula, factor: Formula) -> Formula:
    """Return the product, where an exact zero wins over what is infinite or NaN."""
    one = size.constant(1.0)
    turned = factor * where(is_nan(size), one, sign(size))
    exact = where(factor.compare("EQ", 0.0), turned, size * factor)
    return where(size.compare("EQ", 0.0), where(is_nan(factor), size, exact), exact)


def _times_endless(size: Formula, factor: Formula, x: Formula) -> Formula:
    """Return the product; infinity where ``x``, of which the size is a function, is infinite and the factor NaN."""
    product = _times(size, factor)
    return where(is_infinite(x), where(is_nan(factor), np.inf, product), product)


def asin(z: Formula) -> Formula:
    """Return the inverse sine, ``i asinh(-i z)``."""
    turned = asinh(compose(imag(z), -real(z)))
    return compose(-imag(turned), real(turned))


def acos(z: Formula) -> Formula:
    """Return the inverse cosine, from the square roots of ``1 - z`` and ``1 + z``."""
    x, y = real(z), imag(z)
    minus, plus = _root(1.0 - x, -y), _root(1.0 + x, y)
    angle = 2.0 * atan2(real(minus), real(plus))
    height = hyperbolic.asinh(real(plus) * imag(minus) - imag(plus) * real(minus))
    far = _is_far(x, y)
    far_height = -_with_sign(_log_2_size(z), y)
    re, im = where(far, atan2(absolute(y), x), angle), where(far, far_height, height)
    re = where(is_nan(x), np.nan, where(is_nan(y), where(x.compare("EQ", 0.0), math.pi / 2, re), re))
    return compose(re, where(is_nan(y), where(is_infinite(x), -np.inf, im), im))


def atan(z: Formula) -> Formula:
    """Return the inverse tangent, ``i atanh(-i z)``."""
    turned = atanh(compose(imag(z), -real(z)))
    return compose(-imag(turned), real(turned))


def asinh(z: Formula) -> Formula:
    """Return the inverse hyperbolic sine, from the square roots of ``1 + i z`` and ``1 - i z``."""
    x, y = real(z), imag(z)
    first, second = _root(1.0 + y, -x), _root(1.0 - y, x)
    height = hyperbolic.asinh(real(first) * imag(second) - real(second) * imag(first))
    angle = atan2(y, real(first) * real(second) - imag(first) * imag(second))
    far = _is_far(x, y)
    far_height = _with_sign(_log_2_size(z), x)
    re, im = where(far, far_height, height), where(far, atan2(y, absolute(x)), angle)
    re = where(is_nan(x), where(is_infinite(y), np.inf, re), re)
    return compose(re, where(is_nan(x), where(y.compare("EQ", 0.0), y, np.nan), im))


def acosh(z: Formula) -> Formula:
    """Return the inverse hyperbolic cosine, from the square roots of ``z - 1`` and ``z + 1``."""
    x, y = real(z), imag(z)
    minus, plus = _root(x - 1.0, y), _root(x + 1.0, y)
    height = hyperbolic.asinh(real(minus) * real(plus) + imag(minus) * imag(plus))
    angle = 2.0 * atan2(imag(minus), real(plus))
    far = _is_far(x, y)
    re, im = where(far, _log_2_size(z), height), where(far, atan2(y, x), angle)
    re = where(is_infinite(x), np.inf, where(is_infinite(y), np.inf, re))
    im = where(x.compare("EQ", 0.0), where(is_nan(y), math.pi / 2, im), im)
    return compose(re, where(is_nan(x), np.nan, im))


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
    re, im = sign(x) * where(far, far_growth, growth), where(far, quarter, angle)
    re = where(is_nan(y), where(is_infinite(x), sign(x) * 0.0, where(x.compare("EQ", 0.0), x, re)), re)
    tall = is_infinite(y)
    return compose(where(is_nan(x), where(tall, 0.0, re), re), where(is_nan(x), where(tall, quarter, im), im))


def _root(re: Formula, im: Formula) -> Formula:
    return sqrt(compose(re, im))


def is_nan(x: Formula) -> Formula:
    """Return where a part is no number."""
    return x.compare("NE", x)


def is_infinite(x: Formula) -> Formula:
    """Return where a part is infinite."""
    return absolute(x).compare("EQ", np.inf)


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
