"""`custom_linear_solve` and `custom_root`, against JAX's, in all orders and directions."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import ShapeError, UnsupportedError

pytestmark = pytest.mark.usefixtures("first_answers")

RNG = np.random.default_rng(3)
MATRIX, SIDE = RNG.normal(size=(3, 3)) + 3 * np.eye(3), RNG.normal(size=3)


def jacobi(library, matvec, b):
    """Solve by iteration, in a loop of unknown length."""
    diagonal = library.numpy.diagonal(library.vmap(matvec, 0, 1)(np.eye(3)))
    step = lambda s: (s[0] + (b - matvec(s[0])) / diagonal, s[1] + 1)
    far = lambda s: (s[1] < 200) & (abs(b - matvec(s[0])).max() > 1e-14)
    return library.lax.while_loop(far, step, (b, 0))


def linear(library, a, b):
    solve = lambda matvec, b: jacobi(library, matvec, b)[0]
    return library.lax.custom_linear_solve(lambda x: a @ x, b, solve, solve)


def matrix_of(library, a):
    return library.numpy.tanh(a) * 0.3 + np.diag([3.0, 4.0, 5.0])


@pytest.mark.slow
def test_linear_solves_have_the_derivatives_that_jax_finds():
    ours = lambda a, b: (linear(numhlo, matrix_of(numhlo, a), b) ** 3).sum()
    theirs = lambda a, b: (linear(jax, matrix_of(jax, a), b) ** 3).sum()
    np.testing.assert_allclose(ours(MATRIX, SIDE), jax.jit(theirs)(MATRIX, SIDE), rtol=1e-12)
    for number in (0, 1):
        expected = jax.jit(jax.grad(theirs, number))(MATRIX, SIDE)
        for slope in (numhlo.grad(ours, number), numhlo.jit(numhlo.grad(ours, number)), numhlo.jacfwd(ours, number)):
            np.testing.assert_allclose(slope(MATRIX, SIDE), expected, rtol=1e-9)
    second = numhlo.jit(numhlo.hessian(ours, 1))(MATRIX, SIDE)
    np.testing.assert_allclose(second, jax.jit(jax.hessian(theirs, 1))(MATRIX, SIDE), rtol=1e-9, atol=1e-12)
    sides = np.stack([SIDE, 2 * SIDE])
    lanes = numhlo.jit(numhlo.vmap(numhlo.grad(ours), (None, 0)))(MATRIX, sides)
    np.testing.assert_allclose(lanes[1], jax.jit(jax.grad(theirs))(MATRIX, sides[1]), rtol=1e-9)
    total = numhlo.grad(lambda b: numhlo.vmap(lambda b: ours(MATRIX, b))(b).sum())(sides)
    np.testing.assert_allclose(total[1], jax.jit(jax.grad(theirs, 1))(MATRIX, sides[1]), rtol=1e-9)


@pytest.mark.slow
def test_symmetric_solves_of_pytrees_with_more_results():
    def fun(library, w, b):
        matvec = lambda x: {"a": w * x["a"], "b": 2 * x["b"]}
        solve = lambda matvec, b: ({"a": b["a"] / w, "b": b["b"] / 2}, 7)
        x, more = library.lax.custom_linear_solve(matvec, b, solve, symmetric=True, has_aux=True)
        return (x["a"] * x["b"]).sum() + more

    b = {"a": SIDE, "b": SIDE + 1}
    expected = jax.jit(jax.grad(lambda w, b: fun(jax, w, b), (0, 1)))(2.0, b)
    found = numhlo.jit(numhlo.grad(lambda w, b: fun(numhlo, w, b), (0, 1)))(2.0, b)
    np.testing.assert_allclose(found[0], expected[0])
    np.testing.assert_allclose(found[1]["b"], expected[1]["b"])


def newton(f, x, library):
    slope = lambda x: library.jacfwd(f)(x)
    solve = library.numpy.linalg.solve
    return library.lax.while_loop(lambda x: abs(f(x)).max() > 1e-13, lambda x: x - solve(slope(x), f(x)), x)


def root(library, a, k, has_aux=False):
    f = lambda x: x**3 + library.numpy.sin(x[::-1]) * a - k
    solve = lambda f, x: newton(f, x, library)
    dense = lambda g, y: library.numpy.linalg.solve(library.jacfwd(g)(y), y)
    if has_aux:
        return library.lax.custom_root(f, np.ones(2), lambda f, x: (solve(f, x), f(x)), dense, has_aux=True)
    return library.lax.custom_root(f, np.ones(2), solve, dense)


@pytest.mark.slow
def test_roots_have_the_derivatives_that_jax_finds():
    a, k = np.array([0.4, 0.7]), 3
    ours, theirs = lambda a: (root(numhlo, a, k) ** 2).sum(), lambda a: (root(jax, a, k) ** 2).sum()
    np.testing.assert_allclose(ours(a), theirs(a), rtol=1e-12)
    expected = jax.jit(jax.grad(theirs))(a)
    for slope in (numhlo.grad(ours), numhlo.jit(numhlo.grad(ours)), numhlo.jit(numhlo.jacfwd(ours))):
        np.testing.assert_allclose(slope(a), expected, rtol=1e-9)
    np.testing.assert_allclose(numhlo.hessian(ours)(a), jax.jit(jax.hessian(theirs))(a), rtol=1e-8)
    lanes = numhlo.jit(numhlo.vmap(numhlo.grad(ours)))(np.stack([a, a + 0.1]))
    np.testing.assert_allclose(lanes[1], jax.jit(jax.grad(theirs))(a + 0.1), rtol=1e-9)
    with_more = lambda a: root(numhlo, a, k, has_aux=True)[0].sum() + root(numhlo, a, k, has_aux=True)[1].sum()
    np.testing.assert_allclose(
        numhlo.grad(with_more)(a), jax.jit(jax.grad(lambda a: root(jax, a, k).sum()))(a), rtol=1e-9
    )


def test_mistakes():
    b = np.ones(3)
    one_way = lambda b: lax.custom_linear_solve(lambda x: 2 * x, b, lambda matvec, b: b / 2).sum()
    np.testing.assert_allclose(numhlo.jacfwd(one_way)(b), 0.5)
    with pytest.raises(UnsupportedError, match=r"(?s)without transpose_solve.*test_implicit_solves.*symmetric=True"):
        numhlo.grad(one_way)(b)
    with pytest.raises(ShapeError, match=r"(?s)matvec does not return what it takes.*float64\[3\].*same structure"):
        numhlo.grad(lambda b: lax.custom_linear_solve(lambda x: x[:2], b, lambda m, b: b).sum())(b)
    with pytest.raises(ShapeError, match="f does not return what it takes"):
        numhlo.jit(lambda b: lax.custom_root(lambda x: (x, b), b, None, None))(b)
