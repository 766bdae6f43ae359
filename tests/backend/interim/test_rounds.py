"""Loops run round by round: the interpreter's bits, also where something else goes on with them in the middle."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import numhlo
from numhlo.backend.interim.rounds import Rounds
from numhlo.backend.program import Launch
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.passes.pipeline import optimize
from tests.backend.interim.in_python import InPython, handed_over
from tests.backend.plain_engine import assert_same_bits
from tests.backend.programs import from_jax


def viterbi(transitions, emissions, seen):
    def forward(score, symbol):
        ways = score[:, None] + transitions
        return ways.max(0) + emissions[:, symbol], ways.argmax(0)

    return lax.scan(forward, emissions[:, 0], seen)


def knapsack(values, weights):
    """Each row of a table is made of the one before, which is read from the table."""

    def step(k, table):
        row = lax.dynamic_index_in_dim(table, k, keepdims=False)
        moved = jnp.roll(row, weights[k]) + values[k]
        return lax.dynamic_update_index_in_dim(table, jnp.maximum(row * 0.5, moved), k + 1, 0)

    return lax.fori_loop(0, values.size, step, jnp.zeros((values.size + 1, 20)))


def reads_what_it_has_written(x, rows):
    def step(k, state):
        table, total = state
        before = table[k]
        table = lax.dynamic_update_index_in_dim(table, x + total, k, 0)
        return table, jnp.sort(total + before + table[k])

    return lax.fori_loop(0, 5, step, (rows, x))


def two_windows_a_round(x, rows):
    def step(k, rows):
        rows = lax.dynamic_update_index_in_dim(rows, jnp.sort(x) + rows[4 - k], k, 0)
        return lax.dynamic_update_index_in_dim(rows, x + rows[k], 4 - k, 0)

    return lax.fori_loop(0, 5, step, rows)


def moves_what_it_overwrites(x, rows):
    def step(k, state):
        rows, x = state
        rows = lax.dynamic_update_slice(rows, lax.dynamic_slice(rows, (k // 2, 0), (3, 20)), (k // 2 + 1, 0))
        return rows, jnp.sort(x) + rows[2]

    return lax.fori_loop(0, 4, step, (rows, x))


def changing_places(x, y):
    def step(k, state):
        a, b, c, d = state
        return b, a + jnp.sort(c)[k], c, b

    return lax.fori_loop(0, 5, step, (x, y, x * y, x))


def relaxed(x, y):
    """A stencil: the same window is renewed in each round."""

    def step(state):
        x, k = state
        inner = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
        return x.at[1:-1, 1:-1].set(inner + jnp.sum(y)), k + 1

    return lax.while_loop(lambda s: (s[1] < 6) & (jnp.max(s[0]) < 1e3), step, (x, 0))


def one_array_twice(x, rows):
    def step(k, state):
        table, _ = state
        table = lax.dynamic_update_index_in_dim(table, jnp.sort(x) + table[0], k, 0)
        return table, table

    return lax.fori_loop(0, 5, step, (rows, rows))


def a_view_is_kept(x, rows):
    def step(k, state):
        table, row = state
        return lax.dynamic_update_index_in_dim(table, jnp.sort(x + row), k, 0), table[k]

    return lax.fori_loop(0, 5, step, (rows, x))


def no_rounds(x, rows):
    return lax.while_loop(lambda s: jnp.sum(s) > jnp.inf, lambda s: jnp.sort(s + rows[0]), x)


def programs():
    """Return functions, arguments, and how many parts of the state are written in place."""
    rng = np.random.default_rng(3)
    x, rows = rng.normal(size=20), rng.normal(size=(5, 20))
    seen = rng.integers(0, 4, 9).astype(np.int32)
    model = rng.normal(size=(16, 16)), rng.normal(size=(16, 4)), seen
    return {
        "viterbi": (viterbi, model, 1),
        "knapsack": (knapsack, (rng.random(8), rng.integers(1, 5, 8).astype(np.int32)), 1),
        "reads what it has written": (reads_what_it_has_written, (x, rows), 0),
        "two windows a round": (two_windows_a_round, (x, rows), 1),
        "moves what it overwrites": (moves_what_it_overwrites, (x, rows), 1),
        "changing places": (changing_places, (x, x + 1.0), 0),
        "relaxed": (relaxed, (rng.normal(size=(8, 9)), x), 0),
        "one array twice": (one_array_twice, (x, rows), 0),
        "a view is kept": (a_view_is_kept, (x, rows), 0),
        "no rounds": (no_rounds, (x, rows), 0),
    }


PROGRAMS = programs()


def check(found, expected):
    for left, right in zip(found, expected, strict=True):
        assert_same_bits(left, np.asarray(right))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("launches", ["joined", "one by one"])
def test_loops_have_the_interpreters_bits(name, launches, request):
    if launches == "one by one":
        request.getfixturevalue("loops_in_steps")
    function, arguments, in_place = PROGRAMS[name]
    with jax.enable_x64(True):
        traced = from_jax(function, *arguments)
    expected = interpret(traced, arguments)
    found = InPython(traced)
    check(found(arguments), expected)
    assert found.engine.ways()["round by round"] == 1
    loops = [loop for loop, _ in found.engine.groups.loops.values()]
    joined = [step.loop for step in found.program.steps if isinstance(step, Launch) and step.loop is not None]
    assert not joined or launches == "joined"
    (loop,) = [*loops, *joined]
    plan = Rounds(loop)
    body = loop.op.regions[1]
    changed = [a for a, b in zip(body.arguments, body.returns, strict=True) if a is not b]
    assert len(changed) - len(plan._moved) == in_place
    check(found(arguments), expected)  # nothing of the first call is left
    for rounds_before in range(3):
        check(handed_over(traced, arguments, rounds_before), expected)


@pytest.mark.usefixtures("loops_in_steps")
def test_what_does_not_change_is_computed_once():
    function, arguments, _ = PROGRAMS["viterbi"]
    with jax.enable_x64(True):
        found = InPython(from_jax(function, *arguments))
    ((loop, _),) = found.engine.groups.loops.values()
    every_round = {op.definition.name for op in Rounds(loop)._body.region.ops}
    assert "iota" not in every_round and "reduce" in every_round


@pytest.mark.usefixtures("loops_in_steps")
@pytest.mark.parametrize("kind", ["a loop inside", "an op without a kernel"])
def test_other_loops_run_step_by_step(kind):
    def step(k, x):
        if kind == "a loop inside":
            return jnp.sort(lax.fori_loop(0, 3, lambda j, y: jnp.sort(y * 0.5)[::-1], x)) + k
        solved = lax.linalg.triangular_solve(jnp.eye(17, dtype=jnp.bfloat16), x[None].astype(jnp.bfloat16))
        return solved[0].astype(x.dtype) + k

    x = np.arange(17, dtype=np.float32)
    function = from_jax(lambda x: lax.fori_loop(0, 4, step, x), x)
    found = InPython(function)
    loops = [loop.op for loop, _ in found.engine.groups.loops.values()]
    assert len(loops) == (kind == "a loop inside") and not set(loops) & set(function.body.ops)
    check(found([x]), interpret(function, [x]))


def test_composites_that_numpy_knows_are_no_loops():
    def step(k, state):
        x, a = state
        return np.sort(np.linalg.solve(a + k * np.eye(20), x)), np.cumsum(a, axis=1) * 0.5

    x, a = np.arange(20.0), np.eye(20) + 0.1
    traced = numhlo.jit(lambda x, a: numhlo.lax.fori_loop(1, 5, step, (x, a))).trace(x, a)
    function = optimize(traced.module.main)
    found = InPython(function)
    check(found([x, a]), interpret(function, [x, a]))
    assert len(found.engine._rounds) == 1
