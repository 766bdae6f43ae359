"""Floating-point functions that NumPy lacks, or that it computes in another way than StableHLO says.

Functions take float32 or float64 arrays of at least one dimension and return the same type; narrower floats come
through float32 (`dtype_table`). Next: `complex_arithmetic`.
"""

from __future__ import annotations

import numpy as np

_BITS = {np.dtype(np.float32): np.dtype(np.uint32), np.dtype(np.float64): np.dtype(np.uint64)}


def maximum(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return IEEE 754-2019 ``maximum``: NaN propagates and 0.0 is greater than -0.0.

    Notes
    -----
    `numpy.maximum` may return either zero. Where operands are equal their bits differ at most in the sign of zero, so
    that "and" of the bits is the greater.
    """
    return _with_ordered_zeros(np.maximum, np.bitwise_and, x, y)


def minimum(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return IEEE 754-2019 ``minimum``: NaN propagates and -0.0 is less than 0.0."""
    return _with_ordered_zeros(np.minimum, np.bitwise_or, x, y)


def _with_ordered_zeros(choose: np.ufunc, combine: np.ufunc, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    result: np.ndarray = choose(x, y)
    ties = np.equal(x, y)
    if np.count_nonzero(ties):
        bits = _BITS[x.dtype]
        combine(x.view(bits), y.view(bits), out=result.view(bits), where=ties)
    return result


def sign(x: np.ndarray) -> np.ndarray:
    """Return -1.0, 1.0, or ``x`` itself where it is NaN or a zero."""
    result: np.ndarray = np.copysign(np.sign(x), x)
    return result


def round_nearest_afz(x: np.ndarray) -> np.ndarray:
    """Return the nearest integer, halves away from zero; the sign of zero stays.

    Notes
    -----
    ``x - trunc(x)`` is exact, so that no ``x + 0.5`` can round up too early.
    """
    whole = np.trunc(x)
    result: np.ndarray = whole + np.copysign((np.abs(x - whole) >= 0.5).astype(x.dtype), x)
    return result


def logistic(x: np.ndarray) -> np.ndarray:
    """Return ``1 / (1 + exp(-x))``, computed in float64, without overflow: ``exp`` sees no positive number."""
    wide = x.astype(np.float64, copy=False)
    decay = np.exp(-np.abs(wide))
    result: np.ndarray = np.where(wide < 0, decay, 1.0) / (1.0 + decay)
    return result.astype(x.dtype, copy=False)


def rsqrt(x: np.ndarray) -> np.ndarray:
    """Return ``1 / sqrt(x)``: inf with the sign of a zero, NaN below zero."""
    result: np.ndarray = np.divide(1, np.sqrt(x), dtype=x.dtype)
    return result


def unchanged(x: np.ndarray) -> np.ndarray:
    """Return ``x``: the real part of a float."""
    return x
