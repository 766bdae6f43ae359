"""SciPy's functions, called by their own names while a program is traced."""

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats
from scipy import stats
from scipy.linalg import solve
from scipy.special import erf, logsumexp
from scipy.stats import expon

import numhlo
from numhlo.lowering.ir.errors import UnsupportedError

X = np.linspace(0.1, 1.7, 16).reshape(4, 4) + np.eye(4)
EYE = np.eye(4)
WIDE = stats.norm(0.5, scale=3.0)

PROGRAMS = {
    "ufuncs": lambda x: (scipy.special.expit(x), erf(x), scipy.special.gammaln(x), scipy.special.digamma(x)),
    "functions": lambda x: (logsumexp(x, axis=0), scipy.special.softmax(x, axis=1), scipy.special.comb(5, 2) * x),
    "linear algebra": lambda x: (
        solve(x, EYE),
        scipy.linalg.expm(x),
        scipy.linalg.cho_solve(scipy.linalg.cho_factor(x @ x.T + EYE), x),
        scipy.linalg.norm(x, 1),
        scipy.linalg.pinv(x),
        scipy.linalg.block_diag(x, EYE),
    ),
    "signals": lambda x: (scipy.signal.convolve2d(x, EYE), scipy.fft.rfft(x[0]), scipy.fft.fftshift(x)),
    "distributions": lambda x: (
        scipy.stats.norm.pdf(x),
        scipy.stats.norm.cdf(x, 1.0, 2.0),
        scipy.stats.gamma.logpdf(x, 2),
    ),
    "distributions of a module by another name": lambda x: stats.norm.cdf(x),
    "distributions by their names": lambda x: expon.pdf(x, scale=2.0),
    "distributions that hold their parameters": lambda x: (
        WIDE.logpdf(x),
        stats.norm(x[0], scale=2.0).cdf(0.5),
        stats.gamma(2.0).pdf(x),
        stats.poisson(x + 1).pmf(2),
    ),
    "of constants": lambda x: x * scipy.special.zeta(2.0) + scipy.linalg.hadamard(4) + scipy.special.j0(1.0),
    "in a helper": lambda x: _normalized(x),
    "mapped": lambda x: np.array([float(scipy.special.erf(v)) for v in x[0]]),
}


def _normalized(x):
    return x - logsumexp(x, axis=1, keepdims=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_scipy(name):
    expected = PROGRAMS[name](X.copy())
    found = numhlo.jit(PROGRAMS[name])(X.copy())
    pairs = zip(expected, found, strict=True) if isinstance(expected, tuple) else [(expected, found)]
    for wanted, ours in pairs:
        assert ours.dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(ours, wanted, rtol=1e-11, atol=1e-12)


def test_under_transformations():
    slope = numhlo.jit(numhlo.grad(lambda x: erf(x).sum() + logsumexp(x)))(X)
    np.testing.assert_allclose(slope, 2 / np.sqrt(np.pi) * np.exp(-(X**2)) + scipy.special.softmax(X), rtol=1e-12)
    np.testing.assert_allclose(numhlo.vmap(lambda row: logsumexp(row))(X), logsumexp(X, axis=1), rtol=1e-12)


def test_what_there_is_not():
    with pytest.raises(UnsupportedError, match=r"j0 of a traced array, a ufunc(.|\n)*at test_plain_functions.py"):
        numhlo.jit(lambda x: scipy.special.j0(x))(X)
