"""Functions of ``x[mask]`` at any place among their arguments, beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import DataDependentShapeError

RANDOM = np.random.default_rng(5)
TABLE = np.arange(10.0) ** 2
INPUTS = [(RANDOM.normal(size=9), RANDOM.normal(size=(9, 2)) + 2.0) for _ in range(3)]

ELEMENTWISE = {
    "polyval": lambda v: np.polyval([1.0, 2.0, 3.0], v),
    "polynomial": lambda v: np.poly1d([1.0, 2.0])(v),
    "searchsorted": lambda v: np.searchsorted([0.0, 1.0], v, side="right") * 1.0,
    "select": lambda v: np.select([v > 1, v > 0.5], [v, 2 * v], -1.0),
    "select of two": lambda v: np.select([v > 1], [v]),
    "where": lambda v: np.where(v > 1, 1.0, v),
    "piecewise": lambda v: np.piecewise(v, [v < 0.5, v >= 0.5], [lambda u: u * 2, 1.0]),
    "take": lambda v: np.take(TABLE, v.astype(int)),
    "table": lambda v: TABLE[v.astype(int)],
}
STATISTICS = {
    "fit": lambda x, y, m: np.polyfit(x[m], y[m, 0], 1),
    "weighted fit": lambda x, y, m: np.polyfit(x[m], y[m, 0], 1, w=y[m, 1]),
    "variance": lambda x, y, m: np.cov(x[m]),
    "covariance": lambda x, y, m: np.cov(x[m], y[m, 1], ddof=0),
    "correlation": lambda x, y, m: np.corrcoef(x[m], y[m, 1]),
    "equations": lambda x, y, m: np.linalg.lstsq(y[m], x[m], rcond=None)[0],
    "deviation": lambda x, y, m: np.std(x[m], ddof=1) + np.mean(y[m]),
}


def check(program):
    compiled = numhlo.jit(program)
    for x, y in INPUTS:
        before = x.copy(), y.copy()
        np.testing.assert_allclose(compiled(x, y), program(x.copy(), y.copy()), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(x, before[0])
        np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_functions_of_each_element(name):
    def program(x, y):
        found, positive = np.zeros_like(x), x > 0
        found[positive] = ELEMENTWISE[name](x[positive])
        return found

    check(program)


@pytest.mark.parametrize("name", STATISTICS)
def test_fits_and_statistics(name):
    check(lambda x, y: STATISTICS[name](x, y, x > -0.5))


def test_new_axes():
    def normalized(x, y):
        rows = y.copy()
        norms = np.linalg.norm(rows, axis=1)
        long = norms > 1.0
        rows[long] /= norms[long][:, None]
        rows[x > 1] = norms[x > 1][:, None]
        return rows

    check(normalized)


@pytest.mark.parametrize(
    "program",
    [
        lambda x, y: np.polyval(x[x > 0], 2.0),
        lambda x, y: np.take(x[x > 0], [0, 1]),
        lambda x, y: np.take(y, (x[x > 0]).astype(int), axis=0),
        lambda x, y: np.select([x[x > 0] > 1], [x[x > 1]]),
        lambda x, y: (x[x > 0] * y[x > 0]).sum(),
        lambda x, y: np.cov(y[x > 0], x, fweights=1),
    ],
)
def test_what_needs_the_number_is_refused(program):
    with pytest.raises(DataDependentShapeError, match=r"x\[mask\] with a traced boolean mask"):
        numhlo.jit(program)(*INPUTS[0])
