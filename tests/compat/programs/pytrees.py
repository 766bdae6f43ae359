"""Containers of arrays, and classes made one of them."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import tree_util


class Point(NamedTuple):
    x: object
    y: object


@tree_util.register_pytree_node_class
class Scaled:
    def __init__(self, value, scale):
        self.value, self.scale = value, scale

    def tree_flatten(self):
        return (self.value,), self.scale

    @classmethod
    def tree_unflatten(cls, scale, children):
        return cls(children[0], scale)


def main():
    tree = {"a": [jnp.ones(2), 3.0], "b": Point(jnp.arange(3.0), (1, None))}
    leaves, structure = jax.tree.flatten(tree)
    doubled = jax.tree.map(lambda v: v * 2, tree)
    paths = [tree_util.keystr(path) for path, _ in tree_util.tree_leaves_with_path(tree)]
    scaled = jax.jit(lambda s: jax.tree.map(lambda v: v * s.scale, s))(Scaled(jnp.ones(2), 5.0))
    assert paths == ["['a'][0]", "['a'][1]", "['b'].x", "['b'].y[0]"]
    return (
        jax.tree.unflatten(structure, leaves),
        doubled,
        scaled.value,
        jax.tree.reduce(lambda n, v: n + jnp.sum(v), tree, 0.0),
    )
