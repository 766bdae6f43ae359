"""Recurrences: `scan` over a series with 1, 16 and 60 scalar carries, and two kinds of coupling between them.

``neighbour`` couples each carry with the ones beside it, ``shared`` feeds one value, computed from all, into all of
them.
"""

from functools import partial

import numpy as np

from benchmarks.program import Program, versions

SIZES = {"tiny": 6, "small": 1000, "large": 20_000, "other": 1001}
CARRIES = (1, 16, 60)
KINDS = ("neighbour", "shared")


def inputs(size, rng, count):
    """Return the first carries, and the series."""
    return tuple(rng.normal(size=count)), rng.normal(size=size)


def neighbour(carries, x):
    """Return the carries after a step of diffusion with ``x`` at one end and zero at the other."""
    padded = (x, *carries, 0.0)
    return tuple(padded[i] + 0.2 * (padded[i - 1] - 2.0 * padded[i] + padded[i + 1]) for i in range(1, len(padded) - 1))


def shared(carries, x):
    """Return the carries after a step that feeds one value into all of them."""
    value = x
    for c in carries:
        value = value + 0.01 * c
    value = value / (1.0 + value * value)
    return tuple(0.9 * c + (0.1 + 0.001 * i) * value for i, c in enumerate(carries))


STEPS = {"neighbour": neighbour, "shared": shared}


def numpy_version(_, kind, count):
    """Return a Python loop over the series, the carries in one vector."""

    def recurrence(carries, xs):
        c, ys = np.array(carries), np.empty(len(xs))
        padded, weights = np.zeros(count + 2), 0.1 + 0.001 * np.arange(count)
        for t, x in enumerate(xs):
            if kind == "neighbour":
                padded[0], padded[1:-1] = x, c
                c = c + 0.2 * (padded[:-2] - 2.0 * c + padded[2:])
            else:
                value = x + 0.01 * c.sum()
                c = 0.9 * c + weights * (value / (1.0 + value * value))
            ys[t] = c[0]
        return tuple(c), ys

    return recurrence


def _with_scan(lax, kind):
    def step(carries, x):
        carries = STEPS[kind](carries, x)
        return carries, carries[0]

    def recurrence(carries, xs):
        return lax.scan(step, carries, xs)

    return recurrence


def numhlo_version(numhlo, kind, count):
    """Return `scan` over scalar carries."""
    return numhlo.jit(_with_scan(numhlo.lax, kind))


def jax_version(jax, kind, count):
    """Return `scan` over scalar carries."""
    return jax.jit(_with_scan(jax.lax, kind))


def numba_version(numba, kind, count):
    """Return loops over the series and over carries, which are kept in a small array."""
    make = {"neighbour": numba_neighbour, "shared": numba_shared}[kind]
    loops = make(numba, count)

    def recurrence(carries, xs):
        c, ys = loops(np.array(carries), xs)
        return tuple(c), ys

    return recurrence


def numba_neighbour(numba, count):
    """Return the coupling of neighbours."""

    @numba.njit
    def recurrence(c, xs):
        new, ys = np.empty(count), np.empty(len(xs))
        for t in range(len(xs)):
            for i in range(count):
                left = c[i - 1] if i > 0 else xs[t]
                right = c[i + 1] if i < count - 1 else 0.0
                new[i] = c[i] + 0.2 * (left - 2.0 * c[i] + right)
            c, new = new, c
            ys[t] = c[0]
        return c, ys

    return recurrence


def numba_shared(numba, count):
    """Return the coupling through one value."""

    @numba.njit
    def recurrence(c, xs):
        ys = np.empty(len(xs))
        for t in range(len(xs)):
            value = xs[t]
            for i in range(count):
                value += 0.01 * c[i]
            value /= 1.0 + value * value
            for i in range(count):
                c[i] = 0.9 * c[i] + (0.1 + 0.001 * i) * value
            ys[t] = c[0]
        return c, ys

    return recurrence


def _program(kind, count):
    made = [partial(v, kind=kind, count=count) for v in (numhlo_version, jax_version, numba_version, numpy_version)]
    return Program(f"scan_{kind}_{count}", SIZES, partial(inputs, count=count), versions(*made))


PROGRAMS = tuple(_program(kind, count) for kind in KINDS for count in CARRIES)
