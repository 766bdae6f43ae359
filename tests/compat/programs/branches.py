"""cond, switch and select: values decide what is computed."""

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def huber(x):
    return lax.cond(jnp.abs(x) < 1.0, lambda t: 0.5 * t**2, lambda t: jnp.abs(t) - 0.5, x)


def activation(kind, x):
    return lax.switch(kind, [jnp.tanh, jax.nn.relu, jnp.negative], x)


def main():
    x = jnp.array([-2.0, -0.5, 0.25, 3.0])
    return (
        jax.vmap(huber)(x),
        jax.vmap(jax.grad(huber))(x),
        jnp.stack([activation(k, x) for k in range(3)]),
        jax.vmap(activation, in_axes=(0, None))(jnp.array([0, 5, -1]), x),
        lax.select(x > 0, x, jnp.zeros_like(x)),
    )
