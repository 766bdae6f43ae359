"""Loops that count: which launches the driver does itself, and that rounds are as many as before."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.backend.executable import Executable
from numhlo.backend.primitives import layout
from numhlo.lowering.interpreter import interpret
from tests.backend.programs import from_jax, plan

COUNTS = {layout.DO_ADVANCE, layout.DO_LEAVE_UNLESS_BELOW}
X = np.linspace(-1, 1, 70)


def mixed(i, y):
    return jnp.cumsum(y) * 0.25 + jnp.flip(y) * i


def counted_by(dtype, step=2):
    def loop(x):
        first, end, by = (np.array(number, dtype) for number in (1, 8, step))
        return jax.lax.while_loop(lambda s: s[0] < end, lambda s: (s[0] + by, mixed(s[0], s[1])), (first, x))

    return loop


def nested(x):
    inner = lambda i: lambda y: jax.lax.fori_loop(0, 3, lambda j, z: jnp.cumsum(z) * 0.25 + jnp.flip(z), y)
    return jax.lax.fori_loop(0, 4, lambda i, y: inner(i)(y), x)


def counter_of_two_buffers(x):
    body = lambda s: (s[0] + 1, s[0], mixed(s[1], s[2]) + s[0])  # the old counter is state too
    return jax.lax.while_loop(lambda s: s[0] < 5, body, (0, 0, x))


def no_count(x):
    return jax.lax.while_loop(lambda s: s[0] < 40.0, lambda s: (s[0] * 2.0, mixed(1, s[1])), (1.0, x))


def limit_by_data(x):
    return jax.lax.fori_loop(0, (x > 0).sum() // 9, mixed, x)


@pytest.mark.usefixtures("loops_in_steps")
@pytest.mark.parametrize(
    ("function", "loops"),
    [
        (counted_by("int32"), 1),
        (counted_by("int64"), 1),
        (counted_by("int64", 20), 1),
        (nested, 2),
        (counter_of_two_buffers, 1),
        (counted_by("int16"), 0),
        (no_count, 0),
        (limit_by_data, 0),
    ],
)
def test_the_driver_counts(function, loops):
    traced = from_jax(function, X)
    executable = Executable(plan(traced))
    found = executable.table.words[:, layout.OPCODE].tolist()
    assert [found.count(opcode) for opcode in sorted(COUNTS)] == [loops, loops]
    expected = [np.asarray(v) for v in interpret(traced, [X])]
    assert executable.wait(60)
    for ways in (executable([X]), executable._call([X])):
        for left, right in zip(ways, expected, strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-12)
