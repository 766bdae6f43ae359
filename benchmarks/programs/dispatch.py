"""What a call costs: almost no work, on 1, 4 and 20 arrays of ten elements."""

from functools import partial

import numpy as np

from benchmarks.program import Program, versions

SIZES = {"tiny": 3, "small": 10, "large": 11, "other": 12}
COUNTS = (1, 4, 20)


def inputs(size, rng, count):
    """Return short vectors."""
    return tuple(rng.normal(size=size) for _ in range(count))


def combine(*arrays):
    """Return a sum of all arrays after a little arithmetic."""
    total = arrays[0] * 2.0 + 1.0
    for array in arrays[1:]:
        total = total + array
    return total


def numpy_version(_):
    """Return the plain function."""
    return combine


def numhlo_version(numhlo):
    """Return the plain function, jitted."""
    return numhlo.jit(combine)


def jax_version(jax):
    """Return the plain function, jitted by JAX."""
    return jax.jit(combine)


def numba_version(numba):
    """Return one loop over elements and arrays."""

    @numba.njit
    def combine(*arrays):
        out = np.empty_like(arrays[0])
        for i in range(out.size):
            total = arrays[0][i] * 2.0 + 1.0
            for k in range(1, len(arrays)):
                total += arrays[k][i]
            out[i] = total
        return out

    return combine


def _program(count):
    made = versions(numhlo_version, jax_version, numba_version, numpy_version)
    return Program(f"dispatch_{count}", SIZES, partial(inputs, count=count), made)


PROGRAMS = tuple(_program(count) for count in COUNTS)
