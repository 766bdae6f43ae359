"""A polynomial of degree 7, float32, by Horner's rule: written into its argument, and into fresh memory."""

from functools import partial

import numpy as np

from benchmarks.program import Program, versions

TERMS = (0.02, -0.03, 0.05, -0.07, 0.11, -0.13, 0.17, 0.3)
SIZES = {"tiny": 11, "small": 10_000, "large": 4_000_000, "other": 10_001}


def inputs(size, rng):
    """Return a vector; the polynomial maps its range into itself, so that it can be applied over and over."""
    return (rng.uniform(0.0, 1.0, size).astype(np.float32),)


def horner(x):
    """Return the polynomial of an array or a number."""
    y = TERMS[0]
    for term in TERMS[1:]:
        y = y * x + term
    return y


def in_place(x):
    """Replace an array's elements by their polynomial."""
    x[...] = horner(x)


def fresh(x):
    """Return the polynomial of an array in new memory: a call of a helper, as `in_place` is, for the same guards."""
    return horner(x)


class InPlace:
    """A function that writes into its argument, called so that there is a result to check."""

    def __init__(self, function):
        self.function = function
        self.wait = getattr(function, "wait", lambda: None)

    def __call__(self, x):
        """Write into ``x`` and return it."""
        self.function(x)
        return x


def numpy_version(_, place):
    """Return the plain function."""
    return InPlace(in_place) if place else fresh


def numhlo_version(numhlo, place):
    """Return the plain function, jitted."""
    return InPlace(numhlo.jit(in_place)) if place else numhlo.jit(fresh)


def jax_version(jax, place):
    """Return the function; JAX never writes into its arguments."""
    return jax.jit(fresh)


def numba_version(numba, place):
    """Return one loop over elements, float32 throughout."""
    terms = tuple(np.float32(term) for term in TERMS)

    @numba.njit(parallel=True)
    def write(x, out):
        for i in numba.prange(x.size):
            y = terms[0]
            for k in range(1, len(terms)):
                y = y * x[i] + terms[k]
            out[i] = y
        return out

    @numba.njit
    def fresh(x):
        return write(x, np.empty_like(x))

    @numba.njit
    def replace(x):
        return write(x, x)

    return replace if place else fresh


def _program(name, place):
    made = [partial(v, place=place) for v in (numhlo_version, jax_version, numba_version, numpy_version)]
    note = "JAX makes a fresh array" if place else ""
    return Program(name, SIZES, inputs, versions(*made), tolerance=1e-6, note=note)


PROGRAMS = (_program("polynomial_in_place", True), _program("polynomial_fresh", False))
