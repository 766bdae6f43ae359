"""Arrays made from nothing, from lists that hold traced arrays, and index grids: as NumPy makes them."""

from __future__ import annotations

import numpy
import pytest

import numhlo
from numhlo.lowering.ir.errors import DataDependentShapeError, DTypeError
from tests.library.agreement import check, check_all, refusal, same_refusal

V = numpy.array([3.0, -1.0, 2.5, 0.0, 7.0])
M = numpy.arange(12.0).reshape(3, 4)

CASES = [
    (
        "filled",
        lambda np, v: (np.zeros(3), np.ones((2, 3), int), np.full((2,), 7), np.full(3, 2.5, "f4"), np.full((2, 5), v)),
        V,
    ),
    (
        "scalars",
        lambda np, v: (np.zeros(()), np.ones((), "c8"), np.full((), True), np.empty((0, 2)), np.zeros(numpy.int64(2))),
        V,
    ),
    (
        "like",
        lambda np, v: (np.zeros_like(v), np.ones_like(v, int), np.full_like(v, 3), np.full_like(v, v[0], shape=(2, 2))),
        V,
    ),
    ("like ints", lambda np, v: (np.full_like(np.arange(3), 2.7), np.zeros_like([1, 2]), np.ones_like(True)), V),
    ("eye", lambda np, v: (np.eye(3), np.eye(2, 4, 1), np.eye(4, k=-2, dtype="f4"), np.identity(3, int), np.eye(0)), V),
    ("tri", lambda np, v: (np.tri(3, 4, -1), np.tri(3), np.tri(2, 3, 1, bool)), V),
    (
        "arange",
        lambda np, v: (
            np.arange(5),
            np.arange(2, 8, 3),
            np.arange(0, 1, 0.1),
            np.arange(5, dtype="f4"),
            np.arange(5, 0, -2),
        ),
        V,
    ),
    (
        "arange more",
        lambda np, v: (np.arange(3.5), np.arange(0), np.arange(2, 2), np.arange(1, 10, 4.0), np.arange(3, dtype="c8")),
        V,
    ),
    (
        "linspace",
        lambda np, v: (
            np.linspace(0, 1, 7),
            np.linspace(0, 1, 0),
            np.linspace(0, 1, 1),
            np.linspace(3, -2, 4, endpoint=False),
        ),
        V,
    ),
    (
        "linspace arrays",
        lambda np, v: (np.linspace(0, v, 5), np.linspace(v, 1, 4, endpoint=False), np.linspace(v, v + 1, 3, axis=-1)),
        V,
    ),
    (
        "linspace dtypes",
        lambda np, v: (np.linspace(0, 10, 5, dtype=int), np.linspace(v, 1, 3, retstep=True), np.linspace(0, 1j, 3)),
        V,
    ),
    (
        "linspace float32",
        lambda np, v: (np.linspace(v, 1, 3), np.linspace(0, v, 4), np.linspace(0, 2, 3, dtype=v.dtype)),
        V.astype("f4"),
    ),
    (
        "spaces",
        lambda np, v: (
            np.geomspace(1, 1000, 4),
            np.logspace(0, 3, 4),
            np.logspace(0, 2, 5, base=2),
            np.logspace([0, 1], 2, 5, base=[[2.0], [3.0], [4.0]]),
            np.geomspace(-1, -8, 4),
        ),
        V,
    ),
    ("geomspace around zero", lambda np, v: np.geomspace(1j, (np.abs(v) + 1) * -1j, 3), V),
    ("geomspace arrays", lambda np, v: (np.geomspace(np.abs(v) + 1, 10, 3), np.geomspace(1, 256, 9, dtype=int)), V),
    (
        "from lists",
        lambda np, v: (
            np.array([v[0], v[1] * 2, 3]),
            np.array([[v[0], 1], [2, v[1]]]),
            np.asarray([v, v]),
            np.array([v[0], 1j]),
        ),
        V,
    ),
    (
        "conversions",
        lambda np, v: (
            np.asarray(v, "f4"),
            np.array(v, ndmin=3),
            np.copy(v),
            np.array(5),
            np.asarray([1, 2]),
            np.asarray(v[0]),
        ),
        V,
    ),
    (
        "conversions more",
        lambda np, v: (np.asanyarray(v), np.ascontiguousarray(v[0]), np.array(v, copy=True), np.asarray([])),
        V,
    ),
    ("vander", lambda np, v: (np.vander(v), np.vander(v, 3, increasing=True), np.vander(v.astype(int), 2)), V),
    ("fromfunction", lambda np, v: np.fromfunction(lambda i, j: i * 10 + j, (3, 2), dtype=int), V),
    (
        "meshgrid",
        lambda np, v: (
            np.meshgrid(v, v[:2]),
            np.meshgrid(v, v[:2], v[:3], indexing="ij"),
            np.meshgrid(v, v[:2], sparse=True),
            np.meshgrid(v, v[:2], copy=False),
            np.meshgrid(v, v[:2], copy=False, sparse=True),
        ),
        V,
    ),
    ("meshgrid one", lambda np, v: (np.meshgrid(v), np.meshgrid(), np.meshgrid(v[0], 3)), V),
    ("indices", lambda np, v: (np.indices((2, 3)), np.indices((2, 3), sparse=True), np.indices((3,), "f4")), V),
    (
        "triangle indices",
        lambda np, m: (
            np.tril_indices(3),
            np.triu_indices(3, 1, 4),
            np.tril_indices_from(m),
            np.triu_indices_from(m, 1),
        ),
        M,
    ),
    ("triangle read", lambda np, m: (m[np.tril_indices(3)], m[np.triu_indices_from(m)], m[np.diag_indices(3)]), M),
    (
        "diagonal indices",
        lambda np, m: (np.diag_indices(3), np.diag_indices_from(m[:, :3]), np.mask_indices(3, numpy.triu)),
        M,
    ),
    ("ix_", lambda np, m: (np.ix_([0, 2], [1, 3]), m[np.ix_([0, 2], [1, 3])], np.ix_([True, False, True], [1])), M),
    (
        "unravel",
        lambda np, m: (
            np.unravel_index(np.array([5, 11]), (3, 4)),
            np.unravel_index(7, (3, 4), "F"),
            np.ravel_multi_index(([0, 2], [1, 3]), (3, 4)),
        ),
        M,
    ),
    ("ravel modes", lambda np, m: np.ravel_multi_index(([-1, 5], [9, 3]), (3, 4), mode=("clip", "wrap")), M),
    ("grids", lambda np, v: (np.mgrid[0:3, 1:2:3j], np.ogrid[0:3, 0:2], np.mgrid[0:3]), V),
    (
        "joiners",
        lambda np, v: (
            np.r_["0,2", v, v],
            np.r_["-1,3", v, [1]],
            np.r_["1,2,0", v, v, 0:5],
            np.r_["1,3,0", v, v],
            np.r_[v, 1, 2:4],
            np.r_[0, v[0]],
            np.c_[v, v],
            np.c_[np.ones((5, 2)), v],
            np.r_[-1:1:3j, v],
        ),
        V,
    ),
    ("windows", lambda np, v: (np.bartlett(5), np.blackman(4), np.hamming(6), np.hanning(3)), V),
]


def test_values():
    check_all(CASES, plain=False)


def test_kaiser_and_bessel():
    def f(np, x, beta):
        return np.i0(x), np.kaiser(7, beta)

    check(f, numpy.linspace(-30, 30, 41), 8.6, ulps=64, plain=False)


def test_new_arrays_are_arrays_not_scalars():
    def f(np, x):
        total = np.zeros(())
        alias = total
        total += x[0]
        also = np.asarray(x[1])
        again = also
        also += 1
        return alias, again, x

    check(f, V, plain=False)


BAD = {
    "negative extent": lambda np, v: np.zeros(-1),
    "float extent": lambda np, v: np.zeros(2.5),
    "linspace": lambda np, v: np.linspace(0, 1, -1),
    "ix_": lambda np, v: np.ix_(np.outer(v, v)),
    "diag": lambda np, v: np.diag_indices_from(v),
    "no dtype": lambda np, v: np.zeros(2, "nonsense"),
    "no copy": lambda np, v: np.asarray([1, 2], copy=False),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_as_by_numpy(case):
    same_refusal(BAD[case], V, plain=False)


def test_messages():
    assert refusal(lambda np, n: np.arange(n), 3, kind=DataDependentShapeError) == (
        "arange with a traced bound\n  at test_creation.py\n"
        "  its length would depend on a value that is not known while tracing; "
        "mark the argument static (static_argnums, static_argnames), or use arange(N) < n as a mask at the full size N"
    )
    assert refusal(lambda np, v: np.zeros(3, object), V, kind=DTypeError) == (
        "dtype object can't be traced\n  at test_creation.py\n"
        "  traced arrays hold bools, integers, floats and complex numbers of up to 64 bits a part; "
        "use such a dtype, or a pytree of arrays in place of a structured one"
    )
    assert refusal(lambda np, m: np.ix_(m > 0), V, kind=DataDependentShapeError) == (
        "ix_ of a traced mask\n  at test_creation.py\n"
        "  the extent of the result would depend on values that are not known while tracing; "
        "use a concrete mask, or where(mask, x, fill) on the whole array"
    )


def test_grids_that_are_not_copied_share_memory():
    def shift(x, y):
        column, row = numpy.meshgrid(x, y, copy=False, sparse=True, indexing="ij")
        column += 1
        wide, high = numpy.meshgrid(x, y, copy=False)
        copied, _ = numpy.meshgrid(x, y, sparse=True)
        copied += 100
        return row + column, wide, high

    expected = [numpy.arange(3.0), numpy.arange(2.0)]
    found = [x.copy() for x in expected]
    for a, b in zip(numhlo.jit(shift)(*found), shift(*expected), strict=True):
        numpy.testing.assert_array_equal(a, b)
    numpy.testing.assert_array_equal(found[0], [1, 2, 3])
    numpy.testing.assert_array_equal(found[0], expected[0])
