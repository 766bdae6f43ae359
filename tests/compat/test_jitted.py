"""Functions that `jax.jit` makes: however they are called, their results are arrays that can't be written."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numhlo
from numhlo.compat import jax
from numhlo.compat.jax import arrays, wrapping
from numhlo.compilation import jitted_function
from numhlo.switches import using

X = np.linspace(-1.0, 1.0, 6)
LARGE = 5_000_000


def assert_immutable(x: Any) -> None:
    assert type(x) is jax.Array and not x.flags.writeable


WAYS: dict[str, Callable[[Any], Any]] = {
    "arrays": lambda f: f(X, 2.0),
    "immutable arrays": lambda f: f(jax.numpy.asarray(X), 2.0),
    "keywords": lambda f: f(X, b=2.0),
    "other layout": lambda f: f(np.repeat(X, 2)[::2], 2.0),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("engine", ["compiled", "interpreter"])
def test_results_are_immutable(way: str, engine: str) -> None:
    f = jax.jit(lambda a, b: (a * b, {"sum": a.sum()}))
    with using(engine=engine):
        for _ in range(3):  # at first through the cache, then by a route
            product, rest = WAYS[way](f)
            assert_immutable(product)
            assert_immutable(rest["sum"])
            np.testing.assert_array_equal(product, 2 * X)
            f.wait()


def test_many_numbers_share_memory_and_are_immutable() -> None:
    f = jax.jit(lambda a: tuple(a[k] + k for k in range(20)))
    for _ in range(3):
        for k, number in enumerate(f(np.arange(20.0))):
            assert_immutable(number)
            assert number == 2 * k
        f.wait()


def test_large_results_are_immutable() -> None:
    f = jax.jit(lambda: jax.numpy.zeros(LARGE))
    for _ in range(2):
        assert_immutable(f())
        f.wait()


def test_checked_functions_give_immutable_arrays() -> None:
    with jax.debug_nans():
        assert_immutable(jax.jit(lambda a: a + 1)(X))


def test_compiled_calls_never_enter_python(monkeypatch: pytest.MonkeyPatch) -> None:
    f = jax.jit(lambda a, b: a * b)
    f(X, 2.0)
    f.wait()
    f(X, 2.0)

    def fail(*_: Any) -> None:
        raise AssertionError("the call went through Python")

    monkeypatch.setattr(jitted_function.JittedFunction, "_call", fail)
    monkeypatch.setattr(type(f), "_call", fail)
    assert_immutable(f(X, 2.0))
    assert_immutable(f(jax.numpy.asarray(X), 2.0))


def test_an_argument_that_is_returned_is_not_the_callers() -> None:
    f, x = jax.jit(lambda a: a), X.copy()
    for _ in range(3):
        y = f(x)
        f.wait()
        x[0] = 9.0
        assert y[0] != 9.0
        x[0] = X[0]


def test_functions_among_results_give_immutable_arrays() -> None:
    f = jax.jit(lambda a: jax.vjp(jax.numpy.sin, a))
    for _ in range(3):
        value, pull_back = f(X)
        assert_immutable(value)
        assert_immutable(pull_back(value)[0])
        f.wait()


def test_methods_are_jitted_for_their_object() -> None:
    class Scale:
        def __init__(self, by: float) -> None:
            self.by = by

        @jax.jit
        def __call__(self, x: Any) -> Any:
            return x * self.by

    for by in (2.0, 3.0):
        assert_immutable(Scale(by)(X))
        np.testing.assert_array_equal(Scale(by)(X), by * X)


def test_the_same_function_under_both_rules() -> None:
    def double(x: Any) -> Any:
        return x + x

    own, immutable = numhlo.jit(double), jax.jit(double)
    for _ in range(3):
        assert own(X).flags.writeable and type(own(X)) is numhlo.numpy.Array
        assert_immutable(immutable(X))
        own.wait()
        immutable.wait()


def test_calls_of_both_classes_are_native_whichever_is_called_first() -> None:
    program = (
        "import numpy as np, numhlo, numhlo.compat.jax as jax\n"
        "from numhlo.compilation.jitted_function import JittedFunction\n"
        "made = [jax.jit(lambda x: x + 1), numhlo.jit(lambda x: x + 2)]\n"
        "for f in made:\n"
        "    f(np.ones(3)); f.wait(); f(np.ones(3))\n"
        "JittedFunction._call = None\n"
        "print([type(f).__call__ is JittedFunction.__call__ for f in made], type(JittedFunction.__call__).__name__)\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert found == "[True, True] method_descriptor\n"


def test_arguments_without_parts_are_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    x = jax.numpy.asarray(X)

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("arguments were taken apart as a tree")

    monkeypatch.setattr(wrapping, "tree_map", fail)
    monkeypatch.setattr(arrays, "tree_leaves", fail)
    for result in (jax.numpy.sin(x), jax.numpy.concatenate([x, X]), jax.numpy.reshape(x, (2, 3)), jax.numpy.add(x, 1)):
        assert_immutable(result)


def test_views_of_writable_arguments_are_copies() -> None:
    x = X.copy()
    for result in (jax.numpy.reshape(x, (2, 3)), jax.numpy.split(x, 2)[0], jax.numpy.asarray(x)):
        assert_immutable(result)
        assert not np.may_share_memory(result, x)
