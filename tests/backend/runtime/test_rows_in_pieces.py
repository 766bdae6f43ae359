"""Large arrays are made some rows at a time before there is machine code, and results have the same bits."""

import numpy as np
import pytest

import numhlo
from numhlo import scipy
from numhlo.backend.runtime import rows_in_pieces
from tests.backend.plain_engine import assert_same_bits


def distances(x, y):
    """A row's mean is needed between ops on its elements: two groups, and an op on its own between them."""
    deviation = np.tanh(x * 2 - 1) * y
    centred = deviation - deviation.mean(axis=1, keepdims=True)
    return np.exp(-centred * centred) + deviation, centred


CASES = {
    "elements": lambda x, y: np.where(np.sin(x) * y > 0.1, np.abs(x - y) ** 1.5, np.floor(4 * y)),
    "several results": lambda x, y: ((z := np.exp(x) * y + 2) - x, z.astype(np.int32) % 7, z > 3),
    "two groups": distances,
    "row by row": lambda x, y: np.sqrt(np.abs(x * y[0] + y[:, :1] - 3 * x)) * x[0, 0],
    "a table": lambda x, y: np.sin(y[0])[np.clip((x * 9).astype(np.int32), 0, 36)] * x + y - np.cos(x),
    "rows of a table": lambda x, y: np.sin(y[(np.abs(x[:, 0]) * 40).astype(np.int64) % 50] * x) - y + x,
    "searches": lambda x, y: np.searchsorted(np.sort(y[0]), x),
    "interpolation": lambda x, y: np.interp(x.ravel(), np.sort(y[0]), y[1]),
    "special functions": lambda x, y: scipy.special.erf(x) * scipy.special.gammaln(np.abs(y) + 1) - np.sinh(x * y),
    "complex numbers": lambda x, y: np.exp(x + 1j * y).real * np.angle(y - 1j * x) + 1,
    "side by side": lambda x, y: np.concatenate([np.sin(x) * 2, y - x], axis=1) ** 2 - 1,
    "own rows as a table": lambda x, y: (z := np.tanh(x) * 3 - y)[np.argsort(z[:, 0])] * z + 1,
}


@pytest.mark.usefixtures("first_answers")
@pytest.mark.parametrize(("case", "dtype"), list(zip(CASES, ["f8", "f8", "f8", "f4"] * 3, strict=True)))
def test_same_bits_by_rows(case, dtype, rng, monkeypatch):
    function = CASES[case]
    x, y = (rng.normal(size=(50, 37)).astype(dtype) for _ in range(2))
    whole = numhlo.tree.leaves(numhlo.jit(lambda x, y: function(x, y))(x, y))
    made = []
    joined = rows_in_pieces._Rows._joined
    monkeypatch.setattr(rows_in_pieces, "LARGE", 1000)
    monkeypatch.setattr(rows_in_pieces, "PIECE", 300)
    monkeypatch.setattr(rows_in_pieces._Rows, "_joined", lambda *parts: made.append(joined(*parts)) or made[-1])
    found = numhlo.tree.leaves(numhlo.jit(lambda x, y: function(x, y))(x, y))
    for mine, other in zip(found, whole, strict=True):
        assert_same_bits(np.asarray(mine), np.asarray(other))
    assert any(op.definition is rows_in_pieces.ROWS_IN_PIECES for ops in made for op in ops)


@pytest.mark.usefixtures("first_answers")
def test_effects_keep_their_order(rng, monkeypatch):
    monkeypatch.setattr(rows_in_pieces, "LARGE", 10)
    monkeypatch.setattr(rows_in_pieces, "PIECE", 10)
    seen = []

    @numhlo.jit
    def f(x):
        numhlo.debug.callback(lambda v: seen.append(float(v)), np.sum(np.sin(x) * x + 1))
        numhlo.debug.callback(lambda v: seen.append(float(v)), x[0])
        return np.cos(x) * x - 1

    x = rng.normal(size=100)
    np.testing.assert_allclose(f(x), np.cos(x) * x - 1)
    np.testing.assert_allclose(seen, [np.sum(np.sin(x) * x + 1), x[0]])
