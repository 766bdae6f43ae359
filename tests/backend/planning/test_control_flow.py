"""Loops and branches: whole-loop kernels where they are possible, step trees otherwise, state in place."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.backend.emit.loop_state import MOST_IN_REGISTERS
from numhlo.backend.program import Branch, Exchange, Launch, Loop
from tests.backend.plain_engine import planned, run_plain
from tests.backend.programs import all_steps, from_jax, launched, plan

X = np.linspace(0.5, 2, 12, dtype=np.float32).reshape(3, 4)
LINE = np.linspace(-1, 1, 20, dtype=np.float32)


def is_one_kernel(program):
    steps = all_steps(program)
    return all(isinstance(s, Launch) for s in steps) and any("loop" in name for name in launched(program))


def fibonacci(n):
    return jax.lax.fori_loop(0, n, lambda i, c: (c[1], c[0] + c[1]), (0, 1))


def nested(x):
    def outer(i, total):
        return jax.lax.fori_loop(0, i, lambda j, t: t + x[j] * i, total)

    return jax.lax.fori_loop(0, 6, outer, np.float32(0))


def branching(x):
    def step(c, value):
        c = jax.lax.cond(value > 0.1, lambda c: c + 1, lambda c: c * 0.5, c)
        return jax.lax.switch(value.astype(int) + 1, [lambda c: c, lambda c: c + value, lambda c: -c], c), c

    return jax.lax.scan(step, np.float32(1), x)


def three_bodies(state):
    def step(s, _):
        s = s + jnp.stack([s[1] - s[0], s[0] * s[2], -s[2]]) * np.float32(0.1)
        return s, s.sum()

    return jax.lax.scan(step, state, None, length=7)


def in_place(x):
    return jax.lax.fori_loop(1, 20, lambda i, y: y.at[i].set(y[i - 1] * 0.5 + x[i]), x)


def histogram(x):
    return jax.lax.fori_loop(0, 20, lambda i, h: h.at[(x[i] * 40 + 40).astype(int)].add(1), jnp.zeros(81, int))


def matrix_power(x):
    return jax.lax.fori_loop(0, 3, lambda _, v: v[::-1] * x[0, 0], x[0])


def while_with_test(x):
    return jax.lax.while_loop(lambda c: c[0] < 50, lambda c: (c[0] * 2 + c[1], c[1] + 1), (x[0], x[1]))


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (fibonacci, 15), (nested, LINE), (branching, LINE), (three_bodies, LINE[:3]), (in_place, LINE),
        (histogram, LINE), (matrix_power, X), (while_with_test, np.array([1, 2], np.float32)),
    ],
)  # fmt: skip
def test_loops_on_scalars_are_one_kernel(function, argument):
    assert is_one_kernel(planned(function, argument))


@pytest.mark.parametrize("count", [32, 33, 60])
def test_a_scan_over_many_carries_is_one_kernel(count):
    def many(carries, xs):
        def step(c, x):
            new = (*(c[k] * 0.9 + c[(k + 1) % count] * x for k in range(count - 2)), c[5], c[count - 2])
            return new, new[0]

        return jax.lax.scan(step, carries, xs)

    program = planned(many, tuple(np.float64(k) for k in range(count)), np.linspace(0, 0.01, 9))
    assert is_one_kernel(program)
    assert any("stack_array" in kernel.source for kernel in program.kernels) == (count > MOST_IN_REGISTERS)


def triangle(x):
    def row(i, total):
        return jax.lax.fori_loop(i + 1, 20, lambda j, t: t + x[j] * x[19 - j], total)

    return jax.lax.fori_loop(0, 19, row, np.float32(0))


def downwards(x):
    def step(c):
        k, y = c
        return k - 2, y.at[k].set(y[k - 1] + x[k + 1])

    return jax.lax.while_loop(lambda c: (c[0] >= 1) & (c[1][0] < 5), step, (18, x))[1]


def strides(x):
    return jax.lax.while_loop(lambda c: c[0] < 20, lambda c: (c[0] + 3, c[1].at[c[0]].add(1)), (2, x))[1]


def beyond(x):
    """Read and write outside: x[-1], x[20] (clamped), and what is dropped."""
    return jax.lax.fori_loop(0, 22, lambda i, y: y.at[i - 1].set(y[i - 1] * x[i], mode="drop"), x)


def narrow_counter(x):
    limit = np.int8(120)
    return jax.lax.while_loop(
        lambda c: c[0] < limit, lambda c: (c[0] + np.int8(7), c[1] + x[c[0] % 20]), (np.int8(0), np.float32(0))
    )[1]


@pytest.mark.parametrize("function", [triangle, downwards, strides, beyond, narrow_counter])
def test_indices_that_counters_keep_within_bounds(function):
    program = planned(function, LINE)
    assert is_one_kernel(program)
    (source,) = [k.source for k in program.kernels if "loop" in k.name]
    clamps = source.count("limit") > 0
    assert clamps == (function is beyond)


def test_what_a_scan_fills_is_not_filled_with_zeros_before():
    def forward(c, x):
        return jax.lax.scan(lambda c, v: (c + v, (c * v, c)), c, x)

    def backward(c, x):
        return jax.lax.scan(lambda c, v: (c + v, c * v), c, x, reverse=True)

    def half(_, x):
        fill = lambda i, y: jax.lax.dynamic_update_slice(y, (x[i] * 2)[None], (i,))
        return jax.lax.fori_loop(0, x.shape[0] // 2, fill, jnp.zeros_like(x))

    def read_before(_, x):
        fill = lambda i, y: jax.lax.dynamic_update_slice(y, (x[i] + y[19 - i])[None], (i,))
        return jax.lax.fori_loop(0, x.shape[0], fill, jnp.zeros_like(x))

    def at_set(_, x):
        return jax.lax.fori_loop(0, x.shape[0], lambda i, y: y.at[i].set(x[i] * 2), jnp.zeros_like(x))

    def kept(_, x):
        fill = lambda i, s: (jax.lax.dynamic_update_slice(s[0], x[i][None], (i,)), s[0])
        return jax.lax.fori_loop(0, x.shape[0], fill, (jnp.zeros_like(x), jnp.zeros_like(x)))

    def wrapping(_, x):
        fill = lambda i, y: jax.lax.dynamic_update_slice(y, (x[i % 20] + i)[None], (i.astype(np.uint8),))
        return jax.lax.fori_loop(0, 300, fill, jnp.zeros(300, x.dtype))

    rows = np.linspace(-1, 1, 2000).reshape(10, 200)
    for function, argument, launches in [
        (forward, LINE, 1), (backward, LINE, 1), (forward, rows, 1), (half, LINE, 2), (read_before, LINE, 2),
        (at_set, LINE, 2), (kept, LINE, None), (wrapping, LINE, 2),
    ]:  # fmt: skip
        program = planned(function, argument[0], argument)
        assert launches in (None, len([s for s in all_steps(program) if isinstance(s, Launch)])), function


def test_an_element_of_a_row_is_loaded_alone():
    def path(state, came_from):
        return jax.lax.scan(lambda s, row: (row[s], s), state, came_from, reverse=True)

    came_from = np.random.default_rng(5).integers(0, 16, (12, 16))
    program = planned(path, 3, came_from)
    assert is_one_kernel(program)
    (source,) = [k.source for k in program.kernels if "loop" in k.name]
    assert source.count("load_i64(") <= 3

    def rotated(table):  # the table changes, so that its row is what it was before
        def step(i, t):
            row = jax.lax.dynamic_slice(t, (i, 0), (1, 8))
            t = t.at[i, 0].set(row[0, i] + 1)
            return t.at[0, i].add(row[0, t[0, 0] % 8])

        return jax.lax.fori_loop(0, 8, step, table)

    planned(rotated, np.arange(64).reshape(8, 8))


def loop_of(program):
    (loop,) = [s for s in program.steps if isinstance(s, Loop)]
    return loop


@pytest.mark.usefixtures("loops_in_steps")
def test_state_is_updated_in_place():
    step = lambda i, y, x: jnp.sqrt(y) + x.sum()
    program = planned(lambda x: jax.lax.fori_loop(0, 5, lambda i, y: step(i, y, x * y), x * 2), np.ones((30, 10)))
    steps = loop_of(program).body
    assert not any(isinstance(s, Exchange) for s in steps)
    assert program.results[0] in {n for s in steps if isinstance(s, Launch) for n in s.buffers}


@pytest.mark.usefixtures("loops_in_steps")
def test_state_that_is_still_read_is_exchanged():
    shift = lambda x: jax.lax.fori_loop(0, 5, lambda i, y: y + jnp.flip(y), x)
    steps = loop_of(planned(shift, np.arange(100.0))).body
    assert [len(s.pairs) for s in steps if isinstance(s, Exchange)] == [1]


@pytest.mark.usefixtures("loops_in_steps")
def test_state_may_change_places_without_copies():
    def rotate(a, b, c):
        return jax.lax.fori_loop(0, 5, lambda i, s: (s[1], s[2], s[0] + s[1][0]), (a, b, c))

    steps = loop_of(planned(rotate, *[np.arange(100.0) + k for k in range(3)])).body
    assert not any(isinstance(s, Launch) and s.kernel.name == "copy" for s in steps)


def test_state_in_nested_loops_with_exchanges():
    def nested_arrays(x):
        def outer(i, y):
            y = jax.lax.fori_loop(0, 3, lambda j, z: z * 0.5 + jnp.flip(z) * i, y)
            return jax.lax.fori_loop(0, 2, lambda j, z: (z[1], z[0] + 1), (y, y * 2))[0]

        return jax.lax.fori_loop(0, 4, outer, x)

    planned(nested_arrays, np.arange(100.0))


def test_one_value_as_two_parts_of_the_state():
    planned(lambda x: jax.lax.fori_loop(0, 3, lambda i, s: (s[0] + s[1], s[1] * 2), (x, x)), np.arange(80.0))
    planned(lambda x: jax.lax.fori_loop(0, 3, lambda i, s: (s[1], s[1]), (x, x + 1)), np.arange(80.0))


def test_branches_on_arrays():
    for index in (-1, 0, 1, 2, 5):
        program = planned(
            lambda i, x: jax.lax.switch(i, [lambda x: x * 2, jnp.flip, lambda x: x], x), index, np.arange(90.0)
        )
        assert any(isinstance(s, Branch) for s in program.steps)


def test_branches_in_loops_on_arrays():
    def function(x):
        def body(i, y):
            return jax.lax.cond(i % 2 == 0, lambda y: y * 2, lambda y: y[::-1], y)

        return jax.lax.fori_loop(0, 5, body, x)

    planned(function, np.arange(90.0))


@pytest.mark.usefixtures("loops_in_steps")
@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_what_a_window_leaves_is_copied_once(rounds):
    grid = np.linspace(-1, 1, 900, dtype=np.float32).reshape(30, 30) ** 3

    def smooth(i, u):
        inner = (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]) * np.float32(0.25)
        return jax.lax.dynamic_update_slice(u, inner, (1, 1))

    program = planned(lambda u: jax.lax.fori_loop(0, rounds, smooth, u), grid)
    for loop in (step for step in program.steps if isinstance(step, Loop)):
        assert not any(isinstance(step, Launch) and step.kernel.name == "copy" for step in loop.body)
        assert any(isinstance(step, Exchange) for step in loop.body)


def test_windows_that_move_are_copied_in_every_round():
    grid = np.linspace(-1, 1, 900, dtype=np.float32).reshape(30, 30) ** 3

    def smooth(i, u):
        inner = (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]) * np.float32(0.25)
        return jax.lax.dynamic_update_slice(u, inner, (i, 2 - i))

    def with_sums(i, state):
        u, total = state
        inner = (u[1:-1, 2:] + u[1:-1, :-2]) * np.float32(0.5)
        new = jax.lax.dynamic_update_slice(u, inner, (1, 1))
        return jax.lax.dynamic_update_slice(new, new[:1] + 1, (0, 0)), total + new.sum()

    planned(lambda u: jax.lax.fori_loop(0, 3, smooth, u), grid)
    planned(lambda u: jax.lax.fori_loop(0, 3, with_sums, (u, np.float32(0))), grid)


@pytest.mark.parametrize("step", [1, 3])
def test_strips_end_wherever_they_begin(step):
    def count(start):
        advance = lambda s: (s[0] + step, s[1] ^ (s[0] * 5))
        return jax.lax.while_loop(lambda s: s[0] < 5000, advance, (start, start * 0))

    for start in (4000, 4998, 4999, 5000, 5001, 90000):
        program = planned(count, np.int32(start))
        assert "stop0 = min(" in program.kernels[0].source


@pytest.mark.parametrize("reaches", [True, False])
def test_loops_that_count_down_to_a_limit_of_their_own_run_in_strips(reaches):
    def count(start, limits):
        def row(i, total):
            goes_on = lambda s: s[0] >= limits[i] if reaches else s[0] > limits[i]
            return jax.lax.while_loop(goes_on, lambda s: (s[0] - 1, s[1] ^ (s[0] * 5)), (start, total))[1]

        return jax.lax.fori_loop(0, limits.size, row, start * 0)

    least = -(1 << 63)
    for start, limits in (
        (4100, [3, 4, 9000, 4100, 4099, 5]),
        (70, [-4200]),
        (least + 5, [least + 1, least + reaches]),
    ):
        program = planned(count, np.int64(start), np.array(limits))
        assert "= max(max(" in program.kernels[-1].source


def from_the_least(x):
    return jax.lax.fori_loop(0, 3, lambda _, c: c - c[jnp.argmin(c)], x)


@pytest.mark.usefixtures("loops_in_steps")
def test_elements_that_all_need_are_read_before_an_array_is_overwritten():
    program = planned(from_the_least, np.linspace(1, -1, 100, dtype=np.float32))
    steps = all_steps(program)
    assert not any(isinstance(step, Exchange) for step in steps)
    assert [s.kernel.name for s in steps if isinstance(s, Launch) and s.grain > s.extent > 1] == [
        "map_compare_add_select_subtract"
    ]


def test_a_kernel_of_several_chunks_overwrites_nothing_that_others_read():
    program = plan(from_jax(from_the_least, np.zeros(1 << 17, np.float32)))
    assert any(isinstance(step, Exchange) for step in all_steps(program))


def sorted_by_insertion(x):
    def insert(i, x):
        key = x[i]
        later = lambda s: (s[1] >= 0) & (s[0][jnp.maximum(s[1], 0)] > key)
        x, j = jax.lax.while_loop(later, lambda s: (s[0].at[s[1] + 1].set(s[0][s[1]]), s[1] - 1), (x, i - 1))
        return x.at[j + 1].set(key)

    return jax.lax.fori_loop(1, x.shape[0], insert, x)


def test_conditions_of_several_parts_are_tested_one_after_the_other():
    program = planned(sorted_by_insertion, np.array([3, -1, 4, -1, 5, -9, 2, 6, -5], np.float32))
    assert is_one_kernel(program)
    source = program.kernels[-1].source
    inner = source[source.rindex("while True:") :]
    assert inner.count("break") == 2 and inner.index("break") < inner.index("load_f32")


def test_a_condition_that_is_joined_of_three_parts_ends_a_loop_by_any():
    def count(limits):
        going = lambda s: (s < limits[0]) & ((s * 2 < limits[1]) & ((s * s) % 7 != limits[2]))
        return jax.lax.while_loop(going, lambda s: s + 1, limits[0] * 0)

    for limits in ((5, 90, 9), (90, 9, 9), (90, 90, 4), (0, 0, 0)):
        planned(count, np.array(limits, np.int32))


def test_parts_of_a_sum_lie_in_state_that_waits_for_its_new_value(rng):
    x = rng.standard_normal((20_000, 8)).astype(np.float32)

    def step(_, c):
        weights = (x * c.sum(axis=0)).max(axis=1)
        return jnp.outer(jnp.arange(64, dtype=np.float32), jnp.tanh((x * weights[:, None]).sum(axis=0)))

    program = planned(lambda c: jax.lax.fori_loop(0, 3, step, c), np.ones((64, 8), np.float32))
    assert "reduce_add_multiply_blocks" in launched(program)
    assert 5 * 8 not in [buffer.type.size for buffer in program.buffers]


@pytest.mark.parametrize("also_above", [True, False])
def test_a_choice_is_stored_where_its_array_is_written_anyway_and_a_branch_elsewhere(also_above):
    def least_to_the_left(k, x):
        above, below = jax.lax.dynamic_slice(x, (19 - k,), (1,)), jax.lax.dynamic_slice(x, (18 - k,), (1,))
        x = jax.lax.dynamic_update_slice(x, jnp.where(above < below, above, below), (18 - k,))
        return jax.lax.dynamic_update_slice(x, jnp.maximum(above, below), (19 - k,)) if also_above else x

    program = planned(lambda x: jax.lax.fori_loop(0, 19, least_to_the_left, x), np.sin(np.arange(20)))
    (source,) = [kernel.source for kernel in program.kernels if "loop" in kernel.name]
    assert ("if compare" not in source) is also_above


def test_an_element_at_a_fixed_place_is_read_before_its_array_is_updated_and_the_array_not_copied():
    def exchange_with_the_first(k, x):
        first, other = x[:1], jax.lax.dynamic_slice(x, (k,), (1,))
        return jax.lax.dynamic_update_slice(jax.lax.dynamic_update_slice(x, other, (0,)), first, (k,))

    program = planned(lambda x: jax.lax.fori_loop(1, 20, exchange_with_the_first, x), LINE)
    (source,) = [kernel.source for kernel in program.kernels if "loop" in kernel.name]
    assert "kept" not in source


def both_set(x, y):
    return x.at[3].set(y[1]), y.at[5].add(x[2])


def set_in_a_loop(x, y):
    return jax.lax.fori_loop(2, 70, lambda i, x: x.at[i].set(x[i - 1] + y[i]), x), y


UPDATING = {
    "one is left alone": ([both_set, lambda x, y: (x, y)], True),
    "of three": ([both_set, lambda x, y: (x.at[0].set(0), y), lambda x, y: (x, y.at[1].set(x[0]))], True),
    "loops": ([set_in_a_loop, both_set], True),
    "read as it was": ([lambda x, y: (x.at[0].set(1).at[2].set(x[0] + 1), y + 0), both_set], False),
    "changed places": ([lambda x, y: (y, x), both_set], False),
    "one array twice": ([lambda x, y: (x, x), lambda x, y: (x.at[1].set(0), x.at[2].set(9))], False),
}


@pytest.mark.parametrize("still_read", [False, True])
@pytest.mark.parametrize("case", UPDATING)
def test_branches_update_arrays_in_place_in_one_kernel(case, still_read):
    branches, is_one = UPDATING[case]

    def function(index, x):
        x, y = x * 2, x + 1
        found = jax.lax.switch(index, branches, x, y)
        return (*found, x, y) if still_read else found

    x = np.arange(90.0)
    program = planned(function, 0, x)
    for index in range(1, len(branches)):
        expected = function(index, x)
        for left, right in zip(run_plain(program, [np.asarray(index), x]), expected, strict=True):
            np.testing.assert_array_equal(left, right)
    assert not any(isinstance(step, Branch) for step in program.steps) or not is_one
    copies = [step for step in program.steps if isinstance(step, Launch) and step.kernel.name == "copy"]
    assert not copies or still_read or not is_one
    assert any(step.scalar for step in program.steps if isinstance(step, Launch)) == (case == "loops")
