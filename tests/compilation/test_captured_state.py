"""Captured state: a change is noticed at the next call, however it is reached; nothing else is traced again."""

from __future__ import annotations

import dataclasses
import functools
import sys
import types

import numpy as np
import pytest

import numhlo
from numhlo.tracer.core.installed_code import is_library

SCALE = 2.0
TABLE = np.arange(3.0)
BIG = np.ones((64, 64))
SETTINGS = {"k": 1.0, "arrays": {"w": np.ones(3)}, "list": [1, 2]}
SETTINGS_MODULE = types.ModuleType("settings_module")
SETTINGS_MODULE.SCALE = 5.0


def misses(f):
    return f.cache_info().misses


def helper(x):
    return x * SCALE


def outer_helper(x):
    return helper(x) + 1


class Layer:
    scale = 3.0

    def __init__(self):
        self.w = np.ones(3)
        self.sub = types.SimpleNamespace(k=2.0)
        self.options = {"bias": 1.0}
        self.parts = [1.0, 2.0]

    @property
    def doubled(self):
        return self.sub.k * 2

    def weight(self):
        return self.w * self.doubled

    def __call__(self, x):
        return x * self.weight() * self.scale + self.options["bias"] + sum(self.parts)


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k


class Child(Layer):
    def __call__(self, x):
        return super().__call__(x) + 1


LAYER = Layer()
CHILD = Child()
SLOTTED = Slotted(2.0)


def call(f, *args):
    return f(*args)


def set_item(holder, key, value):
    holder[key] = value


# name: (function, change); each change must show in the next result
CASES = {
    "global number": (lambda x: x * SCALE, lambda: globals().update(SCALE=SCALE + 1)),
    "through helpers": (outer_helper, lambda: globals().update(SCALE=SCALE + 1)),
    "in an inner function": (lambda x: call(lambda: x * SCALE), lambda: globals().update(SCALE=SCALE + 1)),
    "in a comprehension": (lambda x: sum([x * SCALE for _ in range(2)]), lambda: globals().update(SCALE=SCALE + 1)),
    "helper redefined": (lambda x: helper(x), lambda: globals().update(helper=lambda x: x - 7)),
    "class of the number": (lambda x: x * SCALE + np.float32(0), lambda: globals().update(SCALE=int(SCALE) + 1)),
    "module attribute": (
        lambda x: x * SETTINGS_MODULE.SCALE,
        lambda: setattr(SETTINGS_MODULE, "SCALE", SETTINGS_MODULE.SCALE + 1),
    ),
    "array operand": (lambda x: x + TABLE, lambda: set_item(TABLE, 0, TABLE[0] + 9)),
    "array rebound": (lambda x: x + TABLE, lambda: globals().update(TABLE=TABLE + 1)),
    "array view": (lambda x: x @ BIG.T[:3, :3], lambda: set_item(BIG, 0, BIG[0] + 1)),
    "array read in Python": (lambda x: x + BIG.sum(), lambda: set_item(BIG, 0, BIG[0] + 1)),
    "array element": (lambda x: x + TABLE[1], lambda: set_item(TABLE, 1, TABLE[1] + 1)),
    "array both ways": (lambda x: x + TABLE * float(TABLE.sum()), lambda: set_item(TABLE, 1, TABLE[1] + 1)),
    "array kept in a variable": (
        lambda x: call(lambda t: x + t + t.sum(), TABLE),
        lambda: set_item(TABLE, 1, TABLE[1] + 1),
    ),
    "dict item": (lambda x: x * SETTINGS["k"], lambda: set_item(SETTINGS, "k", SETTINGS["k"] + 1)),
    "dict get": (lambda x: x * SETTINGS.get("k"), lambda: set_item(SETTINGS, "k", SETTINGS["k"] + 1)),
    "nested array": (lambda x: x * SETTINGS["arrays"]["w"], lambda: set_item(SETTINGS["arrays"]["w"], 0, 77.0)),
    "nested array replaced": (
        lambda x: x * SETTINGS["arrays"]["w"],
        lambda: set_item(SETTINGS["arrays"], "w", np.full(3, 2.5)),
    ),
    "list grown": (lambda x: x * sum(SETTINGS["list"]), lambda: SETTINGS["list"].append(3)),
    "object attribute": (lambda x: LAYER(x), lambda: LAYER.options.update(bias=LAYER.options["bias"] + 1)),
    "object through a property": (LAYER, lambda: setattr(LAYER.sub, "k", LAYER.sub.k + 1)),
    "bound method": (LAYER.__call__, lambda: LAYER.parts.append(4.0)),
    "class attribute": (lambda x: LAYER(x), lambda: setattr(Layer, "scale", Layer.scale + 1)),
    "object's array": (lambda x: LAYER(x), lambda: set_item(LAYER.w, 0, LAYER.w[0] + 3)),
    "through super": (lambda x: CHILD(x), lambda: setattr(CHILD.sub, "k", CHILD.sub.k + 1)),
    "slot": (lambda x: x * SLOTTED.k, lambda: setattr(SLOTTED, "k", SLOTTED.k + 1)),
    "partial": (
        functools.partial(lambda s, x: x * s["k"], SETTINGS),
        lambda: set_item(SETTINGS, "k", SETTINGS["k"] + 1),
    ),
    "inner jit": (lambda x: numhlo.jit(helper)(x), lambda: globals().update(SCALE=SCALE + 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_changes_are_noticed(name, monkeypatch):
    for variable in ("SCALE", "TABLE", "BIG", "helper"):
        value = globals()[variable]
        monkeypatch.setitem(globals(), variable, value.copy() if isinstance(value, np.ndarray) else value)
    fun, change = CASES[name]
    f = numhlo.jit(fun)
    x = np.array([1.0, 2.0, 3.0], np.float32)
    before = f(x)
    np.testing.assert_allclose(before, fun(x), rtol=1e-6)
    f(x)
    assert misses(f) == 1
    change()
    after = f(x)
    np.testing.assert_allclose(after, fun(x), rtol=1e-6)
    assert after.dtype == fun(x).dtype
    assert not np.array_equal(after, before) or after.dtype != before.dtype
    count = misses(f)
    f(x)
    assert misses(f) == count <= 2


def test_closure_cells():
    k, w = 2.0, np.ones(3)

    @numhlo.jit
    def f(x):
        return x * k + w

    assert f(1.0).tolist() == [3, 3, 3]
    k = 3.0
    assert f(1.0).tolist() == [4, 4, 4]
    w[0] = 10
    assert f(1.0).tolist() == [13, 4, 4] and misses(f) == 2
    w = np.zeros(3)
    assert f(1.0).tolist() == [3, 3, 3]
    k = 2.0
    assert f(1.0).tolist() == [2, 2, 2] and misses(f) == 4


def test_equal_values_are_not_traced_again(monkeypatch):
    f = numhlo.jit(lambda x: x * SCALE)
    f(1.0)
    monkeypatch.setitem(globals(), "SCALE", float("2.0"))
    f(1.0)
    assert misses(f) == 1
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    f(1.0)
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    assert f(1.0) == 2 and misses(f) == 2  # the first entry is still there
    monkeypatch.setitem(globals(), "SCALE", 2)
    f(1.0)
    assert misses(f) == 3


def test_large_operands_are_not_compared():
    f = numhlo.jit(lambda x: x @ BIG + BIG[0, 0])
    g = numhlo.jit(lambda x: np.dot(x, BIG))
    x = np.ones(64)
    f(x), g(x)
    assert "compared at every call: global BIG" in f.explain() and "compared" not in g.explain()
    assert "captured arrays, read at every call: float64[64,64]" in g.explain()


def test_what_only_runtime_names_reach():
    holder = types.SimpleNamespace(w=np.ones(3))
    name = "w"

    @numhlo.jit
    def f(x):
        return x * getattr(holder, name)

    assert f(1.0).tolist() == [1, 1, 1]
    holder.w[0] = 5
    assert f(1.0).tolist() == [5, 1, 1]


def test_a_counter_is_right_and_traced_every_time():
    class Counter:
        def __init__(self):
            self.n = 0

        @numhlo.jit
        def step(self, x):
            self.n += 1
            return x + self.n

    c = Counter()
    assert [float(c.step(0.0)) for _ in range(3)] == [1, 2, 3]


def test_explanations(monkeypatch):
    f = numhlo.jit(lambda x: x * SCALE + TABLE.sum() + LAYER.sub.k)
    f(1.0)
    monkeypatch.setitem(globals(), "SCALE", 9.5)
    f(1.0)
    monkeypatch.setattr(LAYER.sub, "k", 50)
    f(1.0)
    monkeypatch.setitem(globals(), "TABLE", TABLE + 1)
    f(1.0)
    monkeypatch.delitem(globals(), "TABLE")
    with pytest.raises(NameError):
        f(1.0)
    text = f.explain()
    assert "traced because: captured: global SCALE changed from 2.0 to 9.5" in text
    assert (
        "traced because: captured: an attribute of global LAYER.sub changed" in text
        or "global LAYER.sub.k changed" in text
    )
    assert "traced because: captured: global TABLE changed" in text


def test_static_arguments_are_watched():
    @dataclasses.dataclass(eq=False)
    class Config:
        k: float

    f = numhlo.jit(lambda config, x: x * config.k, static_argnums=0)
    config = Config(2.0)
    assert f(config, 1.0) == 2
    config.k = 3.0
    assert f(config, 1.0) == 3 and f(config, 2.0) == 6 and misses(f) == 2


def test_arguments_of_user_classes_have_their_methods_followed(monkeypatch):
    @numhlo.tree_util.register_dataclass
    @dataclasses.dataclass
    class Weights:
        w: object

        def apply(self, x):
            return self.w * x * SCALE

    f = numhlo.jit(lambda p, x: p.apply(x))
    assert f(Weights(2.0), 3.0) == 12
    monkeypatch.setitem(globals(), "SCALE", 10.0)
    assert f(Weights(2.0), 3.0) == 60


def test_library_code_is_constant(monkeypatch):
    assert is_library("numpy.linalg") and is_library("functools") and is_library("numhlo.tracer.core.trace")
    assert not is_library("__main__") and not is_library(__name__) and not is_library(None)
    for name, folder in (("of_the_system", "dist-packages"), ("of_a_path", "site-packages"), ("of_mine", "packages")):
        module = types.ModuleType(name)
        module.__file__ = f"/somewhere/{folder}/{name}.py"
        monkeypatch.setitem(sys.modules, name, module)
    assert is_library("of_the_system") and is_library("of_a_path") and not is_library("of_mine")


class Measured:
    """A class whose properties are jitted."""

    def __init__(self):
        self.weight = 2.0

    @property
    @numhlo.jit
    def doubled(self):
        return np.ones(2) * self.weight * 2

    @functools.cached_property
    @numhlo.jit
    def kept(self):
        return np.ones(2) * self.weight


def test_jitted_properties():
    measured = Measured()
    assert measured.doubled.tolist() == [4.0, 4.0] and measured.kept.tolist() == [2.0, 2.0]
    measured.weight = 3.0
    assert measured.doubled.tolist() == [6.0, 6.0] and measured.kept.tolist() == [2.0, 2.0]
