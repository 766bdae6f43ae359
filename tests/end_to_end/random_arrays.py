"""Arrays for random programs: ordinary numbers mixed with the ones that break things."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, INTEGERS

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [
    *map(np.dtype, ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]),
    BFLOAT16,
]
"""The element types that random programs are made of."""

SMALL = 4
"""Largest absolute value in small arrays: products of many such numbers stay exact in every type."""


def random_array(rng: np.random.Generator, type: TensorType, style: str = "wild") -> np.ndarray:
    """Return an array of a type.

    Parameters
    ----------
    style : str
        ``"wild"``: small numbers, fractions, the type's extremes, signed zeros, infinities and NaN. ``"tame"``: no
        infinities, NaN or extremes, and nothing near zero. ``"small"``: integers up to `SMALL`, exact in any order of
        summation.
    """
    shape, dtype = type.shape, type.dtype
    if dtype == BOOL:
        return np.asarray(rng.integers(0, 2, shape), BOOL)
    if dtype in COMPLEX:
        part = type.with_dtype(np.dtype(f"f{dtype.itemsize // 2}"))
        result = np.empty(shape, dtype)
        result.real, result.imag = random_array(rng, part, style), random_array(rng, part, style)
        return result
    if style == "small":
        low = 0 if dtype.kind == "u" else -SMALL
        return np.asarray(rng.integers(low, SMALL + 1, shape)).astype(dtype)
    if dtype in INTEGERS:
        return _integers(rng, shape, dtype, style)
    assert dtype in FLOATS
    return _floats(rng, shape, dtype, style)


def _integers(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype, style: str) -> np.ndarray:
    info = np.iinfo(dtype)
    near = rng.integers(max(info.min, -9) if style == "wild" else 1, 10, shape)
    if style == "tame":
        return np.asarray(near).astype(dtype)
    far = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    edges = rng.choice(np.array([info.min, info.max, info.max - 1, info.min + 1], dtype), shape)
    kind = rng.integers(0, 10, shape)
    return np.asarray(np.where(kind < 6, near.astype(dtype), np.where(kind < 9, far, edges)), dtype)


def _floats(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype, style: str) -> np.ndarray:
    quarters = rng.integers(-40, 41, shape) / 4
    fractions = rng.normal(0, 2, shape)
    if style == "tame":
        return np.asarray(np.copysign(np.abs(fractions) + 0.25, quarters)).astype(dtype)
    info = ml_dtypes.finfo(dtype)
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, info.max, info.min, info.tiny, info.smallest_subnormal, info.eps]
    special = np.asarray(edges).astype(dtype)[rng.integers(0, len(edges), shape)]
    with np.errstate(over="ignore"):
        large = (fractions * 10.0 ** rng.integers(-6, 7, shape)).astype(dtype)
    kind = rng.integers(0, 12, shape)
    plain = np.where(kind < 5, quarters, fractions).astype(dtype)
    return np.asarray(np.where(kind < 9, plain, np.where(kind < 11, large, special)), dtype)
