"""What type checkers know of a user's program: mypy reads this file, pytest runs it."""

import inspect
from typing import Any, assert_type, get_type_hints

import numpy as np

import numhlo
from numhlo.compat import jax
from numhlo.compat.jax import transformations
from numhlo.compilation.bound_function import BoundFunction
from numhlo.compilation.jit import JitOptions
from numhlo.compilation.jitted_function import JittedFunction
from numhlo.compilation.stages import Compiled, Lowered
from numhlo.tracer.user_kernels import KernelFunction


@numhlo.jit
def double(x: np.ndarray) -> np.ndarray:
    return x * 2


@numhlo.jit(static_argnames="n", tier0=False)
def power(x: np.ndarray, n: int) -> np.ndarray:
    return x**n


@numhlo.kernel(result=lambda x: x)
def copy(x: np.ndarray, out: np.ndarray) -> None:
    out[:] = x


@jax.jit(static_argnames="n")
def under_jaxs_rules(x: np.ndarray, n: int) -> np.ndarray:
    return x**n


class Model:
    @numhlo.jit
    def apply(self, x: np.ndarray) -> np.ndarray:
        return x


def test_decorated_functions_keep_their_methods() -> None:
    assert_type(double, JittedFunction)
    assert_type(power, JittedFunction)
    assert_type(copy, KernelFunction)
    assert_type(Model.apply, JittedFunction)
    assert_type(Model().apply, BoundFunction)
    assert_type(under_jaxs_rules, transformations.JittedFunction)
    found = double, power, copy, Model.apply, Model().apply
    kinds: list[type[Any]] = [JittedFunction, JittedFunction, KernelFunction, JittedFunction, BoundFunction]
    assert list(map(type, found)) == kinds


def test_stages() -> None:
    lowered = assert_type(double.lower(np.ones(2)), Lowered)
    with numhlo.debugging(engine="interpreter"):
        assert_type(lowered.compile(), Compiled)


def test_type_checkers_know_all_options_of_jit() -> None:
    (_, *options) = inspect.signature(numhlo.jit).parameters
    assert list(get_type_hints(JitOptions)) == options
