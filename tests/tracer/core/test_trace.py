"""Traces: what becomes of concrete arrays, and views across traces."""

from __future__ import annotations

import numpy as np

import numhlo
from numhlo import lax


def test_a_buffer_that_is_used_twice_with_other_contents():
    for size in (4, 4000):  # a constant op, and a hidden argument

        def f(x, size=size):
            buffer = np.ones(size)
            y = x + buffer
            buffer[:] = 2
            return y * buffer

        def looped(x, f=f):
            return lax.scan(lambda c, _: (f(c), None), x, length=1)[0]

        def nested(x, f=f):
            return numhlo.jit(f)(x)

        for g in (f, looped, nested):
            np.testing.assert_array_equal(numhlo.jit(g)(np.ones(size)), np.full(size, 4.0))


def test_views_of_outer_arrays_with_inner_offsets():
    table = np.arange(12.0).reshape(4, 3)

    def f(table, n):
        def body(i, total):
            row = table[i]
            inner = lax.fori_loop(0, 2, lambda j, t: t + row[j] * table[i, j + 1], 0.0)
            return total + inner

        return lax.fori_loop(0, n, body, 0.0)

    assert numhlo.jit(f)(table, 4) == sum(table[i, j] * table[i, j + 1] for i in range(4) for j in range(2))


def test_captures_through_several_traces():
    big = np.arange(3000.0)

    @numhlo.jit
    def f(x):
        def inner(c, _):
            return numhlo.jit(lambda v: v + big.sum() * 0 + (big * x).sum())(c), None

        return lax.scan(inner, 0.0, length=3)[0]

    assert f(2.0) == 3 * 2 * big.sum()
    big[0] = 100
    assert f(2.0) == 3 * 2 * big.sum()
