"""Softmax along rows, float32: two reductions and an exponential that depend on each other."""

import math

import numpy as np

from benchmarks.program import Program, versions


def inputs(size, rng):
    """Return a matrix of logits."""
    return (rng.normal(size=size).astype(np.float32),)


def written_for(np):
    """Return the function for a namespace with NumPy's names."""

    def softmax(x):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    return softmax


def numpy_version(numpy):
    """Return the plain function."""
    return written_for(numpy)


def numhlo_version(numhlo):
    """Return the plain function, jitted."""
    return numhlo.jit(written_for(np))


def jax_version(jax):
    """Return the function under `jax.numpy`."""
    return jax.jit(written_for(jax.numpy))


def numba_version(numba):
    """Return one loop over rows."""

    @numba.njit(parallel=True)
    def softmax(x):
        rows, columns = x.shape
        out = np.empty_like(x)
        for i in numba.prange(rows):
            top = x[i, 0]
            for j in range(1, columns):
                top = max(top, x[i, j])
            total = np.float32(0.0)
            for j in range(columns):
                out[i, j] = math.exp(x[i, j] - top)
                total += out[i, j]
            for j in range(columns):
                out[i, j] /= total
        return out

    return softmax


PROGRAMS = (
    Program(
        "softmax",
        {"tiny": (3, 7), "small": (64, 128), "large": (2048, 1024), "other": (65, 127)},
        inputs,
        versions(numhlo_version, jax_version, numba_version, numpy_version),
        tolerance=1e-5,
    ),
)
