"""Gravity between all pairs of bodies, ten leapfrog steps."""

import math

import numpy as np

from benchmarks.program import Program, versions

STEPS, STEP, SOFTENING = 10, 0.01, 0.1


def inputs(size, rng):
    """Return positions, velocities and masses."""
    return rng.normal(size=(size, 3)), rng.normal(0.0, 0.1, size=(size, 3)), rng.uniform(0.1, 1.0, size)


def step_for(np):
    """Return one step for a namespace with NumPy's names."""

    def step(position, velocity, mass):
        apart = position[None, :, :] - position[:, None, :]
        squared = (apart * apart).sum(axis=2) + SOFTENING**2
        weight = mass / (squared * np.sqrt(squared))
        velocity = velocity + STEP * (weight[:, :, None] * apart).sum(axis=1)
        return position + STEP * velocity, velocity

    return step


def numpy_version(numpy):
    """Return a Python loop over steps."""
    step = step_for(numpy)

    def n_body(position, velocity, mass):
        for _ in range(STEPS):
            position, velocity = step(position, velocity, mass)
        return position, velocity

    return n_body


def _with_loop(lax, step):
    def n_body(position, velocity, mass):
        return lax.fori_loop(0, STEPS, lambda _, state: step(*state, mass), (position, velocity))

    return n_body


def numhlo_version(numhlo):
    """Return the steps in a `fori_loop`."""
    return numhlo.jit(_with_loop(numhlo.lax, step_for(np)))


def jax_version(jax):
    """Return the steps in a `fori_loop`."""
    return jax.jit(_with_loop(jax.lax, step_for(jax.numpy)))


def numba_version(numba):
    """Return loops over pairs, bodies in parallel."""

    @numba.njit(parallel=True)
    def n_body(position, velocity, mass):
        p, v = position.copy(), velocity.copy()
        count = len(mass)
        for _ in range(STEPS):
            for i in numba.prange(count):
                ax = ay = az = 0.0
                for j in range(count):
                    dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
                    squared = dx * dx + dy * dy + dz * dz + SOFTENING**2
                    weight = mass[j] / (squared * math.sqrt(squared))
                    ax += weight * dx
                    ay += weight * dy
                    az += weight * dz
                v[i, 0] += STEP * ax
                v[i, 1] += STEP * ay
                v[i, 2] += STEP * az
            for i in numba.prange(count):
                for k in range(3):
                    p[i, k] += STEP * v[i, k]
        return p, v

    return n_body


PROGRAMS = (
    Program(
        "n_body",
        {"tiny": 5, "small": 64, "large": 1000, "other": 65},
        inputs,
        versions(numhlo_version, jax_version, numba_version, numpy_version),
    ),
)
