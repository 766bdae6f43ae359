"""What rounds compute for stacked results alone: of all rows behind the loop, where one value is enough to know a row."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.backend.planning.expansion import expand
from numhlo.backend.planning.rows_behind import compute_rows_behind
from numhlo.lowering.interpreter import interpret
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import from_jax, plan

lax = jax.lax
N = 40
X = np.linspace(0.1, 3, N)
ROWS = np.linspace(0.1, 2, 3 * N).reshape(N, 3)
DEAR = ("log", "exponential", "sine", "tanh", "power")


def variance(h, x):
    return 0.1 + 0.1 * x * x + 0.8 * h


def likelihood(x):
    def step(h, x):
        h = variance(h, x)
        return h, jnp.log(h) + x * x / h

    return lax.scan(step, 1.0, x)


def from_the_end(x):
    return lax.scan(lambda h, x: (variance(h, x), jnp.exp(-h) * x), 1.0, x, reverse=True)


def of_vectors(rows):
    return lax.scan(lambda s, row: (s * 0.5 + row, jnp.sin(s * 2) + row), np.ones(3), rows)


def beside_another(x):
    return lax.scan(lambda h, x: (variance(h, x), (h * 2, jnp.tanh(h) * 3)), 1.0, x)


def inside_another(x):
    inner = lambda h, _: lax.scan(lambda h, x: (variance(h, x), jnp.log(h)), h, x)
    return lax.scan(inner, 1.0, None, length=3)


def used_by_another_loop(x):
    h, logs = lax.scan(lambda h, x: (variance(h, x), jnp.log(h)), 1.0, x)
    return lax.fori_loop(0, N, lambda i, s: s * 0.5 + logs[i] * logs[0], h), logs.sum()


BEHIND = [likelihood, from_the_end, of_vectors, beside_another, inside_another, used_by_another_loop]


def of_two_values(x):
    return lax.scan(lambda s, x: ((variance(s[0], x), s[1] * x + 1), jnp.power(s[0], s[1])), (1.0, 2.0), x)


def of_the_state(x):
    def step(h, x):
        y = jnp.log(h)
        return variance(h, y), y

    return lax.scan(step, 1.0, x)


def of_another_type(x):
    return lax.scan(lambda h, x: (variance(h, x), jnp.tanh(h).astype(jnp.float32)), 1.0, x)


def some_rows(x):
    return lax.fori_loop(0, N, lambda i, s: (variance(s[0], x[i]), s[1].at[i // 2].set(jnp.exp(-s[0]))), (1.0, x))


LEFT = [of_two_values, of_the_state, of_another_type, some_rows]


def traced(function):
    arrays = [ROWS] if function is of_vectors else [X]
    with jax.enable_x64(True):
        return from_jax(function, *arrays), arrays


def dear_in_loops(region, inside=False):
    own = sum(inside and op.definition.name in DEAR and op.result.tensor.size <= 3 for op in region.ops)
    return own + sum(dear_in_loops(inner, op.definition.name == "while") for op in region.ops for inner in op.regions)


@pytest.mark.parametrize("function", [*BEHIND, *LEFT], ids=lambda f: f.__name__)
def test_results_are_the_interpreters(function):
    program, arrays = traced(function)
    for left, right in zip(run_plain(plan(program), arrays), interpret(program, arrays), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-13)


@pytest.mark.parametrize("function", BEHIND, ids=lambda f: f.__name__)
def test_what_is_dear_is_computed_behind_the_loop(function):
    program, arrays = traced(function)
    expected = [np.asarray(value) for value in interpret(program, arrays)]
    assert dear_in_loops(program.body) == 1
    program.body = expand(program.body)
    assert dear_in_loops(program.body) == 0
    for left, right in zip(interpret(program, arrays), expected, strict=True):
        np.testing.assert_allclose(np.asarray(left), right, rtol=1e-14)


@pytest.mark.parametrize("function", LEFT, ids=lambda f: f.__name__)
def test_what_else_is_needed_stays(function):
    program, arrays = traced(function)
    expected = [np.asarray(value) for value in interpret(program, arrays)]
    program.body = expand(program.body)
    assert dear_in_loops(program.body) == 1
    assert compute_rows_behind(program.body) == 0
    for left, right in zip(interpret(program, arrays), expected, strict=True):
        assert_same_bits(np.asarray(left), right)
