"""Recursive filters, trends, the analytic signal: SciPy as the oracle, at once and traced."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal

import numhlo
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError
from numhlo.scipy import signal
from tests.library.scipy.oracle import check_module

B, A = scipy.signal.butter(3, 0.3)
SOS = scipy.signal.butter(5, 0.3, output="sos")
FILTERS = [(B, A), (B, [1.0]), ([2.0], [2.0, 1.0, 0.5]), ([0.5], [2.0]), ([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 0.5])]
X = np.random.default_rng(2).normal(size=(3, 30))


def check(f, *operands, **room):
    check_module(scipy.signal, signal, f, *operands, **room)


@pytest.mark.parametrize(("b", "a"), FILTERS)
def test_recursions(b, a):
    b, a = np.array(b), np.array(a)
    for x in (X[0, :9], X[:, :7], X[0, :5].astype("f4"), np.arange(6)):
        check(lambda s, b, a, x: (s.lfilter(b, a, x), s.lfilter(b, a, x, axis=0)), b, a, x)
    order = max(b.size, a.size) - 1
    if not order:
        return
    for start in (X[:, :order], X[:1, :order]):
        check(lambda s, b, a, x, zi: s.lfilter(b, a, x, zi=zi), b, a, X[:, :8], start)
    check(lambda s, b, a: s.lfilter_zi(b, a), b, a)
    for kind in ("odd", "even", "constant", None):
        check(lambda s, b, a, x, kind=kind: s.filtfilt(b, a, x, padtype=kind), b, a, X, rtol=1e-8)


def test_sections():
    check(lambda s, sos, x: s.sosfilt(sos, x), SOS, X)
    check(lambda s, sos: s.sosfilt_zi(sos), SOS)
    check(lambda s, sos, x, zi: s.sosfilt(sos, x, zi=zi), SOS, X[0], scipy.signal.sosfilt_zi(SOS))


def test_trends_and_analytic_signals():
    for options in ({}, {"type": "constant"}, {"axis": 0}, {"bp": [3, 7]}):
        check(lambda s, x, options=options: s.detrend(x, **options), X[:, :12], rtol=1e-8)
    for n in (5, 6):
        check(lambda s, x: s.hilbert(x), X[0, :n])
        check(lambda s, x: s.hilbert(x, N=8, axis=0), X[:, :n])


def test_plain_scipy_is_traced_and_differentiated():
    smooth = numhlo.jit(lambda x: scipy.signal.lfilter(B, A, scipy.signal.detrend(x)))
    np.testing.assert_allclose(smooth(X), scipy.signal.lfilter(B, A, scipy.signal.detrend(X)), rtol=1e-10)
    impulse = scipy.signal.lfilter(B, A, [1.0, 0, 0, 0])
    slope = numhlo.jacobian(lambda x: signal.lfilter(B, A, x))(X[0, :4])
    np.testing.assert_allclose(slope[:, 0], impulse, rtol=1e-12)
    by_weight = numhlo.grad(lambda b: signal.lfilter(b, A, X[0, :4])[-1])(B)
    np.testing.assert_allclose(by_weight, scipy.signal.lfilter([1.0], A, X[0, :4])[::-1], rtol=1e-10)


def test_refusals():
    f = numhlo.jit(lambda x, **options: signal.filtfilt(B, A, x, **options), static_argnames=("padtype", "method"))
    with pytest.raises(ArgumentError, match="use one of odd, even, constant, None"):
        f(X, padtype="periodic")
    with pytest.raises(UnsupportedError, match='use method="pad"'):
        f(X, method="gust")
    with pytest.raises(ValueError, match="greater than padlen, which is 12"):
        f(X[:, :12])
    with pytest.raises(ShapeError, match=r"lfilter by coefficients of shape \(2, 2\)"):
        numhlo.jit(signal.lfilter)(np.ones((2, 2)), A, X)
    with pytest.raises(ValueError, match=r"expected \(3, 3\), found \(2,\)"):
        numhlo.jit(lambda x, zi: signal.lfilter(B, A, x, zi=zi))(X, X[0, :2])
    with pytest.raises(ValueError, match="sos array must be shape"):
        numhlo.jit(signal.sosfilt)(A, X)
    with pytest.raises(ArgumentError, match="hilbert of complex numbers"):
        signal.hilbert(X * 1j)
    with pytest.raises(AttributeError, match="use SciPy's, and pass it in"):
        _ = signal.butter
