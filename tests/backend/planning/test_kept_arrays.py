"""Arrays that are read as they were before an update: read first where that can be, else from a copy.

In loops that is one kernel; outside, kernels before the update.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import numhlo
from numhlo.lowering.passes.pipeline import optimize
from numhlo.lowering.text import parse
from tests.backend.planning.test_control_flow import is_one_kernel, planned
from tests.backend.programs import all_steps, plan

LINE = np.linspace(-1, 1, 80, dtype=np.float32)
COUNT = len(LINE)


def levinson(r):
    def order(i, s):
        a, error = s
        k = -jax.lax.fori_loop(1, i, lambda j, total: total + a[j] * r[i - j], r[i]) / error
        new = jax.lax.fori_loop(1, i, lambda j, new: new.at[j].set(a[j] + k * a[i - j]), a)
        return new.at[i].set(k), error * (1 - k * k)

    return jax.lax.fori_loop(1, COUNT, order, (jnp.where(jnp.arange(COUNT) == 0, 1, 0).astype(np.float32), r[0] + 9))


def jacobi(u):
    def sweep(_, u):
        return jax.lax.fori_loop(1, COUNT - 1, lambda i, new: new.at[i].set(u[i - 1] - u[i + 1] + new[i - 1]), u)

    return jax.lax.fori_loop(0, 3, sweep, u)


def exchange(x):
    return jax.lax.fori_loop(0, COUNT // 2, lambda i, x: x.at[i].set(x[COUNT - 1 - i]).at[COUNT - 1 - i].set(x[i]), x)


def read_through_a_view(x):
    def step(i, x):
        back = x[::-1]
        x = x.at[i].set(x[i] + 1)
        return x.at[i + 1].set(back[i + 1] + back[5])

    return jax.lax.fori_loop(0, COUNT - 1, step, x)


def two_states_of_one_array(x):
    def step(i, s):
        a, b = s
        return a.at[i].set(b[i] * 2), b.at[COUNT - 1 - i].set(a[i])

    return jax.lax.fori_loop(0, COUNT, step, (x, x))


def sum_of_the_old(x):
    def step(i, s):
        x, total = s
        new = jax.lax.fori_loop(0, i, lambda j, x: x.at[j].set(x[j] + x[i]), x)
        return new, total + jax.lax.fori_loop(0, i, lambda j, t: t + x[j] - new[j], np.float32(0))

    return jax.lax.fori_loop(0, COUNT, step, (x, np.float32(0)))


def scattered(x):
    def step(i, x):
        pair = jnp.stack([i, (i * 7) % COUNT])
        new = x.at[pair].add(jnp.stack([x[i], np.float32(1)]), mode="drop")
        return new.at[0].set(new[i] - x[pair[1]])

    return jax.lax.fori_loop(0, COUNT, step, x)


def chained(x):
    """Each value needs what the update before it has overwritten, and what it has written."""

    def step(i, x):
        new = x.at[i].set(x[i + 1] * 0.5)
        newer = new.at[i + 1].set(new[i] + x[i])
        return newer.at[0].set(newer[i + 1] - new[i + 1] + x[0])

    return jax.lax.fori_loop(0, COUNT - 1, step, x)


ONE_KERNEL = [levinson, jacobi, exchange, read_through_a_view, sum_of_the_old, scattered, chained]


@pytest.mark.parametrize("function", ONE_KERNEL)
def test_arrays_are_read_as_they_were(function):
    program = planned(function, LINE)
    loops = [step for step in program.steps if step.kernel.name == "while_loop"]
    assert len(loops) == 1
    assert not any("several steps" in note for note in program.notes)


def test_what_can_be_read_before_needs_no_copy():
    (loop,) = [step for step in planned(exchange, LINE).steps if step.kernel.name == "while_loop"]
    assert "kept" not in loop.kernel.source
    (loop,) = [step for step in planned(jacobi, LINE).steps if step.kernel.name == "while_loop"]
    assert loop.kernel.source.count("kept0 = ") == 1


def test_two_states_that_begin_as_one_array():
    planned(two_states_of_one_array, LINE)


def test_a_branch_that_updates_what_is_read_afterwards_takes_steps():
    def step(i, x):
        new = jax.lax.cond(x[i] > 0, lambda x: x.at[i].set(0), lambda x: x, x)
        return new.at[0].set(x[i] + new[i])

    program = planned(lambda x: jax.lax.fori_loop(0, COUNT, step, x), LINE)
    assert is_one_kernel(program) or any("several steps" in note for note in program.notes)


def swapped(x, i):
    one, two = x[i[0]], x[i[1]]
    return x.at[i[0]].set(two).at[i[1]].set(one)


def used_later(x, i):
    """Cheap, dear and several elements, used directly, through views, and after the updates alone."""
    total, kept = jnp.float32(0), x
    for k in range(4):
        here = x[i[k]]
        x = x.at[i[k]].set(here * here + kept[i[2]])
        total = total + here / (1 + here * here) + jnp.sqrt(x[i[:2]] ** 2 + 2).sum()
    return total + jnp.sqrt(here * here + 3), x


def copies(program, size):
    return [s for s in all_steps(program) if s.kernel.name == "copy" and s.extent == size]


@pytest.mark.parametrize("function", [swapped, used_later])
def test_elements_are_read_before_the_update_rather_than_arrays_copied(function):
    x, i = np.linspace(-1, 1, 3000, dtype=np.float32), np.array([1, 2, 0, 5])
    assert not copies(planned(lambda x: function(x * 2, i), x), x.size)


def test_gradients_copy_no_arrays_for_elements_either():
    def program(x, i):
        y, total = x * 2.0, 0.0
        for k in range(3):
            total = total + y[i[k]]
            y[i[k]] = y[i[k]] * y[i[k - 2]]
        return total * y[i[3]]

    x = np.linspace(-1, 1, 3000)
    text = numhlo.jit(numhlo.grad(program)).lower(x, np.arange(4)).as_text()
    assert len(copies(plan(optimize(parse(text).main)), x.size)) <= 1, "zeros to add to"
