"""Least, greatest and middle elements of windows: SciPy as the oracle, at once and traced."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage

import numhlo
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError
from numhlo.scipy import ndimage
from tests.library.scipy.oracle import check_module

RNG = np.random.default_rng(3)
IMAGE, LINE = RNG.normal(size=(7, 9)), RNG.integers(0, 9, 12)
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)
LEAN = np.array([[1, 0, 0, 1], [0, 1, 1, 0]], bool)


def check(f, *operands):
    check_module(scipy.ndimage, ndimage, f, *operands)


@pytest.mark.parametrize(
    "options",
    [
        {"size": 3},
        {"size": (2, 5), "origin": (0, -1), "mode": "constant", "cval": -9.0},
        {"footprint": CROSS, "mode": "nearest"},
        {"footprint": LEAN, "mode": "mirror", "origin": (-1, 1)},
        {"footprint": np.ones((3, 1)), "mode": "wrap"},
        {"size": 4, "axes": (1,), "origin": 1},
    ],
    ids=range(6),
)
def test_windows(options):
    for x in (IMAGE, (IMAGE * 20).astype("i2")):
        check(lambda s, x: (s.minimum_filter(x, **options), s.maximum_filter(x, **options)), x)
        check(lambda s, x: (s.median_filter(x, **options), s.rank_filter(x, 1, **options)), x)
        check(lambda s, x: (s.rank_filter(x, -2, **options), s.percentile_filter(x, 30, **options)), x)


def test_extents_ranks_and_modes():
    for size in range(1, 10):
        check(lambda s, x, n=size: (s.minimum_filter1d(x, n), s.maximum_filter(x, n), s.median_filter(x, n)), LINE)
    for rank in range(9):
        check(lambda s, x, k=rank: s.rank_filter(x, k, 9), LINE.astype("f4"))
    check(lambda s, x: s.maximum_filter(x, 3, mode=["wrap", "constant"], output=np.float32), IMAGE)
    check(lambda s, x: s.median_filter(x, 6), IMAGE)  # sorted
    check(lambda s, x: (s.percentile_filter(x, -20, 5), s.percentile_filter(x, 100, 5)), LINE)
    check(lambda s, x: (s.minimum_filter1d(x, 3, axis=0, origin=1), s.median_filter(x > 0, 3)), IMAGE)


def test_slopes_and_examples():
    slope = numhlo.grad(lambda x: (ndimage.median_filter(x, 3) ** 2).sum())(IMAGE)
    values, counts = np.unique(scipy.ndimage.median_filter(IMAGE, 3), return_counts=True)
    wanted = np.zeros_like(IMAGE)
    for value, count in zip(values, counts, strict=True):
        wanted[value == IMAGE] = 2 * value * count
    np.testing.assert_allclose(slope, wanted, rtol=1e-12)
    lanes = numhlo.vmap(lambda x: ndimage.maximum_filter(x, 3))(np.stack([IMAGE, -IMAGE]))
    np.testing.assert_array_equal(lanes[1], scipy.ndimage.maximum_filter(-IMAGE, 3))


def test_refusals():
    for call, error, text in [
        (lambda x: ndimage.median_filter(x), ArgumentError, "give size= or footprint="),
        (lambda x: ndimage.minimum_filter(x * 1j, 3), DTypeError, "no order; use abs"),
        (lambda x: ndimage.minimum_filter(x, footprint=[1, 1]), ShapeError, "one dimension for each axis"),
        (lambda x: ndimage.minimum_filter(x, footprint=np.zeros((2, 2))), ValueError, "All-zero footprint"),
        (lambda x: ndimage.rank_filter(x, 9, 3), RuntimeError, "rank not within"),
        (lambda x: ndimage.percentile_filter(x, 101, 3), RuntimeError, "invalid percentile"),
        (lambda x: ndimage.minimum_filter1d(x, 0), RuntimeError, "incorrect filter size"),
        (lambda x: ndimage.minimum_filter(x, 3, mode="foo"), ArgumentError, "use one of reflect"),
    ]:
        with pytest.raises(error, match=text):
            numhlo.jit(call)(IMAGE)
