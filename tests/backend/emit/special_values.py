"""Values that arithmetic goes wrong on: zeros of both signs, extremes, infinities, NaN, and a few ordinary ones."""

import numpy as np

from numhlo.backend.emit.registers import REGISTERS


def special_values(dtype: np.dtype) -> np.ndarray:
    """Return special values of an element type."""
    kind = REGISTERS[dtype].kind
    if kind == "b":
        return np.array([False, True])
    if kind in "iu":
        bits = REGISTERS[dtype].bits
        least = -(1 << (bits - 1)) if kind == "i" else 0
        most = (1 << (bits - (kind == "i"))) - 1
        chosen = [least, least + 1, 0, 1, 2, most // 2, most - 1, most, -1 if kind == "i" else 3]
        return np.array(chosen, object).astype(np.uint64 if kind == "u" else np.int64).astype(dtype)
    plain = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0, -7.0, 0.1, 1e-3, 12.0, np.inf, -np.inf, np.nan]
    if kind == "c":
        parts = np.array([0.0, -0.0, 1.5, -2.0, np.inf])
        values = np.empty((5, 5), dtype)
        values.real, values.imag = parts[:, None], parts
        return values.reshape(-1)
    with np.errstate(all="ignore"):
        return np.array(plain).astype(dtype)


def all_pairs(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Return every pair of special values."""
    values = special_values(dtype)
    return np.repeat(values, len(values)), np.tile(values, len(values))
