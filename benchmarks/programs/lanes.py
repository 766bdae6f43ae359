"""Lanes that go different ways: `vmap` of a branch that few, half or all lanes take, and of loops of unequal lengths.

Numba's version is the loop over lanes that one writes by hand; JAX's and NumPy's compute what any lane wants for all of
them and select. Neither is best everywhere, which is the point.
"""

import functools
import math

import numpy as np

from benchmarks.program import Program, versions

ROUNDS = 200
TAKING = {"1_percent": 100, "half": 2, "all": 1}
"""One lane in so many takes the branch."""


def round_of(x, y):
    """Return the next value of the recurrence that all loops here go through."""
    return y * 0.5 + x / (1.0 + y * y)


def branch_inputs(every, size, rng):
    """Return values, and what says which lanes take the branch."""
    return rng.random(size), np.where(np.arange(size) % every == every // 2, 1.0, -1.0)


def branch_in_numpy(_):
    """Return the select form."""

    def branch(x, t):
        y = x
        for _ in range(ROUNDS):
            y = round_of(x, y)
        return np.where(t > 0.0, y, x + 1.0)

    return branch


def _branch(lax):
    def lane(x, t):
        def dear(x):
            return lax.fori_loop(0, ROUNDS, lambda _, y: round_of(x, y), x)

        return lax.cond(t > 0.0, dear, lambda x: x + 1.0, x)

    return lane


def branch_in_numhlo(numhlo):
    """Return `vmap` of a `cond`."""
    return numhlo.jit(numhlo.vmap(_branch(numhlo.lax)))


def branch_in_jax(jax):
    """Return `vmap` of a `cond`, which is a select."""
    return jax.jit(jax.vmap(_branch(jax.lax)))


@functools.lru_cache
def branch_in_numba(numba):
    """Return a loop over lanes."""

    @numba.njit(parallel=True)
    def branch(x, t):
        out = np.empty_like(x)
        for i in numba.prange(x.size):
            if t[i] > 0.0:
                y = x[i]
                for _ in range(ROUNDS):
                    y = y * 0.5 + x[i] / (1.0 + y * y)
                out[i] = y
            else:
                out[i] = x[i] + 1.0
        return out

    return branch


def lengths(kind, size, rng):
    """Return how often the loop of each lane goes round."""
    if kind == "straggler":
        return np.where(np.arange(size) == size // 2, 50 * ROUNDS, 10)
    return rng.integers(1, 2 * ROUNDS, size) if kind == "spread" else np.full(size, ROUNDS)


def loop_inputs(kind, size, rng):
    """Return values, and lengths of loops."""
    return rng.random(size), lengths(kind, size, rng).astype(np.int64)


def loop_in_numpy(_):
    """Return a loop over rounds that works on the lanes that are left."""

    def loop(x, n):
        result, left = x.copy(), np.arange(x.size)
        for k in range(int(n.max(initial=0))):
            left = left[n[left] > k]
            result[left] = round_of(x[left], result[left])
        return result

    return loop


def _loop(lax):
    def lane(x, n):
        return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, round_of(x, s[1])), (0, x))[1]

    return lane


def loop_in_numhlo(numhlo):
    """Return `vmap` of a `while_loop`."""
    return numhlo.jit(numhlo.vmap(_loop(numhlo.lax)))


def loop_in_jax(jax):
    """Return `vmap` of a `while_loop`, which goes round until the last lane has done."""
    return jax.jit(jax.vmap(_loop(jax.lax)))


@functools.lru_cache
def loop_in_numba(numba):
    """Return a loop over lanes."""

    @numba.njit(parallel=True)
    def loop(x, n):
        out = np.empty_like(x)
        for i in numba.prange(x.size):
            y = x[i]
            for _ in range(n[i]):
                y = y * 0.5 + x[i] / (1.0 + y * y)
            out[i] = y
        return out

    return loop


def _functions(m, x):
    y = x
    for _ in range(8):
        y = m.sin(y) * x + m.exp(-y * y)
    return y


def functions_in_numpy(_):
    """Return the select form."""
    return lambda x, t: np.where(t > 0.0, _functions(np, x), x + 1.0)


def functions_in_numhlo(numhlo):
    """Return `vmap` of a `cond` whose branch has no loop."""
    return numhlo.jit(
        numhlo.vmap(lambda x, t: numhlo.lax.cond(t > 0.0, functools.partial(_functions, np), lambda x: x + 1.0, x))
    )


def functions_in_jax(jax):
    """Return `vmap` of a `cond`, which is a select."""
    dear = functools.partial(_functions, jax.numpy)
    return jax.jit(jax.vmap(lambda x, t: jax.lax.cond(t > 0.0, dear, lambda x: x + 1.0, x)))


@functools.lru_cache
def functions_in_numba(numba):
    """Return a loop over lanes."""

    @numba.njit(parallel=True)
    def functions(x, t):
        out = np.empty_like(x)
        for i in numba.prange(x.size):
            if t[i] > 0.0:
                y = x[i]
                for _ in range(8):
                    y = math.sin(y) * x[i] + math.exp(-y * y)
                out[i] = y
            else:
                out[i] = x[i] + 1.0
        return out

    return functions


def vector_inputs(size, rng):
    """Return vectors of 16 elements, and lengths of loops."""
    return rng.random((size, 16)), rng.integers(1, ROUNDS // 4, size)


def vectors_in_numpy(_):
    """Return a loop over rounds that works on the lanes that are left."""

    def vectors(x, n):
        result, left = x.copy(), np.arange(len(x))
        for k in range(int(n.max(initial=0))):
            left = left[n[left] > k]
            y = result[left]
            result[left] = np.roll(y, 1, axis=1) * 0.5 + np.cumsum(y, axis=1) / 16.0
        return result

    return vectors


def _vector_loop(m, lax):
    def lane(x, n):
        def step(s):
            return s[0] + 1, m.roll(s[1], 1) * 0.5 + m.cumsum(s[1]) / 16.0

        return lax.while_loop(lambda s: s[0] < n, step, (0, x))[1]

    return lane


def vectors_in_numhlo(numhlo):
    """Return `vmap` of a `while_loop` over vectors, which is no scalar code."""
    return numhlo.jit(numhlo.vmap(_vector_loop(np, numhlo.lax)))


def vectors_in_jax(jax):
    """Return `vmap` of a `while_loop` over vectors."""
    return jax.jit(jax.vmap(_vector_loop(jax.numpy, jax.lax)))


@functools.lru_cache
def vectors_in_numba(numba):
    """Return a loop over lanes."""

    @numba.njit(parallel=True)
    def vectors(x, n):
        out = np.empty_like(x)
        for i in numba.prange(len(x)):
            y, z = x[i].copy(), np.empty(x.shape[1])
            for _ in range(n[i]):
                total = 0.0
                for j in range(len(y)):
                    total += y[j]
                    z[j] = y[j - 1] * 0.5 + total / 16.0
                y, z = z, y
            out[i] = y
        return out

    return vectors


def nested_inputs(size, rng):
    """Return values, and lengths of loops, 50 in a row."""
    return rng.random((size // 50 + 1, 50)), rng.integers(1, ROUNDS, (size // 50 + 1, 50))


def nested_in_numpy(_):
    """Return the loop over the lanes that are left, on all of them."""
    return lambda x, n: loop_in_numpy(_)(x.ravel(), n.ravel()).reshape(x.shape)


def nested_in_numhlo(numhlo):
    """Return `vmap` of `vmap` of a `while_loop`."""
    return numhlo.jit(numhlo.vmap(numhlo.vmap(_loop(numhlo.lax))))


def nested_in_jax(jax):
    """Return `vmap` of `vmap` of a `while_loop`."""
    return jax.jit(jax.vmap(jax.vmap(_loop(jax.lax))))


@functools.lru_cache
def nested_in_numba(numba):
    """Return a loop over rows of lanes."""

    @numba.njit(parallel=True)
    def nested(x, n):
        out = np.empty_like(x)
        for i in numba.prange(x.shape[0]):
            for j in range(x.shape[1]):
                y = x[i, j]
                for _ in range(n[i, j]):
                    y = y * 0.5 + x[i, j] / (1.0 + y * y)
                out[i, j] = y
        return out

    return nested


SIZES = {"tiny": 70, "small": 1000, "large": 100_000, "other": 1001}

BRANCHES = versions(branch_in_numhlo, branch_in_jax, branch_in_numba, branch_in_numpy)
LOOPS = versions(loop_in_numhlo, loop_in_jax, loop_in_numba, loop_in_numpy)
FUNCTIONS = versions(functions_in_numhlo, functions_in_jax, functions_in_numba, functions_in_numpy)
VECTORS = versions(vectors_in_numhlo, vectors_in_jax, vectors_in_numba, vectors_in_numpy)
NESTED = versions(nested_in_numhlo, nested_in_jax, nested_in_numba, nested_in_numpy)

PROGRAMS = (
    *(
        Program(f"lanes_branch_{name}", SIZES, functools.partial(branch_inputs, every), BRANCHES)
        for name, every in TAKING.items()
    ),
    *(
        Program(f"lanes_functions_{name}", SIZES, functools.partial(branch_inputs, every), FUNCTIONS)
        for name, every in TAKING.items()
    ),
    *(
        Program(f"lanes_loop_{kind}", SIZES, functools.partial(loop_inputs, kind), LOOPS)
        for kind in ("straggler", "spread", "equal")
    ),
    Program("lanes_vectors", SIZES, vector_inputs, VECTORS),
    Program("lanes_nested", {**SIZES, "other": 1100}, nested_inputs, NESTED),
)
