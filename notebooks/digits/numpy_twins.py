"""The same computations by NumPy alone, with loops in Python and the gradient by hand: what numhlo is timed against."""

from __future__ import annotations

import numpy as np

from notebooks.digits import plain
from notebooks.digits.data import CLASSES
from notebooks.digits.learning import DECAY, MOMENTUM, RATE, ROUNDS

standardize, confusion = plain.standardize, plain.confusion


def _slopes(parameters, x, target):
    weights, bias = parameters
    scores = x @ weights + bias
    likelihood = np.exp(scores - scores.max(axis=1, keepdims=True))
    likelihood /= likelihood.sum(axis=1, keepdims=True)
    error = (likelihood - target) / len(x)
    return x.T @ error + DECAY * weights, error.sum(axis=0)


def train(state, x, labels, steps):
    """Return parameters and velocities after gradient steps with momentum, and the loss there."""
    target = plain.one_hot(labels, CLASSES)
    parameters, velocities = state
    for _ in range(steps):
        slopes = _slopes(parameters, x, target)
        velocities = tuple(MOMENTUM * v - RATE * g for v, g in zip(velocities, slopes, strict=True))
        parameters = tuple(p + v for p, v in zip(parameters, velocities, strict=True))
    return (parameters, velocities), plain.loss(parameters, x, target, DECAY)


def k_means(x, centres):
    """Return centres, labels, inertia and rounds of Lloyd's algorithm, run until nothing moves."""
    moved, rounds = True, 0
    while moved and rounds < ROUNDS:
        member = plain.one_hot(plain.distances(x, centres).argmin(axis=1), len(centres))
        better = (member.T @ x) / member.sum(axis=0)[:, None]
        moved, centres, rounds = np.any(better != centres), better, rounds + 1
    labels = plain.distances(x, centres).argmin(axis=1)
    return centres, labels, np.sum((x - centres[labels]) ** 2), rounds


def components(x, start):
    """Return principal components, their variances, and the projections, by orthogonal iteration."""
    centred = x - x.mean(axis=0)
    covariance = centred.T @ centred / (len(x) - 1)
    basis = start
    for _ in range(ROUNDS):
        basis = plain.orthonormalize(covariance @ basis)
    return basis, np.sum(basis * (covariance @ basis), axis=0), centred @ basis
