"""What is around a computation: shapes without values, callbacks, lowering, contexts, devices, flat vectors."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree


class Params(NamedTuple):
    weight: jax.Array
    bias: jnp.ndarray


def main():
    params = Params(jnp.ones((2, 2)), jnp.zeros(2))
    shapes = jax.eval_shape(lambda p, x: p.weight @ x + p.bias, params, jax.ShapeDtypeStruct((2,), jnp.float32))
    assert shapes.shape == (2,) and shapes.dtype == jnp.float64
    flat, unravel = ravel_pytree(params)
    found = jax.pure_callback(lambda x: np.sin(x), jax.ShapeDtypeStruct((3,), np.float64), jnp.arange(3.0))
    with jax.named_scope("sums"), jax.debug_nans(False):
        total = jax.ops.segment_sum(jnp.arange(6.0), jnp.array([0, 0, 1, 1, 2, 2]), num_segments=3)
    assert jax.devices()[0].platform == "cpu" and isinstance(flat, jax.Array)
    value, push = jax.linearize(jnp.sin, 2.0)
    program = jax.jit(lambda x: x * 2).lower(jax.ShapeDtypeStruct((), jnp.float64))
    assert "stablehlo" in program.as_text()
    names = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path({"b": 1, "a": [2, 3]})[0]]
    assert names == ["['a'][0]", "['a'][1]", "['b']"]
    transposed = jax.tree.transpose(jax.tree.structure([0, 0]), jax.tree.structure(("a", "b")), [(1, 2), (3, 4)])
    return (
        unravel(flat * 2),
        found,
        total,
        value,
        push(1.0),
        transposed,
        jax.tree.map(lambda x, y: x + y, params, params),
    )
