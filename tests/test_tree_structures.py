"""Structures of pytrees, one level at a time, and containers with named children: JAX as the oracle."""

from __future__ import annotations

import dataclasses
import operator
from collections import OrderedDict, namedtuple

import jax
import pytest

import numhlo
from numhlo import tree, tree_util
from numhlo.lowering.ir.errors import ArgumentError

Point = namedtuple("Point", "x y")
TREES = [(1, [2, {"b": 3, "a": (4,)}], None), Point(1, [2]), OrderedDict([("z", 1), ("a", 2)]), {"k": 1}, [], [5]]


@pytest.mark.parametrize("value", TREES, ids=repr)
def test_one_level_and_children(value):
    children, metadata = tree_util.flatten_one_level(value)
    wanted = jax.tree_util.flatten_one_level(value)[0]
    assert children == list(wanted)
    pairs, same = tree_util.flatten_one_level_with_keys(value)
    assert [child for _, child in pairs] == children and same == metadata
    theirs = jax.tree_util.tree_flatten_with_path(value, is_leaf=lambda x: x is not value)[0]
    assert [str(key) for key, _ in pairs] == [str(key) for (key,), _ in theirs]
    treedef = tree.structure(value)
    assert tree_util.treedef_children(treedef) == [tree.structure(child) for child in children]
    assert not tree_util.treedef_is_leaf(treedef) and tree_util.is_tree_node(type(value))
    assert tree_util.treedef_tuple([treedef, treedef]) == tree.structure((value, value))
    assert tree_util.all_leaves(tree.leaves(value)) and not tree_util.all_leaves([value])


def test_leaves_are_refused():
    with pytest.raises(
        ArgumentError, match=r"^flatten_one_level: an instance of int is a leaf\n  at .*\n  register its class"
    ):
        tree_util.flatten_one_level(1)
    with pytest.raises(ArgumentError, match="flatten_one_level_with_keys"):
        tree_util.flatten_one_level_with_keys("text")
    assert tree_util.all_leaves([(1,)], is_leaf=lambda x: isinstance(x, tuple))


def test_broadcast():
    prefix, full = (1, 2, [3, None]), (0, {"a": 0, "b": [0, None]}, [(0, 0), None])
    wanted = jax.tree.broadcast(prefix, full)
    assert tree.broadcast(prefix, full) == wanted == (1, {"a": 2, "b": [2, None]}, [(3, 3), None])
    with pytest.raises(ArgumentError, match="the second tree must begin with the first one's structure"):
        tree.broadcast((1, 2), [0, 0])


def test_options_of_walks():
    def walked(module):
        value, is_pair = {"a": [1, (2, None)], "b": {"c": 3}}, lambda x: isinstance(x, tuple)
        shallow = module.tree_leaves_with_path(value, lambda path, x: len(path) == 1, is_leaf_takes_path=True)
        return [
            module.tree_reduce(lambda *both: both, value, is_leaf=is_pair),
            module.tree_all({"a": (0,), "b": 1}, is_leaf=is_pair),
            module.tree_map_with_path(lambda p, x: (module.keystr(p), x), value, is_leaf=is_pair),
            [(module.keystr(path, simple=True, separator="/"), x) for path, x in shallow],
        ]

    assert walked(tree_util) == walked(jax.tree_util)


def test_reduce_associative():
    for count in range(1, 10):
        words = [chr(97 + k) for k in range(count)]
        assert tree.reduce_associative(operator.add, words) == "".join(words)
    nested = {"a": 1, "b": [2, (3, 4)]}
    assert tree.reduce_associative(operator.add, nested) == jax.tree.reduce_associative(operator.add, nested) == 10
    assert tree.reduce_associative(operator.add, [], identity=7) == 7
    with pytest.raises(ArgumentError, match="pass identity="):
        tree.reduce_associative(operator.add, [])


def test_registration_with_keys():
    class Box:
        def __init__(self, inside, label):
            self.inside, self.label = inside, label

        def tree_flatten_with_keys(self):
            return [(tree_util.GetAttrKey("inside"), self.inside)], self.label

        @classmethod
        def tree_unflatten(cls, label, children):
            return cls(*children, label)

    assert tree_util.register_pytree_with_keys_class(Box) is Box
    pairs, treedef = tree.flatten_with_path({"k": Box([1, 2], "b")})
    assert [tree_util.keystr(path) for path, _ in pairs] == ["['k'].inside[0]", "['k'].inside[1]"]
    back = tree.unflatten(treedef, [5, 6])["k"]
    assert back.inside == [5, 6] and back.label == "b"
    with pytest.raises(ArgumentError, match="is registered already"):
        tree_util.register_pytree_with_keys(Box, Box.tree_flatten_with_keys, Box.tree_unflatten)


def test_static_fields():
    @tree_util.register_dataclass
    @dataclasses.dataclass
    class Rule:
        size: float
        kind: str = tree.static(default="fixed", metadata={"unit": "m"})

    assert tree.leaves(Rule(0.5)) == [0.5] and tree.structure(Rule(1.0)) != tree.structure(Rule(1.0, "other"))
    (_, kind) = dataclasses.fields(Rule)
    assert kind.metadata["unit"] == "m"


def test_short_names():
    assert set(tree.__all__) == {name for name in dir(jax.tree) if not name.startswith("_")}
    assert numhlo.tree.map is tree_util.tree_map and numhlo.tree.broadcast is tree_util.tree_broadcast
    assert numhlo.compat.jax.tree.reduce_associative.__wrapped__ is tree_util.tree_reduce_associative
