"""Strides of reshapes against NumPy's own, on random layouts."""

from __future__ import annotations

import numpy as np

from numhlo.lowering.ops.strides import are_contiguous, contiguous_strides, reshaped_strides


def random_factors(rng, size):
    factors = []
    while size > 1:
        factors.append(int(rng.choice([d for d in range(2, size + 1) if size % d == 0])))
        size //= factors[-1]
    for _ in range(rng.integers(0, 3)):
        factors.insert(rng.integers(0, len(factors) + 1), 1)
    return factors


def test_reshapes_are_views_where_numpys_are():
    rng = np.random.default_rng(1)
    views = 0
    for _ in range(3000):
        ndim = rng.integers(0, 5)
        a = np.zeros(rng.integers(1, 5, ndim), rng.choice(["f8", "i4", "c16"])).transpose(rng.permutation(ndim))
        steps = [slice(rng.integers(0, 2), None, int(rng.choice([1, 1, 1, 2, -1]))) for _ in range(ndim)]
        a = a[(*steps, ...)]
        assert are_contiguous(a.shape, a.strides, a.itemsize) == a.flags.c_contiguous
        if a.size == 0:
            continue
        shape = random_factors(rng, a.size)
        b = a.reshape(shape)
        found = reshaped_strides(a.shape, a.strides, shape, a.itemsize)
        assert (found is not None) == np.shares_memory(a, b)
        if found is not None:
            views += 1
            assert all(n == 1 or s == t for n, s, t in zip(shape, found, b.strides, strict=True))
    assert 1000 < views < 2900


def test_contiguous_strides():
    for shape in [(), (3,), (2, 3, 4), (2, 0, 3)]:
        a = np.zeros(shape)
        wanted = contiguous_strides(shape, 8)
        assert wanted == a.strides or a.size == 0
        assert are_contiguous(shape, wanted, 8)
