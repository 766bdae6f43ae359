"""Gauss-Seidel relaxation of Laplace's equation, cell by cell in place: loops that read and write single elements."""

from benchmarks.program import Program, versions

SWEEPS = 5


def inputs(size, rng):
    """Return a grid with its boundary values."""
    return (rng.normal(size=(size, size + 2)),)


def relaxed(u, i, j):
    """Return the mean of a cell's neighbours."""
    return 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def numpy_version(numpy):
    """Return Python loops over cells."""

    def gauss_seidel(grid):
        u = grid.copy()
        for _ in range(SWEEPS):
            for i in range(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    u[i, j] = relaxed(u, i, j)
        return u

    return gauss_seidel


def _with_loops(lax):
    def gauss_seidel(u):
        rows, columns = u.shape

        def row(i, u):
            return lax.fori_loop(1, columns - 1, lambda j, u: u.at[i, j].set(relaxed(u, i, j)), u)

        return lax.fori_loop(0, SWEEPS, lambda _, u: lax.fori_loop(1, rows - 1, row, u), u)

    return gauss_seidel


def numhlo_version(numhlo):
    """Return three nested loops."""
    return numhlo.jit(_with_loops(numhlo.lax))


def jax_version(jax):
    """Return three nested loops."""
    return jax.jit(_with_loops(jax.lax))


def numba_version(numba):
    """Return loops over cells."""

    @numba.njit
    def gauss_seidel(grid):
        u = grid.copy()
        for _ in range(SWEEPS):
            for i in range(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        return u

    return gauss_seidel


PROGRAMS = (
    Program(
        "gauss_seidel",
        {"tiny": 4, "small": 40, "large": 500, "other": 41},
        inputs,
        versions(numhlo_version, jax_version, numba_version, numpy_version),
    ),
)
