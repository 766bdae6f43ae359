"""Updates of arrays that never change, indices out of bounds, and masks."""

import jax
import jax.numpy as jnp


def main():
    x = jnp.arange(12.0).reshape(3, 4)
    try:
        x[0, 0] = 1.0
    except TypeError:
        pass
    else:
        raise AssertionError("arrays are immutable")
    first, second = x[:2]
    updates = (
        x.at[0].set(1.0),
        x.at[1:, ::2].multiply(3.0),
        x.at[jnp.array([0, 2]), jnp.array([1, 3])].min(0.0),
        jnp.where(x > 5, -1.0, x),
        x.at[0, 0].apply(jnp.cos),
        x.at[jnp.array([5])].add(1.0, mode="drop"),
        x.at[-1].divide(2.0),
        x.at[1].power(2.0),
        x.at[9].set(0.0),
        x.at[0, 9].add(1.0),
    )
    reads = (x[7, 1], x[-7, 1], x[1, jnp.array([0, 9])], x.at[5, 0].get(), x.at[5, 0].get(mode="fill", fill_value=-3.0))
    new = (
        jnp.fill_diagonal(x, 9.0, inplace=False),
        jnp.put(x, jnp.array([0, 1]), jnp.array([5.0, 6.0]), inplace=False),
    )
    half = (x.astype(jnp.bfloat16) * 2.5).astype(jnp.float32)
    rows = jax.jit(lambda x, n: x[:n].sum(), static_argnums=1)(x, 2)
    return updates, reads, new, half, rows, first + second, x.argmax(), x.trace(), x.sort(), jnp.allclose(x, x)
