"""Reverse mode around loops of an unknown number of steps: what does not go through their steps has a derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.lax as jax_lax
import jax.numpy as jax_numpy
import numpy as np
import pytest

import numhlo
import numhlo.numpy as nnp
from numhlo import lax
from numhlo.lowering.ir.errors import UnsupportedError

pytestmark = pytest.mark.usefixtures("first_answers")


def _loop(n: Any, step: Callable[[Any], Any], start: Any, m: Any = lax) -> Any:
    return m.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, step(c[1])), (0, start))[1]


def _for_nobody_in_a_scan(x: Any, n: Any) -> Any:
    step = lambda c, _: ((nnp.sin(c[0]), _loop(n, lambda y: y * 2, c[1])), None)
    return lax.scan(step, (x, x), None, 2)[0][0]


def _handed_through_in_a_scan(x: Any, n: Any) -> Any:
    step = lambda c, y: (nnp.sin(_loop(n, lambda y: y, c)) * y, c)
    return lax.scan(step, x, x * np.ones(1))[0]


def _for_nobody_in_a_branch(x: Any, n: Any) -> Any:
    grown = _loop(n, lambda y: y * x, x)
    return lax.cond(n > 3, lambda: (x * x, nnp.sin(grown)), lambda: (x * x, grown))[0]


Function = Callable[[Any, Any], Any]
SLOPES: dict[str, tuple[Function, Function]] = {
    "handed through": (lambda x, n: _loop(n, lambda y: y, x) ** 2, lambda x, n: 2 * x),
    "for nobody": (lambda x, n: (x**3, _loop(n, lambda y: y * x, x))[0], lambda x, n: 3 * x**2),
    "integers": (lambda x, n: x * lax.while_loop(lambda k: k < n, lambda k: k + 1, 0), lambda x, n: n),
    "constants": (lambda x, n: x**3 * _loop(n, lambda y: y * 2, 1.0), lambda x, n: 3 * x**2 * 2**n),
    "stopped inside": (lambda x, n: x * _loop(n, lambda y: y * lax.stop_gradient(x), 1.0), lambda x, n: x**n),
    "stopped outside": (lambda x, n: x * lax.stop_gradient(_loop(n, lambda y: y * x, 1.0)), lambda x, n: x**n),
    "compared": (lambda x, n: x**3 * (_loop(n, lambda y: y * x, 1.0) > 1), lambda x, n: 3 * x**2 * (x > 1)),
    "for nobody in a scan": (_for_nobody_in_a_scan, lambda x, n: np.cos(x) * np.cos(np.sin(x))),
    "handed through in a scan": (_handed_through_in_a_scan, lambda x, n: np.cos(x) * x + np.sin(x)),
    "for nobody in a branch": (_for_nobody_in_a_branch, lambda x, n: 2 * x),
}


@pytest.mark.parametrize(("fun", "slope"), SLOPES.values(), ids=SLOPES)
def test_what_does_not_go_through_the_steps_has_a_derivative(fun: Function, slope: Function) -> None:
    points, limits = np.array([0.7, 1.1]), np.array([4, 2])
    assert np.allclose(numhlo.jit(numhlo.grad(fun))(points[1], limits[1]), slope(points[1], limits[1]), rtol=1e-12)
    assert np.allclose(numhlo.vmap(numhlo.grad(fun))(points, limits), slope(points, limits), rtol=1e-12)


def test_what_is_handed_through_by_inner_loops_branches_and_calls() -> None:
    def step(x: Any) -> Any:
        x = _loop(2 * x, lambda y: y, numhlo.jit(lambda y: y)(x))
        x = lax.scan(lambda c, _: (c, None), x, None, 2)[0]
        return lax.cond(x > 0, lambda: x, lambda: x)

    slope = numhlo.jit(numhlo.grad(lambda x, n: _loop(n, step, x) ** 3))
    assert np.allclose(slope(1.5, 4), 3 * 1.5**2)


def test_steps_that_matter_have_none_and_forward_mode_has_all() -> None:
    fun = lambda x, n: _loop(n, lambda y: nnp.sin(y) * x, x)
    with pytest.raises(UnsupportedError, match="unknown number of steps") as caught:
        numhlo.jit(numhlo.grad(fun))(1.1, 4)
    assert "test_while_derivatives.py" in str(caught.value)
    push = numhlo.jit(lambda x, n: numhlo.linearize(lambda x: fun(x, n), x)[1](2.0))
    expected = jax.jvp(lambda x: _loop(4, lambda y: jax_numpy.sin(y) * x, x, jax_lax), (1.1,), (2.0,))[1]
    assert np.allclose(push(1.1, 4), expected, rtol=1e-12)
