"""Layer normalization with gain and bias, float32: mean and variance of rows, then an elementwise map."""

import math

import numpy as np

from benchmarks.program import Program, versions

EPSILON = 1e-5


def inputs(size, rng):
    """Return a matrix, and a gain and a bias for each column."""
    _, columns = size
    x, gain, bias = rng.normal(size=size), rng.normal(1.0, 0.1, columns), rng.normal(0.0, 0.1, columns)
    return x.astype(np.float32), gain.astype(np.float32), bias.astype(np.float32)


def written_for(np):
    """Return the function for a namespace with NumPy's names."""

    def layer_norm(x, gain, bias):
        centred = x - x.mean(axis=1, keepdims=True)
        variance = (centred * centred).mean(axis=1, keepdims=True)
        return centred / np.sqrt(variance + EPSILON) * gain + bias

    return layer_norm


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
    """Return one loop over rows; float32 throughout, as the others."""
    epsilon = np.float32(EPSILON)

    @numba.njit(parallel=True)
    def layer_norm(x, gain, bias):
        rows, columns = x.shape
        out = np.empty_like(x)
        count = np.float32(columns)
        for i in numba.prange(rows):
            mean = np.float32(0.0)
            for j in range(columns):
                mean += x[i, j]
            mean /= count
            variance = np.float32(0.0)
            for j in range(columns):
                variance += (x[i, j] - mean) ** 2
            root = math.sqrt(variance / count + epsilon)
            for j in range(columns):
                out[i, j] = (x[i, j] - mean) / root * gain[j] + bias[j]
        return out

    return layer_norm


PROGRAMS = (
    Program(
        "layer_norm",
        {"tiny": (3, 7), "small": (64, 128), "large": (2048, 1024), "other": (66, 127)},
        inputs,
        versions(numhlo_version, jax_version, numba_version, numpy_version),
        tolerance=1e-5,
    ),
)
