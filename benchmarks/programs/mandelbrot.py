"""The Mandelbrot set: a loop for every pixel that ends at another time. Written for one pixel and mapped over all."""

import numpy as np

from benchmarks.program import Program, versions

MOST = 100


def inputs(size, rng):
    """Return real and imaginary parts of the pixels."""
    rows, columns = size
    re, im = np.meshgrid(np.linspace(-2.0, 0.6, columns), np.linspace(-1.2, 1.2, rows))
    return re.ravel(), im.ravel()


def numpy_version(_):
    """Return a loop over rounds that works on the pixels that are left."""

    def mandelbrot(re, im):
        counts = np.zeros(re.shape, np.int64)
        left = np.arange(re.size)
        c = re + 1j * im
        z = np.zeros_like(c)
        for _ in range(MOST):
            counts[left] += 1
            z = z * z + c
            keep = z.real * z.real + z.imag * z.imag <= 4.0
            left, z, c = left[keep], z[keep], c[keep]
        return counts

    return mandelbrot


def _pixel(lax):
    def pixel(re, im):
        def escaping(state):
            x, y, count = state
            return (x * x + y * y <= 4.0) & (count < MOST)

        def step(state):
            x, y, count = state
            return x * x - y * y + re, 2.0 * x * y + im, count + 1

        return lax.while_loop(escaping, step, (0.0 * re, 0.0 * im, 0))[2]

    return pixel


def numhlo_version(numhlo):
    """Return `vmap` of a `while_loop`."""
    return numhlo.jit(numhlo.vmap(_pixel(numhlo.lax)))


def jax_version(jax):
    """Return `vmap` of a `while_loop`."""
    return jax.jit(jax.vmap(_pixel(jax.lax)))


def numba_version(numba):
    """Return one loop over pixels."""

    @numba.njit(parallel=True)
    def mandelbrot(re, im):
        counts = np.zeros(re.size, np.int64)
        for i in numba.prange(re.size):
            x = y = 0.0
            count = 0
            while x * x + y * y <= 4.0 and count < MOST:
                x, y = x * x - y * y + re[i], 2.0 * x * y + im[i]
                count += 1
            counts[i] = count
        return counts

    return mandelbrot


PROGRAMS = (
    Program(
        "mandelbrot",
        {"tiny": (3, 4), "small": (50, 60), "large": (500, 600), "other": (51, 59)},
        inputs,
        versions(numhlo_version, jax_version, numba_version, numpy_version),
        tolerance=0.05,
        note="NumPy multiplies complex numbers, which may round otherwise: counts at the edge differ",
    ),
)
