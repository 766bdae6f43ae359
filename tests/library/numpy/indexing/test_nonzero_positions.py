"""``np.where(mask)``, ``np.nonzero(mask)`` of traced masks: indexing, arithmetic, and refusals of what needs a number."""

from __future__ import annotations

import numpy
import pytest

import numhlo
from tests.library.agreement import check, refusal

X = numpy.array([[3.0, -1.0, 2.5, 0.0], [7.0, 1.5, -2.0, 4.0], [0.5, 6.0, 1.0, -3.0]])
LINE = numpy.array([3.0, -1.0, 2.5, 0.0, 7.0, -2.0])


def test_one_axis():
    def f(np, x, y, z):
        x[np.where(x < 0)] = 0.5
        x[np.nonzero(x > 2)] *= 2
        (i,) = np.nonzero(x > 1)
        y[i] = x[i] - 1
        z[i + 3] = 7.0
        z[i] += x[i - 1] * y[i]
        return x[i].sum(), (x[i - 1] - x[i]).max(), i.sum(), (i * 2).mean(), i.size, np.sum(i == 4), i.dtype.itemsize

    check(f, LINE, LINE * 3, numpy.zeros(12), ulps=16)


def test_several_axes():
    def f(np, x, y, z, w):
        i, j = np.where(x > 1)
        y[i, j] += x[i, j]
        z[j, i] = 9.0
        y[i, 0] -= 0.0
        k = np.flatnonzero(x > 2)
        rows = np.where(x[:, 0] > 1)[0]
        z[2, rows] *= 4
        w[k] = np.ravel(x)[k]
        return y[i, j].sum(), x[rows].sum(0), x[rows, 1:3].max(), y[i].mean(0)

    check(f, X, X * 3, X.T * 2, numpy.zeros(12), ulps=16)


def test_positions_out_of_an_array():
    def f(np, x, order, y, z):
        chosen = order[x > 0]
        y[chosen] += 1
        z[order[x > 0]] = x[x > 0]
        return y[chosen].sum(), np.compress(x > 0, x).sum(), np.extract(x > 1, x).max(), x[:4].compress(x[:3] > 0).sum()

    order = numpy.array([3, 1, 4, 0, 5, 2], numpy.int8)
    check(f, LINE, order, numpy.zeros(6), numpy.zeros(6), ulps=16)


def test_single_ones_and_rows():
    def f(np, x, y):
        i, j = np.where(x > 0.5)
        found = np.argwhere(x > 0.5)
        a, b = found[1]
        y[found[:, 0], found[:, 1]] += 1
        y[a, b] = 9
        box = found.min(axis=0), found.max(axis=0), found.mean(axis=0), x[tuple(found.T)].sum()
        return i[0], j[-1], np.flatnonzero(x > 2)[2], x[i[0], j[0]], found[0], found[-1, 1], found[2][0], box

    check(f, X, X * 2)


def test_transformations(rng):
    f = lambda x: (x[numpy.where(x > 0)] ** 2).sum()
    x = rng.normal(size=(3, 8))
    numpy.testing.assert_allclose(numhlo.grad(f)(x), numpy.where(x > 0, 2 * x, 0))
    numpy.testing.assert_allclose(numhlo.vmap(f)(x), [f(row) for row in x])


@pytest.mark.parametrize(
    "program",
    [
        lambda np, x: len(np.where(x > 0)[0]),
        lambda np, x: np.where(x > 0)[0][:1],
        lambda np, x: np.argwhere(x > 0)[:2],
        lambda np, x: [i for i in np.where(x > 0)[0]],  # noqa: C416 - what is tested is the loop
        lambda np, x: np.where(x > 0)[1].reshape(1, -1),
        lambda np, x: np.argwhere(x > 0).reshape(-1),
        lambda np, x: x[np.where(x > 0)[0][:, None]],
        lambda np, x: x[:, np.where(x > 0)[1]],
        lambda np, x: np.power.at(x, np.where(x > 0)[0], 2),
    ],
)
def test_what_needs_their_number(program):
    assert refusal(program, X).splitlines()[0] == "nonzero of a traced array bool[3,4]"


def test_repeated_updates_orders_and_numbers():
    def updates(np, x, bins, mask, counts):
        np.add.at(x, np.where(x > 0), 2)
        np.add.at(counts, bins[mask], x[0][mask])
        np.subtract.at(counts, bins[np.where(mask)], 1)
        np.maximum.at(counts, bins[mask], 0.25)
        y = x[x > 0.5]
        return (
            counts,
            np.median(y),
            np.percentile(y, [20, 70]),
            np.quantile(y, 0.3),
            y.size,
            np.dot(y, y),
            y.shape[0],
        )

    check(updates, X, numpy.array([1, 3, 1, 1]), numpy.array([True, True, False, True]), numpy.zeros(4))
    check(lambda np, x: np.median(x[x > 0]), numpy.array([1.0, numpy.nan, 3.0, -1.0]))
    f = numhlo.jit(lambda x: (len(x[x > 0]), len(numpy.where(x > 0)[0]) / 2, len(x)))
    assert [float(n) for n in f(LINE)] == [(LINE > 0).sum(), (LINE > 0).sum() / 2, len(LINE)]


def test_another_mask_is_refused():
    def f(np, x):
        x[np.where(x > 0)[0] + 1] = LINE[np.where(x > 1)] if np is numpy else x[np.where(x > 1)]

    assert "x[mask] with a traced boolean mask bool[6]" in refusal(f, LINE)
