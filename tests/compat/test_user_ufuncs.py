"""`frompyfunc`, products of groups of rows, choices of a processor: what JAX gives."""

from __future__ import annotations

import jax
import jax.numpy
import numpy as np
import pytest

import numhlo.compat.jax as compat
from numhlo.lowering.ir.errors import ArgumentError, ImmutableArrayError, ShapeError

jax.config.update("jax_enable_x64", True)

X = np.arange(12.0).reshape(3, 4) - 5
WHERE = X % 3 > 0


def both(j):
    return j.numpy.frompyfunc(lambda x, y: x * 2 + y, 2, 1), j.numpy.frompyfunc(lambda x, y: x + y, 2, 1, identity=0)


def results(j, x):
    f, add = both(j)
    half = j.numpy.frompyfunc(lambda x: (x / 2, x > 0), 1, 2)
    return [
        f(x, 3), *half(x), f.outer(x[0], x), f.reduce(x), f.reduce(x, axis=1, keepdims=True), f.reduce(x, axis=None),
        f.reduce(x, initial=7.0), add.reduce(x, axis=1, where=WHERE), f.reduce(x, axis=None, initial=1.0, where=WHERE),
        add.reduce(x[:0]), f.accumulate(x), f.accumulate(x, axis=1), f.reduceat(x, np.array([0, 2, 1]), axis=1),
        f.at(x, np.array([0, 2, 0]), 2.0, inplace=False), half.nargs, f.reduce(x > 0),
        f.at(x, (np.array([0, 2, 0]), np.array([1, 1, 1])), np.arange(3.0), inplace=False),
        j.lax.ragged_dot(x, np.arange(24.0).reshape(2, 4, 3), np.array([1, 1])),
        *j.lax.approx_max_k(x, 2), *j.lax.approx_min_k(x, 1, reduction_dimension=0),
        j.lax.platform_dependent(x, cpu=lambda x: x + 1, default=lambda x: x),
        j.vmap(lambda x: x * 2, spmd_axis_name=None)(x),
    ]  # fmt: skip


def test_as_in_jax():
    wanted = jax.jit(lambda x: results(jax, x))(X)
    for found in (results(compat, compat.numpy.asarray(X)), compat.jit(lambda x: results(compat, x))(X)):
        for mine, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(mine, np.asarray(other), rtol=1e-12, strict=not np.isscalar(mine))


def test_slopes():
    def total(j, x):
        weighted = j.lax.ragged_dot(x, np.ones((2, 4, 3)), np.array([2, 1]))
        return (both(j)[0].reduce(x, axis=1) ** 2).sum() + (weighted**2).sum()

    wanted = jax.jit(jax.grad(lambda x: total(jax, x)))(X)
    np.testing.assert_allclose(compat.grad(lambda x: total(compat, x))(X), wanted, rtol=1e-12)


def test_refusals():
    f, add = both(compat)
    single = compat.numpy.frompyfunc(lambda x: -x, 1, 1)
    for call, error, text in [
        (
            lambda: single.reduce(X),
            ArgumentError,
            r"\.reduce of 1 arguments and 1 results\n(?s:.*)it needs two and one",
        ),
        (lambda: single(X, X), ArgumentError, "with 2 arguments\n(?s:.*)give 1"),
        (lambda: f.reduce(X, where=WHERE), ArgumentError, "give initial="),
        (lambda: f.reduce(X[:0]), ArgumentError, "of no elements\n(?s:.*)give initial="),
        (lambda: f.at(X, 0, 1), ImmutableArrayError, "inplace=False"),
        (lambda: f.at(X, slice(2), 1, inplace=False), ArgumentError, "arrays of integers"),
        (lambda: add.accumulate(X, out=X), ArgumentError, "use the result"),
        (lambda: compat.lax.ragged_dot(X, X, X), ShapeError, r"give \(m, k\), \(g, k, n\) and \(g,\)"),
        (lambda: compat.lax.platform_dependent(X, tpu=abs), ArgumentError, "give cpu= or default="),
    ]:
        with pytest.raises(error, match=text):
            call()
