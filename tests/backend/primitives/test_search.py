"""The first greatest and least element: machine code against plain Python, at all lengths around a vector's."""

import numpy as np
import pytest

from numhlo.backend.primitives import STORAGES
from tests.backend.both_ways import assert_same_both_ways

KINDS = ("f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
LENGTHS = (1, 2, 3, 7, 15, 16, 17, 31, 33, 56, 57, 64, 65, 127, 130, 257)


def source_of(kinds, first):
    words = [f"{first}_{name}_{kind}" for kind in kinds for name in ("maximum", "minimum")]
    lines = [f"from numhlo.backend.primitives import address, load_i64, number, store_i64, {', '.join(words)}", ""]
    lines += ["def search(ctx, bufs, dims, lo, hi):", "    starts = address(bufs, 0)", "    counts = address(bufs, 1)"]
    for place in range(len(kinds)):
        lines.append(f"    x{place} = address(bufs, {2 + 2 * place})")
        lines.append(f"    out{place} = address(bufs, {3 + 2 * place})")
    lines.append("    for i in range(lo, hi):")
    lines += ["        start = load_i64(starts, i)", "        count = load_i64(counts, i)"]
    for place, kind in enumerate(kinds):
        for which, name in enumerate(("maximum", "minimum")):
            lines.append(
                f"        store_i64(out{place}, 2 * i + {which}, {first}_{name}_{kind}(x{place}, start, count))"
            )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("kinds", "first"),
    [(KINDS[:2], "first"), (KINDS[2:], "first"), (("f32", "f64", "i32", "i64"), "quick_first")],
    ids=["floats", "integers", "quick"],
)
def test_the_first_of_equal_elements_is_found(kinds, first, rng):
    counts = np.array(LENGTHS * 4, np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    arrays = [starts, counts]
    for kind in kinds:
        dtype = STORAGES[kind].dtype
        values = rng.integers(0, 5, counts.sum()).astype(dtype)
        if dtype.kind == "f":
            values -= 2
            values[rng.random(values.size) < 0.2] *= -0.0
            quarter = np.cumsum(counts)[len(LENGTHS) - 1]
            broken = rng.random(values.size) < 0.05
            values[broken & (np.arange(values.size) < quarter)] = np.nan
            last = starts[3 * len(LENGTHS)]
            values[last:] = np.where(rng.random(values.size - last) < 0.5, np.inf, -np.inf)
        elif dtype.kind == "i":
            values -= 2
        arrays += [values, np.zeros(2 * counts.size, np.int64)]
    native = assert_same_both_ways("search", source_of(kinds, first), arrays, counts.size)
    for k in range(len(kinds)):
        values, found = native[2 + 2 * k : 4 + 2 * k]
        rows = [values[s : s + n] for s, n in zip(starts, counts, strict=True)]
        assert found.tolist() == [place for row in rows for place in (row.argmax(), row.argmin())]
