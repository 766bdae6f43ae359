"""vmap in many ways: axes of dictionaries, named axes and their sums, keys, nested maps, maps in batches."""

import jax
import jax.numpy as jnp
from jax import lax


def main():
    x = jnp.arange(6.0).reshape(2, 3)
    return (
        jax.vmap(lambda row: row / lax.psum(row, "i"), axis_name="i")(x + 1),
        jax.vmap(lambda row: lax.pmean(row, "i") + lax.axis_index("i"), axis_name="i")(x),
        jax.vmap(lambda row: lax.all_gather(row, "i"), axis_name="i")(x),
        jax.vmap(lambda d: d["a"] + d["b"], in_axes=({"a": 0, "b": None},), out_axes=1)({"a": x, "b": jnp.ones(3)}),
        jax.vmap(jax.vmap(lambda s, t: s * t, in_axes=(None, 0)), in_axes=(0, None))(jnp.arange(3.0), jnp.arange(2.0)),
        jax.vmap(lambda row, place: row[place])(x, jnp.array([0, 2])),
        jax.vmap(jax.random.uniform)(jax.random.split(jax.random.PRNGKey(0), 3)),
        lax.map(lambda row: row.sum(), x, batch_size=1),
        jax.vmap(lambda flag, v: lax.cond(flag, jnp.sin, jnp.cos, v))(jnp.array([True, False]), jnp.ones(2)),
        jnp.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(x, jnp.ones(3)),
    )
