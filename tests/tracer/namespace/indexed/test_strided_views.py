"""``as_strided`` while tracing: elements by their distances in memory, which the array must have."""

from __future__ import annotations

import numpy
import pytest
from numpy.lib import stride_tricks

import numhlo
from tests.tracer.namespace.agreement import check, refusal

X = numpy.arange(12.0).reshape(3, 4)


def as_strided(np, *args, **kwargs):
    return np.lib.stride_tricks.as_strided(*args, **kwargs)


@pytest.mark.parametrize("array", [X, X.T, X[::-1, ::2], X[1:, 1:]], ids=["C", "F", "backwards", "part"])
def test_reading(array):
    def f(np, x):
        a, b = x.strides
        turned = as_strided(np, x, (x.shape[1], x.shape[0]), (b, a))
        return turned, as_strided(np, x, (2, 2, 2), (a, b, 0)), as_strided(np, x), x.strides

    check(f, array, plain=False)


def test_writing():
    def f(np, x):
        corner = as_strided(np, x, (2,), (x.strides[0] + x.strides[1],))
        corner[:] = 7
        corner += x[0, :2]
        windows = as_strided(np, x[0], (3, 2), (8, 8))
        x[0, 1] = -1
        return corner + 0, windows.sum(1)

    check(f, X.copy(), plain=False)


def test_plain_numpy():
    def f(x, beta):
        half = as_strided_by_name(x, (6,), (16,))
        return half * 2, numpy.kaiser(5, beta)

    as_strided_by_name = stride_tricks.as_strided
    for found, wanted in zip(numhlo.jit(f)(X, 3.5), f(X, 3.5), strict=True):
        numpy.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_elements_that_are_not_there():
    text = refusal(lambda np, x: as_strided(np, x[:, ::2], (3, 4), (32, 8)), X)
    assert (
        text.splitlines()[0] == "as_strided of float64[3,2]: shape (3, 4) and strides (32, 8) reach beyond its elements"
    )
    assert "the array's own strides are (32, 16)" in text
    assert "differ in length" in refusal(lambda np, x: as_strided(np, x, (3,), (8, 8)), X)

    def write(np, x):
        as_strided(np, x, (2,), (8,), writeable=False)[0] = 1

    assert "writeable=False" in refusal(write, X)
