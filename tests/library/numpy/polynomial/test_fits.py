"""polyfit and roots: NumPy as the oracle, traced and compiled; JAX where NumPy has no fixed length."""

from __future__ import annotations

import jax.numpy
import numpy as np
import pytest

import numhlo
import numhlo.numpy as n
from numhlo.lowering.ir.errors import DataDependentShapeError
from tests.library.agreement import check, check_all, refusal, run_traced, same_refusal

X = np.array([0.5, -1.0, 2.0, 3.5, 0.0, 1.25])
Y = np.array([1.0, 0.2, -3.0, 4.0, 0.3, 0.1])
W = np.array([1.0, 2.0, 0.5, 1.0, 1.0, 3.0])
P = np.array([2.0, -3.0, 1.0, 0.5])


@pytest.mark.filterwarnings("ignore::numpy.exceptions.RankWarning")
def test_fits():
    cases = [
        ("fit", lambda np, x, y: (np.polyfit(x, y, 2), np.polyfit(x, y, 0))),
        ("columns", lambda np, x, y: np.polyfit(x, np.stack([y, -y * x], 1), 3)),
        ("full", lambda np, x, y: np.polyfit(x, y, 2, full=True)[:4]),
        ("covariance", lambda np, x, y: np.polyfit(x, y, 2, cov=True)),
        ("unscaled", lambda np, x, y: np.polyfit(x, y, 1, cov="unscaled")),
        ("covariances", lambda np, x, y: np.polyfit(x, np.stack([y, y + x], 1), 1, cov=True)),
        ("weights", lambda np, x, y: (np.polyfit(x, y, 2, w=W), np.polyfit(x, np.stack([y], 1), 1, w=W))),
        ("cutoff", lambda np, x, y: np.polyfit(x, y, 3, 0.5)),
    ]
    check_all([(label, f, X, Y) for label, f in cases], ulps=4096)
    check_all([("integers", cases[0][1], np.arange(5), np.arange(5) ** 2 % 7)], ulps=65536)
    found = n.polyfit(X.astype("f4"), Y.astype("f4"), 2)
    assert found.dtype == np.polyfit(X.astype("f4"), Y.astype("f4"), 2).dtype


def test_fits_are_refused_as_in_numpy():
    for f in (
        lambda np, x: np.polyfit(x, x, -1),
        lambda np, x: np.polyfit(x[:, None], x, 1),
        lambda np, x: np.polyfit(x[:0], x[:0], 1),
        lambda np, x: np.polyfit(x, x[:-1], 1),
        lambda np, x: np.polyfit(x, x[:, None, None], 1),
        lambda np, x: np.polyfit(x, x, 1, w=x[:2]),
        lambda np, x: np.polyfit(x[:2], x[:2], 1, cov=True),
    ):
        same_refusal(f, X, plain=False)


@pytest.mark.slow
def test_roots():
    for p in (P, P.astype("f4"), P * (1 + 2j), np.array([1, 0, -1]), np.array([3.0]), np.array([1.0, 0.0, 0.0])):
        wanted = np.sort_complex(np.roots(p))
        found = run_traced(lambda p: n.roots(p, strip_zeros=False), [p])[0]
        np.testing.assert_allclose(np.sort_complex(found), wanted, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(np.sort_complex(n.roots(p)), wanted, rtol=1e-5, atol=1e-6)
    for p in map(np.array, ([0.0, 0.0, 1.0, -3.0, 2.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0])):
        wanted = np.asarray(jax.numpy.roots(p, strip_zeros=False))
        for found in (n.roots(p, strip_zeros=False), numhlo.jit(lambda p: n.roots(p, strip_zeros=False))(p)):
            assert found.shape == wanted.shape
            assert np.isnan(found).sum() == np.isnan(wanted).sum()
            kept = [np.sort_complex(a[~np.isnan(a)]) for a in (found, wanted)]
            np.testing.assert_allclose(*kept, atol=1e-6)


def test_roots_are_refused():
    assert refusal(lambda np, p: np.roots(p), P, kind=DataDependentShapeError) == (
        "roots of a traced array float64[4]\n  at test_fits.py\n"
        "  leading zeros make roots fewer; write numhlo.numpy.roots(p, strip_zeros=False), which has NaN for those that are missing"
    )
    with pytest.raises(ValueError, match="Input must be a rank-1 array"):
        n.roots(np.ones((2, 2)), strip_zeros=False)


def test_derivative_of_a_fit():
    def end(y):
        return n.polyval(n.polyfit(X, y, 2), 2.0)

    slope = numhlo.grad(end)(Y)
    wanted = [(end(Y + 1e-6 * e) - end(Y - 1e-6 * e)) / 2e-6 for e in np.eye(6)]
    np.testing.assert_allclose(slope, wanted, rtol=1e-6, atol=1e-8)


def test_a_polynomial_of_no_coefficients_is_zero():
    check(lambda np, x: (np.polyval([], x), np.polyval(x[:0], 3), np.polyval([], x + 0.5)), np.arange(3))
