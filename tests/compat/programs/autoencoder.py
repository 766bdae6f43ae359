"""A variational autoencoder's bound, by a reparametrized sample, and one step of descent."""

import jax
import jax.numpy as jnp


def bound(params, x, key):
    mean, log_variance = x @ params["mean"], x @ params["spread"]
    z = mean + jnp.exp(log_variance / 2) * jax.random.normal(key, mean.shape)
    logits = z @ params["decode"]
    likelihood = jnp.sum(jax.scipy.stats.bernoulli.logpmf(x, jax.nn.sigmoid(logits)))
    divergence = -0.5 * jnp.sum(1 + log_variance - mean**2 - jnp.exp(log_variance))
    return divergence - likelihood


def main():
    key = jax.random.key(0)
    shapes = {"mean": (6, 2), "spread": (6, 2), "decode": (2, 6)}
    params = {name: jnp.sin(jnp.arange(12.0) * (k + 1)).reshape(s) for k, (name, s) in enumerate(shapes.items())}
    x = jax.random.bernoulli(key, 0.4, (4, 6)).astype(float)
    loss, slopes = jax.value_and_grad(bound)(params, x, jax.random.fold_in(key, 1))
    return loss, jax.tree.map(lambda p, g: p - 0.01 * g, params, slopes)
