"""Running totals of vectors: machine code against plain Python, and against NumPy, at all lengths around a vector's."""

import numpy as np
import pytest

from numhlo.backend.compiler.intrinsics import arithmetic
from numhlo.backend.primitives import STORAGES
from tests.backend.both_ways import assert_same_both_ways

KINDS = {"f32": 2, "f64": 2, "i8": 4, "i64": 4, "u16": 4, "u32": 4}
NAMES = {"maximum": np.maximum, "minimum": np.minimum, "add": np.add, "multiply": np.multiply}
LENGTHS = (0, 1, 2, 7, 8, 9, 15, 16, 17, 40, 67)


def source_of(kind, names):
    words = [f"running_{name}" for name in names]
    lines = [f"from numhlo.backend.primitives import address, load_i64, load_{kind}, store_{kind}, {', '.join(words)}"]
    lines += ["def run(ctx, bufs, dims, lo, hi):", "    starts, counts = address(bufs, 0), address(bufs, 1)"]
    lines += [
        f"    x{place}, out{place} = address(bufs, {2 + 2 * place}), address(bufs, {3 + 2 * place})"
        for place in range(len(names))
    ]
    lines += [
        "    for i in range(lo, hi):",
        "        start = load_i64(starts, i)",
        "        count = load_i64(counts, i)",
    ]
    for place, word in enumerate(words):
        lines.append(f"        total = load_{kind}(out{place}, i)")
        lines.append(f"        store_{kind}(out{place}, i, {word}(x{place}, start, count, total))")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_totals_without_instructions_for_ranges(kind, rng, monkeypatch):
    monkeypatch.setattr(arithmetic, "_has_ranges", lambda: False)
    test_totals_of_every_length(kind, rng)


@pytest.mark.parametrize("kind", KINDS)
def test_totals_of_every_length(kind, rng):
    dtype, names = STORAGES[kind].dtype, list(NAMES)[: KINDS[kind]]
    counts = np.array(LENGTHS * 3, np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    arrays = [starts, counts]
    for _ in names:
        values = rng.integers(0, 100, counts.sum()).astype(dtype) - dtype.type(3)
        if dtype.kind == "f":
            values[rng.random(values.size) < 0.3] = -0.0
            values[(rng.random(values.size) < 0.01) & (np.arange(values.size) > values.size // 3)] = np.nan
        arrays += [values, values[: counts.size].copy()]
    native = assert_same_both_ways("run", source_of(kind, names), arrays, counts.size)
    for place, name in enumerate(names):
        before, firsts = arrays[2 + 2 * place : 4 + 2 * place]
        after, lasts = native[2 + 2 * place : 4 + 2 * place]
        for i, (start, count) in enumerate(zip(starts, counts, strict=True)):
            with np.errstate(all="ignore"):
                totals = NAMES[name].accumulate([firsts[i], *before[start : start + count]], dtype=dtype)
            np.testing.assert_array_equal(after[start : start + count], totals[1:])
            np.testing.assert_array_equal(lasts[i], totals[-1])
