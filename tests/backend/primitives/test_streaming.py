"""Pieces that go past the caches: any begin and length, as machine code and as plain Python, and very large results."""

import numpy as np
import pytest

import numhlo
from tests.backend.both_ways import assert_same_both_ways

SOURCE = """from numhlo.backend.primitives import address, finish_streams, load_i64, past_line_{t}, store_i64, stream_{t}


def streamed(ctx, bufs, dims, lo, hi):
    target = address(bufs, 0)
    source = address(bufs, 1)
    firsts = address(bufs, 2)
    counts = address(bufs, 3)
    rests = address(bufs, 4)
    for unit in range(lo, hi):
        first = load_i64(firsts, unit)
        stream_{t}(target, unit * 400 + first, source, load_i64(counts, unit))
        inside = past_line_{t}(target, first) - past_line_{t}(target, 0)
        store_i64(rests, unit, inside & (64 // {size} - 1))
    finish_streams()
"""

PIECES = [(0, 300), (3, 1), (5, 0), (7, 90), (8, 64), (61, 131), (2, 62)]
"""Where they begin, and how many elements they have."""


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_every_element_arrives_and_nothing_beside_it(rng, size):
    dtype = np.dtype(f"u{size}")
    firsts, counts = np.array(PIECES).T.copy()
    source, target = rng.integers(1, 255, 300).astype(dtype), np.zeros((len(PIECES), 400), dtype)
    arrays = [target, source, firsts, counts, np.zeros_like(firsts)]
    text = SOURCE.format(t=f"u{8 * size}", size=size)
    found, *_, rests = assert_same_both_ways("streamed", text, arrays, len(PIECES))
    expected = np.zeros_like(target)
    for row, (first, count) in zip(expected, PIECES, strict=True):
        row[first : first + count] = source[:count]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(rests, firsts % (64 // size))


def kernels_of(function, *arguments):
    compiled = numhlo.jit(function).lower(*arguments).compile()
    return compiled, "".join(compiled.kernels.values())


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.int16, np.complex128])
def test_results_larger_than_caches_are_streamed(dtype):
    size = (33 << 20) // np.dtype(dtype).itemsize + 5
    x = np.resize(np.arange(-40, 41).astype(dtype), size)
    compiled, text = kernels_of(lambda x: x + x[::-1], x)
    assert text.count("stream_u") == 2  # once it is imported
    assert text.count("finish_streams()") == 1
    np.testing.assert_array_equal(compiled(x), x + x[::-1], strict=True)


@pytest.mark.slow
def test_rows_and_several_results_are_streamed(rng):
    x = rng.random((2200, 2300))

    def function(x):
        inner = x[1:-1, 1:-1]
        return inner + x[2:, 1:-1], inner * 2 < 1, inner.astype(np.float32)

    compiled, text = kernels_of(function, x)
    assert "stream_u64" in text
    assert "stream_u8" not in text  # the truth values are few bytes
    for ours, theirs in zip(compiled(x), function(x), strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)


def test_parts_of_results_larger_than_caches_are_streamed(rng):
    x, narrow, y = (rng.random((1301, columns)) for columns in (1500, 3, 1300))

    def function(x, narrow, y):
        return np.concatenate([x, narrow, y, x[:, ::-1]], -1)

    compiled, text = kernels_of(function, x, narrow, y)
    assert text.count("finish_streams()") == 3  # of the narrow part too much would be parts of lines
    for threads in (1, 2):
        with numhlo.threads(threads):
            np.testing.assert_array_equal(compiled(x, narrow, y), function(x, narrow, y), strict=True)
    few, many = np.empty((400, 1000)), np.empty((400, 9700))
    text = kernels_of(lambda few, many: np.concatenate([few, many], -1), few, many)[1]
    assert text.count("finish_streams()") == 1  # the few are read soon


@pytest.mark.parametrize(("dtype", "count"), [(np.float64, 2), (np.int16, 3), (np.complex64, 7), (np.complex128, 2)])
def test_rows_that_are_parts_of_lines_are_streamed_together(rng, dtype, count):
    x = rng.integers(0, 99, (33 << 20) // np.dtype(dtype).itemsize // count + 13).astype(dtype)
    compiled, text = kernels_of(lambda x: np.repeat(x, count), x)
    assert "finish_streams()" in text
    for threads in (1, 2):
        with numhlo.threads(threads):
            np.testing.assert_array_equal(compiled(x), np.repeat(x, count), strict=True)


def test_what_caches_hold_or_is_written_over_itself_is_not_streamed():
    def add(x):
        x += 1

    x = np.empty(4_200_000)
    assert "stream" not in kernels_of(lambda x: x * 2, x[:4_000_000])[1]
    assert "stream" in kernels_of(lambda x: x * 2, x)[1]
    assert "stream" not in kernels_of(add, x)[1]
    assert "stream" not in kernels_of(lambda x: x.reshape(-1, 100)[:, 1:] * 2, x)[1]  # short rows
