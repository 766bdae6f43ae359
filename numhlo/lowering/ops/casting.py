"""What `convert` means between every two element types: `cast` and the table behind it.

Values that the target has are kept exactly; others are rounded once, to nearest even. Integers wrap. Floats to
integers truncate and saturate, and NaN becomes 0, as XLA does on the CPU. To booleans: anything but zero is true. From
complex, to booleans too: the imaginary part is dropped. NumPy's own casts differ in three places: out-of-range floats
are undefined, ``2j`` is true, and ml_dtypes rounds float64 and long integers twice (through float32). Next:
`bit_patterns` reinterprets bits.
"""

from __future__ import annotations

import numpy as np

from numhlo.lowering.ir.types import BOOL, COMPLEX, ELEMENT_TYPES, FLOATS, INTEGERS, NARROW_FLOATS, SIGNED
from numhlo.lowering.ops.dtype_table import FLOAT16, FLOAT32, FLOAT64, NARROW_INTEGERS, ArrayFunction, widened

FOREIGN_FLOATS = NARROW_FLOATS - {FLOAT16}
"""Floats that ml_dtypes converts, always through float32."""

LONG_INTEGERS = frozenset({ELEMENT_TYPES["i64"], ELEMENT_TYPES["ui64"]})
"""Integers that float64 can't hold."""


def cast(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the elements of ``x`` as ``dtype``.

    Parameters
    ----------
    x : numpy.ndarray
        Of any StableHLO element type.
    dtype : numpy.dtype

    Examples
    --------
    >>> cast(np.array([3.9, -3.9, 1e9, np.nan]), np.dtype("int8")).tolist()
    [3, -3, 127, 0]
    """
    return _CASTS[x.dtype, dtype](x)


class _Casts(dict[tuple[np.dtype, np.dtype], ArrayFunction]):
    """Cast functions by source and target, made when first asked for."""

    def __missing__(self, pair: tuple[np.dtype, np.dtype]) -> ArrayFunction:
        function = self[pair] = _make_cast(*pair)
        return function


_CASTS = _Casts()


def _make_cast(source: np.dtype, target: np.dtype) -> ArrayFunction:
    """Return the cast between two types; narrow and complex sources take a first, exact step to a simpler type."""
    if source == target:
        return lambda x: x
    if source in COMPLEX and target not in COMPLEX:
        return lambda x: cast(x.real, target)
    if source in NARROW_FLOATS or source in NARROW_INTEGERS:
        wide = widened(source)
        return lambda x: cast(x.astype(wide), target)
    return _make_ordinary_cast(source, target)


def _make_ordinary_cast(source: np.dtype, target: np.dtype) -> ArrayFunction:
    """Return the cast from a type that NumPy computes in."""
    if target == BOOL:
        return lambda x: np.asarray(x != 0)
    if target in INTEGERS:
        return _make_integer_cast(source, target)
    if target in FOREIGN_FLOATS:
        return _make_foreign_cast(source, target)
    if target == FLOAT16 and source in LONG_INTEGERS:
        return lambda x: _integer_to_odd(x).astype(FLOAT16)
    return lambda x: x.astype(target)


def _make_integer_cast(source: np.dtype, target: np.dtype) -> ArrayFunction:
    bits = NARROW_INTEGERS.get(target, target.itemsize * 8)
    signed, wide = target in SIGNED, widened(target)
    if source not in FLOATS:
        return lambda x: x.astype(wide).astype(target, copy=False)
    least = -(1 << (bits - 1)) if signed else 0
    most = (1 << (bits - 1 if signed else bits)) - 1
    return lambda x: _saturate(x, least, most, wide).astype(target, copy=False)


def _saturate(x: np.ndarray, least: int, most: int, dtype: np.dtype) -> np.ndarray:
    """Return ``x`` truncated, cut to ``[least, most]``, and 0 where it is NaN."""
    limit = x.dtype.type(most + 1)  # a power of two, so exact; `most` itself may not be
    inside = (x >= least) & (x < limit)
    if np.count_nonzero(inside) == x.size:
        return x.astype(dtype)
    result = np.where(inside, x, 0).astype(dtype)
    np.copyto(result, dtype.type(least), where=x <= least)
    np.copyto(result, dtype.type(most), where=x >= limit)
    return result


def _make_foreign_cast(source: np.dtype, target: np.dtype) -> ArrayFunction:
    if source in LONG_INTEGERS:
        return lambda x: _float64_to_odd(_integer_to_odd(x)).astype(target)
    if source == FLOAT32:
        return lambda x: x.astype(target)
    return lambda x: _float64_to_odd(x.astype(FLOAT64)).astype(target)


def _integer_to_odd(x: np.ndarray) -> np.ndarray:
    """Return 64-bit integers as float64, inexact ones rounded to an odd last bit.

    Notes
    -----
    Rounding to odd and then to nearest, in a format at least two bits shorter, is rounding once (Boldo and
    Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
    """
    kept = 11
    odd = ((x >> kept) | ((x & ((1 << kept) - 1)) != 0)).astype(FLOAT64) * (1 << kept)
    small = (x < 1 << 53) & (x > -(1 << 53)) if x.dtype in SIGNED else x < 1 << 53
    return np.where(small, x.astype(FLOAT64), odd)


def _float64_to_odd(x: np.ndarray) -> np.ndarray:
    """Return float64 as float32, inexact values rounded to an odd last bit."""
    nearest = x.astype(FLOAT32)
    back = nearest.astype(FLOAT64)
    inexact = (back != x) & ~np.isnan(x)
    away = inexact & (np.abs(back) > np.abs(x))
    bits = nearest.view(np.uint32)
    return np.asarray((bits - away) | inexact, np.uint32).view(FLOAT32)
