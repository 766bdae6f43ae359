"""A dozen elementwise operations that NumPy runs one by one and a compiler should fuse into one pass over memory."""

import math

import numpy as np

from benchmarks.program import Program, versions


def inputs(size, rng):
    """Return two vectors."""
    return rng.normal(size=size), rng.normal(size=size)


def chain(x, y):
    """Return the chain as a user of NumPy writes it."""
    radius = np.sqrt(x * x + y * y)
    return np.where(x > y, 2.0 * x + y, radius) - 0.5 * x / (1.0 + y * y)


def numpy_version(_):
    """Return the plain function."""
    return chain


def numhlo_version(numhlo):
    """Return the plain function, jitted."""
    return numhlo.jit(chain)


def jax_version(jax):
    """Return the chain under `jax.numpy`."""
    jnp = jax.numpy

    @jax.jit
    def chain(x, y):
        radius = jnp.sqrt(x * x + y * y)
        return jnp.where(x > y, 2.0 * x + y, radius) - 0.5 * x / (1.0 + y * y)

    return chain


def numba_version(numba):
    """Return one loop over elements."""

    @numba.njit(parallel=True)
    def chain(x, y):
        out = np.empty_like(x)
        for i in numba.prange(x.size):
            a, b = x[i], y[i]
            chosen = 2.0 * a + b if a > b else math.sqrt(a * a + b * b)
            out[i] = chosen - 0.5 * a / (1.0 + b * b)
        return out

    return chain


PROGRAMS = (
    Program(
        "elementwise_chain",
        {"tiny": 17, "small": 10_000, "large": 4_000_000, "other": 10_001},
        inputs,
        versions(numhlo_version, jax_version, numba_version, numpy_version),
    ),
)
