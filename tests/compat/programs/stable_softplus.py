"""custom_jvp: a derivative that does not overflow."""

import jax
import jax.numpy as jnp


@jax.custom_jvp
def log1pexp(x):
    return jnp.log(1.0 + jnp.exp(x))


@log1pexp.defjvp
def log1pexp_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return log1pexp(x), (1 - 1 / (1 + jnp.exp(x))) * x_dot


def main():
    x = jnp.array([-3.0, 0.0, 3.0, 100.0])
    return log1pexp(x), jax.vmap(jax.grad(log1pexp))(x), jax.jit(jax.grad(jax.grad(log1pexp)))(1.5)
