"""What r_ and c_ join: dtypes."""

from __future__ import annotations

import numpy
import pytest

from tests.library.agreement import check_all, same_refusal


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "complex64"])
def test_numbers_adapt_to_arrays(dtype):
    x = numpy.ones(2, dtype)
    check_all([
        ("int", lambda np, x: (np.r_[x, 2, x], np.c_[x, x].sum()), x),
        ("float", lambda np, x: np.r_[1.5, x], x),
        ("complex", lambda np, x: np.r_["0,2", x, x] + np.r_[x, 2j][-1], x),
        ("several", lambda np, x: np.r_[2, 2.5, x[0]], x),
        ("argument", lambda np, x, y: np.r_[x, y], x, 2.5),
        ("text", lambda np, x: (np.r_["0,2", x[:1], 1.5], np.r_["0", x, 3]), x),
        ("columns", lambda np, x: np.c_[x[:1], 1.5], x),
        ("NumPy's numbers don't", lambda np, x: (np.r_[x, numpy.float64(2)], np.r_[x, numpy.float32(2)]), x),
        ("nor do lists and slices", lambda np, x: (np.r_[x, [2.5]], np.r_[x, 0:3], np.r_[x, 0:1:3j], np.r_[x, x.sum()]), x),
    ], plain=False)  # fmt: skip


def test_numbers_that_do_not_fit():
    same_refusal(lambda np, x: np.r_[x, 300], numpy.ones(2, numpy.int8), plain=False)
