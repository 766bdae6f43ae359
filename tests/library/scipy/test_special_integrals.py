"""Exponential integrals and Dawson's: SciPy and mpmath as oracles, at once and traced."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.special

import numhlo
from numhlo.lowering.ir.errors import DTypeError
from numhlo.scipy import special

SIZES = np.array(
    [1e-300, 1e-8, 0.1, 0.3725, 0.499999, 0.5, 1, 2.2, 5, 9.3, 11.99, 12, 12.01, 39.99, 40, 55, 300, 709.9]
)
X = np.concatenate([-SIZES, SIZES])


def dawson(x):
    return mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x)


@pytest.mark.parametrize(
    ("name", "reference", "slope", "where"),
    [
        ("exp1", mpmath.e1, lambda x: -mpmath.exp(-x) / x, X > 0),
        ("expi", mpmath.ei, lambda x: mpmath.exp(x) / x, X < 710),
        ("dawsn", dawson, lambda x: 1 - 2 * x * dawson(x), abs(X) < 60),
    ],
)
def test_values_and_slopes(name, reference, slope, where):
    with mpmath.workdps(400):
        x = X[where]
        wanted = np.array([float(reference(mpmath.mpf(v))) for v in x])
        slopes = np.array([float(slope(mpmath.mpf(v))) for v in x])
    f = getattr(special, name)
    for found in (f(x), numhlo.jit(f)(x)):
        np.testing.assert_allclose(found, wanted, rtol=3e-15, atol=3e-16)
    room = 1e-12 if name == "dawsn" else 1e-13  # differences of nearly equal numbers in the tail
    np.testing.assert_allclose(numhlo.vmap(numhlo.grad(f))(x), slopes, rtol=room, atol=room)


@pytest.mark.parametrize("name", ["exp1", "expi", "dawsn"])
@pytest.mark.oracle("scipy>=1.17")
def test_edges_and_dtypes(name):
    f, theirs = getattr(special, name), getattr(scipy.special, name)
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e10, -1e10, -3.0])
    np.testing.assert_allclose(numhlo.jit(f)(edges), theirs(edges), rtol=1e-14)
    for dtype in ("f4", "i4"):
        found = numhlo.jit(f)(np.arange(1, 5, dtype=dtype))
        assert found.dtype == theirs(np.arange(1, 5, dtype=dtype)).dtype
        np.testing.assert_allclose(found, theirs(np.arange(1, 5.0)), rtol=1e-6 if dtype == "f4" else 1e-14)
    with pytest.raises(DTypeError, match="defined here for real numbers"):
        f(1j)
