"""Rules of one's own: clipped gradients, a stable logarithm, straight-through estimates, implicit roots."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


@jax.custom_vjp
def clip_gradient(low, high, x):
    return x


clip_gradient.defvjp(
    lambda low, high, x: (x, (low, high)),
    lambda bounds, g: (None, None, jnp.clip(g, bounds[0], bounds[1])),
)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def scaled(f, x):
    return f(x)


scaled.defvjp(lambda f, x: (f(x), x), lambda f, x, g: (5 * g * jnp.cos(x),))


@jax.custom_jvp
def log1pexp(x):
    return jnp.log(1.0 + jnp.exp(x))


@log1pexp.defjvp
def _log1pexp_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    return log1pexp(x), (1 - 1 / (1 + jnp.exp(x))) * dx


@jax.custom_jvp
def product(x, y):
    return jnp.sin(x) * y


product.defjvps(lambda dx, ans, x, y: jnp.cos(x) * dx * y, lambda dy, ans, x, y: jnp.sin(x) * dy)


@jax.custom_gradient
def straight_through(x):
    return jnp.round(x), lambda g: (g * x,)


def root(a):
    def newton(f, y):
        return lax.fori_loop(0, 20, lambda _, y: y - f(y) / (2 * y), y)

    return lax.custom_root(lambda y: y**2 - a, 1.0, newton, lambda g, y: y / g(1.0))


def main():
    x = jnp.linspace(-1.0, 2.0, 5)
    return (
        jax.vmap(jax.grad(lambda t: jnp.sin(clip_gradient(-0.75, 0.75, t))))(x),
        jax.grad(lambda t: scaled(jnp.sin, t))(1.0),
        jax.jit(jax.grad(log1pexp))(100.0),
        jax.vmap(jax.grad(jax.grad(log1pexp)))(x),
        jax.grad(product, argnums=(0, 1))(1.0, 2.0),
        jax.vmap(jax.grad(straight_through))(x),
        jax.grad(root)(2.0),
    )
