"""Element types as bits: reinterpreting them, ordering floats by them, and cutting exponents and mantissas short.

This file knows how many bits a StableHLO element has and where they are; what the numbers mean is `casting`'s. A
boolean is one bit, a 2- or 4-bit number sits in the low bits of its byte, elements follow from the lowest bit up.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from numhlo.lowering.ir.types import BOOL, ELEMENT_TYPES
from numhlo.lowering.ops.dtype_table import FLOAT32, NARROW_INTEGERS

BIT_WIDTHS: dict[np.dtype, int] = {
    **{dtype: dtype.itemsize * 8 for dtype in ELEMENT_TYPES.values()},
    **NARROW_INTEGERS,
    BOOL: 1,
    ELEMENT_TYPES["f4E2M1FN"]: 4,
    ELEMENT_TYPES["f6E2M3FN"]: 6,
    ELEMENT_TYPES["f6E3M2FN"]: 6,
}
"""Width of every element type in bits."""

INTERCHANGE_FLOATS = frozenset(ELEMENT_TYPES[n] for n in ("f8E5M2", "f8E4M3", "f8E3M4", "bf16", "f16", "f32", "f64"))
"""Floats laid out as IEEE 754 does: sign, exponent, mantissa, with infinities and NaN at the highest exponent."""

SIGN_MAGNITUDE_FLOATS = INTERCHANGE_FLOATS | {ELEMENT_TYPES["f8E4M3FN"]}
"""Floats of whole bytes whose bits below the sign ascend with the magnitude, NaN last."""


def bitcast(x: np.ndarray, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Return the bits of ``x`` read as ``dtype``; ``shape`` is the result's.

    Examples
    --------
    >>> bitcast(np.array([1.0], np.float32), np.dtype("uint16"), (1, 2)).tolist()
    [[0, 16256]]
    """
    whole = all(BIT_WIDTHS[d] == d.itemsize * 8 for d in (x.dtype, dtype))
    if x.size == 0:
        return np.empty(shape, dtype)
    if whole and x.dtype.itemsize == dtype.itemsize:
        return x.view(dtype)
    if whole:
        return np.ascontiguousarray(x).reshape(-1).view(dtype).reshape(shape)
    return _join_bits(_split_bits(x).reshape(-1), dtype).reshape(shape)


def _split_bits(x: np.ndarray) -> np.ndarray:
    stored = np.ascontiguousarray(x).reshape(-1, 1).view(np.uint8)
    return np.unpackbits(stored, axis=-1, bitorder="little")[:, : BIT_WIDTHS[x.dtype]]


def _join_bits(bits: np.ndarray, dtype: np.dtype) -> np.ndarray:
    packed = np.packbits(bits.reshape(-1, BIT_WIDTHS[dtype]), axis=-1, bitorder="little")
    return packed.reshape(-1).view(dtype)


def sign_flipped(x: np.ndarray) -> np.ndarray:
    """Return the negatives of `SIGN_MAGNITUDE_FLOATS`; a NaN keeps its payload, which arithmetic would not.

    Examples
    --------
    >>> sign_flipped(np.array([0x7F81], np.uint16).view(ml_dtypes.bfloat16)).view(np.uint16)
    array([65409], dtype=uint16)
    """
    bits = x.view(f"u{x.dtype.itemsize}")
    return np.asarray(bits ^ bits.dtype.type(1 << (8 * x.dtype.itemsize - 1))).view(x.dtype)


def sign_cleared(x: np.ndarray) -> np.ndarray:
    """Return the magnitudes of `SIGN_MAGNITUDE_FLOATS`, NaN with its payload."""
    bits = x.view(f"u{x.dtype.itemsize}")
    return np.asarray(bits & bits.dtype.type((1 << (8 * x.dtype.itemsize - 1)) - 1)).view(x.dtype)


def order_keys(x: np.ndarray) -> np.ndarray:
    """Return integers that are ordered, and equal, as IEEE 754's totalOrder orders the floats ``x``.

    Notes
    -----
    Bits of positive floats ascend as integers do; those of negative ones descend, so all but the sign are flipped.
    """
    if x.dtype == ELEMENT_TYPES["f8E8M0FNU"]:
        return x.view(np.uint8)  # has no sign
    if x.dtype not in SIGN_MAGNITUDE_FLOATS:
        x = x.astype(FLOAT32)  # less than a byte, or with NaN in the place of -0.0
    width = x.dtype.itemsize * 8
    bits = x.view(f"int{width}")
    keys: np.ndarray = np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)
    return keys


def round_to_format(x: np.ndarray, exponent_bits: int, mantissa_bits: int) -> np.ndarray:
    """Return floats rounded to nearest even in a format with these bits, in their own type.

    Too large becomes infinity, too small zero (the format has no subnormals), both with the sign of ``x``; NaN stays.
    Types without infinity round in float32, and have their own way with what is too large.

    Examples
    --------
    >>> round_to_format(np.array([1.3, 1e6, 1e-6]), 5, 2).tolist()
    [1.25, inf, 0.0]
    """
    info = ml_dtypes.finfo(x.dtype)  # type: ignore[no-untyped-call]
    if exponent_bits >= info.nexp and mantissa_bits >= info.nmant:
        return x
    if x.dtype not in INTERCHANGE_FLOATS:
        return round_to_format(x.astype(FLOAT32), exponent_bits, mantissa_bits).astype(x.dtype)
    unsigned = np.dtype(f"uint{x.dtype.itemsize * 8}")
    bits = x.view(unsigned)
    rounded = _round_mantissa(bits, info.nmant, mantissa_bits)
    if exponent_bits < info.nexp:
        rounded = _limit_exponent(rounded, info, exponent_bits)
    return np.where(np.isnan(x), bits, rounded).astype(unsigned, copy=False).view(x.dtype)


def _round_mantissa(bits: np.ndarray, present: int, wanted: int) -> np.ndarray:
    """Return bits rounded to nearest even; a carry moves on into the exponent, up to infinity."""
    dropped = present - wanted
    if dropped <= 0:
        return bits
    kind = bits.dtype.type
    last = (bits >> kind(dropped)) & kind(1)
    half = kind((1 << (dropped - 1)) - 1)
    rounded: np.ndarray = (bits + last + half) & ~kind((1 << dropped) - 1)
    return rounded


def _limit_exponent(bits: np.ndarray, info: ml_dtypes.finfo, wanted: int) -> np.ndarray:
    """Return bits with exponents beyond those of ``wanted`` bits turned into infinity or zero."""
    kind, nmant = bits.dtype.type, info.nmant
    bias, reduced = (1 << (info.nexp - 1)) - 1, (1 << (wanted - 1)) - 1
    field = kind(((1 << info.nexp) - 1) << nmant)
    sign = bits & kind(1 << (info.nexp + nmant))
    exponent = bits & field
    limited = np.where(exponent > kind((bias + reduced) << nmant), sign | field, bits)
    return np.where(exponent <= kind((bias - reduced) << nmant), sign, limited)
