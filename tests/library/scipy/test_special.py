"""Special functions: SciPy as the oracle, run at once and traced."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.special
import scipy.stats

import numhlo
from numhlo.scipy import special
from tests.library.agreement import assert_same, run_traced

X = np.array([[0.5, -1.25, 2.0, 0.0], [5.5, -0.75, -7.3, 14.0]])
U = np.abs(X) / 15 + 0.01
MASK = X > -2

CASES = {
    "erf": lambda s, x, u: (s.erf(x), s.erfc(x), s.erfinv(u), s.erf(2)),
    "gamma": lambda s, x, u: (s.gammaln(u * 30), s.digamma(u * 30), s.gammaln(3)),
    "logistic": lambda s, x, u: (s.expit(x), s.logit(u), s.expit(x * 20)),
    "entropy": lambda s, x, u: (s.xlogy(x, u), s.xlogy(0, x), s.xlog1py(u, u), s.entr(x), s.entr(u)),
    "normal": lambda s, x, u: (s.ndtr(x), s.log_ndtr(x * 0.5), s.log_ndtr(x * 10)),
    "logsumexp": lambda s, x, u: (
        s.logsumexp(x),
        s.logsumexp(x, 1),
        s.logsumexp(x, 0, u, True),
        s.logsumexp(x, (0, 1)),
    ),
    "logsumexp sign": lambda s, x, u: s.logsumexp(x, b=x, return_sign=True),
    "softmax": lambda s, x, u: (s.softmax(x), s.softmax(x, 1), s.log_softmax(x), s.log_softmax(x + 3j * x[0], axis=0)),
    "infinite": lambda s, x, u: (s.logsumexp(np.array([-np.inf, -np.inf])), s.logsumexp(np.array([np.inf, 1.0]))),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_scipy(name):
    for x, u in ((X, U), (X.astype("f4"), U.astype("f4"))):
        with np.errstate(all="ignore"):
            wanted = CASES[name](scipy.special, x, u)
        for found in (CASES[name](special, x, u), run_traced(lambda x, u: CASES[name](special, x, u), [x, u])[0]):
            rough = [np.asarray(w).astype(np.asarray(f).dtype) for f, w in zip(found, wanted, strict=True)]
            assert_same(list(found), rough, name, ulps=4096)


def test_masked_and_integers():
    found = special.logsumexp(X, 1, where=MASK)
    np.testing.assert_allclose(found, [scipy.special.logsumexp(x[m]) for x, m in zip(X, MASK, strict=True)])
    assert special.erf(np.array([1, 2])).dtype == np.float64
    assert special.erf(np.float32(1)).dtype == np.float32 and special.xlogy(2, np.float32(1)).dtype == np.float32


def to_the_last_place(found, wanted, units=4):
    """Compare with numbers of mpmath's, in units of the last place of the dtype found."""
    for x, y in zip(np.asarray(found), wanted, strict=True):
        assert abs(float(x) - y) <= units * abs(float(np.spacing(x))), (x, mpmath.nstr(y, 20))


def test_tails_of_the_normal_distribution():
    mpmath.mp.dps = 50
    for dtype in ("f8", "f4", "f2"):
        x = np.array([-37.4, -20.1, -12.9, -8.3, -5.37, -3.64, -1.0, -0.3, 0.7, 3.1, 5.25], dtype)
        x = x[x > {"f8": -38, "f4": -13, "f2": -4}[dtype]]
        tail = [mpmath.erfc(-mpmath.mpf(float(v)) / mpmath.sqrt(2)) / 2 for v in x]
        to_the_last_place(numhlo.jit(special.ndtr)(x), tail)
        to_the_last_place(numhlo.jit(special.log_ndtr)(x), [mpmath.log(t) for t in tail])
    narrow = numhlo.jit(special.log_ndtr)(np.array([-15.0, -200.0], "f2"))
    np.testing.assert_allclose(narrow, scipy.special.log_ndtr([-15.0, -200.0]), rtol=1e-3)


def test_slopes_of_log_ndtr_in_both_tails():
    x = np.array([-1e100, -300.0, -20.0, -8.5, -1.0, 0.0, 1.0, 9.0, 40.0])
    slope = numhlo.jit(numhlo.vmap(numhlo.grad(special.log_ndtr)))(x)
    ratio = np.exp(scipy.stats.norm.logpdf(x[1:]) - scipy.special.log_ndtr(x[1:]))
    np.testing.assert_allclose(slope, [1e100, *ratio], rtol=1e-10)


def test_gamma_beside_its_pole_at_zero():
    x = np.array([-1e-300, -1e-200, -1e-155, -0.2, -0.3, 1e-300])
    to_the_last_place(numhlo.jit(special.gamma)(x), [mpmath.gamma(mpmath.mpf(v)) for v in x])
    assert numhlo.jit(special.gamma)(np.array([-1e-310]))[0] == -np.inf
