"""A network as a list of weights, trained on random data drawn from keys."""

import jax
import jax.numpy as jnp
from jax import random


def init(sizes, key):
    keys = random.split(key, len(sizes))
    return [
        (random.normal(k, (m, n)) / jnp.sqrt(m), jnp.zeros(n))
        for m, n, k in zip(sizes[:-1], sizes[1:], keys, strict=False)
    ]


def apply(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return jax.nn.log_softmax(x @ w + b)


def main():
    key = random.key(0)
    params = init([4, 8, 3], key)
    x = random.uniform(random.fold_in(key, 1), (6, 4))
    labels = jax.nn.one_hot(random.randint(random.fold_in(key, 2), (6,), 0, 3), 3)
    loss = lambda p: -jnp.mean(jnp.sum(apply(p, x) * labels, axis=1))
    update = jax.jit(lambda p: jax.tree.map(lambda a, g: a - 0.5 * g, p, jax.grad(loss)(p)))
    for _ in range(3):
        params = update(params)
    return params, loss(params)
