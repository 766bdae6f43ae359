"""Solvers that multiply by a matrix: NumPy's `solve` as the oracle, and JAX's signatures."""

from __future__ import annotations

import inspect

import jax.scipy.sparse.linalg
import numpy as np
import pytest

import numhlo
from numhlo.compat.jax import scipy as seen_as_jax
from numhlo.lowering.ir.errors import ShapeError
from numhlo.scipy.sparse import linalg

N = 12
RNG = np.random.default_rng(5)
GENERAL = RNG.normal(size=(N, N)) + 6 * np.eye(N)
DEFINITE = GENERAL @ GENERAL.T
RIGHT = RNG.normal(size=N)
SOLVERS = [(linalg.cg, DEFINITE), (linalg.bicgstab, GENERAL), (linalg.gmres, GENERAL)]
NAMES = ["cg", "bicgstab", "gmres"]


@pytest.mark.parametrize(("solver", "matrix"), SOLVERS, ids=NAMES)
def test_solutions(solver, matrix):
    wanted = np.linalg.solve(matrix, RIGHT)
    for preconditioner in (None, np.diag(1 / np.diag(matrix))):
        found, info = numhlo.jit(lambda a, b, m=preconditioner: solver(a, b, tol=1e-11, M=m))(matrix, RIGHT)
        assert info is None
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    np.testing.assert_allclose(solver(lambda x: matrix @ x, RIGHT, wanted, tol=1e-9)[0], wanted, atol=1e-9)
    assert np.linalg.norm(matrix @ solver(matrix, RIGHT)[0] - RIGHT) <= 1e-5 * np.linalg.norm(RIGHT)
    assert solver(matrix, RIGHT, maxiter=0)[0].tolist() == [0.0] * N


@pytest.mark.parametrize(("solver", "matrix"), SOLVERS, ids=NAMES)
def test_derivatives(solver, matrix):
    slopes = numhlo.jit(numhlo.grad(lambda a, b: (solver(a, b, tol=1e-12)[0] ** 2).sum(), (0, 1)))(matrix, RIGHT)
    solution = np.linalg.solve(matrix, RIGHT)
    of_right = np.linalg.solve(matrix.T, 2 * solution)
    np.testing.assert_allclose(slopes[1], of_right, atol=1e-9)
    np.testing.assert_allclose(slopes[0], -np.outer(of_right, solution), atol=1e-9)


def test_trees_complex_numbers_and_exact_guesses():
    found = linalg.cg(lambda t: {"a": 2 * t["a"], "b": 3 * t["b"]}, {"a": np.ones(2), "b": np.ones(())})[0]
    np.testing.assert_allclose(found["a"], [0.5, 0.5])
    np.testing.assert_allclose(found["b"], 1 / 3)
    matrix, right = GENERAL + 1j * DEFINITE / 30, RIGHT + 1j
    for solver in (linalg.bicgstab, linalg.gmres):
        np.testing.assert_allclose(solver(matrix, right, tol=1e-11)[0], np.linalg.solve(matrix, right), atol=1e-9)
        np.testing.assert_array_equal(solver(np.eye(3), np.ones(3))[0], np.ones(3))
        np.testing.assert_array_equal(solver(np.eye(3), np.zeros(3))[0], np.zeros(3))
    short = linalg.gmres(GENERAL, RIGHT, restart=4, tol=1e-10)[0]
    np.testing.assert_allclose(short, np.linalg.solve(GENERAL, RIGHT), atol=1e-8)


def test_names_are_jaxs():
    for name in NAMES:
        theirs, ours = (inspect.signature(getattr(m, name)) for m in (jax.scipy.sparse.linalg, linalg))
        assert [(p.name, p.kind, p.default) for p in theirs.parameters.values()] == [
            (p.name, p.kind, p.default) for p in ours.parameters.values()
        ]
    assert not seen_as_jax.sparse.linalg.cg(DEFINITE, RIGHT)[0].flags.writeable


def test_refusals():
    with pytest.raises(ShapeError, match=r"cg with A of shape \(3, 2\)"):
        linalg.cg(np.ones((3, 2)), np.ones(2))
    with pytest.raises(ShapeError, match="x0 of 2 elements for b of 3"):
        linalg.gmres(np.eye(3), np.ones(3), np.ones(2))
    with pytest.raises(AttributeError, match="use gmres, bicgstab or cg"):
        _ = linalg.minres
    with pytest.raises(AttributeError, match="segment_sum"):
        _ = numhlo.scipy.sparse.csr_array
