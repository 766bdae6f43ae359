"""Standard errors, ranks, modes and densities of samples: SciPy as the oracle, at once and traced."""

from __future__ import annotations

import warnings

import jax
import numpy as np
import pytest
import scipy.stats

import numhlo
from numhlo.compat.jax import scipy as seen_as_jax
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError
from numhlo.scipy import stats
from tests.known_versions import is_newer
from tests.library.agreement import assert_same, run_traced

WHOLE = np.random.default_rng(0).integers(0, 4, (5, 6))
GAPS = WHOLE.astype(float)
GAPS[1, 2] = np.nan
RANKS = ("average", "min", "max", "dense", "ordinal")


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("x", [WHOLE, GAPS, WHOLE.astype("f4"), WHOLE[:1]], ids=["i8", "nan", "f4", "row"])
@pytest.mark.oracle("scipy>=1.16")
def test_agrees_with_scipy(x, axis):
    def everything(s, x, shown=RANKS):
        ranks = [s.rankdata(x, method, axis=axis) for method in shown]
        modes = [part for kept in (False, True) for part in s.mode(x, axis, keepdims=kept)]
        return [*ranks, *modes, s.sem(x, axis, ddof=0), s.sem(x, axis, keepdims=True)]

    shown = RANKS if x is not GAPS else RANKS[:1]  # whole numbers can't be NaN
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = everything(scipy.stats, x, shown)
        found = everything(stats, x, shown)
    traced = run_traced(lambda x: everything(stats, x, shown), [x])[0]
    for value, other, expected in zip(found, traced, wanted, strict=True):
        # SciPy 1.18 gives ranks the dtype of their means
        same = np.asarray(expected).astype(value.dtype if is_newer("scipy") else np.asarray(expected).dtype)
        assert_same(value, same, ulps=4)
        assert_same(other, same, ulps=4)


def test_edges():
    assert stats.rankdata([]).shape == (0,) and stats.rankdata(np.zeros((2, 0)), axis=1).shape == (2, 0)
    assert stats.rankdata([1.0, np.nan], "min").tolist() == [0, 0] and str(stats.mode([2, 1, 2])).startswith(
        "ModeResult"
    )
    with pytest.raises(ShapeError, match="mode of no elements"):
        stats.mode(np.zeros((0, 2)))
    with pytest.raises(ArgumentError, match="use average, min, max, dense, ordinal"):
        stats.rankdata([1.0], "middle")
    for function in (stats.mode, stats.rankdata, stats.sem):
        with pytest.raises(UnsupportedError, match="only elements that are no NaN"):
            function([1.0], nan_policy="omit")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bandwidth", [None, "silverman", 0.7, lambda estimate: 0.5])
@pytest.mark.parametrize("d", [1, 2])
def test_densities(d, bandwidth, weighted):
    rng = np.random.default_rng(d)
    data, points = rng.normal(size=(d, 9)), rng.normal(size=(d, 4))
    weights = rng.uniform(0.1, 1, 9) if weighted else None
    theirs, ours = (s.gaussian_kde(data, bandwidth, weights) for s in (scipy.stats, stats))

    def everything(k):
        box = [k.integrate_box_1d(-1.0, 0.5)] if d == 1 else []
        return [k(points), k.logpdf(points), k.integrate_gaussian(np.ones(d), np.eye(d)), k.integrate_kde(k), *box]

    wanted = [*everything(theirs), theirs.covariance, theirs.inv_cov, theirs.neff, theirs.weights]
    for found in (
        everything(ours),
        run_traced(lambda x: everything(stats.gaussian_kde(x, bandwidth, weights)), [data])[0],
    ):
        for value, other in zip(found, wanted, strict=False):
            np.testing.assert_allclose(value, other, rtol=1e-11)
    for value, other in zip([ours.covariance, ours.inv_cov, ours.neff, ours.weights], wanted[-4:], strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-11)


@pytest.mark.slow
def test_densities_are_pytrees_that_can_be_drawn_from_and_differentiated():
    data = np.random.default_rng(0).normal(size=(2, 50))
    estimate = stats.gaussian_kde(data)
    point = np.array([[0.3], [0.1]])
    np.testing.assert_allclose(numhlo.jit(lambda k, x: k.pdf(x))(estimate, point), estimate.pdf(point), rtol=1e-12)
    slope = numhlo.grad(lambda x: np.sum(estimate.logpdf(x)))(point)
    step = np.array([[1e-6], [0.0]])
    expected = (estimate.logpdf(point + step) - estimate.logpdf(point - step)) / 2e-6
    np.testing.assert_allclose(slope[0], expected, rtol=1e-7)
    drawn = estimate.resample(numhlo.random.key(1), (4000,))
    assert drawn.shape == (2, 4000)
    np.testing.assert_allclose(np.cov(drawn), np.cov(data, bias=True) + estimate.covariance, atol=0.1)
    wanted = jax.scipy.stats.gaussian_kde(data).resample(jax.random.PRNGKey(1), (4000,))
    np.testing.assert_allclose(drawn, wanted, rtol=1e-6, atol=1e-6)


def test_refusals_of_densities():
    with pytest.raises(ShapeError, match="multiple elements"):
        stats.gaussian_kde([1.0])
    with pytest.raises(ShapeError, match="give one for each"):
        stats.gaussian_kde([1.0, 2.0], weights=[1.0])
    with pytest.raises(ArgumentError, match="use scott, silverman or a number"):
        stats.gaussian_kde([1.0, 2.0], "wide")
    estimate = stats.gaussian_kde(np.eye(2) + 1)
    with pytest.raises(ShapeError, match="points have dimension 3"):
        stats.gaussian_kde(np.random.default_rng(0).normal(size=(2, 5)))(np.ones((3, 1)))
    with pytest.raises(ShapeError, match="only handles 1D"):
        estimate.integrate_box_1d(0, 1)
    with pytest.raises(UnsupportedError, match="integrate_box_1d"):
        estimate.integrate_box(0, 1)


def test_under_names_of_jax():
    found = seen_as_jax.stats.gaussian_kde(np.arange(3.0))
    assert not found(0.5).flags.writeable and not seen_as_jax.stats.mode([1, 1]).mode.flags.writeable
    np.testing.assert_allclose(found.logpdf(1.5), jax.scipy.stats.gaussian_kde(np.arange(3.0)).logpdf(1.5), rtol=1e-6)
