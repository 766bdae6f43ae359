"""Functions of complex128, from the real functions of this folder: exp, log, roots, circular and hyperbolic ones.

Kernels compute complex64 in complex128 and round once. Branch cuts and limits are C99's (Annex G); errors are a few
ULP of the larger part. Next: `numhlo.lowering.ops.complex_functions` has what is built from these.
"""

from __future__ import annotations

from typing import Any

from numhlo.backend.primitives import (
    absolute,
    copy_sign,
    divide,
    divide_complex,
    is_finite,
    is_nan,
    make_c128,
    maximum,
    minimum,
    select,
    square_root,
    to_f32,
    to_f64,
)
from numhlo.backend.vector_math.exponential import exp_f64, expm1_f64
from numhlo.backend.vector_math.hyperbolic import cosh_f64, sinh_f64
from numhlo.backend.vector_math.inverse_trigonometric import atan2_f64
from numhlo.backend.vector_math.jitable import jitable
from numhlo.backend.vector_math.logarithm import log1p_f64, log_f64
from numhlo.backend.vector_math.power import cbrt_f64
from numhlo.backend.vector_math.trigonometric import cos_f64, sin_f64, tan_f64

INFINITY = float("inf")
ONE_THIRD = 1.0 / 3.0
LARGE_SQUARE, SMALL_SQUARE = 2.0**1000, 2.0**-900  # between them, squares of the larger part are exact enough
WIDENING, NARROWING = 2.0**600, 2.0**-600
TINY, TINY_WIDENING = 2.0**-960, 2.0**54
STEEP = 20.0  # tanh of larger numbers is 1 to the last place
TINY_SQUARE, TINY_NARROWING = TINY_WIDENING**2, 1.0 / TINY_WIDENING


@jitable
def abs_c128(z: Any) -> Any:
    """Return the absolute value, infinite if either part is, without overflow on the way, to 1.2 ULP."""
    re, im = absolute(z.real), absolute(z.imag)
    square = re * re + im * im
    large, small = square > to_f64(LARGE_SQUARE), square < to_f64(SMALL_SQUARE)
    one = to_f64(1.0)
    narrowing = select(large, to_f64(NARROWING), select(small, to_f64(WIDENING), one))
    widening = select(large, to_f64(WIDENING), select(small, to_f64(NARROWING), one))
    re, im = re * narrowing, im * narrowing  # exact, unless one is much smaller than the other
    size = square_root(re * re + im * im) * widening
    infinite = (re == to_f64(INFINITY)) | (im == to_f64(INFINITY))
    return select(infinite, to_f64(INFINITY), size)


@jitable
def abs_c64(z: Any) -> Any:
    """Return the absolute value of a complex64, whose square no float64 overflows at, rounded to float32."""
    re, im = to_f64(z.real), to_f64(z.imag)
    infinite = (absolute(re) == to_f64(INFINITY)) | (absolute(im) == to_f64(INFINITY))
    return to_f32(select(infinite, to_f64(INFINITY), square_root(re * re + im * im)))


@jitable
def exp_c128(z: Any) -> Any:
    """Return ``exp(x) cos(y) + i exp(x) sin(y)``."""
    size, angle = exp_f64(z.real), z.imag
    re, im = size * cos_f64(angle), size * sin_f64(angle)
    nowhere = is_finite(angle) ^ True
    nothing = (size == to_f64(0.0)) & nowhere
    endless = (z.real == to_f64(INFINITY)) & nowhere
    re = select(nothing | endless | (angle == to_f64(0.0)), size, re)
    im = select(nothing | (angle == to_f64(0.0)), copy_sign(to_f64(0.0), angle), im)
    return make_c128(re, im)


@jitable
def log_c128(z: Any) -> Any:
    """Return ``log(abs(z)) + i angle(z)``, accurate where the absolute value is near 1."""
    re, im = absolute(z.real), absolute(z.imag)
    large, small = maximum(re, im), minimum(re, im)
    near = (large > to_f64(0.5)) & (large < to_f64(2.0))
    excess = (large - to_f64(1.0)) * (large + to_f64(1.0)) + small * small
    close = to_f64(0.5) * log1p_f64(select(near, excess, to_f64(0.0)))
    return make_c128(select(near, close, log_f64(abs_c128(z))), atan2_f64(z.imag, z.real))


@jitable
def sqrt_c128(z: Any) -> Any:
    """Return the square root with a real part that is not negative; the imaginary part has ``z``'s sign."""
    re, im = z.real, z.imag
    tiny = maximum(absolute(re), absolute(im)) < to_f64(TINY)  # halves of subnormal numbers are rounded
    half, widening = to_f64(0.5), select(tiny, to_f64(TINY_SQUARE), to_f64(1.0))
    wide_re, wide_im = absolute(re) * widening, absolute(im) * widening
    root = square_root(half * wide_re + half * abs_c128(make_c128(wide_re, wide_im)))
    narrowing = select(tiny, to_f64(TINY_NARROWING), to_f64(1.0))
    larger = root * narrowing
    smaller = select(root == to_f64(0.0), to_f64(0.0), divide(wide_im, root + root) * narrowing)
    right = re >= to_f64(0.0)
    real, imag = select(right, larger, smaller), select(right, smaller, larger)
    real = select(is_nan(re), re, real)
    imag = select(is_nan(re) | is_nan(im), re + im, imag)
    tall = absolute(im) == to_f64(INFINITY)
    wide = (absolute(re) == to_f64(INFINITY)) & is_finite(im)
    real = select(tall, to_f64(INFINITY), select(wide, select(right, re, to_f64(0.0)), real))
    imag = select(tall, to_f64(INFINITY), select(wide, select(right, to_f64(0.0), -re), imag))
    imag = select(is_nan(im) & (re == -to_f64(INFINITY)), to_f64(INFINITY), imag)
    return make_c128(real, select(is_nan(im), imag, copy_sign(imag, im)))


@jitable
def scaled_c128(size: Any, factor: Any) -> Any:
    """Return a product in which an exact zero wins over what is infinite or NaN."""
    sign = select(is_nan(size), to_f64(1.0), copy_sign(to_f64(1.0), size))
    product = factor * select(factor == to_f64(0.0), sign, size)
    return select((size == to_f64(0.0)) & is_nan(factor), size, product)


@jitable
def scaled_endless_c128(size: Any, factor: Any, x: Any) -> Any:
    """Return `scaled_c128`; infinity where ``x``, of which the size is a function, is infinite and the factor NaN."""
    endless = is_nan(factor) & (absolute(x) == to_f64(INFINITY))
    return select(endless, to_f64(INFINITY), scaled_c128(size, factor))


@jitable
def sin_c128(z: Any) -> Any:
    """Return ``sin(x) cosh(y) + i cos(x) sinh(y)``."""
    re, im = z.real, z.imag
    return make_c128(scaled_c128(cosh_f64(im), sin_f64(re)), scaled_endless_c128(sinh_f64(im), cos_f64(re), im))


@jitable
def cos_c128(z: Any) -> Any:
    """Return ``cos(x) cosh(y) - i sin(x) sinh(y)``."""
    re, im = z.real, z.imag
    return make_c128(scaled_endless_c128(cosh_f64(im), cos_f64(re), im), -scaled_c128(sinh_f64(im), sin_f64(re)))


@jitable
def expm1_c128(z: Any) -> Any:
    """Return ``exp(z) - 1``, accurate near 0; the result of a real number is real."""
    re, im = z.real, z.imag
    half = sin_f64(to_f64(0.5) * im)
    real = expm1_f64(re) * cos_f64(im) - to_f64(2.0) * half * half
    return make_c128(real, select(im == to_f64(0.0), im, exp_f64(re) * sin_f64(im)))


@jitable
def log1p_c128(z: Any) -> Any:
    """Return ``log(1 + z)``, accurate near 0."""
    re, im = z.real, z.imag
    near = maximum(absolute(re), absolute(im)) < to_f64(0.5)
    excess = select(near, re * (to_f64(2.0) + re) + im * im, to_f64(0.0))
    beside = to_f64(1.0) + re
    real = select(near, to_f64(0.5) * log1p_f64(excess), log_f64(abs_c128(make_c128(beside, im))))
    return make_c128(real, atan2_f64(im, beside))


@jitable
def tanh_c128(z: Any) -> Any:
    """Return the hyperbolic tangent, from ``tan(y)`` and ``sinh(x)``.

    Notes
    -----
    Kahan, "Branch Cuts for Complex Elementary Functions" (1987).
    """
    re, im = z.real, z.imag
    steep = absolute(re) > to_f64(STEEP)
    tangent, sine = tan_f64(im), sinh_f64(select(steep, to_f64(0.0), re))
    slope = to_f64(1.0) + tangent * tangent
    scale = to_f64(1.0) + slope * sine * sine
    real = divide(slope * square_root(to_f64(1.0) + sine * sine) * sine, scale)
    decay = exp_f64(to_f64(-2.0) * absolute(re))
    flat = to_f64(4.0) * sin_f64(im) * cos_f64(im) * decay
    endless = absolute(re) == to_f64(INFINITY)
    flat = select(endless & (is_finite(im) ^ True), copy_sign(to_f64(0.0), im), flat)
    one = select(endless | is_finite(im), copy_sign(to_f64(1.0), re), im - im)
    real = select(steep, one, select((re == to_f64(0.0)) | is_nan(re), re, real))
    imag = select(steep, flat, divide(tangent, scale))
    return make_c128(real, select(im == to_f64(0.0), im, select(is_nan(re), re, imag)))


@jitable
def tan_c128(z: Any) -> Any:
    """Return the tangent, ``-i tanh(i z)``."""
    turned = tanh_c128(make_c128(-z.imag, z.real))
    return make_c128(turned.imag, -turned.real)


@jitable
def logistic_c128(z: Any) -> Any:
    """Return ``1 / (1 + exp(-z))``, by the formula whose ``exp`` can't overflow."""
    left = z.real < to_f64(0.0)
    decay = exp_c128(make_c128(select(left, z.real, -z.real), select(left, z.imag, -z.imag)))
    above = make_c128(select(left, decay.real, to_f64(1.0)), select(left, decay.imag, to_f64(0.0)))
    return divide_complex(above, make_c128(to_f64(1.0) + decay.real, decay.imag))


@jitable
def rsqrt_c128(z: Any) -> Any:
    """Return ``1 / sqrt(z)``; 0 where ``z`` is infinite."""
    root = sqrt_c128(z)
    endless = (absolute(root.real) == to_f64(INFINITY)) | (absolute(root.imag) == to_f64(INFINITY))
    inverse = divide_complex(make_c128(to_f64(1.0), to_f64(0.0)), root)
    re = select(endless, copy_sign(to_f64(0.0), root.real), inverse.real)
    return make_c128(re, select(endless, -copy_sign(to_f64(0.0), root.imag), inverse.imag))


@jitable
def cbrt_c128(z: Any) -> Any:
    """Return the principal cube root, whose angle is a third of ``z``'s."""
    angle = atan2_f64(z.imag, z.real) * to_f64(ONE_THIRD)
    size = cbrt_f64(abs_c128(z))
    return make_c128(size * cos_f64(angle), size * sin_f64(angle))


@jitable
def sign_c128(z: Any) -> Any:
    """Return ``z / abs(z)``; 0 of 0, NaN in both parts where either part is."""
    size = abs_c128(z)
    zero, nan = size == to_f64(0.0), is_nan(z.real) | is_nan(z.imag)
    broken = z.real + z.imag
    re, im = select(nan, broken, divide(z.real, size)), select(nan, broken, divide(z.imag, size))
    return make_c128(select(zero, to_f64(0.0), re), select(zero, to_f64(0.0), im))
