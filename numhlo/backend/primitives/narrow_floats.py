"""Widening and narrowing of floats as loads and stores do it: a NaN that is only moved keeps its bits.

NumPy and ml_dtypes make one NaN of all payloads, and processors make quiet ones of signaling ones. The total order of
floats tells them apart, and so does who looks at bits. `numhlo.backend.compiler.intrinsics.narrow` is the machine code.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from numhlo.lowering.ops.bit_patterns import INTERCHANGE_FLOATS

FLOAT_BITS, FLOAT_MANTISSA = np.uint32(0x7F800000), 23


def payload_bits(dtype: np.dtype) -> int:
    """Return how many bits of a NaN's mantissa a narrow float has; 0 where it has one NaN of each sign, or none.

    Examples
    --------
    >>> payload_bits(np.dtype("float16")), payload_bits(np.dtype(ml_dtypes.float8_e4m3fn))
    (10, 0)
    """
    return int(ml_dtypes.finfo(dtype).nmant) if dtype in INTERCHANGE_FLOATS else 0


def widened(elements: np.ndarray) -> np.ndarray:
    """Return narrow floats as float32.

    Examples
    --------
    >>> hex(widened(np.array([0x7C01], np.uint16).view(np.float16)).view(np.uint32)[0])
    '0x7f802000'
    """
    with np.errstate(invalid="ignore"):
        wide = elements.astype(np.float32)
    kept = payload_bits(elements.dtype)
    if not kept:
        return wide
    codes = elements.view(f"u{elements.dtype.itemsize}").astype(np.uint32)
    sign = (codes >> np.uint32(8 * elements.dtype.itemsize - 1)) << np.uint32(31)
    payload = (codes & np.uint32((1 << kept) - 1)) << np.uint32(FLOAT_MANTISSA - kept)
    return np.where(np.isnan(wide), sign | FLOAT_BITS | payload, wide.view(np.uint32)).view(np.float32)


def narrowed(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return float32 rounded to narrow floats; NaN is quiet where nothing of its payload is left.

    Examples
    --------
    >>> narrowed(np.array([0x7F802000, 0x7F800001], np.uint32).view(np.float32), np.dtype("float16")).view(np.uint16)
    array([31745, 32256], dtype=uint16)
    """
    with np.errstate(invalid="ignore", over="ignore"):
        narrow = values.astype(dtype)
    kept = payload_bits(dtype)
    if not kept:
        return narrow
    unsigned = np.dtype(f"u{dtype.itemsize}")
    bits = values.view(np.uint32)
    payload = (bits >> np.uint32(FLOAT_MANTISSA - kept)) & np.uint32((1 << kept) - 1)
    payload = np.where(payload == 0, np.uint32(1 << (kept - 1)), payload)
    sign = (bits >> np.uint32(31)) << np.uint32(8 * dtype.itemsize - 1)
    infinity = np.array(np.inf, dtype).view(unsigned).astype(np.uint32)
    codes = np.where(np.isnan(values), sign | infinity | payload, narrow.view(unsigned))
    return codes.astype(unsigned).view(dtype)
