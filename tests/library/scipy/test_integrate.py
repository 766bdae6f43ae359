"""Integrals of samples: SciPy as the oracle, at once and traced."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate

import numhlo
from numhlo.scipy import integrate
from tests.library.scipy.oracle import check_module


def check(f, *operands):
    check_module(scipy.integrate, integrate, f, *operands)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8])
@pytest.mark.oracle("scipy>=1.15")
def test_rules(count):
    rng = np.random.default_rng(count)
    y, line, table = rng.normal(size=(3, count)), np.sort(rng.normal(size=count)), np.sort(rng.normal(size=(3, count)))
    for x in (line, table):
        check(lambda s, y, x: (s.simpson(y, x), s.trapezoid(y, x), s.cumulative_trapezoid(y, x, initial=0)), y, x)
    check(lambda s, y: (s.simpson(y), s.simpson(y, dx=0.3, axis=0), s.cumulative_trapezoid(y, axis=0)), y)
    check(lambda s, y: (s.simpson(y), s.trapezoid(y), s.cumulative_trapezoid(y)), np.arange(count) ** 2)


@pytest.mark.oracle("scipy>=1.15")
def test_samples_that_coincide():
    y, x = np.array([1.0, 2.0, 4.0, 3.0]), np.array([0.0, 1.0, 1.0, 2.0])
    check(lambda s, y, x: s.simpson(y, x), y, x)
    check(lambda s, y, x: s.simpson(y, x), y[:3], x[:3])


def test_derivatives_and_refusals():
    slope = numhlo.grad(lambda y: integrate.simpson(y))(np.ones(5))
    np.testing.assert_allclose(slope, np.array([1, 4, 2, 4, 1]) / 3, rtol=1e-12)
    with pytest.raises(ValueError, match="must be the same as y"):
        integrate.simpson(np.ones(4), np.ones(3))
    with pytest.raises(ValueError, match="must be 1-D or the same"):
        integrate.simpson(np.ones(4), np.ones((2, 4)))
    with pytest.raises(ValueError, match="`initial`"):
        integrate.cumulative_trapezoid(np.ones(4), initial=1)
    with pytest.raises(AttributeError, match="leggauss"):
        _ = integrate.quad
