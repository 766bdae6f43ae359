"""Programs that people differentiate: values and gradients against JAX, in all orders of `jit`, `vmap` and `grad`."""

from __future__ import annotations

from typing import Any

import jax
import jax.export
import numpy as np
import pytest

import numhlo
from tests.end_to_end.differentiable_programs import PROGRAMS, X

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("first_answers")]

BACKWARDS_ONLY = ("implicit solve", "neural ode")
"""Programs with a custom_vjp function, which has no forward mode."""


def assert_same(ours: Any, expected: Any, what: str) -> None:
    mine, theirs = jax.tree.leaves(ours), jax.tree.leaves(expected)
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        scale = max(1e-3, float(np.max(np.abs(b), initial=0.0)))
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9 * scale, err_msg=what)


def on_xla(fun: Any, *args: Any) -> Any:
    """Return a function compiled by XLA without the passes that cost more time than they save here."""
    return jax.jit(fun).lower(*args).compile({"xla_backend_optimization_level": 0})


def stacked(*trees: Any) -> Any:
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients(name: str) -> None:
    program, (parameters, *data) = PROGRAMS[name]
    others = jax.tree.map(lambda x: x * 0.9 + 0.01, parameters)
    theirs = on_xla(jax.value_and_grad(lambda p: program(jax, p, *data)), parameters)
    expected, of_others = theirs(parameters), theirs(others)
    fun = lambda p: program(numhlo, p, *data)
    both = numhlo.value_and_grad(fun)
    pair = stacked(parameters, others)
    assert_same(both(parameters), expected, "value_and_grad")
    assert_same(numhlo.jit(numhlo.vmap(both))(pair), stacked(expected, of_others), "jit of vmap of grad")
    order = list(PROGRAMS).index(name) % 3  # each program in one order more
    if order == 0:
        assert_same(numhlo.jit(both)(parameters), expected, "jit of value_and_grad")
    elif order == 1:
        total = lambda ps: numhlo.vmap(numhlo.jit(fun))(ps).sum()
        assert_same(numhlo.jit(numhlo.grad(total))(pair), stacked(expected[1], of_others[1]), "grad of vmap of jit")
    elif name not in BACKWARDS_ONLY:
        slope = numhlo.jit(lambda p, t: numhlo.jvp(fun, (p,), (t,))[1])(parameters, others)
        rates = jax.tree.map(lambda g, t: (g * t).sum(), expected[1], others)
        assert_same(slope, sum(jax.tree.leaves(rates)), "jit of jvp")


def _eigenvectors(lib: Any, x: Any) -> Any:
    w, v = lib.numpy.linalg.eigh(x + x.T)
    return (abs(v) * w).sum()


@pytest.mark.parametrize(
    "name", ["mlp", "convolution", "lstm", "embedding", "kalman", "gaussian process", "eigenvectors"]
)
def test_imported_programs(name: str) -> None:
    """What JAX exports is differentiated and batched here, its counted loops included."""
    program, (parameters, *data) = PROGRAMS.get(name, (_eigenvectors, (X[:3, :3],)))
    leaves, tree = jax.tree.flatten(parameters)
    fun = lambda *leaves: program(jax, jax.tree.unflatten(tree, leaves), *data)
    text = jax.export.export(jax.jit(fun))(*leaves).mlir_module()
    imported = numhlo.stablehlo.parse(text).callable("main")
    scalar = lambda *leaves: jax.tree.leaves(imported(*leaves))[0]
    places = tuple(range(len(leaves)))
    expected = on_xla(jax.grad(fun, places), *leaves)(*leaves)
    assert_same(numhlo.jit(numhlo.grad(scalar, places))(*leaves), expected, "gradient")
    lanes = numhlo.jit(numhlo.vmap(numhlo.grad(scalar, places)))(*stacked(leaves, leaves))
    assert_same(lanes, stacked(expected, expected), "gradients of lanes")


def test_adaptive_steps_forwards() -> None:
    """Forward mode through a solver that chooses its steps, and reverse mode where states are kept."""

    def solve(lib: Any, loop: Any, k: Any) -> Any:
        np = lib.numpy

        def step(state: Any) -> Any:
            t, y, h = state
            slope = -k * y + np.sin(t)
            coarse, fine = y + h * slope, y + h * (slope + (-k * (y + h * slope) + np.sin(t + h))) / 2
            error = np.abs(fine - coarse) + 1e-12
            taken = error < 1e-3
            h = h * np.clip(0.9 * np.sqrt(1e-3 / error), 0.2, 2.0)
            return np.where(taken, t + h, t), np.where(taken, fine, y), np.minimum(h, 2.001 - t)

        return loop(lambda s: s[0] < 2.0, step, (0.0 * k, 1.0 + 0 * k, 0.1 + 0 * k))[1]

    value, slope = jax.jit(lambda k: jax.jvp(lambda k: solve(jax, jax.lax.while_loop, k), (k,), (1.0,)))(1.5)
    ours = lambda k: solve(numhlo, numhlo.lax.while_loop, k)
    assert_same(numhlo.jit(lambda k: numhlo.jvp(ours, (k,), (1.0,)))(1.5), (value, slope), "jvp")
    lanes = numhlo.jit(numhlo.vmap(lambda k: numhlo.jvp(ours, (k,), (1.0,))))(np.array([1.5, 0.3]))
    assert_same((lanes[0][0], lanes[1][0]), (value, slope), "vmap of jvp")
    backwards = numhlo.jit(numhlo.grad(lambda k: solve(numhlo, numhlo.checkpointed_while_loop, k)))
    assert_same(backwards(1.5), slope, "reverse mode")
