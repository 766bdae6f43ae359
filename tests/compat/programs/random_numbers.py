"""Keys: split, folded in, never used twice."""

import jax
import jax.numpy as jnp
from jax import random


def main():
    key = random.PRNGKey(42)
    key, first, second = random.split(key, 3)
    shuffled = random.permutation(first, jnp.arange(8))
    coins = random.bernoulli(second, 0.3, (5,))
    drawn = jax.vmap(lambda k: random.choice(k, 10, (3,), replace=False))(random.split(key, 4))
    words = random.categorical(random.fold_in(key, 3), jnp.log(jnp.array([0.1, 0.6, 0.3])), shape=(6,))
    return shuffled, coins, drawn, words, random.uniform(key, (2, 2), minval=-1.0, maxval=1.0)
