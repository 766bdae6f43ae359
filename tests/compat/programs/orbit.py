"""A differential equation by Runge and Kutta's method, differentiated through."""

import jax
import jax.numpy as jnp


def acceleration(q):
    return -q / jnp.linalg.norm(q) ** 3


def field(state):
    q, p = state
    return p, acceleration(q)


def step(state, h):
    along = lambda k, c: jax.tree.map(lambda s, d: s + c * h * d, state, k)
    k1 = field(state)
    k2 = field(along(k1, 0.5))
    k3 = field(along(k2, 0.5))
    k4 = field(along(k3, 1.0))
    return jax.tree.map(lambda s, a, b, c, d: s + h / 6 * (a + 2 * b + 2 * c + d), state, k1, k2, k3, k4)


@jax.jit
def final_radius(speed):
    start = jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0]) * speed
    (q, _), path = jax.lax.scan(lambda s, _: (step(s, 0.05), s[0]), start, None, length=20)
    return jnp.linalg.norm(q), path


def main():
    (radius, path), slope = final_radius(1.1), jax.grad(lambda s: final_radius(s)[0])(1.1)
    return radius, slope, path[::5]
