"""Bytes sorted by counting: rows of every length and along every axis, in both directions."""

import numpy as np
import pytest

import numhlo
from numhlo.backend.emit.sorts.by_counting import SHORTEST

SHAPES = (((300,), 0), ((256,), 0), ((3, 700), 1), ((400, 3), 0), ((2, 260, 3), 1))


@pytest.mark.specifies("sort")
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8])
def test_rows_in_both_directions(dtype, descending, rng):
    arrays = [rng.integers(-128, 128, shape).astype(np.int8).view(np.uint8) for shape, _ in SHAPES]
    arrays = [(x > 100) if dtype is np.bool_ else x.view(dtype) for x in arrays]
    arrays += [np.full(300, value, dtype) for value in (0, 1)]
    axes = [*(axis for _, axis in SHAPES), 0, 0]

    def sorts(*arrays):
        return [numhlo.numpy.sort(x, axis=a, descending=descending) for x, a in zip(arrays, axes, strict=True)]

    compiled = numhlo.jit(sorts, tier0=False)
    names = compiled.lower(*arrays).compile().kernels
    kind = {np.bool_: "bool", np.int8: "i8", np.uint8: "u8"}[dtype]
    assert f"sort_{kind}_by_counting" in names and "sort_rows" not in names
    for found, x, axis in zip(compiled(*arrays), arrays, axes, strict=True):
        expected = np.sort(x, axis=axis)
        np.testing.assert_array_equal(found, np.flip(expected, axis) if descending else expected)


def test_short_rows_and_other_types_are_not_counted():
    for x in (np.zeros(SHORTEST["u8"] - 1, np.uint8), np.zeros(31, np.bool_), np.zeros(1000, np.int16)):
        kernels = numhlo.jit(np.sort).lower(x).compile().kernels
        assert not any("by_counting" in name for name in kernels)
    kernels = numhlo.jit(np.argsort).lower(np.zeros(1000, np.uint8)).compile().kernels
    assert not any("by_counting" in name for name in kernels)
