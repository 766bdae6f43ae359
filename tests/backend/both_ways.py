"""Runs kernel source twice, as machine code and as plain Python, and compares every byte of the buffers."""

import ctypes
import functools

import numpy as np

from numhlo.backend.compiler.kernel_compiler import compile_source, function_of_source
from numhlo.backend.front_ends import FRONT_ENDS
from numhlo.backend.loader import LoadedKernel

CALLS = 5
NATIVE = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)


def table_of(arrays):
    return np.array([a.ctypes.data for a in arrays] or [0], np.int64)


def run_native(name, source, arrays, count, dims=(0,), ctx=0):
    """Run machine code on ``arrays`` in place and return what it returns."""
    loaded = LoadedKernel(name, compile_source(name, source))
    numbers = np.array(dims, np.int64)
    return NATIVE(loaded.address)(ctx, table_of(arrays).ctypes.data, numbers.ctypes.data, 0, count)


def run_python(name, source, arrays, count, dims=(0,), ctx=0):
    """Run the same text as plain Python."""
    numbers = np.array(dims, np.int64)
    table = table_of(arrays)
    with np.errstate(all="ignore"):
        return function_of_source(name, source)(ctx, table.ctypes.data, numbers.ctypes.data, 0, count)


@functools.cache
def loaded_by_both(name, source):
    """Return a kernel's machine code by either front end; tests call one kernel with many numbers."""
    return [LoadedKernel(name, compile_source(name, source, through=front_end)) for front_end in FRONT_ENDS]


def assert_same_both_ways(name, source, arrays, count, dims=(0,)):
    """Check that both ways leave the same bytes, at every call; NaNs may differ in sign and payload.

    By either front end machine code leaves the same bytes, NaNs included.
    """
    python = [a.copy() for a in arrays]
    run_python(name, source, python, count, dims)
    loaded = loaded_by_both(name, source)
    numbers, kept = np.array(dims, np.int64), []
    for call in range(CALLS):
        native, other = ([a.copy() for a in arrays] for _ in loaded)  # at other addresses than before
        for code, own in zip(loaded, (native, other), strict=True):
            NATIVE(code.address)(0, table_of(own).ctypes.data, numbers.ctypes.data, 0, count)
        kept.append((native, other))
        for number, (left, right) in enumerate(zip(native, other, strict=True)):
            assert left.tobytes() == right.tobytes(), f"buffer {number}, call {call}: the front ends differ"
        for number, (left, right) in enumerate(zip(native, python, strict=True)):
            text = f"buffer {number}, call {call}"
            np.testing.assert_array_equal(canonical(left), canonical(right), text, strict=True)
    return native


def canonical(array):
    """Return an array's bits, all NaNs made one."""
    if array.dtype.kind == "c":
        array = array.view(array.real.dtype)
    if array.dtype.kind == "f":
        array = array.copy()
        array[np.isnan(array)] = np.nan
    return array.view(f"u{array.dtype.itemsize}")
