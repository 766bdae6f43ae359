"""Jacobi's method on a square: the five-point stencil in a loop of 50 steps, fixed edges."""

from benchmarks.program import Program, versions

STEPS = 50


def inputs(size, rng):
    """Return the grid."""
    return (rng.normal(size=size),)


def neighbours(u):
    """Return the mean of the four neighbours of inner points."""
    return 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])


def numpy_version(_):
    """Return a Python loop over steps."""

    def stencil(u):
        u = u.copy()
        for _ in range(STEPS):
            u[1:-1, 1:-1] = neighbours(u)
        return u

    return stencil


def numhlo_version(numhlo):
    """Return a `fori_loop` whose body assigns as NumPy does."""

    def step(_, u):
        u[1:-1, 1:-1] = neighbours(u)
        return u

    @numhlo.jit
    def stencil(u):
        return numhlo.lax.fori_loop(0, STEPS, step, u)

    return stencil


def jax_version(jax):
    """Return a `fori_loop` with a functional update."""

    @jax.jit
    def stencil(u):
        return jax.lax.fori_loop(0, STEPS, lambda _, u: u.at[1:-1, 1:-1].set(neighbours(u)), u)

    return stencil


def numba_version(numba):
    """Return loops over points between two grids that swap roles."""

    @numba.njit(parallel=True)
    def stencil(u):
        old, new = u.copy(), u.copy()
        rows, columns = u.shape
        for _ in range(STEPS):
            for i in numba.prange(1, rows - 1):
                for j in range(1, columns - 1):
                    new[i, j] = 0.25 * (old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1])
            old, new = new, old
        return old

    return stencil


PROGRAMS = (
    Program(
        "stencil",
        {"tiny": (6, 5), "small": (100, 100), "large": (1000, 1000), "other": (101, 99)},
        inputs,
        versions(numhlo_version, jax_version, numba_version, numpy_version),
    ),
)
