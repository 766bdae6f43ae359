"""``as_strided`` and windows while tracing: elements by their distances in memory, which the array must have."""

from __future__ import annotations

import numpy
import pytest
from numpy.lib import stride_tricks

import numhlo
from tests.library.agreement import check, refusal, same_refusal

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


def sliding_window_view(np, *args, **kwargs):
    return np.lib.stride_tricks.sliding_window_view(*args, **kwargs)


def test_windows_show_what_is_written_afterwards():
    def f(np, x):
        rows = sliding_window_view(np, x, 2, -1)
        both = sliding_window_view(np, x[:, ::-1], (2, 3), writeable=True)
        twice = sliding_window_view(np, x, [2, 2], (1, 1))
        part = rows[1:, :, 0].T
        before = rows + 0
        x[1, 2] = 50
        x[0] += part[0, 0]
        return rows, both, twice, part, before, rows.reshape(-1), rows.sum(-1), rows.strides, both.strides

    check(f, X.copy())
    check(f, X.T.copy().T)


def test_windows_can_not_be_written():
    def write(writeable):
        def f(np, x):
            sliding_window_view(np, x, 2, -1, writeable=writeable)[0] = 1

        return f

    same_refusal(write(False), X)
    assert "read-only, as in NumPy" in refusal(write(False), X)
    text = refusal(write(True), X)
    assert "several of its elements may be one element of the array" in text
    assert "w[i, j] is x[i + j]; or into a copy" in text
    for arguments in ((2,), ((2, 3, 1),), (5, 1), (-1, 1), ((1, 5), (0, 1)), (2, 2)):
        same_refusal(lambda np, x, arguments=arguments: sliding_window_view(np, x, *arguments), X)


def test_writing_into_elements_that_are_shown_twice():
    def write(np, x):
        as_strided(np, x, (3, 2), (8, 8))[0] = 9

    assert "several of its elements may be one element of the array" in refusal(write, X)
