"""What rounds compute of rows from outside: of all rows before the loop, with the same bits, where there are enough."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.backend.planning.rows_ahead import compute_rows_ahead
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import Region
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import from_jax, plan

lax = jax.lax
N = 40
X = np.linspace(0.1, 3, N)
ROWS = np.linspace(0.1, 2, 3 * N).reshape(N, 3)


def acceptance(x):
    return lax.scan(lambda s, u: (jnp.where(jnp.log(u) < s, s * 0.5, s + u),) * 2, 0.3, x)


def from_the_end(x):
    return lax.scan(lambda s, u: (s * 0.5 + jnp.exp(-u) * 2, s), 0.3, x, reverse=True)


def a_row_with_a_factor(rows, k):
    return lax.scan(lambda s, row: (s * 0.5 + jnp.sin(row * k)[:2], s.sum()), np.zeros(2), rows)


def two_series(x, rows):
    return lax.scan(lambda s, t: (s * 0.5 + jnp.power(t[0], t[1][0]), s), 0.3, (x, rows))


def inside_a_branch(x):
    def step(i, s):
        y = jnp.tanh(x[i])
        return lax.cond(s > 0, lambda s: s - y, lambda s: s * y + 1, s)

    return lax.fori_loop(0, N, step, 0.5)


def a_table_by_state(x):
    def step(_, s):
        k, total = s
        return (k * 7 + 3) % N, total + jnp.exp(x[k])

    return lax.fori_loop(0, 2 * N, step, (1, 0.0))


def loops_inside(x):
    row = lambda s, a: lax.scan(lambda t, u: (t * 0.5 + jnp.log(u) * a, None), s, x)[0]
    return lax.scan(lambda s, a: (row(s, jnp.cos(a)), s), 0.0, x[:20])


AHEAD = {"acceptance": 1, "from_the_end": 1, "a_row_with_a_factor": 1, "two_series": 1, "inside_a_branch": 1,
         "a_table_by_state": 1, "loops_inside": 2}  # fmt: skip


def of_state(x):
    return lax.scan(lambda s, u: (jnp.log(s + u), s), 0.3, x)


def too_few_rounds(x):
    return lax.fori_loop(0, N - 1, lambda i, s: s * 0.5 + jnp.log(x[i]), 0.0)


def rounds_that_nobody_knows(x):
    return lax.while_loop(lambda s: (s[0] < N) & (s[1] < 3), lambda s: (s[0] + 1, s[1] + jnp.exp(x[s[0]])), (0, 0.0))


def of_an_array_that_changes(x):
    def step(i, y):
        return y.at[(i + 1) % N].set(jnp.exp(-y[i]))

    return lax.fori_loop(0, N, step, x)


def two_indices(x):
    return lax.fori_loop(0, N, lambda i, s: s * 0.5 + jnp.power(x[i], x[(i + 1) % N]), 0.0)


def cheap_ones(x):
    return lax.scan(lambda s, u: (s * 0.5 + u * 3, s), 0.3, x)


LEFT = [of_state, too_few_rounds, rounds_that_nobody_knows, of_an_array_that_changes, two_indices, cheap_ones]


def traced(function):
    arrays = {two_series: [X, ROWS], a_row_with_a_factor: [ROWS, np.float64(1.5)]}.get(function, [X])
    with jax.enable_x64(True):
        return from_jax(function, *arrays), arrays


def dear(region: Region) -> int:
    """Return how many dear ops are in loops."""
    names = ("log", "exponential", "sine", "cosine", "power", "tanh")
    return sum(op.definition.name in names for loop in region.ops for inner in loop.regions for op in inner.walk())


@pytest.mark.parametrize("function", [*map(globals().get, AHEAD), *LEFT], ids=lambda f: f.__name__)
def test_results_are_the_interpreters(function):
    program, arrays = traced(function)
    for left, right in zip(run_plain(plan(program), arrays), interpret(program, arrays), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-13)


@pytest.mark.parametrize("name", AHEAD)
def test_what_is_dear_is_computed_before_the_loop(name):
    program, arrays = traced(globals()[name])
    expected = [np.asarray(value) for value in interpret(program, arrays)]
    body = program.body
    assert compute_rows_ahead(body) == AHEAD[name]
    for left, right in zip(interpret(program, arrays), expected, strict=True):
        assert_same_bits(np.asarray(left), right)


@pytest.mark.parametrize("function", LEFT, ids=lambda f: f.__name__)
def test_what_depends_on_the_state_stays(function):
    program, _ = traced(function)
    before = dear(program.body)
    assert compute_rows_ahead(program.body) == 0
    assert dear(program.body) == before
