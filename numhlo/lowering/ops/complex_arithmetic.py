"""Complex functions that NumPy lacks, or whose formula we fix so that another engine can give the same bits.

Functions take complex arrays of at least one dimension and keep the type, unless they say otherwise. complex64 reaches
those in a table's ``wide_complex`` as complex128, so they need no care for single precision. Branch cuts are C99's.
"""

from __future__ import annotations

import numpy as np

ONE_THIRD = 1.0 / 3.0


def compose(real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    """Return the complex array with these parts, which are float32 or float64."""
    result = np.empty(real.shape, np.complex64 if real.dtype == np.float32 else np.complex128)
    result.real = real
    result.imag = imag
    return result


def multiply(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return ``(ac - bd) + (ad + bc)i``, each operation rounded: NumPy's own loop may contract."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    shape = x.shape if x.shape == y.shape else np.broadcast_shapes(x.shape, y.shape)
    result = np.empty(shape, x.dtype)
    np.subtract(a * c, b * d, out=result.real)
    np.add(a * d, b * c, out=result.imag)
    return result


def sign(x: np.ndarray) -> np.ndarray:
    """Return ``x / abs(x)``; 0 where ``x`` is 0, NaN in both parts where either part is."""
    size = np.abs(x)
    result = compose(x.real / size, x.imag / size)
    result[x == 0] = 0
    result[np.isnan(x)] = complex(np.nan, np.nan)
    return result


def log_plus_one(x: np.ndarray) -> np.ndarray:
    """Return ``log(1 + x)``, accurate near 0.

    Notes
    -----
    ``abs(1 + x) ** 2 - 1`` is ``re * (2 + re) + im ** 2``, which keeps small parts that ``1 + re`` would lose.
    """
    re, im = x.real, x.imag
    near = np.maximum(np.abs(re), np.abs(im)) < 0.5
    small = np.log1p(re * (2 + re) + im * im) / 2
    return compose(np.where(near, small, np.log(np.hypot(1 + re, im))), np.arctan2(im, 1 + re))


def logistic(x: np.ndarray) -> np.ndarray:
    """Return ``1 / (1 + exp(-x))``, by the formula whose ``exp`` can't overflow."""
    left = x.real < 0
    decay = np.exp(np.where(left, x, -x))
    result: np.ndarray = np.where(left, decay, 1) / (1 + decay)
    return result


def rsqrt(x: np.ndarray) -> np.ndarray:
    """Return ``1 / sqrt(x)``; 0 where ``x`` is infinite, which division would make NaN."""
    root = np.sqrt(x)
    inverse: np.ndarray = 1 / root
    return np.where(np.isinf(root), compose(np.copysign(0, root.real), -np.copysign(0, root.imag)), inverse)


def exponential_minus_one(x: np.ndarray) -> np.ndarray:
    """Return ``exp(x) - 1``, accurate near 0; the result of a real number is real.

    Notes
    -----
    ``exp(re) * cos(im) - 1`` is ``expm1(re) * cos(im) - 2 * sin(im / 2) ** 2``, which does not cancel near 0.
    """
    re, im = x.real, x.imag
    half = np.sin(im / 2)
    return compose(np.expm1(re) * np.cos(im) - 2 * half * half, np.where(im == 0, im, np.exp(re) * np.sin(im)))


def cbrt(x: np.ndarray) -> np.ndarray:
    """Return the principal cube root: argument a third of ``x``'s, not the real root of a negative number."""
    angle = np.arctan2(x.imag, x.real) * ONE_THIRD
    size = np.cbrt(np.abs(x))
    return compose(size * np.cos(angle), size * np.sin(angle))


def atan2(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return ``-i * log((x + i * y) / sqrt(x * x + y * y))``.

    Notes
    -----
    The imaginary part is ``-log(abs(x + i * y) / abs(x - i * y)) / 2``. The squares of the two sizes differ by
    ``4 * (x.imag * y.real - x.real * y.imag)``; dividing that by the smaller square keeps results near 0 accurate.
    """
    plus, minus = x + 1j * y, x - 1j * y
    angle = np.angle(plus / np.sqrt(x * x + y * y))
    size = np.minimum(np.abs(plus), np.abs(minus))
    quarter = (x.imag / size) * (y.real / size) - (x.real / size) * (y.imag / size)
    logarithm = np.copysign(np.log1p(4 * np.abs(quarter)) / 4, -quarter)
    return compose(angle, np.where(quarter == 0, 0, logarithm))


def real_part(x: np.ndarray) -> np.ndarray:
    """Return the real part, a float array."""
    return x.real


def imaginary_part(x: np.ndarray) -> np.ndarray:
    """Return the imaginary part, a float array."""
    return x.imag
