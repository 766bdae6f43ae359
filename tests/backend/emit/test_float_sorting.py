"""Floats sorted as integers: which zero and which NaN comes where, in rows of every length and along every axis."""

import numpy as np
import pytest

import numhlo
from tests.backend.plain_engine import assert_same_bits

SHAPES = (((7,), 0), ((64,), 0), ((333,), 0), ((5, 40), 1), ((70, 3), 0), ((2, 33, 3), 1), ((3, 0), 1))


@pytest.mark.specifies("sort")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_are_the_stable_sorts(dtype, rng):
    arrays, expected = [], []
    for shape, axis in SHAPES:
        x = rng.integers(-3, 4, shape).astype(dtype)
        x = np.where(x == 0, rng.choice([0.0, -0.0], shape), x).astype(dtype)
        if x.size:
            x.flat[::5], x.flat[1::7], x.flat[2], x.flat[4] = np.nan, -np.nan, np.inf, -np.inf
        order = np.argsort(np.where(np.isnan(x), np.nan, x + 0.0), axis=axis, kind="stable")
        arrays.append(x)
        expected.append(np.take_along_axis(x, order, axis))

    def sorts(*arrays):
        return [np.sort(x, axis) for x, (_, axis) in zip(arrays, SHAPES, strict=True)]

    compiled = numhlo.jit(sorts, tier0=False)
    assert f"sort_f{8 * np.dtype(dtype).itemsize}" in compiled.lower(*arrays).compile().kernels
    for found, sound in zip(compiled(*arrays), expected, strict=True):
        assert_same_bits(np.asarray(found), sound)


def test_other_comparators_are_left_alone():
    x = np.arange(100.0)
    for function in (lambda x: numhlo.numpy.sort(x, descending=True), np.argsort):
        kernels = numhlo.jit(function).lower(x).compile().kernels
        assert "sort_f64" not in kernels
