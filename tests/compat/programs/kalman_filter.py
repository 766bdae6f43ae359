"""A Kalman filter over noisy positions: a scan of linear algebra, and the likelihood by normal densities."""

import jax
import jax.numpy as jnp


def main():
    move, look = jnp.array([[1.0, 0.1], [0.0, 1.0]]), jnp.array([[1.0, 0.0]])
    drift, noise = 0.01 * jnp.eye(2), 0.5 * jnp.eye(1)

    def step(carry, seen):
        mean, spread = carry
        mean, spread = move @ mean, move @ spread @ move.T + drift
        surprise = look @ spread @ look.T + noise
        gain = jnp.linalg.solve(surprise, look @ spread).T
        weight = jax.scipy.stats.multivariate_normal.logpdf(seen, look @ mean, surprise)
        mean, spread = mean + gain @ (seen - look @ mean), spread - gain @ surprise @ gain.T
        return (mean, spread), (mean, weight)

    seen = jnp.sin(jnp.arange(20.0))[:, None]
    (mean, spread), (path, weights) = jax.lax.scan(step, (jnp.zeros(2), jnp.eye(2)), seen)
    return mean, spread, path, weights.sum()
