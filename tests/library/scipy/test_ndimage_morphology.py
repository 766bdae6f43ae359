"""Erosion, dilation and what is made of them: SciPy as the oracle, at once and traced."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage

from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError
from numhlo.scipy import ndimage
from tests.library.scipy.oracle import check_module

RNG = np.random.default_rng(5)
TRUTH, GREY = RNG.random((8, 11)) < 0.6, RNG.integers(0, 30, (7, 9))
LEAN = np.array([[1, 0, 0, 1], [0, 1, 1, 0]], bool)


def check(f, *operands):
    check_module(scipy.ndimage, ndimage, f, *operands)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"structure": np.ones((3, 3)), "iterations": 2, "border_value": 1},
        {"structure": LEAN, "origin": (-1, 1)},
        {"structure": np.ones((2, 4)), "iterations": 6},
        {"mask": TRUTH[::-1], "iterations": 3},
        {"structure": [1, 1, 0], "axes": (1,)},
        {"iterations": -1, "mask": TRUTH[:, ::-1]},
        {"structure": np.zeros((3, 3))},
    ],
    ids=range(8),
)
@pytest.mark.oracle("scipy>=1.15")
def test_truth(options):
    check(lambda s, x: (s.binary_erosion(x, **options), s.binary_dilation(x, **options)), TRUTH)
    check(lambda s, x: (s.binary_opening(x, **options), s.binary_closing(x, **options)), TRUTH)


def test_truth_of_several_steps():
    check(lambda s, x: (s.binary_fill_holes(x), s.binary_fill_holes(x, np.ones((3, 3)))), TRUTH)
    check(lambda s, x, m: s.binary_propagation(x & m, mask=m), TRUTH[::-1], TRUTH)
    check(
        lambda s, x: (s.binary_hit_or_miss(x), s.binary_hit_or_miss(x, LEAN, ~LEAN, np.int32, (0, 1), (-1, 0))), TRUTH
    )
    check(lambda s, x: s.binary_erosion(x, iterations=2, output=np.float32), GREY % 4)
    for rank, near in ((1, 1), (2, 2), (3, 1), (3, 2), (0, 1), (2, 0)):
        wanted = scipy.ndimage.generate_binary_structure(rank, near)
        np.testing.assert_array_equal(ndimage.generate_binary_structure(rank, near), wanted, strict=True)


@pytest.mark.parametrize(
    "options",
    [
        {"size": 3},
        {"size": (2, 4), "mode": "constant", "cval": 3, "origin": (0, -1)},
        {"footprint": LEAN, "mode": "wrap", "origin": (-1, 1)},
        {"structure": np.arange(6.0).reshape(2, 3), "mode": "nearest"},
        {"structure": [[0.0, 1.0, 2.0, 3.0], [4.0, 3.0, 2.0, 1.0]], "footprint": LEAN},
    ],
    ids=range(5),
)
def test_grey(options):
    for x in (GREY, GREY / 7):
        check(lambda s, x: (s.grey_erosion(x, **options), s.grey_dilation(x, **options)), x)
        check(lambda s, x: (s.grey_opening(x, **options), s.grey_closing(x, **options)), x)
        check(lambda s, x: (s.morphological_gradient(x, **options), s.morphological_laplace(x, **options)), x)
        check(lambda s, x: (s.white_tophat(x, **options), s.black_tophat(x, **options)), x)
    check(lambda s, x: (s.white_tophat(x, 3), s.black_tophat(x, 3)), TRUTH)


def test_what_is_refused():
    with pytest.raises(ShapeError, match="by a structure of 1 dimensions along 2 axes"):
        ndimage.binary_erosion(TRUTH, [1, 1])
    with pytest.raises(ShapeError, match=r"a mask \(3,\) for an image \(8, 11\)"):
        ndimage.binary_dilation(TRUTH, mask=[1, 0, 1])
    with pytest.raises(DTypeError, match=r"binary_opening|binary_erosion of complex numbers\n.*\n  use x != 0"):
        ndimage.binary_erosion(TRUTH * 1j)
    with pytest.raises(ArgumentError, match="grey_dilation without a window"):
        ndimage.grey_dilation(GREY)
    with pytest.raises(ShapeError, match=r"a structure \(2, 2\) and a footprint \(2, 4\)"):
        ndimage.grey_erosion(GREY, footprint=LEAN, structure=np.ones((2, 2)))
    with pytest.raises(RuntimeError, match="structure must not be empty"):
        ndimage.binary_erosion(TRUTH, np.ones((0, 3)))
