"""The jitted functions: a classifier trained by gradients, k-means, principal components."""

from __future__ import annotations

import numpy as np

import numhlo
from notebooks.digits import plain
from notebooks.digits.data import CLASSES
from numhlo import lax

DECAY, RATE, MOMENTUM = 0.01, 0.4, 0.9
ROUNDS = 300
"""Of the orthogonal iteration; also the most that k-means gets."""

standardize = numhlo.jit(plain.standardize)
confusion = numhlo.jit(plain.confusion)


@numhlo.jit
def train(state, x, labels, steps):
    """Return parameters and velocities after gradient steps with momentum, and the loss there."""
    target = plain.one_hot(labels, CLASSES)

    def step(_, state):
        parameters, velocities = state
        slopes = numhlo.grad(plain.loss)(parameters, x, target, DECAY)
        velocities = tuple(MOMENTUM * v - RATE * g for v, g in zip(velocities, slopes, strict=True))
        return tuple(p + v for p, v in zip(parameters, velocities, strict=True)), velocities

    state = lax.fori_loop(0, steps, step, state)
    return state, plain.loss(state[0], x, target, DECAY)


@numhlo.jit
def k_means(x, centres):
    """Return centres, labels, inertia and rounds of Lloyd's algorithm, run until nothing moves."""

    def goes_on(state):
        return state[1] & (state[2] < ROUNDS)

    def improve(state):
        centres, _, rounds = state
        member = plain.one_hot(plain.distances(x, centres).argmin(axis=1), len(centres))
        better = (member.T @ x) / member.sum(axis=0)[:, None]
        return better, np.any(better != centres), rounds + 1

    centres, _, rounds = lax.while_loop(goes_on, improve, (centres, True, 0))
    labels = plain.distances(x, centres).argmin(axis=1)
    return centres, labels, np.sum((x - centres[labels]) ** 2), rounds


@numhlo.jit
def components(x, start):
    """Return principal components, their variances, and the projections, by orthogonal iteration."""
    centred = x - x.mean(axis=0)
    covariance = centred.T @ centred / (len(x) - 1)
    basis = lax.fori_loop(0, ROUNDS, lambda _, q: plain.orthonormalize(covariance @ q), start)
    return basis, np.sum(basis * (covariance @ basis), axis=0), centred @ basis
