"""checkpoint, linearize, vjp and linear_transpose, on one function."""

import jax
import jax.numpy as jnp


@jax.checkpoint
def block(w, x):
    return jnp.sin(w @ jnp.cos(w @ x))


def main():
    w = jnp.array([[0.5, -1.0], [2.0, 0.25]])
    x = jnp.array([1.0, -0.5])
    f = lambda v: block(w, block(w, v))
    y, linear = jax.linearize(f, x)
    value, pull = jax.vjp(f, x)
    (transposed,) = jax.linear_transpose(lambda v: w @ v, x)(jnp.ones(2))
    shapes = jax.eval_shape(f, jax.ShapeDtypeStruct((2,), jnp.float64))
    assert shapes.shape == (2,)
    return y, linear(jnp.ones(2)), value, pull(jnp.ones(2)), transposed, jax.grad(lambda m: f(m @ x).sum())(w)
