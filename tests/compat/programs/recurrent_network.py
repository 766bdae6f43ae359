"""scan: a recurrent cell over a sequence, and its gradient."""

import jax
import jax.numpy as jnp
from jax import lax


def cell(params, h, x):
    h = jnp.tanh(params["in"] @ x + params["rec"] @ h)
    return h, h


def run(params, xs):
    last, history = lax.scan(lambda h, x: cell(params, h, x), jnp.zeros(3), xs)
    return jnp.sum(last**2) + 0.1 * jnp.sum(history)


def main():
    params = {"in": jnp.arange(6.0).reshape(3, 2) / 10, "rec": jnp.eye(3) * 0.5}
    xs = jnp.cos(jnp.arange(10.0)).reshape(5, 2)
    return jax.jit(jax.value_and_grad(run))(params, xs)
