"""Slices whose bounds are traced: read, written and updated as NumPy does, or refused."""

from __future__ import annotations

import numpy
import pytest

import numhlo
from numhlo.lowering.ir.errors import DataDependentShapeError, DTypeError, MutationError
from tests.library.agreement import check

X, M, K = numpy.arange(6.0) + 1, numpy.arange(16.0).reshape(4, 4), numpy.arange(6) + 3


def written(np, x, i):
    x[i:] = 0
    x[i : i + 2] += 10
    x[: i - 1] *= 2
    x[:-i] -= 1
    x[i + 10 :] = 5
    return x


def read(np, x, i):
    head, tail = x[:i], x[i:]
    sums = head.sum(), tail.max(initial=-9), x[1 : i + 1].mean(), x[i : i + 2].prod(), (head**2).sum(), np.any(head > 2)
    return *sums, head.size, np.sum(tail), tail.size, tail[0], head[-1], np.median(x[: i + 1]), x[-i:].sum()


def copied(np, x, i):
    y = np.zeros_like(x)
    y[:i] = x[:i] * 2
    y[i:] = x[i:] + y[i:]
    return y


def seen_as_views(np, x, i):
    tail, head, kept = x[i:], x[:i], x[:i].copy()
    tail += 1
    x[0] = 100
    tail *= 2
    tail -= tail.mean()
    return tail.sum(), head.sum(), kept.sum()


def of_matrices(np, m, i):
    m[i:, 0] = 5
    m[0, :i] = -2
    m[:, i:] = 9
    m[..., :i] = 7
    m[:i] = np.arange(4.0)
    m[i:] -= 1
    return m[:i].sum(axis=0), m[i:, 1].sum(), m[:i].max(), m[:i].sum(axis=1).sum()


def in_steps(np, x, i):
    x[i::2] = 0
    x[:i:2] = 50
    return x[i::3].sum()


def of_integers(np, k, i):
    k[i:] //= 2
    k[:i] <<= 1
    return k[:i].sum()


@pytest.mark.parametrize("place", [1, 2, 3])
def test_as_numpy(place):
    i = numpy.asarray(place)
    for function, array in (
        (written, X), (read, X), (copied, X), (seen_as_views, X), (in_steps, X), (of_integers, K),
    ):  # fmt: skip
        check(function, array, i, label=function.__name__)
    check(of_matrices, M, i)


def test_transformed():
    assert numhlo.grad(lambda x, i: (x[:i] ** 2).sum())(X, 2).tolist() == [2, 4, 0, 0, 0, 0]
    assert numhlo.vmap(lambda i: (i * 0 + numpy.ones(6))[:i].sum())(numpy.arange(4)).tolist() == [0, 1, 2, 3]


def test_in_rewritten_loops():
    def upto(x):
        i = 0
        while x[i] < 4:
            i += 1
        x[i:] = 0
        return x[:i].sum()

    x = X.copy()
    assert numhlo.jit(upto, autograph=True)(x) == 6 and x.tolist() == [1, 2, 3, 0, 0, 0]


REFUSED = [
    lambda x, i: x[:i] + x[i:],
    lambda x, i: x[i::-1],
    lambda x, i: x[::i],
    lambda x, i: x[i:][1:],
    lambda x, i: x[None, i:].sum(),
    lambda x, i: x.__setitem__(slice(i), numpy.ones(3)),
    lambda x, i: x.__setitem__(slice(i), x[i:]),
    lambda x, i: x[i:].__setitem__(0, 1),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_refused(case):
    with pytest.raises(DataDependentShapeError, match=r"^a slice with a traced bound\n.*\n.*lax\.dynamic_slice"):
        numhlo.jit(REFUSED[case])(X.copy(), 2)


def test_what_numpy_refuses():
    def widened(i):
        k = numpy.arange(6)
        k[i:] += 0.5

    def constant(i):
        w = numpy.broadcast_to(numpy.asarray(i), (3,))
        w[i:] = 1

    with pytest.raises(DTypeError, match="cannot cast float64"):
        numhlo.jit(widened)(2)
    with pytest.raises(MutationError, match="can't write into a broadcast view"):
        numhlo.jit(constant)(2)
