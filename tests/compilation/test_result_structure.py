"""Results are put into a structure by what was made for it, as walking it would."""

from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import numhlo
import numhlo.compat.jax as compat
from numhlo import tree_util
from numhlo.compilation.result_structure import unflattener


class Pair(NamedTuple):
    first: Any
    second: Any = 0


class Counted(NamedTuple("Counted", [("size", Any), ("parts", Any)])):
    """Makes its first field of its second one, whatever it is given."""

    def __new__(cls, _, parts):
        return super().__new__(cls, np.size(parts), parts)


@tree_util.register_pytree_node_class
@dataclass(frozen=True)
class Interval:
    low: Any
    high: Any
    name: str

    def tree_flatten(self):
        return (self.low, self.high), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        assert isinstance(children, list | tuple)
        return cls(*children, name)


TREES = {
    "leaf": 0,
    "nothing": None,
    "no leaves": (),
    "empty containers": [(), {}, None, Pair(None, [])],
    "tuple": (0, 0, 0),
    "list": [0, 0],
    "dict": {"b": 0, "a": 0},
    "loop": ((0, 0, 0), 0),
    "named": Pair((0, 0), Pair(0, [0])),
    "named with a constructor of its own": [Counted(1, 0), 0],
    "layers": [{"w": 0, "b": (0, 0)}, {"w": 0, "b": (0, None)}],
    "dicts": {"a": {"x": 0}, "b": {"y": [0, {"z": 0}]}},
    "ordered": OrderedDict([("b", 0), ("a", (0, 0))]),
    "default": defaultdict(list, {"b": [0], "a": 0}),
    "registered": (Interval(0, (0, 0), "i"), [Interval(0, 0, "j")]),
}


@pytest.mark.parametrize("given", [list, tuple])
@pytest.mark.parametrize("name", TREES)
def test_structures_are_those_of_a_walk(name, given):
    leaves, tree = tree_util.tree_flatten(TREES[name])
    numbers = given(range(len(leaves)))
    found, expected = unflattener(tree)(numbers), tree_util.tree_unflatten(tree, numbers)
    assert found == expected
    assert type(found) is type(expected)
    assert tree_util.tree_structure(found) == tree


def test_containers_are_new_ones_each_time():
    function = numhlo.jit(lambda x: ([x, x + 1], {"a": [x]}, {}))
    for _ in range(3):
        pair, named, empty = function(np.arange(3))
        pair.append(0)
        named["a"].append(0)
        empty["b"] = 0
        assert (len(pair), len(named["a"]), len(empty)) == (3, 2, 1)


def test_dicts_have_their_keys_in_the_order_that_was_written():
    def f(x):
        return {"z": x, "a": {"y": x + 1, "b": [x, {"q": x * 2, "p": x}]}, 3: x}, {"a": x, "b": x}

    found, plain = numhlo.jit(f)(np.arange(2.0)), f(np.arange(2.0))
    assert str([*found[0]]) == str([*plain[0]])
    assert list(found[0]["a"]) == ["y", "b"]
    assert list(found[0]["a"]["b"][1]) == ["q", "p"]
    assert list(found[1]) == ["a", "b"]
    for path in (lambda r: r[0]["z"], lambda r: r[0]["a"]["y"], lambda r: r[0]["a"]["b"][1]["q"], lambda r: r[0][3]):
        assert path(found).tolist() == path(plain).tolist()


def test_transformations_and_control_flow_keep_the_order_of_keys():
    def f(x):
        return {"z": x * 2, "a": {"y": x.sum(), "b": x}}

    x, params = np.arange(3.0), {"w": np.arange(3.0), "b": np.ones(3)}
    found = [
        numhlo.vmap(f)(np.ones((2, 3))),
        numhlo.jit(numhlo.vmap(f))(np.ones((2, 3))),
        numhlo.jacfwd(f)(x),
        numhlo.jacrev(f)(x),
        *numhlo.jvp(f, (x,), (x,)),
        numhlo.vjp(f, x)[0],
        numhlo.jit(numhlo.grad(lambda x: (x.sum(), f(x)), has_aux=True))(x)[1],
        numhlo.jit(lambda x: numhlo.lax.scan(lambda c, v: (c, f(x)), 0.0, x)[1])(x),
        numhlo.jit(lambda x: numhlo.lax.cond(x[0] > 0, f, f, x))(x),
        numhlo.jit(lambda x: numhlo.lax.fori_loop(0, 3, lambda i, s: s, f(x)))(x),
        numhlo.tree_util.tree_map(lambda x: x, f(x)),
    ]
    assert [(list(r), list(r["a"])) for r in found] == [(["z", "a"], ["y", "b"])] * len(found)
    for gradient in (numhlo.grad, lambda g: numhlo.jit(numhlo.grad(g))):
        assert list(gradient(lambda p: np.sum(p["w"] * p["b"]))(params)) == ["w", "b"]


def test_arguments_have_their_keys_in_the_order_of_the_call():
    @numhlo.jit
    def joined(params, **options):
        return [np.concatenate([*params.values()]), np.stack([*options.values()])]

    one, other, last = np.zeros(1), np.ones(2), np.full(1, 2.0)
    for _ in range(4):  # first, found among the entries, promoted
        assert joined({"w": one, "b": other}, y=1, x=2)[0].tolist() == [0, 1, 1]
        assert joined({"b": other, "w": one}, y=1, x=2)[0].tolist() == [1, 1, 0]
        assert joined({"w": last, "b": other}, y=1, x=2)[1].tolist() == [1, 2]
        assert joined({"w": last, "b": other}, x=2, y=1)[1].tolist() == [2, 1]
        joined.wait()
    counted = defaultdict(float, w=one, b=other)
    assert numhlo.jit(lambda d: np.concatenate([*d.values()]))(counted).tolist() == [0, 1, 1]


def test_under_jax_rules_keys_are_sorted():
    assert list(compat.jit(lambda x: {"b": x, "a": x})(1.0)) == ["a", "b"]
