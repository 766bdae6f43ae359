"""The same functions for JAX, which needs its own namespace for what is plain NumPy elsewhere."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from notebooks.digits.data import CLASSES
from notebooks.digits.learning import DECAY, MOMENTUM, RATE, ROUNDS

jax.config.update("jax_enable_x64", True)


@jax.jit
def standardize(x):
    """Return columns with mean 0 and deviation 1; constant columns become 0."""
    centred = x - x.mean(axis=0)
    deviation = centred.std(axis=0)
    return centred / jnp.where(deviation == 0.0, 1.0, deviation)


def _distances(x, centres):
    return (x * x).sum(axis=1)[:, None] - 2.0 * (x @ centres.T) + (centres * centres).sum(axis=1)


def _one_hot(labels, classes):
    return (labels[:, None] == jnp.arange(classes)).astype(jnp.float64)


def _loss(parameters, x, target):
    weights, bias = parameters
    likelihood = jax.nn.log_softmax(x @ weights + bias)
    return -jnp.mean(jnp.sum(target * likelihood, axis=1)) + 0.5 * DECAY * jnp.sum(weights * weights)


@jax.jit
def train(state, x, labels, steps):
    """Return parameters and velocities after gradient steps with momentum, and the loss there."""
    target = _one_hot(labels, CLASSES)

    def step(_, state):
        parameters, velocities = state
        slopes = jax.grad(_loss)(parameters, x, target)
        velocities = tuple(MOMENTUM * v - RATE * g for v, g in zip(velocities, slopes, strict=True))
        return tuple(p + v for p, v in zip(parameters, velocities, strict=True)), velocities

    state = jax.lax.fori_loop(0, steps, step, state)
    return state, _loss(state[0], x, target)


@jax.jit
def k_means(x, centres):
    """Return centres, labels, inertia and rounds of Lloyd's algorithm, run until nothing moves."""

    def goes_on(state):
        return state[1] & (state[2] < ROUNDS)

    def improve(state):
        centres, _, rounds = state
        member = _one_hot(_distances(x, centres).argmin(axis=1), len(centres))
        better = (member.T @ x) / member.sum(axis=0)[:, None]
        return better, jnp.any(better != centres), rounds + 1

    centres, _, rounds = jax.lax.while_loop(goes_on, improve, (centres, True, 0))
    labels = _distances(x, centres).argmin(axis=1)
    return centres, labels, jnp.sum((x - centres[labels]) ** 2), rounds


def _orthonormalize(a):
    basis = []
    for column in a.T:
        rest = column
        for vector in basis:
            rest = rest - (vector @ rest) * vector
        basis.append(rest / jnp.sqrt(rest @ rest))
    return jnp.stack(basis, axis=1)


@jax.jit
def components(x, start):
    """Return principal components, their variances, and the projections, by orthogonal iteration."""
    centred = x - x.mean(axis=0)
    covariance = centred.T @ centred / (len(x) - 1)
    basis = jax.lax.fori_loop(0, ROUNDS, lambda _, q: _orthonormalize(covariance @ q), start)
    return basis, jnp.sum(basis * (covariance @ basis), axis=0), centred @ basis


@jax.jit
def confusion(truth, found):
    """Return how often each label (row) was taken for each label (column)."""
    return (_one_hot(truth, CLASSES).T @ _one_hot(found, CLASSES)).astype(jnp.int64)
