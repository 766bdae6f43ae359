"""Statistics: densities of angles and samples, ranks, modes, bits of keys, linear algebra with pivots."""

import jax
import jax.numpy as jnp
from jax import random
from jax.scipy import linalg, stats


def main():
    key, own = random.split(random.PRNGKey(42))
    sample = random.normal(own, (2, 20))
    x = jnp.linspace(0.1, 2.0, 4)
    estimate = stats.gaussian_kde(sample)
    q, r, order = linalg.qr(sample[:, :3], pivoting=True, mode="economic")
    return (
        stats.vonmises.logpdf(x, 2.0),
        stats.wrapcauchy.pdf(x, 0.5),
        stats.mode(jnp.array([1, 2, 2, 3]))[0],
        stats.rankdata(x[::-1]),
        stats.sem(x),
        estimate(sample[:, :3]),
        estimate.logpdf(sample[:, 3:5]),
        estimate.covariance,
        q @ r,
        order,
        random.bernoulli(key, 0.3, (10,)),
        random.categorical(key, jnp.log(jnp.array([0.1, 0.9])), shape=(5,)),
        random.choice(key, jnp.arange(5), (3,), replace=False),
        random.permutation(key, 10),
        random.fold_in(key, 7),
        jax.vmap(lambda k: random.randint(k, (2,), 0, 100))(random.split(key, 3)),
    )
