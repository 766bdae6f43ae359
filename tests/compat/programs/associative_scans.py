"""Linear recurrences in parallel, and polynomials by vmap over an index."""

import jax
import jax.numpy as jnp
from jax import lax


def linear_recurrence(a, b):
    combine = lambda left, right: (left[0] * right[0], left[1] * right[0] + right[1])
    return lax.associative_scan(combine, (a, b))[1]


def main():
    a, b = jnp.array([0.5, 0.9, -0.3, 2.0, 0.1]), jnp.arange(5.0)
    found = jax.jit(linear_recurrence)(a, b)
    return (
        found,
        jax.jacobian(linear_recurrence, argnums=1)(a, b),
        lax.cummax(a),
        jax.lax.map(lambda t: jnp.polyval(a, t), b),
    )
