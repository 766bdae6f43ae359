"""Special functions computed in float64: errors against mpmath as the page on them states them, and edges."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import mpmath
import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.ops import special
from numhlo.lowering.ops.special_functions.arity import ARITY
from numhlo.lowering.ops.special_functions.decompositions import DOUBLE
from tests.lowering.ops.test_special import spread

mp = mpmath.mp.clone()
mp.dps = 40

PAGE = Path(__file__).parents[3] / "docs" / "special_functions.md"
ROW = re.compile(r"^\| (\w+) \| (\d+) \| (\d+) \|", re.MULTILINE)
STATED = {name: (float(base), float(slope)) for name, base, slope in ROW.findall(PAGE.read_text(encoding="utf-8"))}


def decomposed(name, *xs):
    return interpret(special.decompose(f"numhlo.{name}", TensorType(xs[0].shape, xs[0].dtype)), list(xs))[0]


def evaluated(name, *xs):
    types = [TensorType(x.shape, x.dtype) for x in xs]
    attributes = special.make(f"numhlo.{name}", types)
    return special.COMPOSITES[f"numhlo.{name}"].evaluate(
        list(xs), {**attributes, "decomposition": lambda *a: interpret(attributes["decomposition"], list(a))}, ()
    )[0]


def normal_quantile(p):
    if p > 1e-8:
        return -mp.sqrt(2) * mp.erfinv(1 - 2 * p)
    start = -mp.sqrt(-2 * mp.log(p) - mp.log(-4 * mp.pi * mp.log(p)))
    return mp.findroot(lambda t: mp.log(mp.erfc(-t / mp.sqrt(2)) / 2) - mp.log(p), start)


def hurwitz(s, q):
    with mp.workdps(int(40 + s * mp.log10(q + 10))):  # mpmath's zeta is accurate absolutely
        return +mp.zeta(s, q)


def lower(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def around(g, low, high, n):
    """Return gamma distributions' parameters, and arguments near their means."""
    a = spread(low, high, n, rng=g)
    return a, np.abs(a + g.normal(size=n) * 2 * np.sqrt(a)) + 1e-3


ORACLES = {
    "gamma": mp.gamma,
    "beta": mp.beta,
    "betaln": lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b),
    "betainc": lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
    "igamma": lower,
    "igammac": lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
    "igamma_slope": lambda a, x: mp.diff(lambda t: lower(t, x), a),
    "polygamma": lambda n, x: mp.psi(int(n), x),
    "zeta": hurwitz,
    "bessel_i0e": lambda x: mp.exp(-abs(x)) * mp.besseli(0, x),
    "bessel_i1e": lambda x: mp.exp(-abs(x)) * mp.besseli(1, x),
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "expn": lambda n, x: mp.expint(int(n), x),
    "ndtri": normal_quantile,
    "spence": lambda x: mp.re(mp.polylog(2, 1 - x)),
}
"""The function in arbitrary precision."""

POINTS = {
    "gamma": lambda g, n: [(spread(1e-300, 171, n, rng=g),), (g.uniform(-180, 171.6, n),)],
    "beta": lambda g, n: [(spread(1e-5, 1e3, n, rng=g), spread(1e-5, 1e3, n, rng=g))],
    "betaln": lambda g, n: [(spread(1e-5, 1e6, n, rng=g), spread(1e-5, 1e6, n, rng=g))],
    "betainc": lambda g, n: [(spread(1e-3, 500, n, rng=g), spread(1e-3, 500, n, rng=g), g.uniform(0, 1, n))],
    "igamma": lambda g, n: [
        (spread(1e-5, 50, n, rng=g), spread(1e-5, 50, n, rng=g)),
        around(g, 1, 3000, n // 2),
        around(g, 9e3, 2e4, n // 3),
    ],
    "igamma_slope": lambda g, n: [(spread(1e-2, 50, n // 3, rng=g), spread(1e-2, 50, n // 3, rng=g))],
    "polygamma": lambda g, n: [(g.integers(0, 20, n) * 1.0, spread(1e-2, 1e3, n, rng=g))],
    "zeta": lambda g, n: [(1 + spread(1e-3, 50, n, rng=g), spread(1e-2, 100, n, rng=g))],
    "bessel_i0e": lambda g, n: [(spread(1e-5, 1e5, n, rng=g),), (g.uniform(-20, 20, n),)],
    "erfcx": lambda g, n: [(spread(1e-5, 1e5, n, rng=g),), (-spread(1e-5, 26, n, rng=g),)],
    "expn": lambda g, n: [
        (g.integers(0, 30, n) * 1.0, spread(1e-5, 700, n, rng=g)),
        (np.full(9, 350.0), np.arange(9.0)),
    ],
    "ndtri": lambda g, n: [(g.uniform(0, 1, n),), (spread(1e-300, 0.5, n, rng=g),), (spread(1e-16, 1e-14, n, rng=g),)],
    "spence": lambda g, n: [(spread(1e-300, 1e300, n, rng=g),), (g.uniform(0, 4, n),), (1 + g.normal(size=n) * 1e-3,)],
}
POINTS["igammac"], POINTS["bessel_i1e"] = POINTS["igamma"], POINTS["bessel_i0e"]


def test_every_function_is_stated():
    assert set(STATED) == set(DOUBLE) == set(ORACLES) == set(POINTS)


def excess(name, found, xs):
    """Return the largest error, as a share of what is stated; results outside of normal numbers don't count."""
    base, slope = STATED[name]
    worst, place = 0.0, None
    for k, value in enumerate(found):
        arguments = [mp.mpf(float(x[k])) for x in xs]
        exact = mp.mpf(ORACLES[name](*arguments))
        size = abs(exact)
        if not 1e-300 < size < 1e300:
            continue
        scale = max(mp.mpf(1), size) if name == "betaln" else size
        allowed = base + slope * abs(float(mp.log(size)))
        share = float(abs(mp.mpf(float(value)) - exact) / scale * 2**52) / allowed
        worst, place = max((worst, place), (share, [float(x) for x in arguments]), key=lambda pair: pair[0])
    return worst, place


@pytest.mark.parametrize("name", DOUBLE)
def test_accuracy(name, rng):
    for xs in POINTS[name](rng, 24):
        with np.errstate(all="ignore"):
            found = decomposed(name, *xs)
        assert np.isfinite(found).all() or name == "beta"
        assert excess(name, found, xs) < (1.0, None)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_narrow_floats_are_rounded_once(dtype, rng):
    limits = np.finfo(dtype)
    for name in DOUBLE:
        points = POINTS[name](rng, 12)[0]
        xs = [np.clip(x, -100, 100).astype(dtype) for x in points]
        with np.errstate(all="ignore"):
            found, wide = decomposed(name, *xs), decomposed(name, *[x.astype(np.float64) for x in xs])
        inside = (np.abs(wide) < float(limits.max)) & (np.abs(wide) > float(limits.tiny))
        np.testing.assert_allclose(found[inside], wide[inside], rtol=float(limits.eps) * 0.501)


EDGES = [0.0, -0.0, 1, 2, 0.5, -0.5, -1, -2, 3, 10, 20, 170, 171.7, -170.5, 1e300, 1e-300, np.inf, -np.inf, np.nan]
OF_THREE = [0.0, -0.0, 1, 0.5, -1, 2, 30, np.inf, np.nan, 1e-300, 1e5]


@pytest.mark.parametrize("name", [name for name in DOUBLE if special.FUNCTIONS[name][0] is not None])
def test_edges_agree_with_scipy(name):
    count = ARITY.get(name, 1)
    xs = [np.array(c) for c in zip(*itertools.product(EDGES if count < 3 else OF_THREE, repeat=count), strict=True)]
    if name in ("zeta", "polygamma"):  # SciPy has NaN for huge orders; sums that cancel have no digits
        kept = ((xs[0] < 30) | (xs[1] > 0)) & (xs[0] < 1e100) & ((xs[1] > -1) | (xs[1] == np.floor(xs[1])))
        kept &= (xs[0] < 5) | (xs[1] != -0.5)
        xs = [x[kept & ~np.isnan(xs[0])] for x in xs]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(decomposed(name, *xs), evaluated(name, *xs), rtol=1e-9, atol=1e-300)


def test_edges_by_value():
    inf, nan = math.inf, math.nan
    for name, arguments, wanted in (
        ("beta", ([0, 0, 1, 2, -0.5], [1, 0, inf, 3, 2]), [inf, inf, 0, 1 / 12, -4]),
        ("betaln", ([0, 1, 2, -1], [1, inf, 2, 3]), [inf, -inf, math.log(1 / 6), inf]),
        ("igamma", ([0, 1, 1, -1, 3], [1, 0, inf, 1, -1]), [1, 0, 1, nan, nan]),
        ("igamma_slope", ([1, 2, -1], [0, inf, 1]), [0, 0, nan]),
        ("gamma", ([0.0, -0.0, -1, inf, -inf, 172],), [inf, -inf, nan, inf, nan, inf]),
        ("zeta", ([2, 3, 1, 0.5, 2], [0, -1, 2, 2, -0.5]), [inf, inf, inf, nan, 4 + math.pi**2 / 2]),
        ("spence", ([0, 1, inf, -1],), [math.pi**2 / 6, 0, -inf, nan]),
    ):
        found = decomposed(name, *[np.array(a, np.float64) for a in arguments])
        np.testing.assert_allclose(found, wanted, rtol=1e-14, err_msg=name)


def test_factorials_are_exact():
    n = np.arange(17.0)
    assert decomposed("gamma", n + 1).tolist() == [math.factorial(k) for k in range(17)]


def test_wrong_element_types():
    with pytest.raises(DTypeError, match=r"numhlo.betainc is not defined for complex128\[2\]"):
        special.make("numhlo.betainc", [TensorType((2,), np.dtype(complex))] * 3)
