"""What type checkers know of a user's program: mypy reads this file, pytest runs it."""

import inspect
from typing import Any, assert_type

import numpy as np
import pytest

import numhlo
import numhlo.numpy as n
from numhlo import Array
from numhlo.compat import jax
from numhlo.compat.jax import transformations
from numhlo.compilation.bound_function import BoundFunction
from numhlo.compilation.jit import JitOptions
from numhlo.compilation.jitted_function import JittedFunction
from numhlo.compilation.stages import Compiled, Lowered
from numhlo.library.user_kernels import KernelFunction


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


def test_decorated_functions_have_methods() -> None:
    assert_type(copy, KernelFunction)
    assert_type(Model().apply, BoundFunction[np.ndarray])
    jitted: list[JittedFunction] = [double, power, Model.apply]
    adopted: transformations.JittedFunction = under_jaxs_rules
    found = *jitted, copy, Model().apply, adopted
    kinds = *[JittedFunction] * 3, KernelFunction, BoundFunction, transformations.JittedFunction
    assert list(map(type, found)) == list(kinds)


def test_decorated_functions_keep_their_signatures() -> None:
    """What follows ``type: ignore`` is wrong, and mypy reports where it does not find that."""
    x, twice = np.ones(2), numhlo.custom_jvp(lambda x: x * 2)
    with numhlo.debugging(engine="interpreter"):
        assert_type(double(x), np.ndarray)
        assert_type(numhlo.vmap(power, in_axes=(0, None))(x, 2), np.ndarray)
        assert_type(numhlo.value_and_grad(lambda x: x.sum())(x), tuple[Any, Any])
        assert_type(numhlo.vjp(double, x)[0], np.ndarray)
        assert_type(numhlo.jvp(double, (x,), (x,)), tuple[np.ndarray, np.ndarray])
        assert_type(numhlo.linearize(double, x)[1](x), np.ndarray)
        assert_type(jax.checkpoint(under_jaxs_rules)(x, n=2), np.ndarray)
        numhlo.jit(np.sin)(x)
        for wrong in (
            lambda: double(x, x),  # type: ignore[call-arg]
            lambda: power(x),  # type: ignore[call-arg]
            lambda: numhlo.grad(power)(x, exponent=2),  # type: ignore[call-arg]
            lambda: numhlo.hessian(double)(x, x),  # type: ignore[call-arg]
            lambda: numhlo.named_call(double)(y=x),  # type: ignore[call-arg]
            lambda: twice(),  # type: ignore[call-arg]
            lambda: jax.grad(under_jaxs_rules)(x, 2, 2),  # type: ignore[call-arg]
        ):
            with pytest.raises((TypeError, numhlo.errors.ArgumentError)):
                wrong()


def program(x: Array) -> Array:
    """Compute something the way users do: names are bound again to what comes out of indexing, methods, operators."""
    assert isinstance(x, Array)
    assert isinstance(x, np.ndarray)
    x = x[1:].reshape(-1, 2) * 2
    x = n.concatenate([x, np.ones((1, 2))]).T
    x = (x @ x.T + 1).at[0].add(1)
    x += 1
    x = n.where(x > 0, x, -x).astype(np.float32)
    x = n.linspace(0, 1, 4).reshape(x.shape) + 2**x
    total, step = x.sum(axis=0, keepdims=True), n.linspace(0.0, 1.0, 5, retstep=True)[1]
    for row in x:
        total = total + row * step
    plain: np.ndarray = n.cos(total)
    return n.sum(plain, axis=0)


def test_programs_as_users_write_them() -> None:
    assert_type(n.sum(np.ones(3)), Array)
    assert_type(n.divmod(7, 2), tuple[Array, Array])
    assert_type(n.arange(3).at[0].set(7), Array)
    assert_type(n.histogram([1.0]), tuple[Array, Array])
    assert_type(numhlo.random.normal(numhlo.random.key(0), (2,)), Array)
    assert_type(numhlo.lax.scan(lambda c, x: (c + x, c), 0.0, np.ones(2)), tuple[Any, Any])
    with numhlo.debugging(engine="interpreter"):
        found = assert_type(numhlo.jit(program)(n.arange(5.0)), Array)
    np.testing.assert_allclose(found, program(n.arange(5.0)), rtol=1e-6)
    assert_type(jax.numpy.sum(np.ones(3), promote_integers=False), jax.Array)
    assert_type(jax.numpy.arange(3).at[0].set(7) + 1, jax.Array)
    assert_type(jax.numpy.add.reduce(jax.numpy.arange(2)), jax.Array)
    assert_type(jax.random.split(jax.random.key(0)), jax.Array)
    for wrong in (
        lambda: numhlo.grda,  # type: ignore[attr-defined]
        lambda: n.smu(3),  # type: ignore[attr-defined]
        lambda: n.arange(3).at[0].sett(3),  # type: ignore[attr-defined]
    ):
        with pytest.raises(AttributeError):
            wrong()


def test_stages() -> None:
    lowered = assert_type(double.lower(np.ones(2)), Lowered)
    with numhlo.debugging(engine="interpreter"):
        assert_type(lowered.compile(), Compiled)


def test_type_checkers_know_all_options_of_jit() -> None:
    (_, *options) = inspect.signature(numhlo.jit).parameters
    assert list(JitOptions.__annotations__) == options
