"""NumPy's polynomial modules, called on traced arrays: NumPy as the oracle."""

import numpy as np
import pytest
from numpy.polynomial import (
    Chebyshev,
    Hermite,
    Legendre,
    Polynomial,
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
)

import numhlo
from numhlo.lowering.ir.errors import UnsupportedError

KINDS = {
    "cheb": chebyshev, "herm": hermite, "herme": hermite_e, "lag": laguerre, "leg": legendre, "poly": polynomial,
}  # fmt: skip
X, C = np.linspace(-0.9, 1.1, 7), np.array([0.5, -1.0, 2.0, 0.25])
FITTED = Chebyshev(C, domain=[-2, 3])


def same(f, *arguments):
    wanted, found = f(*arguments), numhlo.jit(f, tier0=True)(*arguments)
    assert len(wanted) == len(found) > 0
    for theirs, ours in zip(wanted, found, strict=True):
        assert np.shape(ours) == np.shape(theirs) and np.asarray(ours).dtype == np.asarray(theirs).dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_values_derivatives_integrals(kind):
    function = {name: getattr(KINDS[kind], kind + name) for name in ("val", "val2d", "grid2d", "vander", "der", "int")}

    def f(x, c):
        table = np.outer(c, c)
        return (
            function["val"](x, c), function["val"](x, table), function["val"](x[0], [1, 2, 3]), function["val2d"](x, -x, table),
            function["grid2d"](x, x[:2], table), function["vander"](x, 3), function["der"](c, 2), function["int"](c),
        )  # fmt: skip

    same(f, X, C)
    slope = numhlo.grad(lambda x: function["val"](x, C).sum())(X)
    np.testing.assert_allclose(slope, function["val"](X, function["der"](C)), rtol=1e-11)


@pytest.mark.parametrize("kind", ["cheb", "leg"])
def test_fits(kind):
    fit = getattr(KINDS[kind], f"{kind}fit")
    same(
        lambda x, y, w: (fit(x, y, 2), fit(x, y, [0, 3]), fit(x, np.stack([y, y * x], 1), 2, w=w)), X, np.cos(X), X + 2
    )

    def in_full(x, y):
        found, rest = fit(x, y, 2, full=True)
        return (found, *rest[1:])

    same(in_full, X, np.exp(1j * X))
    with pytest.raises(TypeError, match="expected x and y to have same length"):
        numhlo.jit(lambda x: fit(x, x[:3], 1))(X)


def test_objects():
    same(lambda x: (Polynomial([1, 2, 3])(x), FITTED(x), FITTED.deriv()(x), Polynomial.fromroots([1, 2])(x)), X)
    same(lambda x, r: (polynomial.polyvalfromroots(x, r), chebyshev.chebinterpolate(np.exp, 3) * x[0]), X, C)


def test_arithmetic_keeps_zeros():
    p, q = Polynomial([1, 2]), Chebyshev([1, 2])
    same(
        lambda c: (
            (Polynomial(c) * p).coef,
            (p - Polynomial(c)).coef,
            (Polynomial(c) // p).coef,
            Polynomial(c)(p).coef,
        ),
        C,
    )
    same(lambda c: ((Chebyshev(c) * q).coef, (Chebyshev(c) ** 2)(X), chebyshev.chebmul(c, c), legendre.legadd(c, 1)), C)
    same(lambda c: (Polynomial.fromroots(c).coef, Polynomial(c).deriv(2).coef, Polynomial(c).integ()(X)), C)
    assert numhlo.jit(lambda c: (Polynomial(c) - Polynomial(c)).coef)(C).shape == C.shape


def test_fits_of_objects():
    def f(x, y):
        p = Polynomial.fit(x, y, 2)
        yield from (p(x), p.coef, p.convert().coef, p.domain, p.convert(domain=[0, 1])(x), p.deriv()(x), (p + 1)(x))
        yield from (Chebyshev.fit(x, y, 3)(x), Chebyshev.fit(x, y, 3, domain=[-1, 2]).coef)

    same(lambda x, y: [*f(x, y)], X, np.cos(X))
    same(lambda x: (Polynomial.fit(x[:1], x[:1], 0).domain,), X)


def test_conversions():
    def f(c, x):
        p, q = Polynomial(c[:4], domain=[0, 2]), Chebyshev(c[:4])
        yield from (p.convert(kind=Chebyshev).coef, q.convert(kind=Polynomial, domain=[0, 1]).coef, p.convert().coef)
        yield from (Legendre(c[:3]).convert(kind=Hermite).coef, Polynomial.cast(q).coef, q.convert(window=[0, 1])(x))
        yield from (Chebyshev.fit(x, np.sin(x), 3).convert(kind=Polynomial).coef, q.convert(kind=Legendre).domain)

    same(lambda c, x: [*f(c, x)], C, X)


def test_what_needs_values():
    with pytest.raises(UnsupportedError, match=r"(?s)legroots of traced .* at test_series.py.* write numhlo.nu"):
        numhlo.jit(lambda c: legendre.legroots(c))(C)
    same(lambda x: (chebyshev.chebmul(C, C) * x[0], legendre.legroots(C) * x[0]), X)
