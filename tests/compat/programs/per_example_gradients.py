"""vmap of grad: one gradient for each example of a batch."""

from functools import partial

import jax
import jax.numpy as jnp


def loss(w, x, y):
    return (jnp.dot(w, x) - y) ** 2


@jax.jit
@partial(jax.vmap, in_axes=(None, 0, 0))
def gradients(w, x, y):
    return jax.grad(loss)(w, x, y)


def main():
    w = jnp.array([1.0, -2.0])
    x = jnp.arange(8.0).reshape(4, 2)
    per_example = gradients(w, x, jnp.ones(4))
    norms = jnp.linalg.norm(per_example, axis=1)
    clipped = per_example * jnp.minimum(1.0, 5.0 / norms)[:, None]
    return per_example, norms, clipped.mean(0)
