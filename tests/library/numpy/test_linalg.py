"""Products and norms: every combination of ranks, dtypes, einsum in all its spellings, as NumPy computes them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from numhlo.lowering.ir.errors import ShapeError
from tests.library.agreement import check, check_all, refusal, same_refusal
from tests.library.arrays import DTYPES, sample

A = numpy.arange(12.0).reshape(3, 4) - 4
B = numpy.arange(20.0).reshape(4, 5) * 0.5
S = numpy.arange(9.0).reshape(3, 3) - 3
T = numpy.arange(24.0).reshape(2, 3, 4)
V = numpy.array([1.0, -2.0, 0.5])
Z = A + 1j * A[::-1]

RANKS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
         ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((5, 2, 3), (5, 3, 4)), ((5, 1, 2, 3), (6, 3, 4)), ((2, 0), (0, 3)),
         ((0, 3), (3, 2))]  # fmt: skip


def test_matmul_ranks(rng):
    cases: list[Any] = []
    for first, second in RANKS:
        x, y = rng.normal(size=first), rng.normal(size=second)
        cases.append((f"{first} {second}", lambda np, x, y: (np.matmul(x, y), x @ y), x, y))
    check_all(cases, ulps=256)


def test_dot_ranks(rng):
    cases: list[Any] = []
    for first, second in [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((4, 2, 3), (3,)),
        ((2, 3), (5, 3, 4)),
        ((), (3,)),
        ((2, 3), ()),
        ((0,), (0,)),
    ]:
        x, y = rng.normal(size=first), rng.normal(size=second)
        cases.append((f"{first} {second}", lambda np, x, y: (np.dot(x, y), x.dot(y)), x, y))
    check_all(cases, ulps=256)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes(dtype, rng):
    x, y = (sample(rng, dtype, shape, False) for shape in ((2, 3), (3, 2)))
    check(lambda np, x, y: (x @ y, np.dot(x, y), np.inner(x, y.T), np.vdot(x, x), np.outer(x[0], y[0])), x, y, ulps=256)
    check(
        lambda np, x, y: (np.tensordot(x, y, 1), np.kron(x, y), np.einsum("ij,jk->ik", x, y), np.trace(x)),
        x,
        y,
        ulps=256,
    )
    check(lambda np, x, y: (x @ y.astype("c8"), np.vecdot(x, y.T)), x, y, ulps=256)


EINSUMS = [
    ("ij,jk->ik", A, B), ("ij,jk", A, B), ("ij->ji", A), ("ij->", A), ("ij->i", A), ("ii", S), ("ii->i", S), ("ij,ij->", A, A),
    ("i,j->ij", V, V), ("ij,j->i", A, B[:, 0]), ("...ij,jk->...ik", T, B), ("i...->...", T), ("abc,abd->acd", T, T),
    ("ij,jk,kl->il", A, B, B.T), ("i,i,i->i", V, V, V), ("ij,ij,ij->", A, A, A), ("ab , bc", A, B), ("...", T), ("iij->j", T[:, :2, :]),
    ("ij,kj->ik", A, A[:1]), ("ba", A), ("i,->i", V, numpy.float64(2)),
]  # fmt: skip


@pytest.mark.oracle("numpy>=2.4")
def test_einsum():
    check_all([(text, lambda np, *xs, t=text: np.einsum(t, *xs), *arrays) for text, *arrays in EINSUMS], ulps=256)
    check(lambda np, a, b: np.einsum(a, [0, 1], b, [1, 2], [0, 2]), A, B, ulps=64)
    check(lambda np, a, b: np.einsum(a, [0, 1], b, [1, 2]), A, B, ulps=64)
    check(lambda np, a, b, o: np.einsum("ij,jk->ik", a, b, out=o), A, B, numpy.zeros((3, 5)), ulps=64)
    check(lambda np, a, b: np.einsum("ij,jk->ik", a, b, optimize=True, dtype="c16"), A, B, ulps=64)
    check(lambda np, a: (np.einsum("ij->ji", a, dtype="i4"), np.einsum("ij->j", a, dtype="c16")), A, ulps=64)


def test_views_of_einsum_are_written():
    def write(np, x, y):
        np.einsum("ij->ji", x)[0] = 7
        np.einsum("ii->i", x[:, 1:4])[:] = 1
        np.einsum("iij->ij", y)[...] += 10
        np.einsum("iii->i", y)[1:] = -1
        return np.einsum("ij->i", x)

    check(write, numpy.arange(12.0).reshape(3, 4), numpy.arange(27.0).reshape(3, 3, 3))


def test_products():
    cases = [
        ("tensordot", lambda np, a, t: (np.tensordot(t, a, ([1, 2], [0, 1])), np.tensordot(a, t, 0), np.tensordot(t, a.T, 1)), A, T),
        ("tensordot axes", lambda np, a, t: (np.tensordot(a, t, (0, 1)), np.tensordot(t, t, ((0, -1), (0, -1)))), A, T),
        ("inner", lambda np, a, t: (np.inner(t, a), np.inner(a, 2.0), np.inner(a[0], a[0])), A, T),
        ("outer", lambda np, a, t: (np.outer(a, t[0]), np.kron(a[:2, :2], t), np.kron(2.0, a)), A, T),
        ("vecdot", lambda np, z, a: (np.vecdot(z, a), np.vecdot(z, z, axis=0), np.vdot(z, a)), Z, A),
        ("cross", lambda np, v, s: (np.cross(v, s), np.cross(s, s[::-1]), np.cross(s, v, axisa=0), np.linalg.cross(s, v)), V, S),
        ("multi_dot", lambda np, a, b: (np.linalg.multi_dot([a, b, b.T, a.T]), np.linalg.multi_dot([a[0], b, b.T[:, 0]])), A, B),
        ("matrix_power", lambda np, s: [np.linalg.matrix_power(s, n) for n in (0, 1, 2, 3, 5)], S),
        ("standard", lambda np, a, b, v: (np.linalg.matmul(a, b), np.linalg.outer(v, v), np.linalg.trace(a), np.linalg.diagonal(a, offset=1)), A, B, V),
        ("standard more", lambda np, t, a: (np.linalg.matrix_transpose(t), np.linalg.tensordot(a, a, axes=2), np.linalg.vecdot(t, t)), T, A),
        ("matmul dtype", lambda np, a, b: (np.matmul(a, b, dtype="f4"), np.matmul(a, b, dtype=int, casting="unsafe"), np.matmul(a, b, signature="ff->f")), A, B),
        ("vecdot kept", lambda np, z, a: (np.vecdot(z, a, keepdims=True), np.vecdot(z, a, axis=0, keepdims=True)), Z, A),
        ("matmul out", lambda np, a, b, o: np.matmul(a, b, out=o), A, B, numpy.zeros((3, 5))),
    ]  # fmt: skip
    check_all(cases, ulps=256)


def test_norms():
    vector_orders, matrix_orders = (
        [None, 0, 1, 2, 3, 0.5, -1, -2, numpy.inf, -numpy.inf],
        [None, "fro", 1, -1, numpy.inf, -numpy.inf],
    )
    for x in (V, V * 1j + V[::-1], numpy.array([3, -4, 0])):
        orders = [o for o in vector_orders if x.all() or o is None or o >= 0]
        check(lambda np, x, orders=orders: [np.linalg.norm(x, o) for o in orders], x, ulps=64)
    for x in (A, Z):
        check(lambda np, x: [np.linalg.norm(x, o) for o in matrix_orders], x, ulps=64)
        check(lambda np, x: [np.linalg.norm(x, o, axis=1, keepdims=True) for o in (None, 1, 2, numpy.inf)], x, ulps=64)
    check(lambda np, t: [np.linalg.norm(t, o, axis=(0, 2)) for o in matrix_orders], T, ulps=64)
    check(
        lambda np, t: (
            np.linalg.norm(t),
            np.linalg.norm(t, axis=(2, 0), keepdims=True, ord=1),
            np.linalg.norm(t, keepdims=True),
        ),
        T,
        ulps=64,
    )
    check(
        lambda np, t: (
            np.linalg.vector_norm(t, axis=(0, 1)),
            np.linalg.vector_norm(t, ord=1),
            np.linalg.matrix_norm(t),
        ),
        T,
        ulps=64,
    )


@pytest.mark.parametrize(
    "fun",
    [
        lambda np, a: a @ a,
        lambda np, a: a @ 2.0,
        lambda np, a: np.matmul(a, a.T, dtype=int),
        lambda np, a: np.matmul(a, a.T, keepdims=True),
        lambda np, a: np.matmul(a, a.T, axis=0),
        lambda np, a: np.dot(a, a),
        lambda np, a: np.inner(a, a.T),
        lambda np, a: np.tensordot(a, a, 1),
        lambda np, a: np.einsum("ij,jk", a, a),
        lambda np, a: np.einsum("ij->j", a, dtype="i4"),
        lambda np, a: np.einsum("ij", a, a),
        lambda np, a: np.einsum("ijk", a),
        lambda np, a: np.einsum("ij->k", a),
        lambda np, a: np.cross(a, a),
        lambda np, a: np.linalg.norm(a, "nonsense"),
        lambda np, a: np.linalg.norm(a[0], "fro"),
        lambda np, a: np.linalg.outer(a, a),
    ],
)
def test_refused_as_by_numpy(fun):
    same_refusal(fun, A)


def test_messages():
    assert refusal(lambda np, a: a @ a, A, kind=ShapeError) == (
        "matmul: float64[3,4] with float64[3,4]\n  at test_linalg.py\n"
        "  the contracted extents differ: 4 (a) against 3 (a); transpose one of them, or reshape it"
    )
    assert refusal(lambda np, a: np.einsum("ij,jk", a, a), A, kind=ShapeError) == (
        "einsum: label 'j' has extents 4 and 3\n  at test_linalg.py"
    )
    assert refusal(lambda np, a: np.linalg.matrix_power(a, 2), A, kind=ShapeError) == (
        "matrix_power: float64[3,4] is no square matrix\n  at test_linalg.py"
    )


def test_multi_dot_of_more_axes():
    """Two arrays are those of dot; more of them have to be matrices."""
    ones = numpy.ones((4, 1, 1))
    cases: list[Any] = []
    for first, second in [(ones, ones), (T, B), (A, T.reshape(2, 4, 3)), (V, T), (A, numpy.array(2.0))]:
        cases.append((f"{first.shape} {second.shape}", lambda np, x, y: np.linalg.multi_dot([x, y]), first, second))
    check_all(cases, ulps=64)
    same_refusal(lambda np, x: np.linalg.multi_dot([x, x, x]), ones)
    same_refusal(lambda np, x, v: np.linalg.multi_dot([x, v, x]), S, V)
    assert "write a @ b @ c" in refusal(lambda np, x: np.linalg.multi_dot([x, x, x]), ones, kind=ShapeError)


def test_pseudo_inverses_without_elements():
    for shape, dtype in (((0, 0), "i8"), ((0, 3), "i1"), ((2, 3, 0), "f4")):
        check(lambda np, x: np.linalg.pinv(x), numpy.zeros(shape, dtype))
