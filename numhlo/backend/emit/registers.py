"""Element types inside a kernel: names of the primitives that load, store, convert and round them.

One row per dtype, looked up by dtype. What a type is in memory and in a register is
`numhlo.backend.primitives.storage`'s.
"""

from __future__ import annotations

import math

import numpy as np

from numhlo.backend.primitives import STORAGES, register_name, storage_name
from numhlo.backend.primitives.narrow_floats import widened
from numhlo.lowering.ir.records import record
from numhlo.lowering.ir.types import COMPLEX, INTEGERS, NARROW_FLOATS, SIGNED, UNSIGNED


@record(frozen=True, slots=True)
class Register:
    """One element type.

    Attributes
    ----------
    dtype : np.dtype
        In memory.
    kind : str
        ``b`` boolean, ``i`` signed, ``u`` unsigned, ``f`` float, ``c`` complex.
    storage, name : str
        Suffix of loads and stores; suffix of the type in a register.
    bits : int
        Width in bits, as StableHLO counts it.
    narrow : bool
        A float that is computed in float32 and rounded after every op, or an integer below eight bits.
    """

    dtype: np.dtype
    kind: str
    storage: str
    name: str
    bits: int
    narrow: bool

    @property
    def convert(self) -> str:
        """Return the primitive that makes a value of the register type."""
        return f"to_{self.name}"

    def wrap(self, text: str) -> str:
        """Return ``text``, a value of the register type, cut to the element type where that is narrower."""
        if not self.narrow:
            return text
        if self.kind == "f":
            return f"round_{self.storage}({text})"
        if self.kind == "u":
            return f"to_u8({text} & {(1 << self.bits) - 1})"
        shift = f"to_i8({8 - self.bits})"
        return f"shift_right_arithmetic(shift_left({text}, {shift}), {shift})"


def _kind(dtype: np.dtype) -> str:
    if dtype in SIGNED:
        return "i"
    if dtype in UNSIGNED:
        return "u"
    if dtype in COMPLEX:
        return "c"
    return "b" if dtype == np.bool_ else "f"


def _register(dtype: np.dtype) -> Register:
    bits = dtype.itemsize * 8
    if dtype in INTEGERS and dtype.name[-1] in "24" and dtype.itemsize == 1 and dtype.name not in ("int64", "uint64"):
        bits = int(dtype.name[-1])
    narrow = dtype in NARROW_FLOATS or (dtype in INTEGERS and bits < 8)
    return Register(dtype, _kind(dtype), storage_name(dtype), register_name(dtype), bits, narrow)


REGISTERS: dict[np.dtype, Register] = {row.dtype: _register(row.dtype) for row in STORAGES.values()}
"""Every element type."""


PLAIN_WHOLE = 16
PLAIN_DIGITS = 5
"""Whole constants up to this size, and short decimal fractions, are part of a kernel's text; others come at run
time, since they often depend on shapes (n, 1 / n), and a new shape must not need a new kernel."""


def is_plain(constant: np.generic, register: Register) -> bool:
    """Return whether a constant is written into the text instead of coming at run time.

    Examples
    --------
    >>> [is_plain(np.int32(n), REGISTERS[np.dtype("int32")]) for n in (16, 60, 2**31 - 1, -(2**31))]
    [True, False, True, True]
    """
    if register.kind in "bc":
        return True
    if register.kind in "iu" and int(constant) in _extremes(register):
        return True  # where reductions begin: LLVM knows then that no element is beyond it
    value: float = int(constant) if register.kind in "iu" else float(constant)
    if not math.isfinite(value):
        return True
    if value == int(value):
        return abs(value) <= PLAIN_WHOLE
    return len(repr(value)) <= PLAIN_DIGITS


def _extremes(register: Register) -> tuple[int, int]:
    """Return the least and the greatest integer that a register's elements can be."""
    signed = register.kind == "i"
    most = (1 << (register.bits - signed)) - 1
    return -most - 1 if signed else 0, most


def literal(value: np.generic, register: Register) -> str:
    """Return the text of a constant in a register.

    Examples
    --------
    >>> literal(np.float32(0.5), REGISTERS[np.dtype("float32")])
    'to_f32(0.5)'
    >>> literal(np.float64(-np.inf), REGISTERS[np.dtype("float64")])
    'f64_from_bits(-4503599627370496)'
    """
    if register.kind == "b":
        return str(bool(value))
    if register.kind == "c":
        part = REGISTERS[value.real.dtype]
        return f"make_{register.name}({_float_text(value.real, part)}, {_float_text(value.imag, part)})"
    if register.kind == "f":
        return _float_text(value, register)
    return f"{register.convert}({int(value)})"


def _float_text(value: np.generic, register: Register) -> str:
    number = float(value)
    if math.isfinite(number):
        return f"to_{register.name}({number!r})"
    return f"{register.name}_from_bits({bits_as_number(value, register)})"


def bits_as_number(value: np.generic, register: Register) -> int:
    """Return a scalar's bits as the int64 that carries it among a launch's run-time numbers."""
    if register.kind == "f":
        own = np.asarray(value, register.dtype)  # not by way of a Python float, which has no signaling NaN
        wide = widened(own) if register.narrow else own
        return int(wide.view(np.int32 if register.name == "f32" else np.int64)[()])
    wrapped = int(value) & 0xFFFFFFFFFFFFFFFF
    return wrapped - (1 << 64) if wrapped >> 63 else wrapped


def whole_literal(number: int, register: Register) -> str:
    """Return the text of an integer constant that `bits_as_number` made a number.

    Examples
    --------
    >>> whole_literal(-1, REGISTERS[np.dtype("uint64")])
    'to_u64(18446744073709551615)'
    """
    if register.kind == "u" and number < 0:
        number += 1 << 64
    return f"{register.convert}({number})"


def from_number(name: str, register: Register) -> str:
    """Return the text that turns a run-time number back into the scalar that `bits_as_number` put there."""
    if register.kind == "f":
        return f"{register.name}_from_bits({name})"
    return f"{register.convert}({name})"
