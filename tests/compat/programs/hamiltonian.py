"""Hamiltonian steps of several chains: leapfrog in a counted loop, under vmap, accepted by their energies."""

import jax
import jax.numpy as jnp
from jax import lax, random


def energy(q):
    return -jnp.sum(jax.scipy.stats.norm.logpdf(q, 1.0, 2.0)) + jnp.sum(q**4) / 40


def leapfrog(q, p):
    def step(_, state):
        q, p = state
        p = p - 0.05 * jax.grad(energy)(q)
        q = q + 0.1 * p
        return q, p - 0.05 * jax.grad(energy)(q)

    return lax.fori_loop(0, 10, step, (q, p))


@jax.jit
def transition(key, q):
    first, second = random.split(key)
    p = random.laplace(first, q.shape)
    new, momentum = leapfrog(q, p)
    change = energy(q) - energy(new) + jnp.sum(p**2 - momentum**2) / 2
    return jnp.where(jnp.log(random.uniform(second)) < change, new, q)


def main():
    return jax.vmap(transition)(random.split(random.key(4), 5), jnp.linspace(-1.0, 1.0, 10).reshape(5, 2))
