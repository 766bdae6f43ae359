"""Calls that never enter Python: what takes them, what they give, and what Python still sees and does."""

from __future__ import annotations

import functools
import threading

import numpy as np
import pytest

import numhlo
from numhlo.compilation.dispatch import Route
from numhlo.compilation.jitted_function import JittedFunction
from numhlo.tracer.trees.pytrees import tree_flatten, tree_structure

X = np.arange(6.0).reshape(2, 3)
FACTOR = 2.0


def ready(fun, *args):
    """Return a jitted function that native code calls."""
    f = numhlo.jit(fun)
    f(*args)
    f.wait()
    f(*args)
    assert f._cache.caller.native is not None
    return f


@pytest.fixture
def never_in_python(monkeypatch):
    """Let every call that Python makes fail."""

    def fail(*_):
        raise AssertionError

    def forbid():
        monkeypatch.setattr(Route, "try_call", fail)
        monkeypatch.setattr(JittedFunction, "_call", fail)

    return forbid


def increase(x):
    x += 1


STRUCTURES = [
    lambda x: x + 1,
    lambda x: (x + 1, x.sum()),
    lambda x: (x * 2,),
    lambda x: [x + 1, x.sum()],
    lambda x: {"a": (x + 1, [x.sum()]), "b": None},
    lambda x: ((x + 1, x), x),
    lambda _: (),
    lambda _: None,
]


@pytest.mark.parametrize("fun", STRUCTURES)
def test_results_have_their_structure(fun, never_in_python):
    f, expected = ready(fun, X), fun(X)
    never_in_python()
    found = f(X)
    assert tree_structure(found) == tree_structure(expected)
    for a, b in zip(tree_flatten(found)[0], tree_flatten(expected)[0], strict=True):
        np.testing.assert_array_equal(a, b)


def test_arguments_are_written_and_scalars_read(never_in_python):
    f, g = ready(increase, X.copy()), ready(lambda x, n: x * n, X, 2.0)
    mine = X.copy()
    never_in_python()
    assert f(mine) is None and (mine == X + 1).all()
    assert (g(X, 3.0) == X * 3).all()
    with pytest.raises(AssertionError):
        g(X, np.float32(3))


def test_calls_are_counted():
    f = ready(lambda x: x - 1, X)
    before = f.cache_info().hits
    for _ in range(5):
        f(X)
    assert f.cache_info().hits == before + 5
    f(X[0])
    f(X)
    assert f.cache_info()[:2] == (before + 6, 2)
    f.clear_cache()
    assert f._cache.caller.native is None and f.cache_info()[:2] == (0, 0)
    assert (f(X) == X - 1).all() and f.cache_info().misses == 1


def test_what_a_route_does_not_take_python_does():
    f = ready(lambda x, y: x - 2 * y, X, X)
    expected = X - 2
    call = f.__call__
    assert (f(X, y=np.ones(3)) == expected).all() and (f(y=np.ones(3), x=X) == expected).all()
    assert (call(X, y=np.ones(3)) == expected).all() and (functools.partial(call, X)(np.ones(3)) == expected).all()
    assert (call(X, X) == -X).all() and (JittedFunction.__call__(f, X, X) == -X).all()
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        call(X)
    with pytest.raises(TypeError, match="missing 2 required positional arguments"):
        call()
    with pytest.raises(TypeError, match="takes 2 positional arguments but 300 were given"):
        f(*[X] * 300)
    with pytest.raises(TypeError, match="unexpected keyword"):
        f(X, X, z=X)


def test_blocks_are_respected():
    f = ready(lambda x: "Traced" not in str.__str__(f"{x}"), X)
    assert not f(X)
    with numhlo.disable_jit():
        assert f(X)
    assert not f(X)


def test_captured_state_is_looked_at(monkeypatch, never_in_python):
    f = ready(lambda x: x * FACTOR, X)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert (f(X) == X * 3).all()
    f.wait()
    f(X)
    never_in_python()
    assert (f(X) == X * 3).all()
    monkeypatch.setitem(globals(), "FACTOR", 4.0)
    with pytest.raises(AssertionError):
        f(X)


def test_methods():
    class Scaled:
        def __init__(self, scale):
            self.scale = scale

        @numhlo.jit
        def times(self, x):
            return self.scale * x

    one, two = Scaled(2.0), Scaled(3.0)
    for _ in range(3):
        assert (one.times(X) == 2 * X).all() and (two.times(X) == 3 * X).all()
        Scaled.times.wait()


def test_functions_are_traced_within_each_other():
    f = ready(lambda x: x * 2, X)
    assert (numhlo.jit(lambda x: f(x) + 1)(X) == X * 2 + 1).all()
    assert (numhlo.grad(lambda x: f(x).sum())(X) == 2).all()


def test_the_cache_may_be_cleared_while_others_call():
    f = ready(lambda x: {"y": x * 2}, X)
    wrong, done = [], threading.Event()

    def work():
        while not done.is_set():
            if not (f(X)["y"] == X * 2).all():
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        f.clear_cache()
        f(X)
    done.set()
    for thread in threads:
        thread.join(60)
    assert not wrong and not any(thread.is_alive() for thread in threads)


def test_nothing_is_kept():
    f = ready(lambda x: x + 1, X)
    g = ready(lambda x: x + 2, X)
    assert (g(X) == f(X) + 1).all()
    route = f._cache.routes[0]
    del f
    assert route.native(X)[0][0, 0] == 1
    with pytest.raises(SystemError):
        JittedFunction.__new__(JittedFunction)(X)
