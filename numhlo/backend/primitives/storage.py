"""How elements lie in memory and what they are in a register: one row per StableHLO element type.

Narrow floats are stored as their bits and widened to float32 in registers; integers below eight bits live in one byte,
in registers too; booleans are one byte, zero or not. This file knows names and sizes, nothing about Numba.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from numhlo.lowering.ir.records import record
from numhlo.lowering.ir.types import ELEMENT_TYPES, NARROW_FLOATS, element_spelling

FLOAT32 = np.dtype(np.float32)
INT8 = np.dtype(np.int8)
UINT8 = np.dtype(np.uint8)


@record(frozen=True)
class Storage:
    """One element type.

    Attributes
    ----------
    name : str
        The suffix of its primitives, such as ``f32`` of ``load_f32``.
    dtype : np.dtype
        In memory.
    register : np.dtype
        In a register: float32 for narrow floats, int8 and uint8 for integers below eight bits.
    """

    name: str
    dtype: np.dtype
    register: np.dtype

    @property
    def is_narrow_float(self) -> bool:
        """Return whether elements are float32 in a register, and less in memory."""
        return self.register == FLOAT32 != self.dtype

    def view(self, address: int, count: int = 1) -> np.ndarray:
        """Return ``count`` elements at an address as an array that shares the memory."""
        memory: Any = (ctypes.c_char * (count * self.dtype.itemsize)).from_address(int(address))
        return np.frombuffer(memory, self.dtype)


def _register_dtype(dtype: np.dtype) -> np.dtype:
    if dtype in NARROW_FLOATS:
        return FLOAT32
    if dtype.name in ("int2", "int4"):
        return INT8
    if dtype.name in ("uint2", "uint4"):
        return UINT8
    return dtype


_NAMES = {"i1": "bool", "complex<f32>": "c64", "complex<f64>": "c128"}


def _suffix(spelling: str) -> str:
    return _NAMES.get(spelling, spelling.lower().replace("ui", "u"))


STORAGES: dict[str, Storage] = {
    _suffix(spelling): Storage(_suffix(spelling), dtype, _register_dtype(dtype))
    for spelling, dtype in ELEMENT_TYPES.items()
}
"""Every element type by the suffix of its primitives."""


def storage_name(dtype: np.dtype) -> str:
    """Return the suffix of a dtype's primitives.

    Examples
    --------
    >>> storage_name(np.dtype("float32")), storage_name(np.dtype(bool))
    ('f32', 'bool')
    """
    return _suffix(element_spelling(dtype))


def register_name(dtype: np.dtype) -> str:
    """Return the suffix of the type that a dtype's elements have in a register, such as ``f32`` for float16."""
    return storage_name(STORAGES[storage_name(dtype)].register)


def wrapped(number: int, dtype: np.dtype) -> Any:
    """Return an integer modulo the range of a type."""
    width = dtype.itemsize * 8
    return np.dtype(f"u{dtype.itemsize}").type(number & ((1 << width) - 1)).view(dtype)
