"""Ten rounds of Lloyd's algorithm: distances by a matrix product, argmin, and sums over clusters."""

import numpy as np

from benchmarks.program import Program, versions

ROUNDS = 10


def inputs(size, rng):
    """Return points around as many centres as there are clusters, and the first guess."""
    points, dimensions, clusters = size
    centres = rng.normal(0.0, 3.0, size=(clusters, dimensions))
    x = centres[rng.integers(0, clusters, points)] + rng.normal(size=(points, dimensions))
    x[:clusters] = centres  # no cluster is ever empty
    return x, centres + rng.normal(0.0, 0.3, size=centres.shape)


def round_for(np):
    """Return one round for a namespace with NumPy's names."""

    def assign(x, centres):
        return ((centres * centres).sum(axis=1) - 2.0 * (x @ centres.T)).argmin(axis=1)

    def improve(x, centres):
        member = (assign(x, centres)[:, None] == np.arange(len(centres))).astype(x.dtype)
        return (member.T @ x) / member.sum(axis=0)[:, None]

    return assign, improve


def numpy_version(numpy):
    """Return a Python loop over rounds."""
    assign, improve = round_for(numpy)

    def k_means(x, centres):
        for _ in range(ROUNDS):
            centres = improve(x, centres)
        return centres, assign(x, centres)

    return k_means


def _with_loop(lax, assign, improve):
    def k_means(x, centres):
        centres = lax.fori_loop(0, ROUNDS, lambda _, c: improve(x, c), centres)
        return centres, assign(x, centres)

    return k_means


def numhlo_version(numhlo):
    """Return the rounds in a `fori_loop`."""
    return numhlo.jit(_with_loop(numhlo.lax, *round_for(np)))


def jax_version(jax):
    """Return the rounds in a `fori_loop`."""
    return jax.jit(_with_loop(jax.lax, *round_for(jax.numpy)))


def numba_version(numba):
    """Return loops over points, in parallel where they are independent."""

    @numba.njit(parallel=True)
    def assign(x, centres, labels):
        for i in numba.prange(x.shape[0]):
            best, least = 0, np.inf
            for c in range(centres.shape[0]):
                squared = 0.0
                for j in range(x.shape[1]):
                    squared += (x[i, j] - centres[c, j]) ** 2
                if squared < least:
                    best, least = c, squared
            labels[i] = best

    @numba.njit
    def k_means(x, centres):
        labels = np.empty(x.shape[0], np.int64)
        for _ in range(ROUNDS):
            assign(x, centres, labels)
            total, count = np.zeros_like(centres), np.zeros(len(centres))
            for i in range(x.shape[0]):
                count[labels[i]] += 1.0
                for j in range(x.shape[1]):
                    total[labels[i], j] += x[i, j]
            centres = total / count.reshape(-1, 1)
        assign(x, centres, labels)
        return centres, labels

    return k_means


PROGRAMS = (
    Program(
        "k_means",
        {"tiny": (40, 3, 4), "small": (1000, 8, 10), "large": (50_000, 16, 20), "other": (1001, 8, 10)},
        inputs,
        versions(numhlo_version, jax_version, numba_version, numpy_version),
        tolerance=1e-8,
    ),
)
