"""Many short launches of few kernels: one launch of a kernel that goes through a list, and the same bits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.backend.executable import Executable
from numhlo.backend.planning.explain import explain
from numhlo.backend.program import Loop, Place
from numhlo.lowering.interpreter import interpret
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import from_jax, plan

X = np.cos(np.arange(9.0)).astype(np.float32)
TABLE = np.sin(np.arange(63.0)).reshape(7, 9).astype(np.float32)


def put(x, place, value):
    return jax.lax.dynamic_update_slice(x, jnp.reshape(value, (1,) * x.ndim), place)


def sort_by_insertion(x, table):
    for i in range(1, 6):
        for j in range(i, 0, -1):
            low, high = jnp.minimum(x[j - 1], x[j]), jnp.maximum(x[j - 1], x[j])
            x = put(put(x, (j - 1,), low), (j,), high)
    return x


def paths(x, table):
    for i in range(1, 6):
        for j in range(1, 5):
            least = jnp.minimum(table[i - 1, j], table[i, j - 1])
            table = put(table, (i, j), table[i, j] + least * x[j])
    return table, table[5, 4]


def arrays_that_come_and_go(x, table):
    for i in range(8):
        x = jnp.flip(put(x, (i,), jnp.sum(table[i % 7]))) - table[i % 7]
    return x


CASES = {f.__name__: f for f in (sort_by_insertion, paths, arrays_that_come_and_go)}


@pytest.mark.parametrize("name", CASES)
def test_one_launch_computes_what_the_interpreter_does(name):
    function = from_jax(CASES[name], X, TABLE)
    program = plan(function)
    (step,) = program.steps
    assert step.kernel.name == "launch_list"
    assert not any(part.parts for part in step.parts)
    expected = interpret(function, [X, TABLE])
    executable = Executable(plan(function))
    by_numpy = executable([X, TABLE])  # part by part
    executable.wait()
    for found in run_plain(program, [X, TABLE]), by_numpy, executable([X, TABLE]):
        list(map(assert_same_bits, found, expected))


def test_more_rounds_are_the_same_kernel():
    def rounds(count):
        def function(x, table):
            for i in range(count):
                x = jnp.flip(x) + table[i % 7, i % 5]
                x = put(x, (i % 9,), jnp.sum(x))
            return x

        return plan(from_jax(function, X, TABLE))

    (short,), (long,) = rounds(6).steps, rounds(30).steps
    assert short.kernel == long.kernel
    assert len(long.parts) == 5 * len(short.parts)


def test_arrays_at_one_place_are_listed_once():
    program = plan(from_jax(arrays_that_come_and_go, X, TABLE))
    (step,) = program.steps
    found = [program.buffers[number] for number in step.buffers]
    places = [buffer.offset for buffer in found if buffer.place is Place.ARENA]
    assert len(set(places)) == len(places) < len({n for part in step.parts for n in part.buffers}) - 3


def test_few_launches_of_many_kernels_stay_apart():
    def function(x, table):
        x = jnp.flip(jnp.cumsum(x))
        return jnp.sort(x) + jnp.argmax(table), jnp.cumsum(table, axis=1)

    assert not any(step.parts for step in plan(from_jax(function, X, TABLE)).steps)


def test_long_launches_stay_apart():
    def function(x):
        for _ in range(12):
            x = put(jnp.flip(x), (3,), x[0] + 1)
        return x

    assert plan(from_jax(function, X)).steps[0].parts
    steps = plan(from_jax(function, np.ones(100_000, np.float32))).steps
    assert not any(step.parts for step in steps)


def test_arrays_that_a_loop_exchanged_before(loops_in_steps):
    def function(x):
        y, z = jax.lax.fori_loop(0, 3, lambda i, s: (s[1] - s[0][jnp.argmax(s[1])], jnp.flip(s[0])), (x, x + 1))
        for i in range(12):
            y = put(y, (i % 9,), z[i % 5] * y[0])
        return y, z

    x = np.cos(np.arange(70.0)).astype(np.float32)
    planned = from_jax(function, x)
    program = plan(planned)
    assert any(isinstance(step, Loop) for step in program.steps)
    assert program.steps[-1].parts
    expected = interpret(planned, [x])
    executable = Executable(program)
    executable.wait()
    list(map(assert_same_bits, executable([x]), expected))


def test_explain_shows_what_is_in_a_list():
    lines = explain(plan(from_jax(sort_by_insertion, X, TABLE))).splitlines()
    assert lines[0].startswith("launch_list: ")
    assert lines[0].endswith(" launches, one after the other")
    assert any("minimum" in line for line in lines[1:])
