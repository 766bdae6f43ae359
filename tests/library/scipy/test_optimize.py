"""Least values of functions: where SciPy and JAX find them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import jax.scipy.optimize
import numpy as np
import pytest
import scipy.optimize

import numhlo
from numhlo.compat.jax import numpy as jnp_here
from numhlo.compat.jax import scipy as seen_as_jax
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError
from numhlo.scipy.optimize import minimize

jax.config.update("jax_enable_x64", True)


def valley(x):
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def four_pits(x):
    return (x[0] ** 2 + x[1] - 11.0) ** 2 + (x[0] + x[1] ** 2 - 7.0) ** 2


def steep(x):
    return (np.exp(x) - 2 * x).sum()


CASES = [(valley, [1.3, 0.7, 0.8]), (four_pits, [1.0, 1.0]), (steep, [5.0, -30.0])]


@pytest.mark.parametrize(("fun", "start"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_minima_are_scipys(fun, start):
    start = np.array(start)
    wanted = scipy.optimize.minimize(fun, start, method="BFGS", tol=1e-8)
    for found in (minimize(fun, start, tol=1e-8), numhlo.jit(lambda x: minimize(fun, x, tol=1e-8))(start)):
        assert bool(found.success) and int(found.status) == 0 and int(found.nit) <= 2 * wanted.nit + 5
        np.testing.assert_allclose(found.x, wanted.x, atol=2e-5)  # its gradient is of differences
        np.testing.assert_allclose(found.fun, fun(found.x), rtol=1e-12, atol=1e-15)
        assert np.abs(found.jac).max() < 1e-8 and found.hess_inv.shape == (start.size,) * 2


@pytest.mark.slow
def test_minima_are_jaxs():
    def fun(x, scale, jnp):
        return jnp.sum(scale * (x - jnp.arange(3.0)) ** 2) + x[0] ** 4

    theirs = jax.scipy.optimize.minimize(lambda x: fun(x, 2.0, jnp), jnp.ones(3), method="BFGS")
    ours = seen_as_jax.optimize.minimize(
        lambda x, scale: fun(x, scale, jnp_here), jnp_here.ones(3), (2.0,), method="BFGS"
    )
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-5)
    assert ours._fields == theirs._fields and not ours.x.flags.writeable
    assert [x.dtype.kind for x in ours] == [np.asarray(x).dtype.kind for x in theirs]


def test_ends_that_are_no_minimum():
    start = np.array([1.3, 0.7])
    cut = minimize(valley, start, options={"maxiter": 2})
    assert not cut.success and int(cut.status) == 1 and int(cut.nit) == 2
    endless = minimize(lambda x: -x.sum(), np.zeros(2), options={"line_search_maxiter": 5})
    assert not endless.success and int(endless.status) == 5 and int(endless.nfev) == 6
    lanes = numhlo.vmap(lambda x: minimize(four_pits, x).x)(np.array([[1.0, 1.0], [-3.0, 3.0]]))
    np.testing.assert_allclose(lanes, [[3.0, 2.0], [-2.805118, 3.131313]], atol=1e-5)


def test_refusals():
    with pytest.raises(UnsupportedError, match='use method="BFGS"'):
        minimize(valley, np.ones(2), method="Nelder-Mead")
    with pytest.raises(ArgumentError, match="give a tuple"):
        minimize(valley, np.ones(2), 2.0)
    with pytest.raises(ArgumentError, match="minimize with options xtol"):
        minimize(valley, np.ones(2), options={"xtol": 1})
    with pytest.raises(ShapeError, match="give a line"):
        minimize(valley, np.ones((2, 2)))
    with pytest.raises(AttributeError, match="use minimize of the sum of squares"):
        _ = numhlo.scipy.optimize.least_squares
