"""When two arrays are the same: bit for bit, NaN aside, or within so many units in the last place."""

from __future__ import annotations

import numpy as np

from numhlo.lowering.ir.types import COMPLEX, FLOATS

_BITS = {2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64), 1: np.dtype(np.int8)}


def _parts(array: np.ndarray) -> np.ndarray:
    """Return a complex array as pairs of floats; other arrays as they are."""
    return np.atleast_1d(np.ascontiguousarray(array)).view(f"f{array.dtype.itemsize // 2}")


def _ordered(array: np.ndarray) -> np.ndarray:
    """Return floats as integers in the same order, neighbours one apart; both zeros are 0."""
    bits = _BITS[array.dtype.itemsize]
    pattern = array.view(bits).astype(object) if array.dtype.itemsize == 8 else array.view(bits).astype(np.int64)
    low = int(np.iinfo(bits).min)
    return np.where(pattern < 0, low - pattern, pattern)


def difference(found: np.ndarray, expected: np.ndarray, ulps: float = 0.0) -> str | None:
    """Return how two arrays differ, or None where they are the same.

    Parameters
    ----------
    found, expected : numpy.ndarray
    ulps : float
        How many units in the last place floats may be apart; 0 means the same bits, except those of NaN.
    """
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{found.shape} instead of {expected.dtype}{expected.shape}"
    if found.dtype in COMPLEX:
        found, expected = _parts(found), _parts(expected)
    found, expected = np.atleast_1d(np.ascontiguousarray(found)), np.atleast_1d(np.ascontiguousarray(expected))
    wrong = _wrong(found, expected, ulps)
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    place = tuple(int(k) for k in np.argwhere(wrong)[0])
    return f"{count} of {wrong.size} differ, first at {place}: {found[place]!r} instead of {expected[place]!r}"


def _wrong(found: np.ndarray, expected: np.ndarray, ulps: float) -> np.ndarray:
    if found.dtype not in FLOATS:
        return np.asarray(found != expected)
    both_nan = np.isnan(found) & np.isnan(expected)
    bits = _BITS[found.dtype.itemsize]
    wrong = found.view(bits) != expected.view(bits)
    if ulps and wrong.any():
        wrong &= np.abs(_ordered(found) - _ordered(expected)) > ulps
        wrong |= np.isnan(found) != np.isnan(expected)
    return np.asarray(wrong & ~both_nan)
