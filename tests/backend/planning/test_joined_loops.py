"""Loops of several kernels a round that are one kernel: the same bits, whatever changes places, and when they are not."""

import contextlib
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.backend.emit.joined_kernels import NotJoinedError, part_of
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.loop_rounds import POLL_ROUNDS
from numhlo.backend.executable import Executable
from numhlo.backend.planning.explain import explain
from numhlo.backend.program import Kernel, Launch, Loop, Place
from numhlo.lowering.interpreter import interpret
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import all_steps, from_jax, plan

X = np.linspace(-2, 1, 70)
TABLE = np.cos(np.arange(700.0)).reshape(10, 70)


def shortest(table):
    def step(_, state):
        distance, done = state
        nearest = jnp.argmin(jnp.where(done, jnp.inf, distance))
        new = jnp.minimum(distance, distance[nearest] + table[nearest % 10])
        return new, done.at[nearest].set(True)

    return jax.lax.fori_loop(0, 70, step, (jnp.where(jnp.arange(70) == 3, 0.0, jnp.inf), jnp.zeros(70, bool)))


def changing_places(x):
    def step(i, state):
        a, b, c = state
        return b, a + jnp.argmax(c), jnp.flip(c) * a[i % 70]

    return jax.lax.fori_loop(0, 7, step, (x[:60], x[10:], x))


def three_in_a_ring(x):
    step = lambda i, s: (s[1], s[2] * jnp.argmin(s[0]), s[0])
    return jax.lax.fori_loop(0, 5, step, (x, x + 1, x * 2))


def until_small(x):
    def step(state):
        y, n = state
        return y - y[jnp.argmax(jnp.abs(y))] * 0.3 * jnp.roll(y, 1), n + 1

    return jax.lax.while_loop(lambda s: (jnp.max(jnp.abs(s[0])) > 0.5) & (s[1] < 9), step, (x, 0))


def sums_of_several_kinds(x):
    def step(i, state):
        y, total = state
        y = jnp.flip(y - y.sum() / 70) * 0.1 + y
        return y, total + y[i] * jnp.sum(y * y)

    return jax.lax.fori_loop(0, 6, step, (x, 0.0))


def counters_of_several_types(x):
    def step(state):
        i, j, y = state
        return i + np.int8(1), j * 2, y * i + jnp.flip(y) + jnp.argmax(y)

    return jax.lax.while_loop(lambda s: s[0] < 5, step, (np.int8(0), 1.5, x))


def no_rounds(x):
    return jax.lax.while_loop(lambda y: jnp.argmax(y) < 0, lambda y: jnp.flip(y) - y[jnp.argmin(y)], x)


def sides_of_two_kinds(x):
    def step(i, state):
        y, z, n = state
        y = jax.lax.cond(jnp.max(y) > 1, lambda y, z: y * 0.5, lambda y, z: jnp.flip(y + z), y, z)
        y, n = jax.lax.switch(i % 5, [lambda y, n: (z, n + 1), lambda y, n: (y - n, n * 2), lambda y, n: (y, n)], y, n)
        return y, y + z[jnp.argmin(y)], n

    return jax.lax.fori_loop(0, 9, step, (x, x * 2, 0))


def rows_of_cells(x):
    def row(above, y):
        def cell(left, columns):
            new = y + jnp.minimum(left, jnp.minimum(*columns))
            return new, new

        _, cells = jax.lax.scan(cell, y, (above, jnp.flip(above)))
        return cells, jnp.max(cells)

    return jax.lax.scan(row, x, x[:8])


def rounds_of_rounds(x):
    def inner(k, state):
        y, z = state
        return z - y[jnp.argmax(z)], y * 0.5 + k

    def outer(i, state):
        y, z, total = state
        y, z = jax.lax.fori_loop(0, i % 4, inner, (y, z))
        y = jax.lax.while_loop(lambda y: jnp.max(y) > 1, lambda y: jnp.flip(y) * 0.5, y)
        return z, y, total + jnp.sum(y)

    return jax.lax.fori_loop(0, 9, outer, (x, x + 1, 0.0))


def loops_in_sides(x):
    def step(i, y):
        grown = lambda y: jax.lax.fori_loop(0, 3, lambda k, y: y + y[jnp.argmin(y)] * k, y)
        return jax.lax.cond(y[i] > 0, grown, lambda y: jnp.flip(y) + 1, y)

    return jax.lax.fori_loop(0, 8, step, x)


CASES = {f.__name__: f for f in (
    shortest, changing_places, three_in_a_ring, until_small, sums_of_several_kinds, counters_of_several_types,
    no_rounds, sides_of_two_kinds, rows_of_cells, rounds_of_rounds, loops_in_sides
)}  # fmt: skip


def argument_of(function):
    return TABLE if function is shortest else X


def traced(name):
    function = CASES[name]
    with jax.enable_x64(True):
        return from_jax(function, argument_of(function)), [argument_of(function)]


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_interpreters(name):
    function, arrays = traced(name)
    program = plan(function)
    assert [s.kernel.name for s in program.steps if isinstance(s, Launch) and s.loop] == ["while_rounds"]
    assert not any(isinstance(step, Loop) for step in all_steps(program))
    for left, right in zip(run_plain(program, arrays), interpret(function, arrays), strict=True):
        assert_same_bits(left, np.asarray(right))


@pytest.mark.parametrize("name", CASES)
def test_machine_code_gives_the_same(name):
    function, arrays = traced(name)
    expected = [np.asarray(value) for value in interpret(function, arrays)]
    executable = Executable(plan(function))
    assert executable.wait(60)
    for found in (executable(arrays), executable._call(arrays), executable(arrays)):
        for left, right in zip(found, expected, strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_no_two_buffers_of_the_kernel_overlap(name):
    program = plan(traced(name)[0])
    (launch,) = [step for step in program.steps if isinstance(step, Launch) and step.loop]
    places = sorted(
        (b.offset, b.offset + b.type.nbytes)
        for b in (program.buffers[number] for number in set(launch.buffers))
        if b.place is Place.ARENA
    )
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(places))


def test_arrays_that_are_long_for_local_variables_are_not_written_out():
    def rows(x):
        return jax.lax.fori_loop(0, 9, lambda _, y: jnp.maximum(y, jnp.argmin(y) - x), x * 2)

    kernels = {n: [k.name for k in plan(from_jax(rows, X[:n])).kernels] for n in (9, 30)}
    assert "while_loop" in kernels[9] and "while_rounds" in kernels[30]


def test_other_shapes_have_the_same_kernel():
    sizes = [np.linspace(-1, 1, n) for n in (70, 90, 130)]
    found = {plan(from_jax(until_small, x)).kernels[-1] for x in sizes}
    assert len(found) == 1


def test_explain_says_what_is_joined_and_what_is_not():
    assert "  reduce_values_select: " in explain(plan(traced("shortest")[0]))
    long = np.zeros(1 << 16, np.float32)
    program = plan(from_jax(lambda x: jax.lax.fori_loop(0, 3, lambda i, y: y - y[jnp.argmax(y)], x), long))
    assert any("its kernels take longer than their launches" in note for note in program.notes)


def test_long_loops_look_whether_the_user_wants_to_stop():
    loop = lambda rounds: plan(
        from_jax(lambda x: jax.lax.fori_loop(0, rounds, lambda i, y: y - y[jnp.argmax(y)], x), X)
    )
    short, long = (loop(rounds).kernels[-1].source for rounds in (20, 100000))
    assert "interrupted(ctx)" in long and "interrupted(ctx)" not in short


@pytest.mark.parametrize("rows", [30, 300])
def test_rounds_of_loops_inside_count_for_looks(rows):
    def table(x, y):
        cell = lambda left, above: (jnp.minimum(left, above) + 1,) * 2
        return jax.lax.scan(lambda above, start: (jax.lax.scan(cell, start, above)[1], None), x, y)[0]

    (kernel,) = (k for k in plan(from_jax(table, X, np.zeros(rows))).kernels if "rounds" in k.name)
    assert ("interrupted(ctx)" in kernel.source) == (rows * len(X) > POLL_ROUNDS)


def test_loops_inside_that_look_themselves_count_on_from_round_to_round():
    def halving(x):
        small = lambda y: jax.lax.while_loop(lambda s: s > 1e-3, lambda s: s * 0.7, y)
        return jax.lax.fori_loop(0, 10, lambda i, y: jnp.flip(y) - small(y[jnp.argmax(y)]), x)

    lines = plan(from_jax(halving, X)).kernels[-1].source.splitlines()
    starts = [k for k, line in enumerate(lines) if line == f"    rounds_left = {POLL_ROUNDS}"]
    assert len(starts) == 1 and starts[0] < lines.index("    while True:")


@pytest.mark.parametrize(
    "lines", [["gemm_f64(ctx, x0)"], ["if lo >= hi:", "return"], ["table0 = call(bufs)"], ["x0 = call(dims)"]]
)
def test_kernels_that_need_more_than_numbers_and_buffers_are_no_parts(lines):
    text = KernelText(lambda _: 0)
    text.line("x0 = 1")
    *headers, last = lines
    with contextlib.ExitStack() as opened:
        for header in headers:
            opened.enter_context(text.block(header))
        text.line(last)
    with pytest.raises(NotJoinedError):
        part_of(text.finish("kernel"))


def test_kernels_that_nobody_wrote_here_are_no_parts():
    with pytest.raises(NotJoinedError):
        part_of(Kernel("kernel", "\n\ndef kernel(ctx, bufs, dims, lo, hi):\n    pass\n"))
