"""`numpy.poly1d` of traced coefficients: NumPy as the oracle."""

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import DTypeError

X = np.array([5.0, 6.0, 7.0])


def test_poly1d():
    one = np.poly1d([1.0, 2.0])

    def f(x):
        p = np.poly1d(x * 2, variable="t")
        q, r = p / one
        yield from (p(x), p.deriv()(x), p.integ(2)(x), p.c, p[1], (p * one).c, (one - p)(x), (one + p)(x), (2 - p)(x))
        yield from ((-p / 2)(x), (p**2)(0.5), q.c, r(x), p(one)(x), np.polyval(p, x), np.polymul(p, one)(x), p(1j))
        yield from (np.array([p.order, len(p)]), (one / p)[1].c, np.poly1d(x[:2], True).c, np.poly1d([1, 2])(x))

    for wanted, found in zip(f(X), numhlo.jit(lambda x: [*f(x)])(X), strict=True):
        assert np.shape(wanted) == np.shape(found)
        np.testing.assert_allclose(wanted, found, rtol=1e-13)
    with pytest.raises(DTypeError, match=r"the result of .* is of class"):
        numhlo.jit(np.poly1d)(X)
