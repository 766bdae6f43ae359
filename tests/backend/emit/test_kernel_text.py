"""Kernel source as a person would write it: one golden text for each loop shape."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.backend.programs import from_jax, plan

F32 = np.float32
X = np.zeros((30, 40), F32)
LONG = np.zeros((9000,), F32)
INDEX = np.zeros((5,), np.int32)


def recurrence(x):
    return jax.lax.scan(lambda c, v: (c * 0.5 + v, c), F32(0), x)


def collatz(n):
    def step(s):
        value, count = s
        return jax.lax.cond(value % 2 == 0, lambda v: v // 2, lambda v: 3 * v + 1, value), count + 1

    return jax.lax.while_loop(lambda s: s[0] > 1, step, (n, 0))[1]


PROGRAMS: dict[str, Any] = {
    "elementwise": (lambda x, y: (jnp.exp(x) * y + 1.5, x > y), (X, X)),
    "broadcast": (lambda x, y, z: x * jnp.sqrt(y)[:, None] + z * 1234.5, (X, X[:, 0], X[0])),
    "view": (lambda x: x[1:, ::2] - jnp.flip(x[:-1, 1::2], 1), (X,)),
    "tiles": (lambda x, y: x.T + y, (np.zeros((40, 50), F32), np.zeros((50, 40), F32))),
    "integers": (lambda x, y: (x // 7 + y * 3) % 100, (X.astype(np.int8), X.astype(np.int8))),
    "bfloat16": (lambda x, y: jnp.tanh(x + y), (X.astype(jnp.bfloat16), X.astype(jnp.bfloat16))),
    "rows": (lambda x: (jnp.sum(jnp.exp(x), 1), jnp.max(x, 1)), (X,)),
    "rows_in_memory": (lambda x, y: jnp.sum(x * y, 1), (X, X)),
    "columns": (lambda x: jnp.sum(x * 2, 0), (X,)),
    "parts": (lambda x: jnp.sum(x), (LONG,)),
    "unrolled": (lambda x: jnp.sum(x, 1), (X[:, :3],)),
    "argmax": (lambda x: jnp.argmax(x, 1), (np.zeros((3, 100), F32),)),
    "product": (lambda x, y: x @ y.T, (np.zeros((300, 40), F32), np.zeros((600, 40), F32))),
    "gather": (lambda x, i: x[i] * 2, (X, INDEX)),
    "scatter": (lambda x, i, y: x.at[i].add(y), (X, INDEX, X[:5])),
    "sort": (lambda x: jnp.sort(x, 1), (X.astype(np.int32),)),
    "softmax": (lambda x: jax.nn.softmax(x), (X,)),
    "recurrence": (recurrence, (LONG,)),
    "blocked_loop": (lambda x: jax.lax.fori_loop(0, 9, lambda i, y: y * 0.5 + x, x), (X,)),
    "branches": (collatz, (np.int64(27),)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_text(name, golden):
    function, arguments = PROGRAMS[name]
    program = plan(from_jax(function, *arguments))
    golden("\n\n".join(kernel.source for kernel in program.kernels if kernel.name != "copy"))


def test_a_place_is_taken_apart_by_one_kernel_for_all_extents():
    def clear(x, place):
        return x.at[place // x.shape[1], place % x.shape[1]].set(0)

    small, large = [plan(from_jax(clear, np.zeros((n, n)), np.int64(n))).kernels for n in (60, 61)]
    assert set(small) == set(large)
