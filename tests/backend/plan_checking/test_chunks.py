"""Which kernels may run in chunks on memory that they read and write: those whose units keep to themselves."""

import pytest

from numhlo.backend.plan_checking.chunks import common_store, shifted_load
from numhlo.backend.program import Kernel

BEGIN = """from numhlo.backend.primitives import *

def kernel(ctx, bufs, dims, lo, hi):
    a = address(bufs, 0)
    n = number(dims, 0)
"""

KEEPING = {
    "elements": ["for i in range(lo, hi):", "    store_f32(a, i, load_f32(a, i))"],
    "rows": ["for i in range(lo, hi):", "    at = i * n", "    for k in range(n):", "        x = load_f32(a, at + k)",
             "        store_f32(a, at + k, x)"],
    "rows in another order": ["for i in range(lo, hi):", "    for k in range(n):",
                              "        store_f32(a, i * n + k, load_f32(a, k + n * i))"],
    "sums of rows": ["for i in range(lo, hi):", "    x = add_lanes_f32(a, i * n, n)", "    for k in range(n):",
                     "        store_f32(a, i * n + k, x)"],
}  # fmt: skip
PIECES = [
    "d = divide(to_i64(lo), n)",
    "for i in range(divide(lo, n), divide(hi + n - 1, n)):",
    "    for j in range(max(lo - i * n, 0), min(hi - i * n, n)):",
    "        at = i * n * n + j * n",
]
KEEPING["rows of several axes"] = [
    *PIECES,
    "        for k in range(n & -16):",
    "            store_f32(a, at + k, to_f32(1.0))",
    "        for k in range(n):",
    "            x = load_f32(a, at + k)",
]
MEETING = {
    "the next element": ["for i in range(lo, hi):", "    store_f32(a, i, load_f32(a, i + 1))"],
    "one element of all": ["for i in range(lo, hi):", "    store_f32(a, i, load_f32(a, 0))"],
    "from the other end": ["for i in range(lo, hi):", "    store_f32(a, i, load_f32(a, n - 1 - i))"],
    "the next row": ["for i in range(lo, hi):", "    for k in range(n):",
                     "        store_f32(a, i * n + k, load_f32(a, i * n + k + n))"],
    "columns for rows": ["for i in range(lo, hi):", "    for k in range(n):",
                         "        store_f32(a, i * n + k, load_f32(a, k * n + i))"],
    "one element behind a row": ["for i in range(lo, hi):", "    for k in range(n):",
                                 "        store_f32(a, i * n + k, load_f32(a, i * n + k + 1))"],
}  # fmt: skip


def kernel_of(lines):
    return Kernel("kernel", BEGIN + "".join(f"    {line}\n" for line in lines))


@pytest.mark.parametrize("name", KEEPING)
def test_units_that_keep_to_themselves(name):
    assert shifted_load(kernel_of(KEEPING[name]), 0) == ""


@pytest.mark.parametrize("name", MEETING)
def test_units_that_read_what_others_write(name):
    found = shifted_load(kernel_of(MEETING[name]), 0)
    assert found
    assert found in " ".join(MEETING[name])


def test_stores_at_a_fixed_place():
    whole = kernel_of(["for i in range(lo, hi):", "    store_f32(a, 0, to_f32(1.0))"])
    assert common_store(whole, 0) == "store_f32(a, 0, to_f32(1.0))"
    assert common_store(kernel_of(KEEPING["elements"]), 0) == ""
    advanced = ["for i in range(lo, hi):", "    row = advance(a, i * n)", "    store_f32(row, 0, to_f32(1.0))"]
    assert common_store(kernel_of(advanced), 0) == ""


def test_stores_at_a_fixed_place_by_one_unit():
    own = ["    if i == 0:", "        store_f32(a, 0, to_f32(1.0))"]
    assert common_store(kernel_of(["for i in range(lo, hi):", *own]), 0) == ""
    both = ["for i in range(lo, hi):", *own, "    store_f32(a, 0, to_f32(2.0))"]
    assert common_store(kernel_of(both), 0) == "store_f32(a, 0, to_f32(2.0))"
    first = ["for i in range(lo, hi):", "    begin = n // (i + 1)", "    for k in range(begin, n):", *own[1:]]
    assert common_store(kernel_of(first), 0) == ""
