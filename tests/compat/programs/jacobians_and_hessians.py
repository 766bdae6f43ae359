"""Derivative matrices forwards, backwards, and one over the other."""

import jax
import jax.numpy as jnp
from jax import grad, hessian, jacfwd, jacrev, jvp


def f(x):
    return jnp.stack([x[0] * x[1], jnp.sin(x[2]), x[0] ** 2 + x[2]])


def g(x):
    return jnp.sum(jnp.exp(-(x**2)) * jnp.cos(x))


def main():
    x = jnp.array([0.5, -1.5, 2.0])
    v = jnp.array([1.0, 0.0, -1.0])
    hvp = jvp(grad(g), (x,), (v,))[1]
    return jacfwd(f)(x), jacrev(f)(x), hessian(g)(x), hvp, jax.vmap(hessian(g))(jnp.stack([x, v]))
