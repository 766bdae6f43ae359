"""Large arrays that are only reduced are made in pieces before there is machine code, and results have the same bits."""

import numpy as np
import pytest

import numhlo
from numhlo.backend.runtime import sums_in_pieces
from numhlo.lowering.ops.reduction_order import reduce_across_in_order, reduce_in_order
from tests.backend.plain_engine import assert_same_bits

CASES = {
    "sums of products": lambda x, y: (x[:, None, :] * y[None, :, :]).sum(-1),
    "across": lambda x, y: (x[:, None, :] * y[None, :, :]).sum(0),
    "outer dimensions": lambda x, y: (x[:, None, :] * y[None, :, :]).sum((0, 2)),
    "greatest": lambda x, y: np.abs(x[:, None, :] - y[None, :, :]).max(1),
    "distances": lambda x, y: np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)),
    "windows": lambda x, y: np.correlate(x.ravel(), y.ravel()[:40], "same"),
    "windows of complex numbers": lambda x, y: np.convolve(x.ravel() + 1j, y.ravel()[:20] - 2j),
    "means and deviations": lambda x, y: (x[:, None, :] * y[None, :, :]).std(2),
}


@pytest.mark.usefixtures("first_answers")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_bits_in_pieces(case, dtype, rng, monkeypatch):
    function = CASES[case]
    x, y = (rng.normal(size=(n, 37)).astype(dtype) for n in (50, 30))
    whole = numhlo.jit(lambda x, y: function(x, y))(x, y)
    made = []
    piecewise = sums_in_pieces._piecewise
    monkeypatch.setattr(sums_in_pieces, "LARGE", 1000)
    monkeypatch.setattr(sums_in_pieces, "PIECE", 5000)
    monkeypatch.setattr(sums_in_pieces, "_piecewise", lambda *parts: made.append(piecewise(*parts)) or made[-1])
    assert_same_bits(np.asarray(numhlo.jit(lambda x, y: function(x, y))(x, y)), np.asarray(whole))
    assert made


@pytest.mark.parametrize("ufunc", [np.add, np.multiply])
@pytest.mark.parametrize("count", [1, 5, 8, 9, 16, 17, 31, 100, 4096])
def test_the_order_across_is_the_order_along(ufunc, count, rng):
    rows = rng.normal(size=(count, 100)).astype(np.float32)
    rows[:, 0] = -0.0
    single = np.array([reduce_in_order(ufunc, row) for row in rows.T.copy()])
    windows = np.lib.stride_tricks.sliding_window_view(rows[0], 2)
    assert_same_bits(reduce_across_in_order(ufunc, rows), single)
    assert_same_bits(reduce_in_order(ufunc, rows.T), single)
    assert_same_bits(reduce_in_order(ufunc, rows.T.copy()), single)
    assert_same_bits(reduce_in_order(ufunc, windows), ufunc(rows[0, :-1], rows[0, 1:]))
