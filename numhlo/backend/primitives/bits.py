"""The bits of floats as integers and back, and counts of bits; what vector math is built from."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.backend.primitives.narrow_floats import narrowed, widened
from numhlo.backend.primitives.storage import wrapped


def bits_of_f32(value: Any) -> Any:
    """Return the bits of a float32 as int32."""
    return np.float32(value).view(np.int32)


def f32_from_bits(bits: Any) -> Any:
    """Return the float32 that has the bits of an int32 (or the low 32 bits of a wider integer)."""
    return _low_bits(bits, 32).view(np.float32)


def bits_of_f64(value: Any) -> Any:
    """Return the bits of a float64 as int64."""
    return np.float64(value).view(np.int64)


def f64_from_bits(bits: Any) -> Any:
    """Return the float64 that has the bits of an int64."""
    return _low_bits(bits, 64).view(np.float64)


def bits_of_f16(value: Any) -> Any:
    """Return the bits of a float32 rounded to float16 as int16."""
    return narrowed(np.asarray(value, np.float32), np.dtype(np.float16)).view(np.int16)[()]


def f16_from_bits(bits: Any) -> Any:
    """Return as float32 the float16 that has the bits of an int16."""
    return widened(np.asarray(_low_bits(bits, 16)).view(np.float16))[()]


def _low_bits(bits: Any, width: int) -> Any:
    return np.dtype(f"uint{width}").type(int(bits) & ((1 << width) - 1))


def count_leading_zeros(value: Any) -> Any:
    """Return the number of zero bits above the highest one, in the integer's own type."""
    return value.dtype.type(value.dtype.itemsize * 8 - int(_unsigned(value)).bit_length())


def count_ones(value: Any) -> Any:
    """Return the number of one bits, in the integer's own type."""
    return value.dtype.type(int(_unsigned(value)).bit_count())


def shift_left(value: Any, amount: Any) -> Any:
    """Return ``value << amount``; 0 where the amount is negative or the width or more."""
    width = value.dtype.itemsize * 8
    shifted = int(value) << int(amount) if 0 <= amount < width else 0
    return wrapped(shifted, value.dtype)


def shift_right_logical(value: Any, amount: Any) -> Any:
    """Return the bits shifted right, zeros coming in; 0 where the amount is negative or the width or more."""
    width = value.dtype.itemsize * 8
    shifted = int(_unsigned(value)) >> int(amount) if 0 <= amount < width else 0
    return wrapped(shifted, value.dtype)


def shift_right_arithmetic(value: Any, amount: Any) -> Any:
    """Return the bits shifted right, copies of the sign coming in; all signs where the amount is out of range."""
    width = value.dtype.itemsize * 8
    signed = value.view(f"i{value.dtype.itemsize}")
    return wrapped(int(signed) >> (int(amount) if 0 <= amount < width else width - 1), value.dtype)


def _unsigned(value: Any) -> Any:
    return value.view(f"u{value.dtype.itemsize}")
