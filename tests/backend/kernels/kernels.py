"""Kernels as text, each with forms of Python that kernels use, and the arguments to run it with."""

import numpy as np

IMPORTS = """
from numhlo.backend.primitives import (
    address, advance, call_function, divide, load_c64, load_f16, load_f32, load_f64, load_i32, load_i64, load_u8,
    number, select, stack_array, store_f16, store_f32, store_f64, store_i32, store_i64, to_f32, to_i32, to_i64,
)
from numhlo.backend.vector_math import exp_f64
from numhlo.backend.vector_math.jitable import jitable
"""

FIRST, MORE = np.arange(32.0), np.linspace(-3.0, 4.0, 32)

KERNELS = {
    "elementwise": (
        """
def kernel(ctx, bufs, dims, lo, hi):
    out, x, n = address(bufs, 0), address(bufs, 1), number(dims, 0)
    for i in range(lo, hi):
        a = load_f64(x, i)
        b = a * 2.0 + exp_f64(a / 8.0)
        store_f64(out, i, -b if a > 3.0 else b)
""",
        [FIRST, MORE],
    ),
    "sums": (
        """
def kernel(ctx, bufs, dims, lo, hi):
    out, x = address(bufs, 0), address(bufs, 1)
    total = 0.0
    count = 0
    for i in range(lo, hi):
        value = load_f64(x, i)
        if value < 0.0 and i != 3 or value > 3.5:
            continue
        total = total + value
        count += 1
        if count == 12:
            break
    else_total, count = total, count * 2
    store_f64(out, 0, else_total)
    store_f64(out, 1, to_i64(count) * 1.0)
""",
        [FIRST, MORE],
    ),
    "steps": (
        """
def kernel(ctx, bufs, dims, lo, hi):
    out = address(bufs, 0)
    step = number(dims, 0)
    at = 0
    for i in range(lo, hi, step):
        store_i64(out, at, i)
        at = at + 1
    for i in range(hi - 1, lo - 1, -3):
        store_i64(out, at, i)
        at = at + 1
    for i in range(hi, lo, -step):
        store_i64(out, at, i * i)
        at = at + 1
    i = at
    while i > 0 and load_i64(out, i - 1) >= 0:
        i = i - 1
        if load_i64(out, i) in (1, 2, 31):
            store_i64(out, i, -1)
    store_i64(out, 127, i)
""",
        [np.full(128, 7, np.int64)],
    ),
    "functions": (
        """
BASE, OFFSET = 8, 3
SHIFTED = BASE << 1


@jitable
def clipped(value, most):
    if value > most:
        return most
    return value


@jitable
def put(pointer, index, value):
    store_i64(pointer, index, clipped(value, SHIFTED) + OFFSET)


def kernel(ctx, bufs, dims, lo, hi):
    out = address(bufs, 0)
    if lo == hi:
        return 1
    for i in range(hi):
        put(advance(out, 8 * i), 0, i)
        put(out, i + hi, clipped(i, 5))
    return 0
""",
        [np.zeros(64, np.int64)],
    ),
    "types": (
        """
def kernel(ctx, bufs, dims, lo, hi):
    out, z, h = address(bufs, 0), address(bufs, 1), address(bufs, 2)
    scratch = stack_array(4 * 8, 4)
    for k in range(lo, hi):
        value = load_c64(z, k)
        store_f32(scratch, k, value.real * value.imag)
        small = to_i32(k) - to_i32(4)
        bit = load_u8(out, k) & 1
        store_f16(h, k, to_f32(small) / to_f32(3.0) + to_f32(bit))
    last = to_f32(0.0)
    for k in range(to_i32(hi)):
        last = last + load_f32(scratch, k)
        store_f32(out, k, select(k < 3, last, to_f32(-1)))
    if not (lo == 0):
        pass
    elif (last > to_f32(0.0)) | (hi == 0):
        store_f32(out, 0, last)
""",
        [
            np.arange(32, dtype=np.float32),
            np.exp(1j * np.arange(32)).astype(np.complex64),
            np.arange(32, dtype=np.float16),
        ],
    ),
    "versions": (
        """
def kernel(ctx, bufs, dims, lo, hi):
    out, x = address(bufs, 0), address(bufs, 1)
    a = load_f64(x, 0)
    a = a + 1.0
    b = a
    before = 0.0
    for i in range(lo, hi):
        t = load_f64(x, i)
        t = t * a
        store_f64(out, i, before + t - b)
        before = t
        for j in range(2):
            t = t / 2.0
        b, before = before, b + t
    for i in range(2):
        t = to_i64(i)
        store_f64(out, i, before * t)
""",
        [FIRST, MORE],
    ),
}


def source_of(name):
    """Return the text of one of the kernels."""
    return IMPORTS + KERNELS[name][0]
