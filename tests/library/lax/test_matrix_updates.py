"""Reflectors, rank-one updates, tridiagonal systems, local convolutions: JAX, NumPy and LAPACK are the oracles."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from scipy.linalg import lapack

import numhlo
from numhlo.lax import linalg
from numhlo.lowering.ir.errors import ShapeError, UnsupportedError

jax.config.update("jax_enable_x64", True)


def both_ways(f, *arrays):
    """Return what a function gives at once and jitted, which must be the same."""
    now, jitted = f(*arrays), numhlo.jit(f)(*arrays)
    np.testing.assert_allclose(now, jitted, rtol=1e-12, atol=1e-14)
    return now


def near(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)


def test_products_of_reflectors(rng):
    for matrix in (rng.normal(size=(5, 3)), rng.normal(size=(3, 5)), rng.normal(size=(4, 3)) * (1 + 2j)):
        geqrf, orgqr = (lapack.zgeqrf, lapack.zungqr) if matrix.dtype.kind == "c" else (lapack.dgeqrf, lapack.dorgqr)
        stored, taus = geqrf(matrix)[:2]
        rows, columns = matrix.shape
        if rows >= columns:
            near(both_ways(linalg.householder_product, stored, taus), orgqr(stored, taus)[0])
        square = np.zeros((rows, rows), matrix.dtype)
        square[:, : min(rows, columns)] = stored[:, :rows]
        q = orgqr(square, taus)[0]
        c = rng.normal(size=(rows, 2)).astype(matrix.dtype)
        near(both_ways(linalg.ormqr, stored, taus, c), q @ c)
        near(linalg.ormqr(stored, taus, c, transpose=True), q.conj().T @ c)
        near(linalg.ormqr(stored, taus, c.T, left=False), c.T @ q)
        near(linalg.ormqr(stored, taus, c.T, left=False, transpose=True), c.T @ q.conj().T)
        batch = numhlo.vmap(linalg.ormqr, in_axes=(None, None, 0))(stored, taus, np.stack([c, 2 * c]))
        near(batch, np.stack([q @ c, 2 * q @ c]))


def test_updates_and_symmetric_products(rng):
    factor = np.linalg.cholesky(np.cov(rng.normal(size=(3, 9)))).T
    w = rng.normal(size=3)
    found = both_ways(linalg.cholesky_update, factor, w)
    near(found.T @ found, factor.T @ factor + np.outer(w, w))
    near(found, np.triu(found))
    with pytest.raises(ShapeError, match="one square matrix and one vector"):
        linalg.cholesky_update(factor, w[:2])
    a, c = rng.normal(size=(2, 3, 2)), rng.normal(size=(2, 3, 3))
    c += c.swapaxes(1, 2)
    found = both_ways(lambda x, y: linalg.symmetric_product(x, y, alpha=2.0, beta=0.5), a, c)
    near(found, 2 * a @ a.swapaxes(1, 2) + 0.5 * c)


def test_tridiagonal_systems(rng):
    for m in (1, 2, 5):
        below, middle, above = rng.normal(size=(3, 2, m))
        middle[:, ::2] *= 1e-3  # rows are exchanged
        below[:, 0] = above[:, -1] = 0
        full = np.stack(
            [np.diag(d) + np.diag(x[1:], -1) + np.diag(y[:-1], 1) for x, d, y in zip(below, middle, above, strict=True)]
        )
        right = rng.normal(size=(2, m, 2))
        near(both_ways(linalg.tridiagonal_solve, below, middle, above, right), np.linalg.solve(full, right))
    assert linalg.tridiagonal_solve(*np.zeros((3, 0)), np.zeros((0, 2))).shape == (0, 2)
    with pytest.raises(UnsupportedError, match="add to the diagonal yourself"):
        linalg.tridiagonal_solve(*np.ones((3, 1)), np.ones((1, 1)), perturb_singular=True)


@pytest.mark.parametrize("layout", [None, ("NHWC", "HWIO", "NHWC")])
def test_local_convolutions(rng, layout):
    x, kernel, padding = rng.normal(size=(2, 3, 5, 6)), rng.normal(size=(4, 12, 3, 6)), "SAME"
    if layout:
        x, kernel = x.transpose(0, 2, 3, 1), kernel.transpose(2, 3, 1, 0)
    local = lambda lax, a, k: lax.conv_general_dilated_local(a, k, (2, 1), padding, (2, 2), dimension_numbers=layout)
    near(both_ways(lambda a, k: local(numhlo.lax, a, k), x, kernel), local(jax.lax, x, kernel))
    with pytest.raises(ShapeError, match="give every place of the result a kernel"):
        local(numhlo.lax, x, kernel[:, :2])
