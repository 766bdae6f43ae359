"""A chain that samples from a density, all draws from one key."""

import jax
import jax.numpy as jnp
from jax import lax, random


def log_density(x):
    return jnp.logaddexp(-0.5 * (x - 2) ** 2, -0.5 * (x + 2) ** 2)


def chain(key, steps):
    def step(x, key):
        propose, accept = random.split(key)
        new = x + random.uniform(propose, minval=-1.0, maxval=1.0)
        taken = jnp.log(random.uniform(accept)) < log_density(new) - log_density(x)
        x = jnp.where(taken, new, x)
        return x, (x, taken)

    return lax.scan(step, 0.0, random.split(key, steps))[1]


def main():
    samples, taken = jax.vmap(lambda k: chain(k, 20))(random.split(random.key(7), 3))
    return samples, taken.sum()
