"""Functions that rebind items of containers among their arguments: jitted, they leave what the plain ones leave."""

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import numhlo
from numhlo.compat import jax
from numhlo.lowering.ir.errors import DataDependentShapeError, MutationError, UnsupportedError

State = namedtuple("State", "weights step")


@numhlo.tree_util.register_dataclass
@dataclass
class Counter:
    """A registered class: its attributes are items."""

    total: Any
    steps: Any


def descend(params, x):
    error = x @ params["w"] - 1
    params["w"] = params["w"] - 0.1 * x.T @ error
    params["n"] += 1
    params["errors"].append(np.abs(error).max())
    params["label"] = "trained"
    return params["w"].sum()


def swap(pair):
    pair[0], pair[1] = pair[1], pair[0]
    pair.append({"sum": pair[0] + pair[1], "both": (pair[0], 2.0)})


def drop(d):
    total = sum(d[k] for k in sorted(d))
    del d["a"]
    d["b"], d["z"] = d["c"], total
    return total


def nested(state, *others, flag):
    state.weights["w"] = state.weights["w"] * 2
    state.weights["inner"][0] = state.weights["inner"][0] + 1
    others[0].clear()
    flag["x"] = flag.pop("y")
    return state.step


def inner_call(d):
    numhlo.jit(swap)(d["pair"])
    d["pair"][0] *= 3
    return d["pair"][2]["sum"]


def count(counter, x):
    counter.total = counter.total + x.sum()
    counter.steps += 1
    return counter.steps


ARRAYS = {"c": np.ones(2), "a": np.zeros(2), "b": np.arange(2.0)}
CASES = {
    "descend": (descend, lambda: (({"w": np.ones(3), "n": 0, "errors": []}, np.arange(6.0).reshape(2, 3)), {})),
    "swap": (swap, lambda: (([np.arange(2.0), np.ones(2)],), {})),
    "drop": (drop, lambda: ((dict(ARRAYS),), {})),
    "ordered": (drop, lambda: ((OrderedDict(ARRAYS),), {})),
    "default": (drop, lambda: ((defaultdict(list, ARRAYS),), {})),
    "nested": (
        nested,
        lambda: ((State({"w": np.ones(2), "inner": [np.ones(1)]}, 3), [np.ones(1)]), {"flag": {"y": np.arange(2)}}),
    ),
    "inner_call": (inner_call, lambda: (({"pair": [np.arange(2.0), np.ones(2)]},), {})),
    "count": (count, lambda: ((Counter(0.0, 0), np.ones(2)), {})),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("tier0", [True, False])
def test_the_callers_containers_are_what_numpy_leaves(name, tier0):
    fun, make = CASES[name]
    (args, kwargs), (plain_args, plain_kwargs) = make(), make()
    found, expected = numhlo.jit(fun, tier0=tier0)(*args, **kwargs), fun(*plain_args, **plain_kwargs)
    assert np.array_equal(found, expected)
    assert described((args, kwargs)) == described((plain_args, plain_kwargs))


def described(tree):
    """Return a tree of what `==` compares: arrays as text, Python's scalars told from NumPy's."""
    if isinstance(tree, dict):
        return {key: described(item) for key, item in tree.items()}
    if isinstance(tree, list | tuple):
        return [type(tree).__name__, *map(described, tree)]
    if isinstance(tree, Counter):
        return described(vars(tree))
    if isinstance(tree, np.ndarray | np.generic):
        return f"{tree.dtype}{np.shape(tree)} {tree.tolist()}"
    return type(tree), tree


def test_items_that_stay_are_the_same_objects_and_results_are_shared():
    @numhlo.jit
    def step(d):
        d["new"] = d["w"] + 1
        return d

    weights = np.ones(2)
    d = {"w": weights}
    out = step(d)
    assert d["w"] is weights
    assert d["new"] is out["new"]
    assert list(d) == ["w", "new"]


def test_calls_in_a_row_are_traced_once():
    @numhlo.jit
    def step(d):
        d["w"], d["n"] = d["w"] * 2, d["n"] + 1

    d = {"w": np.ones(2), "n": 0}
    for _ in range(3):
        step(d)
    step.wait()
    for _ in range(3):
        step(d)
    assert (d["w"].tolist(), d["n"], type(d["n"])) == ([64.0, 64.0], 6, int)
    assert step.cache_info().misses == 1
    strided = {"w": np.ones(4)[::2], "n": 0}
    step(strided)
    assert (strided["w"].tolist(), strided["n"]) == ([2.0, 2.0], 1)
    other = {"w": np.ones(2), "n": 0, "more": np.ones(1)}
    step(other)
    assert (other["w"].tolist(), other["n"], other["more"].tolist()) == ([2.0, 2.0], 1, [1.0])


def test_a_compiled_stage_rebinds_too():
    d = {"w": np.ones(2), "k": 1}
    stage = numhlo.jit(lambda k, d: d.update(w=d["w"] + k), static_argnums=0).lower(3, d).compile()
    stage(d)
    assert d["w"].tolist() == [4.0, 4.0]


def test_under_the_rules_of_jax_containers_stay_as_they_are():
    def step(d):
        d["w"] = d["w"] + 1
        return d

    d = {"w": np.ones(2)}
    assert jax.jit(step)(d)["w"].tolist() == [2.0, 2.0]
    assert d["w"].tolist() == [1.0, 1.0]


def test_a_container_that_is_met_twice_is_refused():
    pair = [np.ones(2)]
    with pytest.raises(MutationError) as caught:
        numhlo.jit(lambda a, b: (a.append(b[0] * 2), b.append(a[0])))(pair, pair)
    assert len(pair) == 1
    first, place, rest = str(caught.value).splitlines()
    assert first == "a jitted function rebinds items of a list that its arguments hold twice"
    assert "test_rebound_items.py" in place
    assert rest == "  the function was traced as if the two were separate containers; pass a copy of one of them"
    inner = {"w": 1.0}
    with pytest.raises(MutationError, match="a dict that its arguments hold twice"):
        numhlo.jit(lambda a: a[0].update(w=2.0 * a[1]["w"]))((inner, inner))


def test_elements_of_unknown_number_are_refused():
    with pytest.raises(DataDependentShapeError, match="the extent of the result would depend on the mask"):
        numhlo.jit(lambda d: d.update(w=d["w"][d["w"] > 0]))({"w": np.ones(2)})


def test_a_program_in_a_file_can_not_rebind():
    with pytest.raises(UnsupportedError) as caught:
        numhlo.export(lambda d: d.update(w=d["w"] + 1), {"w": np.ones(2)})
    assert str(caught.value).splitlines()[0] == (
        "lambda can't be exported: it rebinds items of a container among its arguments"
    )
    assert str(caught.value).splitlines()[2:] == [
        "  a program in a file knows arrays only, and would not update the container; "
        "work on a copy of the container, dict(x) or list(x), and return it"
    ]
