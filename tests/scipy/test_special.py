"""Special functions: SciPy as the oracle, run at once and traced."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from numhlo.scipy import special
from tests.tracer.namespace.agreement import assert_same, run_traced

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
    "softmax": lambda s, x, u: (s.softmax(x), s.softmax(x, 1), s.log_softmax(x), s.log_softmax(x, axis=0)),
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
