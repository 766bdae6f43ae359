"""Integer arithmetic where StableHLO differs from NumPy: truncating division, powers, shifts, bit counts.

Every function is total and wraps modulo two to the width. Where the specification leaves a value open we take XLA's on
the CPU, so that programs move without surprises: ``x / 0`` is -1 (all ones where unsigned), ``INT_MIN / -1`` is
``INT_MIN``, ``x % 0`` is ``x``, ``INT_MIN % -1`` is 0. Arrays have at least one dimension here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numhlo.lowering.ir.types import ELEMENT_TYPES, INTEGERS
from numhlo.lowering.ops.dtype_table import NARROW_INTEGERS, ArrayFunction, DTypeTable, returning_array


def divide_signed(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the quotient rounded toward zero; -1 where ``y`` is 0, and ``INT_MIN / -1`` wraps.

    Examples
    --------
    >>> divide_signed(np.array([-7, 7], np.int32), np.array([2, -2], np.int32)).tolist()
    [-3, -3]
    """
    quotient: np.ndarray = np.floor_divide(x, y)
    inexact = quotient * y != x
    np.add(quotient, 1, out=quotient, where=inexact & ((x ^ y) < 0))
    return _fill(quotient, y == 0, -1)


def divide_unsigned(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the quotient rounded down; all ones where ``y`` is 0."""
    quotient: np.ndarray = np.floor_divide(x, y)
    return _fill(quotient, y == 0, np.iinfo(x.dtype).max)


def remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return ``x - divide(x, y) * y``, which has the sign of ``x``; ``x`` where ``y`` is 0."""
    return _fill(np.fmod(x, y), y == 0, x)


def _fill(result: np.ndarray, where: np.ndarray, value: np.ndarray | int) -> np.ndarray:
    if np.count_nonzero(where):
        np.copyto(result, value, where=where)
    return result


def power_signed(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return ``x ** y`` wrapped; for negative ``y`` 1 where ``x`` is 1, ±1 where it is -1, else 0."""
    result: np.ndarray = np.power(x, np.maximum(y, 0))
    negative = y < 0
    if negative.any():
        odd = (y & 1) != 0
        inverse = np.where(x == -1, np.where(odd, -1, 1), x == 1).astype(x.dtype)
        result = np.where(negative, inverse, result)
    return result


def bit_table(name: str, function: Callable[..., np.ndarray], *, signed: bool = False) -> DTypeTable:
    """Return a table for a function of bit patterns, which are the same for signed and unsigned operands.

    Parameters
    ----------
    name : str
        The op, for messages.
    function : callable
        ``function(*arrays, bits)`` on patterns of ``bits`` bits; its result is cut to that width.
    signed : bool
        Read the patterns as two's complement numbers instead of as unsigned ones.
    """
    return DTypeTable(name, {dtype: returning_array(_on_bits(function, dtype, signed)) for dtype in INTEGERS})


def _on_bits(function: Callable[..., np.ndarray], dtype: np.dtype, signed: bool) -> ArrayFunction:
    bits = NARROW_INTEGERS.get(dtype)
    if bits is None:
        width = dtype.itemsize * 8
        patterns = np.dtype(f"int{width}" if signed else f"uint{width}")
        return lambda *arrays: function(*[a.view(patterns) for a in arrays], width).astype(dtype)
    narrow, wide = ELEMENT_TYPES[f"i{bits}" if signed else f"ui{bits}"], np.int8 if signed else np.uint8
    return lambda *arrays: function(*[a.astype(wide).astype(narrow).astype(wide) for a in arrays], bits).astype(dtype)


def shift_right_arithmetic(x: np.ndarray, y: np.ndarray, bits: int) -> np.ndarray:
    """Return ``x >> y`` filled with the highest bit, also where the type is unsigned; amounts count as unsigned."""
    result: np.ndarray = np.right_shift(x, y)
    return result


def shift_right_logical(x: np.ndarray, y: np.ndarray, bits: int) -> np.ndarray:
    """Return ``x >> y`` filled with zeros; 0 where ``y`` is ``bits`` or more."""
    result: np.ndarray = np.right_shift(x, y)
    return result


def popcnt(x: np.ndarray, bits: int) -> np.ndarray:
    """Return the number of bits that are set."""
    result: np.ndarray = np.bitwise_count(x)
    return result


def count_leading_zeros(x: np.ndarray, bits: int) -> np.ndarray:
    """Return the number of zeros above the highest bit that is set; ``bits`` where there is none."""
    distance = 1
    while distance < bits:
        x = x | (x >> distance)
        distance *= 2
    result: np.ndarray = bits - np.bitwise_count(x)
    return result
