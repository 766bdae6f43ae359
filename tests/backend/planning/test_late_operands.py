"""Chains of minima and maxima in loops: in another order where a round waits for one of the operands, with the same bits."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import from_jax, plan

lax = jax.lax
LENGTH = 40


def columns(rng):
    """Return three series with ties, zeros of both signs, infinities and NaN."""
    values = np.array([0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan])
    chances = [0.2, 0.2, 0.15, 0.15, 0.2, 0.04, 0.04, 0.02]
    return [rng.choice(values, LENGTH, p=chances) for _ in range(3)]


def check(step, arrays, starts=(2.0,)):
    """Return the loop's kernel of a scan, whose results have the interpreter's bits."""
    function = from_jax(lambda *xs: lax.scan(step, tuple(map(np.float64, starts)), xs), *arrays)
    before = str(function)
    program = plan(function)
    assert str(function) == before
    for left, right in zip(run_plain(program, arrays), interpret(function, arrays), strict=True):
        assert_same_bits(left, np.asarray(right))
    (kernel,) = [k for k in program.kernels if "while_" in k.name]
    return kernel.source


def extremes_in(source):
    """Return the operands of a round's minima and maxima, in order."""
    return re.findall(r"quick_(?:min|max)imum\((\w+), (\w+)\)", source)


@pytest.mark.parametrize("least", [jnp.minimum, jnp.maximum])
def test_what_the_round_before_has_computed_comes_last(least, rng):
    def warp(carried, x):
        (left,) = carried
        value = x[2] * 0.5 + least(least(x[0], left), x[1])
        return (value,), value

    for _ in range(4):
        first, second = extremes_in(check(warp, columns(rng)))
    assert all(name.startswith("x") for name in first)
    assert second[1].startswith("state")


def test_longer_chains(rng):
    def step(carried, x):
        (left,) = carried
        value = jnp.minimum(x[0] * 2, jnp.minimum(jnp.minimum(left, x[1]), x[2])) + 1
        return (value,), value

    *early, last = extremes_in(check(step, columns(rng)))
    assert not any(name.startswith("state") for pair in early for name in pair)
    assert last[1].startswith("state")


def test_both_may_be_from_the_round_before(rng):
    def step(carried, x):
        left, other = carried
        value = jnp.minimum(jnp.minimum(left, x[0]), other) + x[1]
        return (value, value * 2 + x[2]), value

    first, _ = extremes_in(check(step, columns(rng), (1.0, 2.0)))
    assert first[0].startswith("state")


def test_what_others_need_stays(rng):
    def step(carried, x):
        (left,) = carried
        inner = jnp.minimum(left, x[0])
        value = jnp.minimum(inner, x[1]) + x[2]
        return (value,), inner

    first, _ = extremes_in(check(step, columns(rng)))
    assert first[0].startswith("state")


def test_minima_of_maxima_stay(rng):
    def step(carried, x):
        (left,) = carried
        value = jnp.minimum(jnp.maximum(left, x[0]), x[1]) + x[2]
        return (value,), value

    first, _ = extremes_in(check(step, columns(rng)))
    assert first[0].startswith("state")


def test_loops_inside_loops(rng):
    def row(carried, x):
        def cell(left, y):
            value = jnp.minimum(jnp.minimum(y, left), x[0]) + 0.5
            return value, value

        (before,) = carried
        last, found = lax.scan(cell, before, jnp.stack(x))
        return (last,), found.sum()

    check(row, columns(rng))


def test_a_running_extreme_of_several_is_taken_many_rounds_at_once(rng):
    arrays = columns(rng)[:2]

    def function(x, y):
        return lax.fori_loop(0, LENGTH, lambda j, best: jnp.maximum(jnp.maximum(best, x[j]), y[j]), x[0])

    traced = from_jax(function, *arrays)
    program = plan(traced)
    for left, right in zip(run_plain(program, arrays), interpret(traced, arrays), strict=True):
        assert_same_bits(left, np.asarray(right))
    assert not any("quick_" in kernel.source for kernel in program.kernels)
