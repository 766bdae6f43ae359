"""Messages along the edges of a graph, summed at their ends."""

import jax
import jax.numpy as jnp
from jax.ops import segment_sum


def rank(senders, receivers, count, steps=10, damping=0.85):
    degree = segment_sum(jnp.ones(senders.shape), senders, count)

    def step(_, scores):
        spread = scores / jnp.maximum(degree, 1)
        return (1 - damping) / count + damping * segment_sum(spread[senders], receivers, count)

    return jax.lax.fori_loop(0, steps, step, jnp.full(count, 1 / count))


def main():
    senders, receivers = jnp.array([0, 0, 1, 2, 3, 3]), jnp.array([1, 2, 2, 0, 0, 2])
    scores = jax.jit(rank, static_argnums=2)(senders, receivers, 4)
    return scores, jnp.argsort(-scores), jnp.bincount(receivers, length=4)
