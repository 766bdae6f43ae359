"""Differences, integrals, interpolation, convolution, polynomials, functions of slices: as NumPy computes them."""

from __future__ import annotations

import numpy
import pytest

import numhlo.numpy
from tests.library.agreement import assert_same, check, check_all, refusal, run_traced, same_refusal

X = numpy.array([[3.0, -1.0, 2.5, 0.0, 4.0], [7.0, 1.5, -2.0, 4.0, 1.0], [0.5, 6.0, 1.0, -3.0, 2.0]])
V = numpy.array([1.0, -2.0, 0.5, 3.0, 2.0, -1.0])
K = numpy.array([0.5, 1.0, -1.0])
I = numpy.array([1, 4, 9, 16, 2])
NODES = numpy.array([-1.0, 0.0, 0.5, 2.0])

CASES = [
    ("diff", lambda np, x: (np.diff(x), np.diff(x, 2), np.diff(x, axis=0), np.diff(x, 0), np.diff(x, 9)), X),
    (
        "diff borders",
        lambda np, x: (np.diff(x, prepend=0), np.diff(x, append=x[:, :1]), np.diff(x > 1), np.diff(x, 2, prepend=1)),
        X,
    ),
    ("ediff1d", lambda np, x: (np.ediff1d(x), np.ediff1d(x, to_begin=-9, to_end=[8, 7])), X),
    (
        "gradient",
        lambda np, x: (np.gradient(x), np.gradient(x, axis=0), np.gradient(x, 0.5), np.gradient(x, 2.0, 0.5)),
        X,
    ),
    ("gradient edges", lambda np, x: (np.gradient(x, edge_order=2), np.gradient(x[0], 0.3, edge_order=2)), X),
    ("gradient nodes", lambda np, v, n: (np.gradient(v, n), np.gradient(v, n, edge_order=2)), V, numpy.cumsum(V**2)),
    ("gradient nodes 2", lambda np, x: np.gradient(x, [0.0, 1, 3], [0, 1, 2, 4, 8.0]), X),
    ("gradient ints", lambda np, x: np.gradient(x), I),
    (
        "trapezoid",
        lambda np, x: (np.trapezoid(x), np.trapezoid(x, dx=0.5, axis=0), np.trapezoid(x, x=[0, 1, 3, 4, 9.0])),
        X,
    ),
    ("trapezoid nodes", lambda np, x: np.trapezoid(x, x=np.cumsum(np.abs(x), 1)), X),
    (
        "interp",
        lambda np, x, n, f: (np.interp(x, n, f), np.interp(x, n, f, left=-9, right=9), np.interp(0.25, n, f)),
        X,
        NODES,
        V[:4],
    ),
    ("interp complex", lambda np, x, n, f: np.interp(x, n, f * (1 + 2j)), X, NODES, V[:4]),
    ("interp period", lambda np, x, n, f: np.interp(x, n, f, period=3.0), X, NODES, V[:4]),
    ("interp one", lambda np, x: np.interp(x, [1.0], [5.0]), X),
    ("interp ints", lambda np, x: np.interp(x, [1, 3, 12], [0, 10, 20]), I),
    *[
        (
            f"convolve {m}",
            lambda np, v, k, m=m: (np.convolve(v, k, m), np.convolve(k, v, m), np.convolve(v, k[:2], m)),
            V,
            K,
        )
        for m in ("full", "same", "valid")
    ],
    *[
        (
            f"correlate {m}",
            lambda np, v, k, m=m: (np.correlate(v, k, m), np.correlate(k, v, m), np.correlate(v, k * 1j, m)),
            V,
            K,
        )
        for m in ("full", "same", "valid")
    ],
    ("convolve ints", lambda np, i: (np.convolve(i, [1, 2]), np.convolve(i, [0.5])), I),
    ("gradient of narrow", lambda np, v: np.gradient(v.astype("f4"), np.arange(len(v)) * 0.5), V),
    ("ediff1d kinds", lambda np, v: np.ediff1d(v.astype("f4"), v[:1], 2), V),
    ("unwrap", lambda np, v: (np.unwrap(v * 3), np.unwrap(np.cumsum(v), period=2.0), np.unwrap(v * 4, discont=5)), V),
    (
        "unwrap ints",
        lambda np, i: tuple(np.unwrap(i * 2, period=p, discont=d) for p in (4, 5, 6) for d in (None, 1)),
        I,
    ),
    (
        "polynomials",
        lambda np, v, x: (np.polyval(v, x), np.polyadd(v, x[0]), np.polysub(x[0], v), np.polymul(v, x[0])),
        V,
        X,
    ),
    (
        "polynomials more",
        lambda np, v: (np.polyder(v), np.polyder(v, 2), np.polyint(v), np.polyint(v, 2, [1, 2]), np.polyint(v, k=3)),
        V,
    ),
    ("poly", lambda np, v: (np.poly(v[:3]), np.poly([1, 2])), V),
    ("polydiv", lambda np, v, k: np.polydiv(v, k), V, K),
    (
        "apply_along_axis",
        lambda np, x: (np.apply_along_axis(lambda r: r.sum(), 1, x), np.apply_along_axis(lambda r: r[::-1] * 2, 0, x)),
        X,
    ),
    ("apply_along_axis 2", lambda np, x: np.apply_along_axis(lambda r: np.outer(r, r), 0, x), X),
    ("apply_over_axes", lambda np, x: np.apply_over_axes(np.sum, x, [0, 1]), X),
]


def test_values():
    check_all(CASES, ulps=1024)


def test_vectorize(rng):
    n = numhlo.numpy
    scale = n.vectorize(lambda a, b: n.where(a > b, a - b, a * b))
    x, y = rng.normal(size=(3, 1)), rng.normal(size=4)
    found, _ = run_traced(scale, [x, y])
    assert_same(found, numpy.where(x > y, x - y, x * y))
    dots = n.vectorize(lambda a, b, scale=1.0: (a @ b) * scale, signature="(n),(n)->()", excluded=["scale"])
    rows = rng.normal(size=(2, 3, 5))
    found, _ = run_traced(lambda r, v: dots(r, v, scale=2.0), [rows, V[:5]])
    assert_same(found, (rows @ V[:5]) * 2.0, ulps=64)
    assert_same(numpy.asarray(scale(x, y)), numpy.where(x > y, x - y, x * y))


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
def test_cross_products_in_a_plane():
    x = numpy.arange(8.0).reshape(4, 2)
    check(
        lambda np, x, y: (np.cross(x, y), np.cross(x, [1, 2]), np.cross(x, [1, 2, 3]), np.cross(y[0], x)),
        x,
        x[::-1] ** 2,
    )
    same_refusal(lambda np, x: np.linalg.cross(x, x), x)


@pytest.mark.parametrize(
    "fun",
    [
        lambda np, x: np.diff(x[0, 0]),
        lambda np, x: np.diff(x, -1),
        lambda np, x: np.gradient(x[:1]),
        lambda np, x: np.gradient(x, 1, 2, 3),
        lambda np, x: np.gradient(x, [1, 2], 1.0),
        lambda np, x: np.interp(x, [], []),
        lambda np, x: np.interp(x, [1, 2], [1]),
        lambda np, x: np.convolve(x[0, :0], x[0]),
        lambda np, x: np.convolve(x[0], x[0], "most"),
        lambda np, x: np.cross(x, x),
        lambda np, x: np.ediff1d(np.array([1, 2]), x[0, :1]),
    ],
)
def test_refused_as_by_numpy(fun):
    same_refusal(fun, X)


def test_messages():
    assert refusal(lambda np, x: np.convolve(x[0], x[0], "most"), X) == (
        "convolve(mode='most')\n  at test_calculus.py\n  use full, same or valid"
    )
