"""Rounding of a float's bits to a format with fewer of them, as `reduce_precision` means it."""

from __future__ import annotations

from typing import Any

from numhlo.backend.primitives import select
from numhlo.backend.vector_math.jitable import jitable


@jitable
def rounded_bits(bits: Any, dropped: Any, infinity: Any, overflow: Any, normal: Any) -> Any:
    """Return a float's bits with the last ``dropped`` rounded away to even, and what a short exponent can't hold cut.

    Parameters
    ----------
    bits : int64
        Sign-extended from the float's width.
    dropped : int
        How many bits of the mantissa go; 0 leaves it as it is.
    infinity, overflow, normal : int
        Bits of infinity, of the least number that becomes infinite, and of the least that does not become zero.

    Returns
    -------
    int64
        NaN stays as it is.
    """
    magnitude = bits & (infinity | (infinity - 1))
    sign = bits - magnitude
    tie = (magnitude >> dropped) & 1
    half = (1 << dropped) >> 1
    moved = magnitude + half - select(half == 0, 0, 1) + select(half == 0, 0, tie)
    rounded = (moved >> dropped) << dropped
    limited = select(rounded >= overflow, infinity, select(rounded < normal, 0, rounded))
    return select(magnitude > infinity, bits, sign + limited)
