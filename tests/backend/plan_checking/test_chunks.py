"""Which kernels may run in chunks on memory that they read and write: those whose units keep to themselves."""

import pytest

from numhlo.backend.plan_checking.chunks import _common, _shifted

BEGIN = "\ndef kernel(ctx, bufs, dims, lo, hi):\n    a = address(bufs, 0)\n    n = number(dims, 0)\n"

KEEPING = {
    "elements": ["for i in range(lo, hi):", "    store_f32(a, i, load_f32(a, i))"],
    "rows": ["for i in range(lo, hi):", "    at = i * n", "    for k in range(n):", "        x = load_f32(a, at + k)",
             "        store_f32(a, at + k, x)"],
    "rows in another order": ["for i in range(lo, hi):", "    for k in range(n):",
                              "        store_f32(a, i * n + k, load_f32(a, k + n * i))"],
    "sums of rows": ["for i in range(lo, hi):", "    x = add_lanes_f32(a, i * n, n)", "    for k in range(n):",
                     "        store_f32(a, i * n + k, x)"],
}  # fmt: skip
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


def source_of(lines):
    return BEGIN + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize("name", KEEPING)
def test_units_that_keep_to_themselves(name):
    assert _shifted(source_of(KEEPING[name]), 0) == ""


@pytest.mark.parametrize("name", MEETING)
def test_units_that_read_what_others_write(name):
    assert _shifted(source_of(MEETING[name]), 0) in " ".join(MEETING[name])
    assert _shifted(source_of(MEETING[name]), 0)


def test_stores_at_a_fixed_place():
    assert _common(source_of(["for i in range(lo, hi):", "    store_f32(a, 0, to_f32(1.0))"])) == {
        0: "store_f32(a, 0, "
    }
    assert _common(source_of(KEEPING["elements"])) == {}


def test_stores_at_a_fixed_place_by_one_unit():
    own = ["    if i == 0:", "        store_f32(a, 0, to_f32(1.0))"]
    assert _common(source_of(["for i in range(lo, hi):", *own])) == {}
    both = ["for i in range(lo, hi):", *own, "    store_f32(a, 0, to_f32(1.0))"]
    assert _common(source_of(both)) == {0: "store_f32(a, 0, "}
