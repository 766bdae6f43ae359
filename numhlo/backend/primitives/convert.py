"""Conversions between register types, as StableHLO's `convert` means them.

Integers wrap. A float becomes an integer by truncation, clamped to the integer's range, NaN becomes 0 (the
specification leaves both open; this is what XLA does). Anything unequal to zero is True. ``to_f32(1.5)`` also spells a
constant of a given type: a bare ``1.5`` is float64 and a bare ``1`` int64 in compiled code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.lowering.ir.records import record


@record(frozen=True)
class Convert:
    """``convert(value)`` gives a value in the type ``dtype``."""

    dtype: np.dtype

    def __call__(self, value: Any) -> Any:
        """Return the value converted."""
        source = np.asarray(value)
        if self.dtype.kind in "iu" and source.dtype.kind in "fc":
            return self._from_float(float(source.real))
        if self.dtype.kind in "iu":
            wide = int(source) & ((1 << 8 * self.dtype.itemsize) - 1)
            return np.dtype(f"u{self.dtype.itemsize}").type(wide).view(self.dtype)
        if source.dtype.kind == "c" and self.dtype.kind not in "bc":
            source = source.real
        with np.errstate(over="ignore", under="ignore"):
            return source.astype(self.dtype)[()]

    def _from_float(self, value: float) -> Any:
        if value != value:
            return self.dtype.type(0)
        limits = np.iinfo(self.dtype)
        if value <= limits.min or value >= limits.max:
            return self.dtype.type(limits.min if value <= limits.min else limits.max)
        return self.dtype.type(int(value))


to_bool = Convert(np.dtype(np.bool_))
to_i8 = Convert(np.dtype(np.int8))
to_i16 = Convert(np.dtype(np.int16))
to_i32 = Convert(np.dtype(np.int32))
to_i64 = Convert(np.dtype(np.int64))
to_u8 = Convert(np.dtype(np.uint8))
to_u16 = Convert(np.dtype(np.uint16))
to_u32 = Convert(np.dtype(np.uint32))
to_u64 = Convert(np.dtype(np.uint64))
to_f32 = Convert(np.dtype(np.float32))
to_f64 = Convert(np.dtype(np.float64))
to_c64 = Convert(np.dtype(np.complex64))
to_c128 = Convert(np.dtype(np.complex128))


def to_odd_f32(value: Any) -> Any:
    """Return a float64 as float32, inexact values rounded to the neighbour with an odd last bit.

    Rounding that to a format of 22 bits or less gives what one rounding of the float64 gives.

    Notes
    -----
    Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd" (2008).
    """
    exact = np.float64(value)
    with np.errstate(over="ignore", under="ignore"):
        near = exact.astype(np.float32)
    if not np.isfinite(exact) or np.float64(near) == exact:
        return near
    down = near if abs(np.float64(near)) < abs(exact) else np.nextafter(near, np.float32(0))
    return np.uint32(down.view(np.uint32) | np.uint32(1)).view(np.float32)


def make_c64(real: Any, imag: Any) -> Any:
    """Return a complex64 of two float32."""
    return np.array([real, imag], np.float32).view(np.complex64)[0]


def make_c128(real: Any, imag: Any) -> Any:
    """Return a complex128 of two float64."""
    return np.array([real, imag], np.float64).view(np.complex128)[0]
