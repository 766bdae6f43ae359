"""A multilayer perceptron, forwards, float32: three matrix products with bias and tanh between them."""

import itertools
import math

import numpy as np

from benchmarks.program import Program, versions


def inputs(size, rng):
    """Return a batch, and weights and biases layer by layer."""
    batch, *widths = size
    arrays = [rng.normal(size=(batch, widths[0]))]
    for rows, columns in itertools.pairwise(widths):
        arrays += [rng.normal(0.0, rows**-0.5, size=(rows, columns)), rng.normal(0.0, 0.1, size=columns)]
    return tuple(a.astype(np.float32) for a in arrays)


def written_for(np):
    """Return the function for a namespace with NumPy's names."""

    def forward(x, w0, b0, w1, b1, w2, b2):
        x = np.tanh(x @ w0 + b0)
        x = np.tanh(x @ w1 + b1)
        return x @ w2 + b2

    return forward


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
    """Return BLAS products, each followed by one loop."""

    @numba.njit(parallel=True)
    def bend(x, b):
        for i in numba.prange(x.shape[0]):
            for j in range(x.shape[1]):
                x[i, j] = math.tanh(x[i, j] + b[j])

    @numba.njit
    def forward(x, w0, b0, w1, b1, w2, b2):
        y = np.dot(x, w0)
        bend(y, b0)
        z = np.dot(y, w1)
        bend(z, b1)
        return np.dot(z, w2) + b2

    return forward


PROGRAMS = (
    Program(
        "mlp_forward",
        {
            "tiny": (3, 5, 7, 7, 2),
            "small": (8, 64, 64, 64, 10),
            "large": (256, 784, 512, 512, 10),
            "other": (9, 64, 64, 64, 10),
        },
        inputs,
        versions(numhlo_version, jax_version, numba_version, numpy_version),
        tolerance=1e-5,
    ),
)
