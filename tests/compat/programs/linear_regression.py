"""A line fitted by gradient descent."""

import jax
import jax.numpy as jnp


def predict(params, x):
    return params["w"] * x + params["b"]


def loss(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


@jax.jit
def step(params, x, y):
    grads = jax.grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def main():
    x = jnp.linspace(0.0, 1.0, 16)
    y = 3.0 * x - 1.0
    params = {"w": jnp.array(0.0), "b": jnp.array(0.0)}
    for _ in range(10):
        params = step(params, x, y)
    return params, loss(params, x, y)
