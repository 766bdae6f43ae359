"""Loops over arrays whose elements don't meet: all rounds in one kernel, block by block."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.backend.program import Launch, Loop
from tests.backend.plain_engine import planned
from tests.backend.programs import all_steps, from_jax, plan

LINE = np.linspace(0.1, 2, 130, dtype=np.float32)
GRID = np.linspace(0.1, 2, 260, dtype=np.float32).reshape(2, 130)
LONG = np.linspace(0.1, 2, 2500, dtype=np.float32)


def escape(x, y):
    def step(_, s):
        a, b, n = s
        inside = a * a + b * b < 4
        return jnp.where(inside, a * a - b * b + x, a), jnp.where(inside, 2 * a * b + y, b), n + inside

    start = jnp.zeros_like(x), jnp.zeros_like(x), jnp.zeros(x.shape, np.int32)
    return jax.lax.fori_loop(0, 6, step, start)


def paths(start, steps):
    def step(s, z):
        s = s * (z + 1)
        return s, s - z

    return jax.lax.scan(step, start, steps)


def two_states(x, y):
    return jax.lax.fori_loop(0, 5, lambda i, s: (s[0] * 0.5 + s[1] * i.astype(s[0].dtype), s[0] - s[1]), (x, y))


def with_scalars(x, weights):
    def step(i, s):
        y, total = s
        return y * weights[i] + weights[i + 1], total + weights[i]

    return jax.lax.fori_loop(0, 4, step, (x, np.float32(0)))


def reversed_rows(x, rows):
    return jax.lax.scan(lambda s, r: (s + r, s), x, rows, reverse=True)


CASES: dict[str, Any] = {
    "one state": (lambda x: jax.lax.fori_loop(0, 5, lambda i, c: c * 1.01 + x, x), LINE),
    "two dims": (lambda x: jax.lax.fori_loop(0, 5, lambda i, c: jnp.sqrt(c) + x, x), GRID),
    "several blocks": (lambda x: jax.lax.fori_loop(0, 3, lambda i, c: c * 1.01 + x, x), LONG),
    "two states": (two_states, LINE, LINE * 2),
    "escape times": (escape, GRID - 1, GRID * 0.5),
    "paths": (paths, LINE, np.stack([LINE, LINE * 0.5, -LINE])),
    "rows backwards": (reversed_rows, LINE, np.stack([LINE, LINE * 0.5, -LINE])),
    "scalars in the state": (with_scalars, LINE, LINE[:5]),
    "a test on a scalar": (
        lambda x: jax.lax.while_loop(lambda s: s[1] < 50, lambda s: (jnp.sqrt(s[0]), s[1] * 3 + 1), (x, 0)),
        LINE,
    ),
    "narrow floats": (lambda x: jax.lax.fori_loop(0, 5, lambda i, c: c * x + 1, x), LINE.astype(jnp.bfloat16)),
}


@pytest.mark.parametrize("name", CASES)
def test_loops_in_one_kernel(name):
    function, *arguments = CASES[name]
    program = planned(function, *arguments)
    assert not any(isinstance(step, Loop) for step in program.steps)
    assert any(isinstance(s, Launch) and s.kernel.name == "blocked_loop" for s in all_steps(program))


@pytest.mark.usefixtures("loops_in_steps")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: jax.lax.fori_loop(0, 3, lambda i, c: c + c.sum(), x),
        lambda x: jax.lax.fori_loop(0, 3, lambda i, c: c + c[::-1], x),
        lambda x: jax.lax.while_loop(lambda c: c.max() < 100, lambda c: c * 2, x),
        lambda x: jax.lax.fori_loop(0, 3, lambda i, s: (s[0] + s[1][:, None].sum(), s[1] * 2), (x, x[:, 0])),
        lambda x: jax.lax.fori_loop(0, 3, lambda i, c: jax.lax.cond(i > 1, lambda c: c * 2, lambda c: c, c), x),
    ],
)
def test_other_loops_are_step_trees(function):
    program = planned(function, GRID)
    assert any(isinstance(step, Loop) for step in program.steps)
    assert any("a loop takes several steps" in note for note in program.notes)


def test_kernels_serve_many_shapes():
    programs = [plan(from_jax(CASES["two states"][0], x, x * 2)) for x in (LINE, GRID, LONG)]
    assert programs[0].kernels == programs[1].kernels == programs[2].kernels


@pytest.mark.usefixtures("loops_in_steps")
def test_a_branch_that_needs_an_element_takes_steps():
    def step(i, s):
        x, total = s
        value = x[i] * 2
        total = jax.lax.cond(total > 1, lambda: value - total, lambda: total * 2)
        return x * 0.5 + total, total

    program = planned(lambda x: jax.lax.fori_loop(0, 9, step, (x, np.float32(0.3))), LINE)
    assert any("a loop takes several steps" in note for note in program.notes)
