"""NumPy's own sorting of 64-bit words, called natively: it has SIMD code for the processor at hand.

Its address comes from NumPy's C interface, whose table and structures keep their places in all of NumPy 2. Without it,
sorts are merge sorts of ours.
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

GET_FUNCTIONS = 365
"""Place of ``_PyDataType_GetArrFuncs`` in the table of NumPy's C interface (``__multiarray_api.h``)."""

FIRST_SORT = 33
"""Pointers before ``sort`` in ``PyArray_ArrFuncs``: 21 casts and 12 others (``ndarraytypes.h``)."""


@cache
def word_sort() -> int:
    """Return the address of ``int sort(uint64 *first, intp count, void *)``, or 0 where there is none that works."""
    try:
        capsule = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]
    except AttributeError:
        return 0
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer_of(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    functions = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(table[GET_FUNCTIONS] or 0)(np.dtype(np.uint64))
    address = ctypes.cast(functions, ctypes.POINTER(ctypes.c_void_p))[FIRST_SORT] if functions else None
    return address if address is not None and _sorts(address) else 0


def _sorts(address: int) -> bool:
    """Return whether a function sorts, short and long arrays."""
    sort = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)(address)
    for count in (1, 5, 300, 5000):
        words = (np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ np.uint64(count)
        found = words.copy()
        if sort(found.ctypes.data, count, None) != 0 or not np.array_equal(
            found, np.array(sorted(words.tolist()), "u8")
        ):
            return False
    return True
