"""NumPy's own sorting of integers, called natively: it has SIMD code for the processor at hand.

Its address comes from NumPy's C interface, whose table and structures keep their places in all of NumPy 2. Short runs
are what it is called for: it sorts them in registers everywhere, while the speed of its long sorts depends on the
processor. Without it, short runs are sorted by counting.
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

GET_FUNCTIONS = 365
"""Place of ``_PyDataType_GetArrFuncs`` in the table of NumPy's C interface (``__multiarray_api.h``)."""

FIRST_SORT = 33
"""Pointers before ``sort`` in ``PyArray_ArrFuncs``: 21 casts and 12 others (``ndarraytypes.h``)."""


SORTED = frozenset(np.dtype(t) for t in ("i2", "i4", "i8", "u2", "u4", "u8"))
"""Types that are sorted in registers: NumPy has no SIMD code for those of 8 bits."""


@cache
def run_sort(dtype: np.dtype) -> int:
    """Return the address of ``int sort(dtype *first, intp count, void *)``, or 0 where there is none that works."""
    if dtype not in SORTED:
        return 0
    try:
        capsule = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]
    except AttributeError:
        return 0
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer_of(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    functions = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(table[GET_FUNCTIONS] or 0)(dtype)
    address = ctypes.cast(functions, ctypes.POINTER(ctypes.c_void_p))[FIRST_SORT] if functions else None
    return address if address is not None and _sorts(address, dtype) else 0


def _sorts(address: int, dtype: np.dtype) -> bool:
    """Return whether a function sorts, short and long arrays."""
    sort = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)(address)
    for count in (1, 5, 100, 1000):
        words = (np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ np.uint64(count)
        found = words.astype(dtype)
        expected = np.array(sorted(found.tolist()), dtype)
        if sort(found.ctypes.data, count, None) != 0 or not np.array_equal(found, expected):
            return False
    return True
