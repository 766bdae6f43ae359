"""Gamma, beta, zeta, Bessel and their kin: SciPy as the oracle of values, differences of derivatives; run every way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.special

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import ArgumentError, DTypeError
from numhlo.scipy import special
from tests.library.agreement import assert_same, refusal, run_traced

X = np.array([[0.5, -1.25, 2.0, 7.5], [5.5, -0.75, -7.3, 14.0]])
P = np.abs(X) + 0.25
U = np.abs(X) / 15
K = np.array([0.0, 1, 2, 5])

CASES = {
    "gamma": lambda s, x, p, u: (s.gamma(x), s.gammasgn(x), s.loggamma(p), s.factorial(p), s.gamma(3)),
    "products": lambda s, x, p, u: (s.poch(p, K), s.poch(p * 20, K), s.comb(14, K), s.comb(p + 4, p), s.comb(K, 3)),
    "repetition": lambda s, x, p, u: (s.comb(5.0, K, repetition=True), s.multigammaln(p + 2, 3)),
    "beta": lambda s, x, p, u: (s.beta(p, 2.5), s.betaln(p, 2.5), s.betainc(p, 2.0, u)),
    "incomplete": lambda s, x, p, u: (s.gammainc(p, 2.0), s.gammaincc(p, 2.0), s.gammainc(2.0, p)),
    "zeta": lambda s, x, p, u: (s.zeta(p + 1, 2.0), s.polygamma(K.astype(np.float32), p), s.zeta(x), s.zeta(u)),
    "integrals": lambda s, x, p, u: (s.expn(2, p), s.spence(p), s.erfcx(x), s.ndtri(u)),
    "bessel": lambda s, x, p, u: (s.i0(x), s.i0e(x), s.i1(x), s.i1e(x)),
    "entropies": lambda s, x, p, u: (s.kl_div(p, u), s.rel_entr(p, u), s.rel_entr(x, u), s.kl_div(0, 1.5)),
    "boxcox": lambda s, x, p, u: (s.boxcox(p, x), s.boxcox1p(u, x), s.boxcox(p, 0.0), s.boxcox1p(u, 1e-30)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_scipy(name):
    for dtype in ("f8", "f4"):
        x, p, u = (a.astype(dtype) for a in (X, P, U))
        with np.errstate(all="ignore"):
            wanted = CASES[name](scipy.special, x, p, u)
        for found in (
            CASES[name](special, x, p, u),
            run_traced(lambda x, p, u: CASES[name](special, x, p, u), [x, p, u])[0],
        ):
            rough = [np.asarray(w).astype(np.asarray(f).dtype) for f, w in zip(found, wanted, strict=True)]
            assert_same(list(found), rough, name, ulps=512)


def everything(x, p, u):
    return [part for case in CASES.values() for part in case(special, x, p, u)]


@pytest.mark.slow
def test_compiled_and_batched():
    wanted = everything(X, P, U)
    found = numhlo.jit(numhlo.vmap(everything))(X, P, U)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, np.broadcast_to(other, one.shape), rtol=1e-12)


@pytest.mark.slow
def test_compiled_loops():
    f = lambda p, u: (special.gammainc(p, 2.0), special.betainc(p, 2.0, u), special.expn(2, p), special.gamma(p))
    assert_same(numhlo.jit(f)(P, U), f(P, U), "compiled", ulps=256)


UNARY = ["gamma", "loggamma", "erfcx", "i0", "i0e", "i1", "i1e", "ndtri", "spence", "factorial"]

SLOPES = [
    *[(lambda x, n=n: getattr(special, n)(x), U * 0.9 + 0.01 if n == "ndtri" else P) for n in UNARY],
    (lambda x: special.betaln(x, 2.5) + special.beta(1.5, x) + special.beta(x, 20.0), P),
    (lambda x: special.betainc(2.0, 3.0, x) + special.betainc(1.0, 0.5, x), U),
    (lambda x: special.gammainc(2.0, x) + special.gammaincc(3.0, x), P),
    (lambda x: special.gammainc(x, 2.0) - special.gammaincc(x, 5.0), P),
    (lambda x: numhlo.jvp(lambda a: special.gammainc(a, x), (np.full(x.shape, 1.5),), (np.ones(x.shape),))[1], P),
    (lambda x: numhlo.jvp(lambda y: special.gammaincc(x, y), (np.full(x.shape, 1.5),), (np.ones(x.shape),))[1], P),
    (lambda x: special.polygamma(2, x) + special.zeta(2.5, x) + special.polygamma(0, x), P),
    (lambda x: special.expn(3, x) + special.expn(1, x) + special.expn(0, x), P),
    (lambda x: special.kl_div(x, 1.5) + special.rel_entr(2.0, x) + special.boxcox(x, 0.5) + special.boxcox(2.0, x), P),
    (lambda x: special.poch(x, 2.5) + special.comb(20.5, x) + special.boxcox1p(x, 0.5), P),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(SLOPES)))
def test_derivatives_by_differences(case):
    f, x = SLOPES[case]
    slope = numhlo.grad(lambda x: numhlo.numpy.sum(f(x)))(x)
    h = 1e-5 * x
    wanted = (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)
    np.testing.assert_allclose(slope, wanted, rtol=1e-7, atol=1e-9)


def test_ratios_near_one_and_beyond_the_range():
    x, y = np.array([1.0, 3.0, 1e300, 1e-300]), np.array([1 + 1e-9, 3 - 1e-9, 1e-300, 1e300])
    with mp.workdps(50):
        wanted = [float(a * mp.log(mp.mpf(a) / mp.mpf(b))) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    np.testing.assert_allclose(special.rel_entr(x, y), wanted, rtol=1e-15)
    slope = numhlo.grad(lambda x, y: numhlo.numpy.sum(special.rel_entr(x, y)), 1)(x, y)
    np.testing.assert_allclose(slope[:2], -x[:2] / y[:2], rtol=1e-15)
    assert slope[2] == -np.inf and slope[3] == 0


@pytest.mark.parametrize("name", ["rel_entr", "kl_div", "boxcox", "boxcox1p", "poch", "comb"])
def test_float32_is_rounded_once(name):
    x, y = (a.astype(np.float32).ravel() for a in (P + 3, P[::-1]))
    narrow, wide = getattr(special, name)(x, y), getattr(special, name)(x.astype(float), y.astype(float))
    assert narrow.dtype == np.float32
    np.testing.assert_array_equal(narrow, wide.astype(np.float32))


def test_derivatives_at_corners():
    assert numhlo.grad(special.spence)(1.0) == -1 and numhlo.grad(special.i1e)(0.0) == 0.5
    assert numhlo.grad(lambda x: special.gammainc(1.0, x))(0.0) == 1
    assert numhlo.grad(lambda x: special.betainc(1.0, 1.0, x))(0.0) == 1


def test_strict_names():
    assert_same(lax.igamma(P, P[::-1]), special.gammainc(P, P[::-1]), "igamma")
    assert_same(lax.igammac(P, P[::-1]), special.gammaincc(P, P[::-1]), "igammac")
    assert_same(lax.betainc(P, P[::-1], U), special.betainc(P, P[::-1], U), "betainc")
    assert_same(lax.polygamma(np.ones_like(P), P), special.polygamma(1, P), "polygamma")
    assert_same(lax.zeta(P + 1, P), special.zeta(P + 1, P), "zeta")
    assert_same((lax.bessel_i0e(X), lax.bessel_i1e(X)), (special.i0e(X), special.i1e(X)), "bessel")
    with pytest.raises(DTypeError, match="promote nothing"):
        lax.igamma(P, P.astype(np.float32))


A = np.array([2.0, 0.5, 5.0, 3.0, 12.0, 2.0])
B = np.array([3.0, 0.5, 2.0, 1.0, 40.0, 300.0])
V = np.array([0.4, 0.9, 0.95, 0.5, 0.2, 0.005])
"""Whole numbers among them: there fractions end and gamma is rounded, their derivatives do not and are not."""


def first(argument: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the derivative of an elementwise function by one argument."""
    return numhlo.grad(lambda *args: numhlo.numpy.sum(function(*args)), argument)


def lower(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def incomplete(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


ORDERS: list[tuple[Callable[..., Any], tuple[np.ndarray, ...], Callable[..., Any]]] = [
    (first(0, special.digamma), (A,), lambda x: mp.psi(1, x)),
    (first(0, special.betainc), (A, B, V), lambda a, b, x: mp.diff(lambda t: incomplete(t, b, x), a)),
    (first(1, special.betainc), (A, B, V), lambda a, b, x: mp.diff(lambda t: incomplete(a, t, x), b)),
    (first(0, special.zeta), (A + 1.5, B), lambda s, q: mp.zeta(s, q, 1)),
    (first(0, special.zeta), (np.array([2.5, 0.5, 0.0, -1.5, 1.25]),), lambda s: mp.zeta(s, 1, 1)),
    (first(0, first(0, special.gammainc)), (A, A[::-1] + 0.5), lambda a, x: mp.diff(lambda t: lower(t, x), a, 2)),
    (first(1, first(0, special.gammaincc)), (A, A[::-1] + 0.5), lambda a, x: -mp.diff(lower, (a, x), (1, 1))),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(ORDERS)))
def test_derivatives_by_orders_agree_with_arbitrary_precision(case):
    function, points, oracle = ORDERS[case]
    with mp.workdps(30):
        wanted = [float(oracle(*map(float, row))) for row in zip(*points, strict=True)]
    np.testing.assert_allclose(function(*points), wanted, rtol=2e-13, atol=1e-300)


def test_derivatives_by_orders_go_with_transformations():
    slope = numhlo.grad(lambda a: special.betainc(a, 2.0, 0.3))
    np.testing.assert_allclose(numhlo.vmap(slope)(A[:2]), [slope(a) for a in A[:2]], rtol=1e-14)
    second = numhlo.jit(numhlo.hessian(lambda s: special.zeta(s, 2.0)))(3.0)
    assert second == pytest.approx(float(mp.zeta(3, 2, 2)), rel=1e-13)


def test_refusals():
    assert refusal(lambda _, x: numhlo.grad(lambda n: special.polygamma(n, 0.5))(x[0, 0]), P) == (
        "a derivative by the order of polygamma or expn\n  at test_special_gamma.py\n"
        "  orders are whole numbers here, between which the function has no values; "
        "hold the order constant with lax.stop_gradient"
    )
    with pytest.raises(ArgumentError, match=r"use math.factorial outside tracing"):
        special.factorial(3, exact=True)
    with pytest.raises(DTypeError, match=r"^special.gamma of complex128\[\]"):
        special.gamma(1j)
