"""while_loop and fori_loop: roots by Newton's method."""

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def square_root(a):
    def going(state):
        x, previous, count = state
        return (jnp.abs(x - previous) > 1e-12) & (count < 50)

    def improve(state):
        x, _, count = state
        return 0.5 * (x + a / x), x, count + 1

    return lax.while_loop(going, improve, (a, 0.0 * a, 0))


def cube_root(a):
    return lax.fori_loop(0, 30, lambda i, x: x - (x**3 - a) / (3 * x**2), a)


def main():
    return square_root(2.0), jax.vmap(cube_root)(jnp.array([1.0, 8.0, 27.0])), jax.grad(cube_root)(8.0)
