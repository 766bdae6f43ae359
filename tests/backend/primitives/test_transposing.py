"""Tiles with rows and columns exchanged: any edges, as machine code and as plain Python, and in compiled functions."""

import ml_dtypes
import numpy as np
import pytest

import numhlo
from numhlo.backend.primitives.transposing import TILE
from tests.backend.both_ways import assert_same_both_ways

SOURCE = """from numhlo.backend.primitives import address, number, transpose_tile_b{size}


def turned(ctx, bufs, dims, lo, hi):
    tile = address(bufs, 0)
    source = address(bufs, 1)
    for unit in range(lo, hi):
        transpose_tile_b{size}(
            tile, {pitch}, source, number(dims, 0), number(dims, 1), number(dims, 2), number(dims, 3), {ahead}
        )
"""


SHAPES = [(64, 64), (4, 8), (7, 5), (3, 2), (1, 63), (61, 1), (8, 6)]


@pytest.mark.parametrize(("size", "ahead"), [(1, 0), (2, 0), (4, 0), (4, 8), (8, 0), (8, 8), (16, 0), (16, 8)])
def test_every_element_changes_place(rng, size, ahead):
    source = rng.random((70, 71)) + 1j if size == 16 else rng.integers(0, 2**60, (70, 71)).astype(f"u{size}")
    tile = np.zeros((TILE, TILE), source.dtype)
    text = SOURCE.format(size=size, pitch=TILE, ahead=ahead)
    for rows, columns in SHAPES:
        (found, _) = assert_same_both_ways("turned", text, [tile, source], 1, [2 * 71 + 3, 71, rows, columns])
        np.testing.assert_array_equal(found[:columns, :rows], source[2 : 2 + rows, 3 : 3 + columns].T)
    assert not found[columns:].any()
    assert not found[:, rows:].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.int32, np.int64, np.uint32])
def test_operands_along_other_axes(rng, dtype):
    x, y = (rng.integers(0, 99, shape).astype(dtype) for shape in ((77, 130), (130, 77)))
    narrow, deep = (rng.integers(0, 99, shape).astype(dtype) for shape in ((300, 6), (3, 20, 5, 33)))

    def function(x, y, narrow, deep):
        sums = x.T + y * 2, x[::-1, 1:].T - y[1:, ::-1]
        return sums, narrow.T + 1, narrow[5:, :5].T[::-1], deep.transpose(3, 0, 2, 1) + 1, deep.T[2:] + 1

    compiled = numhlo.jit(function).lower(x, y, narrow, deep).compile()
    found, expected = compiled(x, y, narrow, deep), function(x, y, narrow, deep)
    for ours, theirs in zip([*found[0], *found[1:]], [*expected[0], *expected[1:]], strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float16, ml_dtypes.bfloat16, np.float64, np.complex128])
def test_arrays_turned_by_right_angles(rng, dtype):
    x, deep, row = (rng.integers(0, 2, shape).astype(dtype) for shape in ((131, 77), (2, 785, 66), (1, 70)))

    def function(x, deep, row):
        turned = [np.rot90(x, k) for k in (1, 2, 3)], np.rot90(deep, 1, (1, 2)), np.rot90(row), np.rot90(deep[:, :0])
        return *turned[0], *turned[1:], x[:, ::-1].T | x.T if dtype == np.bool_ else x[:, ::-1].T + x.T

    compiled = numhlo.jit(function).lower(x, deep, row).compile()
    assert "tiles_copy: reverse, transpose" in compiled.explain()
    for threads in (1, 2, 8):
        with numhlo.threads(threads):
            found = compiled(x, deep, row)
        for ours, theirs in zip(found, function(x, deep, row), strict=True):
            np.testing.assert_array_equal(ours, theirs, strict=True)


@pytest.mark.parametrize(
    ("shape", "dtype", "function", "is_tiled"),
    [
        ((256, 255), np.float64, np.rot90, False),
        ((300, 512), np.float64, np.rot90, True),  # all lines of a column take the place of each other
        ((255, 288), np.float32, np.rot90, False),
        ((1000, 30), np.float64, np.rot90, True),
        ((30, 1000), np.complex128, np.rot90, False),
        ((600, 601), np.float64, np.rot90, True),
        ((50, 70, 70), np.float64, lambda x: np.rot90(x, 1, (1, 2)), False),
        ((255, 255), np.int8, np.rot90, True),
        ((255, 255), np.float64, lambda x: np.rot90(x) * 2 + 1, False),
        ((255, 255), np.float64, lambda x: np.rot90(x) + x.T, False),
        ((255, 255), np.float64, lambda x: x.T * 2, False),
        ((255, 255), np.float32, lambda x: x.T * 2, True),
        ((256, 256), np.float64, lambda x: x.T * 2, True),
        ((201, 100), np.complex128, np.transpose, False),
        ((16, 200, 201), np.float64, lambda x: x.transpose(0, 2, 1) * 2, True),
        ((64, 32, 65), np.float64, lambda x: x.T * 2, True),  # lines of two axes
        ((255, 255), np.float64, lambda x: np.tanh(np.rot90(x)), True),
    ],
)
def test_arrays_are_read_by_tiles_where_lines_do_not_stay(shape, dtype, function, is_tiled):
    lowered = numhlo.jit(function).lower(np.empty(shape, dtype))
    assert any("tiles_" in name for name in lowered.compile().kernels) is is_tiled


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
@pytest.mark.parametrize("shape", [(700, 900), (1500, 431), (300, 999)])
def test_operands_too_large_for_caches_are_asked_for_ahead(rng, dtype, shape):
    x, y = rng.integers(0, 99, shape).astype(dtype), rng.integers(0, 9, shape[::-1]).astype(dtype)
    compiled = numhlo.jit(lambda x, y: (x.T + y, (x[..., ::-1].T * y)[1:])).lower(x, y).compile()
    far = 3 * x.nbytes > 2 << 20
    assert any("prefetch(" in text for text in compiled.kernels.values()) is far
    found = compiled(x, y)
    np.testing.assert_array_equal(found[0], x.T + y, strict=True)
    np.testing.assert_array_equal(found[1], (x[..., ::-1].T * y)[1:], strict=True)


def test_tiles_ask_for_the_next_ones(golden):
    compiled = numhlo.jit(lambda x, y: x.T + y).lower(np.ones((900, 700)), np.ones((700, 900))).compile()
    golden("\n\n".join(compiled.kernels.values()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        (np.float64, (2200, 2000)),
        (np.float64, (2100, 2003)),
        (np.float32, (1003, 8401)),
        (np.complex128, (1501, 1501)),
        (np.int16, (2061, 8205)),
        (np.float32, (1120, 8192)),
        (np.int8, (5931, 5803)),
    ],
)
def test_tiles_of_very_large_results_are_streamed(rng, dtype, shape):
    x, y = rng.integers(0, 9, shape).astype(dtype), rng.integers(0, 9, shape[::-1]).astype(dtype)

    def function(x, y):
        return x + y.T, (x[::-1, 1:] - y.T[:, 1:]) * 2

    compiled = numhlo.jit(function).lower(x, y).compile()
    assert sum("stream_" in text for text in compiled.kernels.values()) == 2
    squares = [x.itemsize >= 4 and rows.nbytes // len(rows) % 64 == 0 for rows in (x, x[:, 1:])]
    assert sum("prefetch_near" in text for text in compiled.kernels.values()) == sum(squares)
    with numhlo.threads(1):
        alone = compiled(x, y)
    for ours, single, theirs in zip(compiled(x, y), alone, function(x, y), strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)
        np.testing.assert_array_equal(single, theirs, strict=True)


@pytest.mark.slow
def test_tiles_of_very_large_stacks_are_streamed(rng):
    x, y = rng.integers(0, 9, (3, 1201, 1403)).astype(float), rng.integers(0, 9, (3, 1403, 1201)).astype(float)
    compiled = numhlo.jit(lambda x, y: x + y.transpose(0, 2, 1)).lower(x, y).compile()
    assert any("stream_" in text for text in compiled.kernels.values())
    np.testing.assert_array_equal(compiled(x, y), x + y.transpose(0, 2, 1), strict=True)


@pytest.mark.slow
def test_tiles_written_over_an_operand_are_not_streamed(rng):
    def add(x, y):
        x += y.T

    x, y = rng.random((2100, 2100)), rng.random((2100, 2100))
    compiled = numhlo.jit(add).lower(x, y).compile()
    assert not any("stream_" in text for text in compiled.kernels.values())
    expected = x + y.T
    numhlo.jit(add)(x, y)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.int16])
def test_rows_too_large_for_caches_are_asked_for_ahead(rng, dtype):
    sides = {np.float64: (1100, 2000), np.int16: (2100, 4100)}[dtype]
    x = rng.integers(-99, 99, sides).astype(dtype)
    compiled = numhlo.jit(lambda x: (x.sum(axis=0), x[:1000].max(axis=0))).lower(x).compile()
    asking = ["prefetch(" in text for name, text in compiled.kernels.items() if "reduce" in name]
    assert sorted(asking) == [False, True]  # a thousand rows are not as many
    sums, highest = compiled(x)
    np.testing.assert_array_equal(sums, x.sum(axis=0), strict=True)
    np.testing.assert_array_equal(highest, x[:1000].max(axis=0), strict=True)


@pytest.mark.slow
def test_very_large_results_are_asked_for_ahead(rng):
    x, y = rng.random((1500, 1501)), rng.random(5_000_011).astype(np.float32)
    compiled = numhlo.jit(lambda x, y: (x[1:] - x[:-1], y * 2 + 1, x.astype(np.int8))).lower(x, y).compile()
    assert sum("prefetch(" in text for text in compiled.kernels.values()) >= 2
    differences, shifted, narrow = compiled(x, y)
    np.testing.assert_array_equal(differences, x[1:] - x[:-1], strict=True)
    np.testing.assert_array_equal(shifted, y * 2 + 1, strict=True)
    np.testing.assert_array_equal(narrow, x.astype(np.int8), strict=True)


def test_what_is_written_over_itself_is_not_asked_for():
    def add(x):
        x += 1

    compiled = numhlo.jit(add).lower(np.ones(5_000_000)).compile()
    assert not any("prefetch(" in text for text in compiled.kernels.values())
