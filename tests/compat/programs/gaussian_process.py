"""Regression with a kernel: Cholesky factors, and the gradient of the evidence."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp


def kernel(a, b, length):
    return jnp.exp(-0.5 * ((a[:, None] - b[None, :]) / length) ** 2)


def evidence(length, x, y):
    factor = jsp.linalg.cholesky(kernel(x, x, length) + 0.01 * jnp.eye(x.size), lower=True)
    alpha = jsp.linalg.solve_triangular(factor, y, lower=True)
    return -0.5 * alpha @ alpha - jnp.sum(jnp.log(jnp.diag(factor)))


def main():
    x = jnp.linspace(0, 3, 6)
    y = jnp.sin(2 * x)
    points = jnp.array([0.25, 1.75])
    covariance = jsp.linalg.cho_factor(kernel(x, x, 0.7) + 0.01 * jnp.eye(6), lower=True)
    mean = kernel(points, x, 0.7) @ jsp.linalg.cho_solve(covariance, y)
    return mean, jax.jit(jax.value_and_grad(evidence))(0.7, x, y)
