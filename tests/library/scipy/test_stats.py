"""Distributions: SciPy as the oracle, at once and traced, at the ends of supports and outside of them."""

from __future__ import annotations

import math

import jax
import mpmath
import numpy as np
import pytest
import scipy.stats

import numhlo
from numhlo.compat.jax import scipy as seen_as_jax
from numhlo.lowering.ir.errors import DTypeError, ShapeError
from numhlo.scipy import stats
from tests.library.agreement import run_traced

SHAPES = {
    "norm": (), "expon": (), "uniform": (), "laplace": (), "logistic": (), "cauchy": (), "gumbel_l": (), "gumbel_r": (),
    "pareto": (3.0,), "gamma": (0.3,), "chi2": (5.0,), "beta": (2.0, 0.5), "t": (3.0,), "gennorm": (0.7,),
    "truncnorm": (3.0, 9.0), "bernoulli": (0.3,), "binom": (7, 0.3), "geom": (0.3,), "nbinom": (3, 0.4),
    "poisson": (2.5,), "betabinom": (7, 2.0, 3.0), "vonmises": (1.5,), "wrapcauchy": (0.4,),
}  # fmt: skip
MULTIVARIATE = {"multivariate_normal", "dirichlet", "multinomial"}
OF_SAMPLES = {"gaussian_kde", "mode", "rankdata", "sem"}  # in test_samples
X = np.array([-np.inf, -50.0, -1.0, -0.3, 0.0, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 7.0, 9.0, 40.0, np.nan])
Q = np.array([-0.1, 0.0, 1e-10, 0.1, 0.9, 1.0, 1.1, np.nan])
CURVES = ("logpdf", "pdf", "logpmf", "pmf", "cdf", "sf", "logcdf", "logsf")


def methods(name):
    return [m for m in dir(getattr(stats, name)) if not m.startswith("_") and m != "shapes"]


def everything(name, module, x, q):
    family = getattr(module, name)
    discrete = hasattr(family, "pmf")
    places = [(), (2.0,)] if discrete else [(), (0.5, 2.0), (0.0, -1.0)]
    return {
        (method, place): getattr(family, method)(x if method in CURVES else q, *SHAPES[name], *place)
        for method in methods(name)
        for place in places
    }


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.oracle("scipy>=1.15")
def test_agrees_with_scipy(name):
    with np.errstate(all="ignore"):
        wanted = everything(name, scipy.stats, X, Q)
    traced, _ = run_traced(lambda x, q: list(everything(name, stats, x, q).values()), [X, Q])
    for found in (everything(name, stats, X, Q).values(), traced):
        for value, (case, other) in zip(found, wanted.items(), strict=True):
            np.testing.assert_allclose(value, other, rtol=1e-11, atol=1e-15, err_msg=str(case))


def test_all_are_tested():
    assert set(stats.__all__) == set(SHAPES) | MULTIVARIATE | OF_SAMPLES
    assert (
        not hasattr(stats.betabinom, "cdf") and not hasattr(stats.gamma, "ppf") and not hasattr(stats.vonmises, "cdf")
    )


def test_parameters_that_are_not_allowed():
    assert np.isnan(stats.gamma.cdf(1.0, -1.0)) and np.isnan(stats.bernoulli.pmf(0, 1.5))
    assert np.isnan(stats.binom.logcdf(9, 2.5, 0.5)) and np.isnan(stats.truncnorm.pdf(0.0, 1.0, -1.0))
    with pytest.raises(TypeError, match=r"^gamma\.cdf\(\) missing a required argument: 'a'$"):
        stats.gamma.cdf(2.0)
    with pytest.raises(TypeError, match=r"norm\.pdf\(\) got an unexpected keyword argument 'mean'"):
        stats.norm.pdf(2.0, mean=1.0)
    with pytest.raises(DTypeError, match=r"norm\.pdf of complex128"):
        stats.norm.pdf(1j)


def test_names_of_arguments_and_dtypes():
    assert stats.gamma.pdf(x=2.0, a=3.0, scale=2.0) == stats.gamma.pdf(2.0, 3.0, 0.0, 2.0)
    assert stats.poisson.pmf(k=2, mu=2.0) == stats.poisson.pmf(2, 2.0) and stats.norm.ppf(q=0.5) == 0
    narrow = stats.t.logpdf(np.float32(1.5), np.float32(4))
    assert narrow.dtype == np.float32 and narrow == np.float32(stats.t.logpdf(1.5, 4.0))


@pytest.mark.parametrize("name", SHAPES)
def test_slopes_are_finite_beside_the_support(name):
    family = getattr(stats, name)
    density = getattr(family, "logpdf", None) or family.logpmf
    x = np.array([-60.0, -2.5, 0.25, 60.0])
    assert np.isfinite(numhlo.grad(lambda x: np.sum(np.exp(density(x, *SHAPES[name]))))(x)).all()


def test_no_slopes_by_the_scale_outside_of_the_support():
    slope = numhlo.grad(lambda scale: stats.expon.logpdf(np.array([-1.0, 2.0]), 0.0, scale).sum())(2.0)
    np.testing.assert_allclose(slope, 2.0 / 2.0**2 - 1 / 2.0)


def test_several_variables():
    x, mean = np.arange(6.0).reshape(2, 3), np.array([1.0, 0.0, 2.0])
    spread = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.5]])
    cases = [
        lambda s: s.multivariate_normal.logpdf(x, mean, spread),
        lambda s: s.multivariate_normal.pdf(x[0], mean, 2.0),
        lambda s: s.multivariate_normal.logpdf(x[0], 0.5, 2.0),
        lambda s: s.dirichlet.logpdf([0.2, 0.3, 0.5], [1.0, 2.0, 3.0]),
        lambda s: s.dirichlet.pdf([0.2, 0.3], [1.0, 2.0, 3.0]),
        lambda s: s.multinomial.logpmf([[1, 2, 3], [1, 1, 1]], 6, [0.2, 0.3, 0.5]),
        lambda s: s.multinomial.pmf([1, 2, 3], 6, [0.2, 0.3, 0.5]),
    ]
    for case in cases:
        wanted = case(scipy.stats)
        np.testing.assert_allclose(case(stats), wanted, rtol=1e-12)
        np.testing.assert_allclose(numhlo.vmap(lambda _, case=case: case(stats))(np.ones(2))[1], wanted, rtol=1e-12)
    assert stats.dirichlet.logpdf([0.2, 0.9], [1.0, 2.0]) == -np.inf
    with pytest.raises(ShapeError, match="a mean of n elements has a covariance of n rows and n columns"):
        stats.multivariate_normal.logpdf(x, mean, np.eye(2))
    with pytest.raises(ValueError, match="add a small multiple of the identity"):
        stats.multivariate_normal.logpdf(x, mean, spread, allow_singular=True)


def test_under_names_of_jax():
    found = seen_as_jax.stats.norm.logpdf(np.arange(3.0), 1.0, 2.0)
    assert not found.flags.writeable and "norm" in dir(seen_as_jax.stats)
    np.testing.assert_allclose(found, jax.scipy.stats.norm.logpdf(np.arange(3.0), 1.0, 2.0), rtol=1e-6)


def test_cauchy_quantiles_near_the_ends_and_the_middle():
    for q in (0.0, 1e-300, 0.5 - 1e-10, 0.5, 0.5 + 1e-10, 1 - 1e-12, 1 - 2**-53, 1.0):
        with mpmath.workdps(40):
            wanted = float(-mpmath.cot(mpmath.pi * q)) if q % 0.5 else {0.0: -math.inf, 0.5: 0.0, 1.0: math.inf}[q]
        np.testing.assert_allclose(float(stats.cauchy.ppf(q)), wanted, rtol=1e-14)
        np.testing.assert_allclose(float(stats.cauchy.isf(q)), -wanted, rtol=1e-14)
