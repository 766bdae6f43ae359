"""Many like carries: one loop over those that are computed alike has the bits of statements for each."""

import re
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.backend.emit.kernel_text import Block
from numhlo.backend.emit.rolled_loops import LEAST, Round, drop_unused
from numhlo.backend.executable import Executable
from numhlo.lowering.interpreter import interpret
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import from_jax, plan

lax = jax.lax
COUNT = 40


def neighbours(c, x):
    padded = (x, *c, x * 0.5)
    return [padded[k] + 0.2 * (padded[k - 1] - 2.0 * padded[k] + padded[k + 1]) for k in range(1, len(padded) - 1)]


def shared(c, x):
    value = sum(c, x) * 0.01
    value = value / (1.0 + value * value)
    return [0.9 * y + (0.1 + 0.001 * k) * value for k, y in enumerate(c)]


def shifted(c, x):
    """Carries change places; the last ones come from the other end, and one never changes."""
    return [*(c[k + 1] * x + c[k] for k in range(COUNT - 3)), c[0] * x, c[-2], c[1]]


def two_kinds(c, x):
    """Two runs of like carries, with others between them; what few need is computed twice."""
    first = [jnp.sqrt(jnp.abs(y)) * x for y in c[:15]]
    third = [a + b for a, b in pairwise(c[25:])]
    return [*first, *(y * 0.5 if k % 2 else y - x for k, y in enumerate(c[15:25])), *third, third[0] - third[1]]


def with_a_loop_inside(c, x):
    """A value that an inner loop leaves behind, and one that was computed from what that loop began with."""
    before = c[0] * x
    after = lax.fori_loop(0, 3, lambda k, s: s * 0.5 + c[1], before)
    return [y * 0.5 + before * 0.1 + after for y in c]


def unlike(c, x):
    return [(y * x, y + x, y - x, y * y)[k % 4] for k, y in enumerate(c)]


ALIKE = (neighbours, shared, shifted, two_kinds)


def scan_of(step, while_loop=False):
    def scan(carries, xs):
        def advance(c, x):
            new = tuple(step(c, x))
            return new, new[0]

        if while_loop:  # the condition looks at a carry
            advances = lambda s: (s[0] + 1, advance(s[1], xs[s[0]])[0])
            return lax.while_loop(lambda s: (s[0] < len(xs)) & (s[1][3] < 1e9), advances, (0, carries))
        return lax.scan(advance, carries, xs)

    return scan


@pytest.mark.parametrize("while_loop", [False, True])
@pytest.mark.parametrize("step", [*ALIKE, unlike, with_a_loop_inside], ids=lambda f: f.__name__)
def test_like_carries_have_the_interpreters_bits(step, while_loop, rng):
    carries, xs = tuple(map(np.asarray, rng.normal(size=COUNT))), rng.normal(size=7)
    function = from_jax(scan_of(step, while_loop), carries, xs)
    program = plan(function)
    (kernel,) = [k for k in program.kernels if "carried0" in k.source]
    assert ("for place0 in range(" in kernel.source) == (step in ALIKE)
    for left, right in zip(run_plain(program, [*carries, xs]), interpret(function, [*carries, xs]), strict=True):
        assert_same_bits(left, np.asarray(right))


@pytest.mark.parametrize("step", ALIKE, ids=lambda f: f.__name__)
def test_stores_go_from_one_end_to_the_other(step, rng):
    carries, xs = tuple(map(np.asarray, rng.normal(size=COUNT))), rng.normal(size=7)
    (kernel,) = [k for k in plan(from_jax(scan_of(step), carries, xs)).kernels if "carried0" in k.source]
    body = kernel.source.partition("while True:")[2]
    stores = r"range\((\d+), \d+\):|store_f64\(carried0, there0 \+ (\d+),"
    places = [int(first or place) for first, place in re.findall(stores, body)]
    assert places == sorted(places)


@pytest.mark.slow
@pytest.mark.parametrize("step", ALIKE, ids=lambda f: f.__name__)
def test_machine_code_has_them_too(step, rng):
    carries, xs = tuple(map(np.asarray, rng.normal(size=COUNT))), rng.normal(size=7)
    function = from_jax(scan_of(step), carries, xs)
    executable = Executable(plan(function))
    assert executable.wait(60)
    for left, right in zip(executable([*carries, xs]), interpret(function, [*carries, xs]), strict=True):
        assert_same_bits(left, np.asarray(right))


def block(*lines):
    found = Block("while True:")
    found.items += lines
    return found


def test_what_changes_during_a_round_is_not_computed_later():
    inner = block("total0 = total0 * y0")
    lines = ("total0 = x0", "add0 = total0 + s0", "y0 = load_f64(in0, 3)", inner, "add1 = y0 + s1")
    statements = Round(block(*lines), ["s0", "s1"])
    assert statements.formula("add0", 0) is None
    found = statements.formula("add1", 1)
    assert found.steps == ("y0", 0) and found.pieces == ("(", " + ", ")")
    assert statements.formula("x1 * add1", 1).constants == ("x1",)


def test_long_formulas_are_not_put_together():
    lines = ["a0 = s0", *(f"a{k} = a{k - 1} * a{k - 1}" for k in range(1, 8))]
    assert Round(block(*lines), ["s0"]).formula("a7", 0) is None
    assert Round(block(*lines), ["s0"]).formula("a3", 0).steps == (0,) * LEAST


def test_only_what_nothing_needs_is_dropped():
    found = block("a0 = s0 * s0", "a1 = a0 + s0", "a2 = s0 - s0", block("a3 = a2"), "s0 = s0")
    drop_unused(found, {"a0", "a1", "a2"})
    assert [line for line in found.items if isinstance(line, str)] == ["a2 = s0 - s0", "s0 = s0"]
