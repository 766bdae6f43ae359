"""Pytrees: structure, round trip, registration, paths and errors."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, namedtuple

import jax
import numpy as np
import pytest

from numhlo import tree_util as tree
from numhlo.lowering.ir.errors import ArgumentError

Point = namedtuple("Point", "x y")

TREES = [
    1,
    None,
    (),
    [],
    {},
    (1, [2, {"b": 3, "a": (4,)}], None),
    Point(1, [2, 3]),
    OrderedDict([("z", 1), ("a", 2)]),
    defaultdict(list, {"z": 1, "a": 2}),
    {"k": Point(None, (1, 2)), "j": [[], [5]]},
]


@pytest.mark.parametrize("value", TREES, ids=repr)
def test_flatten_order_and_round_trip_agree_with_jax(value):
    leaves, treedef = tree.tree_flatten(value)
    assert leaves == jax.tree_util.tree_leaves(value)
    back = tree.tree_unflatten(treedef, leaves)
    assert back == value and type(back) is type(value)
    assert treedef.num_leaves == len(leaves)
    assert treedef == tree.tree_structure(back) and hash(treedef) == hash(tree.tree_structure(back))
    paths = [tree.keystr(p) for p, _ in tree.tree_leaves_with_path(value)]
    assert paths == [jax.tree_util.keystr(p) for p, _ in jax.tree_util.tree_leaves_with_path(value)]


def test_structures_differ():
    seen = [tree.tree_structure(t) for t in [1, (1,), [1], {"a": 1}, {"b": 1}, Point(1, 2), (1, 2), None]]
    assert len(set(seen)) == len(seen)
    assert tree.tree_structure({1: 0, "a": 1}) == tree.tree_structure({"a": 5, 1: 2})  # keys that don't compare


def test_map_reduce_and_all():
    assert tree.tree_map(lambda a, b: a + b, (1, {"x": 2}), (10, {"x": 20})) == (11, {"x": 22})
    assert tree.tree_map(lambda a, b: (a, b), [1], [(5, 6)]) == [(1, (5, 6))]
    assert tree.tree_reduce(lambda a, b: a + b, [1, (2, 3)]) == 6
    assert tree.tree_reduce(lambda a, b: a + b, [], 7) == 7
    assert tree.tree_all([1, {"a": True}]) and not tree.tree_all([1, 0])
    assert tree.tree_map(len, [[1, 2], [3]], is_leaf=lambda n: isinstance(n, list) and n and isinstance(n[0], int)) == [
        2,
        1,
    ]
    assert tree.tree_map_with_path(lambda p, x: tree.keystr(p) + str(x), {"a": [1]}) == {"a": ["['a'][0]1"]}
    whole = lambda path, node: len(path) == 1 and not isinstance(node, dict)
    for library in (tree, jax.tree_util):
        found, structure = library.tree_flatten_with_path(
            {"a": [1, 2], "b": {"c": [3], "d": None}}, whole, is_leaf_takes_path=True
        )
        assert [leaf for _, leaf in found] == [[1, 2], 3] and structure.num_leaves == 2
    outer, inner = tree.tree_structure([0, 0]), tree.tree_structure({"a": 0, "b": 0})
    assert tree.tree_transpose(outer, inner, [{"a": 1, "b": 2}, {"a": 3, "b": 4}]) == {"a": [1, 3], "b": [2, 4]}


def test_registered_classes():
    @dataclasses.dataclass
    class Layer:
        weights: object
        bias: object
        name: str = dataclasses.field(default="", metadata={"static": True})

    assert tree.tree_leaves(Layer(1, 2)) == [Layer(1, 2)]
    tree.register_dataclass(Layer)
    leaves, treedef = tree.tree_flatten(Layer(1, (2, 3), "a"))
    assert leaves == [1, 2, 3] and tree.tree_unflatten(treedef, leaves) == Layer(1, (2, 3), "a")
    assert treedef != tree.tree_structure(Layer(1, (2, 3), "b"))
    assert [tree.keystr(p) for p, _ in tree.tree_leaves_with_path([Layer(1, (2,))])] == ["[0].weights", "[0].bias[0]"]
    with pytest.raises(ArgumentError, match="is registered already"):
        tree.register_dataclass(Layer)

    @tree.register_pytree_node_class
    class Pair:
        def __init__(self, *items):
            self.items = items

        def tree_flatten(self):
            return self.items, "meta"

        @classmethod
        def tree_unflatten(cls, metadata, children):
            assert metadata == "meta"
            return cls(*children)

    assert tree.tree_map(lambda x: -x, Pair(1, 2)).items == (-1, -2)
    assert [tree.keystr(p) for p, _ in tree.tree_leaves_with_path(Pair(5))] == ["[<flat index 0>]"]

    @tree.register_static
    class Mode(str):
        __slots__ = ()

    assert tree.tree_leaves([Mode("a")]) == [] and tree.tree_map(abs, [Mode("a"), -1]) == ["a", 1]
    partial = tree.Partial(max, 1, key=2)
    assert tree.tree_leaves(partial) == [1, 2] and tree.tree_map(str, partial).keywords == {"key": "2"}


def test_errors():
    with pytest.raises(ArgumentError, match=r"takes 2 leaves, got 1"):
        tree.tree_unflatten(tree.tree_structure((1, 2)), [1])
    with pytest.raises(ArgumentError, match=r"PyTreeDef\(\(\*, \*\)\) against PyTreeDef\(\[\*, \*\]\)"):
        tree.tree_map(max, (1, 2), [1, 2])
    with pytest.raises(ArgumentError, match="has the fields"):
        tree.register_dataclass(dataclasses.make_dataclass("D", ["a", "b"]), data_fields=["a"], meta_fields=[])


def test_leaves_are_not_touched():
    array = np.arange(3)
    (leaf,) = tree.tree_leaves({"a": array})
    assert leaf is array
