"""`jax.experimental.ode` and `jax.make_jaxpr` under JAX's names."""

from __future__ import annotations

import jax
import jax.experimental.ode
import jax.numpy as jnp
import numpy as np
import pytest

import numhlo
import numhlo.compat.jax as compat
from numhlo.compat.jax.experimental.ode import odeint
from numhlo.lowering.ir.errors import DTypeError, ShapeError, UnsupportedError

jax.config.update("jax_enable_x64", True)
START, TIMES = np.array([1.0, 0.0]), np.linspace(0.0, 3.0, 4)


def driven(lib):
    def slope(y, t, stiffness, force):
        return lib.stack([y[1], -stiffness * y[0] + force["a"] * lib.sin(t)])

    return slope


def test_solutions_are_jaxs():
    arguments = START, TIMES, 2.0, {"a": 0.5}
    wanted = jax.experimental.ode.odeint(driven(jnp), *arguments)
    found = compat.jit(lambda *x: odeint(driven(compat.numpy), *x))(*arguments)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    assert not found.flags.writeable and found.shape == (4, 2)


@pytest.mark.slow
def test_derivatives_are_jaxs():
    def loss(solve, lib, *arguments):
        return (solve(driven(lib), *arguments) ** 2).sum()

    arguments = START, TIMES, 2.0, {"a": 0.5}
    wanted = jax.grad(lambda *x: loss(jax.experimental.ode.odeint, jnp, *x), (0, 1, 2, 3))(*arguments)
    found = compat.jit(compat.grad(lambda *x: loss(odeint, compat.numpy, *x), (0, 1, 2, 3)))(*arguments)
    for mine, other in zip(compat.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)


def test_trees_lanes_and_what_is_closed_over():
    found = odeint(
        lambda s, t: {"q": s["p"], "p": -s["q"]}, {"q": np.ones(2), "p": np.zeros(2)}, np.array([0.0, np.pi])
    )
    np.testing.assert_allclose(found["q"][1], -np.ones(2), atol=1e-6)

    def end(rate):
        return odeint(lambda y, t: -rate * y, np.ones(()), np.array([0.0, 0.5, 1.0]), rtol=1e-10, atol=1e-10)[-1]

    np.testing.assert_allclose(compat.vmap(end)(np.array([1.0, 2.0])), np.exp([-1.0, -2.0]), rtol=1e-8)
    np.testing.assert_allclose(compat.grad(end)(2.0), -np.exp(-2.0), rtol=1e-6)
    still = odeint(lambda y, t: y * 0, np.ones(2), np.array([0.0, 5.0]))
    np.testing.assert_array_equal(still, np.ones((2, 2)))


def test_limits():
    assert odeint(lambda y, t: y, np.ones(()), np.array([0.5])).tolist() == [1.0]
    with pytest.raises(DTypeError, match="odeint at times of int64"):
        odeint(lambda y, t: y, np.ones(()), np.array([0, 1]))
    with pytest.raises(ShapeError, match="give a line"):
        odeint(lambda y, t: y, np.ones(()), np.float64(1.0))
    with pytest.raises(UnsupportedError):
        compat.jvp(lambda y: odeint(lambda y, t: -y, y, TIMES), (START,), (START,))
    assert not hasattr(numhlo.compat.jax.experimental, "nonsense")
