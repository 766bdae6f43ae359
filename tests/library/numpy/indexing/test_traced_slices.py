"""Slices whose bounds are traced: read, written and updated as NumPy does, or refused."""

from __future__ import annotations

import itertools

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


def turned_around(np, x, i):
    y, head = np.zeros_like(x), x[:i]
    y[:i] = x[:i][::-1] * 2
    y[i:] = np.flip(x[i:])
    both = np.dot(np.flip(x[:i]), x[:i]), (np.flipud(x[1:i]) - x[1:i]).sum(), np.flip(head + 1).max(initial=-9)
    return y, *both, np.dot(head, np.flip(head, 0))


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
        (written, X), (read, X), (copied, X), (turned_around, X), (seen_as_views, X), (in_steps, X), (of_integers, K),
    ):  # fmt: skip
        check(function, array, i, label=function.__name__)
    check(of_matrices, M, i)


def shifted(np, x, i):
    x[i:-1] = x[i + 1 :]
    x[i + 1 :] = x[i:-1]
    x[i:-2] = x[i + 2 :] * 2 + x[i + 1 : -1]
    x[: i - 1] = x[1:i]
    x[1 : i + 1] += x[:i]
    x[i : i + 2] = x[i - 1 : i + 1]
    return x


def inserted_and_removed(np, x, i, n):
    x[i + 1 : n] = x[i : n - 1]
    x[i] = 50
    x[0 : n - 1] = x[1:n]
    return x


def from_another_array(np, x, m, i, j):
    y = np.concatenate([x, x[:3]])
    y[j : j + 2] = x[i : i + 2]
    y[i + 4 : i + 7] = x[i - 1 : i + 2]
    y[:i] = x[j : i + j]
    m[i:-1] = m[i + 1 :]
    m[0, i:-1] = m[1, i + 1 :]
    m[i - 1 : 3, 1] = x[i:4]
    y[i : i + 2] = x[i + 4 : i + 6]  # one element in the end, which is repeated
    return y, m, (x[i:-1] - x[i + 1 :]).sum()


@pytest.mark.parametrize("place", [1, 2, 3])
def test_slices_of_as_many_elements(place):
    i = numpy.asarray(place)
    check(shifted, X, i)
    check(shifted, K, i)
    for count in range(place + 1, 7):
        check(inserted_and_removed, X, i, numpy.asarray(count))
    for other in (0, 2):
        check(from_another_array, X, M, numpy.asarray(min(place, 1)), numpy.asarray(other))


def from_before(x, y, i, j):
    x[i - 2 : j + i] = y[i - 4 : j + i - 2] * 2


def added_from_behind(x, y, i, j):
    x[i : j + i] += y[i + 1 : j + i + 1]


def from_the_longer_one(x, y, i, j):
    x[i + j - 1 : i] = y[i + j - 1 : i]


def into_the_longer_one(x, y, i, j):
    y[j:-5] = x[j + 2 :]


def two_of_each(x, y, i, j):
    x[i : i + 2] += y[j : j + 2] - x[i + 1 : i + 3]


@pytest.mark.parametrize(
    "move", [from_before, added_from_behind, from_the_longer_one, into_the_longer_one, two_of_each]
)
def test_slices_are_counted_from_either_end_and_cut_as_numpy_does(move):
    def function(x, y, i, j):
        move(x, y, i, j)
        return x, y

    compiled, seen = numhlo.jit(function), 0
    for i, j in itertools.product(range(-4, 8), range(-2, 4)):
        x, y = X.copy(), numpy.arange(9.0) * 10
        try:
            function(x, y, i, j)
        except ValueError:  # extents that differ
            continue
        found = compiled(X.copy(), numpy.arange(9.0) * 10, i, j)
        for left, right in zip(found, (x, y), strict=True):
            numpy.testing.assert_array_equal(left, right, str((i, j)))
        seen += 1
    assert seen > 20


@pytest.mark.parametrize("transform", [lambda f: f, numhlo.vmap], ids=["grad", "vmap of grad"])
def test_derivatives_of_shifts(transform):
    weights = numpy.array([2.0, 3, 5, 7, 11, 13])

    def total(x, i):
        left, right = x.copy(), x.copy()
        left[i:-1] = left[i + 1 :]
        right[i + 1 :] = right[i:-1]
        return (left * weights).sum() + (right**2 * weights).sum()

    def slopes(x, i):  # one element is left out, and one is there twice
        found = numpy.zeros(6)
        numpy.add.at(found, [*range(i), *range(i + 1, 6), 5], weights)
        places = [*range(i + 1), *range(i, 5)]
        numpy.add.at(found, places, 2 * x[places] * weights)
        return found

    rows, places = numpy.stack([X, X[::-1], X + 0.5]), numpy.array([0, 2, 5])
    compiled = numhlo.jit(transform(numhlo.grad(total)))
    for _ in range(3):
        if transform is numhlo.vmap:
            found = compiled(rows, places)
        else:
            found = [compiled(row, place) for row, place in zip(rows, places, strict=True)]
        numpy.testing.assert_allclose(found, [slopes(*pair) for pair in zip(rows, places, strict=True)])
        compiled.wait()


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
