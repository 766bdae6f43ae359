"""Sum and argmax of a matrix along rows and along columns: how memory is walked decides the speed."""

from functools import partial

import numpy as np

from benchmarks.program import Program, versions

SIZES = {"tiny": (5, 9), "small": (128, 100), "large": (2000, 1500), "other": (129, 99)}


def inputs(size, rng):
    """Return a matrix."""
    return (rng.normal(size=size),)


def written_for(np, kind, axis):
    """Return the function for a namespace with NumPy's names."""
    reduce = getattr(np, kind)
    return lambda x: reduce(x, axis=axis)


def numpy_version(numpy, kind, axis):
    """Return NumPy's reduction."""
    return written_for(numpy, kind, axis)


def numhlo_version(numhlo, kind, axis):
    """Return NumPy's reduction, jitted."""
    return numhlo.jit(written_for(np, kind, axis))


def jax_version(jax, kind, axis):
    """Return the reduction of `jax.numpy`."""
    return jax.jit(written_for(jax.numpy, kind, axis))


def numba_version(numba, kind, axis):
    """Return loops, rows in parallel where the result has one element a row."""
    return {
        ("sum", 1): numba_sum_of_rows,
        ("sum", 0): numba_sum_of_columns,
        ("argmax", 1): numba_argmax_of_rows,
        ("argmax", 0): numba_argmax_of_columns,
    }[kind, axis](numba)


def numba_sum_of_rows(numba):
    """Return the sum along axis 1."""

    @numba.njit(parallel=True)
    def sum_of_rows(x):
        out = np.empty(x.shape[0])
        for i in numba.prange(x.shape[0]):
            total = 0.0
            for j in range(x.shape[1]):
                total += x[i, j]
            out[i] = total
        return out

    return sum_of_rows


def numba_sum_of_columns(numba):
    """Return the sum along axis 0, walking memory in order."""

    @numba.njit
    def sum_of_columns(x):
        out = np.zeros(x.shape[1])
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                out[j] += x[i, j]
        return out

    return sum_of_columns


def numba_argmax_of_rows(numba):
    """Return the first position of the maximum along axis 1."""

    @numba.njit(parallel=True)
    def argmax_of_rows(x):
        out = np.empty(x.shape[0], np.int64)
        for i in numba.prange(x.shape[0]):
            best = 0
            for j in range(1, x.shape[1]):
                if x[i, j] > x[i, best]:
                    best = j
            out[i] = best
        return out

    return argmax_of_rows


def numba_argmax_of_columns(numba):
    """Return the first position of the maximum along axis 0, walking memory in order."""

    @numba.njit
    def argmax_of_columns(x):
        best, out = x[0].copy(), np.zeros(x.shape[1], np.int64)
        for i in range(1, x.shape[0]):
            for j in range(x.shape[1]):
                if x[i, j] > best[j]:
                    best[j], out[j] = x[i, j], i
        return out

    return argmax_of_columns


def _program(kind, axis):
    made = [partial(v, kind=kind, axis=axis) for v in (numhlo_version, jax_version, numba_version, numpy_version)]
    return Program(f"{kind}_axis{axis}", SIZES, inputs, versions(*made))


PROGRAMS = tuple(_program(kind, axis) for kind in ("sum", "argmax") for axis in (0, 1))
