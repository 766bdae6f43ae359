"""Integers in the text of a loop's kernel: those of the program, never those of its shapes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.backend.planning.test_control_flow import planned


def hashed(x):
    """Take numbers of the program's own, the length, and a third of it."""

    def step(i, s):
        state, count = s
        state = ((state * 1103515245 + 12345 + x[i] * 3) % 2147483647) ^ (state >> 43)
        third = jnp.where(i % (len(x) // 3) == 0, state, 7)
        return state, count + jnp.where(third > 50_000_000, state % len(x), len(x) - 1 - i)

    return jax.lax.fori_loop(0, len(x), step, (jnp.int64(7), jnp.int64(0)))


def flattened(x):
    rows, columns = x.shape
    flat = x.reshape(-1)

    def cell(k, total):
        above = jnp.where(k >= columns, flat[k - columns], 0)
        return total + (k // columns) * flat[k] + above * (k % columns) + flat[rows * columns - 1 - k]

    return jax.lax.fori_loop(0, rows * columns, cell, np.int64(0))


def source_of(function, shape):
    program = planned(function, np.arange(np.prod(shape)).reshape(shape))
    (kernel,) = [step.kernel for step in program.steps if step.kernel.name == "while_loop"]
    return kernel.source


def test_numbers_of_the_program_are_in_the_text():
    text = source_of(hashed, (100,))
    assert all(f"to_i64({number})" in text for number in (1103515245, 12345, 3, 2147483647, 43, 50_000_000))
    assert "to_i64(33)" not in text


@pytest.mark.parametrize(("function", "shapes"), [(hashed, [(100,), (2017,)]), (flattened, [(20, 30), (43, 51)])])
def test_another_shape_is_no_other_kernel(function, shapes):
    first, second = [source_of(function, shape) for shape in shapes]
    assert first == second
