"""Dynamic programming, a row a step: the edit distance of two texts, and the likeliest path through a Markov model.

A row of edit distances depends on its own elements from left to right: a running minimum once each element's own
position is taken off.
"""

import numpy as np

from benchmarks.program import Program, versions

LETTERS, SYMBOLS = 4, 6


def texts(size, rng):
    """Return two texts as numbers."""
    return tuple(rng.integers(0, LETTERS, n) for n in size)


def markov_model(size, rng):
    """Return logarithms of transitions and emissions, and what was observed."""
    states, steps = size
    transitions = rng.dirichlet(np.ones(states), states)
    emissions = rng.dirichlet(np.ones(SYMBOLS), states)
    return np.log(transitions), np.log(emissions), rng.integers(0, SYMBOLS, steps)


def row_for(np, running_minimum):
    """Return the step from one row of edit distances to the next for a namespace with NumPy's names."""

    def row(previous, letter, other):
        place = np.arange(1, len(other) + 1)
        best = np.minimum(previous[:-1] + (other != letter), previous[1:] + 1) - place
        first = previous[:1] + 1
        return np.concatenate([first, np.minimum(running_minimum(best), first) + place])

    return row


def numpy_edit_distance(numpy):
    """Return a Python loop over rows."""
    row = row_for(numpy, numpy.minimum.accumulate)

    def edit_distance(text, other):
        distances = numpy.arange(len(other) + 1)
        for letter in text:
            distances = row(distances, letter, other)
        return distances[-1]

    return edit_distance


def _edit_distance(np, lax, running_minimum):
    row = row_for(np, running_minimum)

    def edit_distance(text, other):
        def step(distances, letter):
            return row(distances, letter, other), None

        distances, _ = lax.scan(step, np.arange(len(other) + 1), text)
        return distances[-1]

    return edit_distance


def numhlo_edit_distance(numhlo):
    """Return a scan over rows."""
    return numhlo.jit(_edit_distance(np, numhlo.lax, np.minimum.accumulate))


def jax_edit_distance(jax):
    """Return a scan over rows."""
    return jax.jit(_edit_distance(jax.numpy, jax.lax, jax.lax.cummin))


def numba_edit_distance(numba):
    """Return loops over cells."""

    @numba.njit
    def edit_distance(text, other):
        distances = np.arange(len(other) + 1)
        for letter in text:
            diagonal = distances[0]
            distances[0] += 1
            for j in range(len(other)):
                best = min(diagonal + (other[j] != letter), distances[j + 1] + 1, distances[j] + 1)
                diagonal, distances[j + 1] = distances[j + 1], best
        return distances[-1]

    return edit_distance


def numpy_viterbi(numpy):
    """Return Python loops over steps."""

    def viterbi(transitions, emissions, seen):
        score, back = emissions[:, seen[0]], []
        for symbol in seen[1:]:
            ways = score[:, None] + transitions
            back.append(ways.argmax(axis=0))
            score = ways.max(axis=0) + emissions[:, symbol]
        path = [score.argmax()]
        for came_from in back[::-1]:
            path.append(came_from[path[-1]])
        return score.max(), numpy.array(path[::-1])

    return viterbi


def _viterbi(np, lax):
    def viterbi(transitions, emissions, seen):
        def forward(score, symbol):
            ways = score[:, None] + transitions
            return ways.max(axis=0) + emissions[:, symbol], ways.argmax(axis=0)

        def backward(state, came_from):
            return came_from[state], state

        score, back = lax.scan(forward, emissions[:, seen[0]], seen[1:])
        first, path = lax.scan(backward, score.argmax(), back, reverse=True)
        return score.max(), np.concatenate([first[None], path])

    return viterbi


def numhlo_viterbi(numhlo):
    """Return two scans."""
    return numhlo.jit(_viterbi(np, numhlo.lax))


def jax_viterbi(jax):
    """Return two scans."""
    return jax.jit(_viterbi(jax.numpy, jax.lax))


def numba_viterbi(numba):
    """Return loops over steps and pairs of states."""

    @numba.njit
    def viterbi(transitions, emissions, seen):
        states, steps = len(transitions), len(seen)
        score, new = emissions[:, seen[0]].copy(), np.empty(states)
        back, path = np.zeros((steps, states), np.int64), np.empty(steps, np.int64)
        for t in range(1, steps):
            new[:] = -np.inf
            for i in range(states):
                for j in range(states):
                    way = score[i] + transitions[i, j]
                    if way > new[j]:
                        new[j], back[t, j] = way, i
            for j in range(states):
                score[j] = new[j] + emissions[j, seen[t]]
        path[-1] = score.argmax()
        for t in range(steps - 1, 0, -1):
            path[t - 1] = back[t, path[t]]
        return score.max(), path

    return viterbi


PROGRAMS = (
    Program(
        "edit_distance",
        {"tiny": (5, 7), "small": (200, 180), "large": (3000, 2500), "other": (201, 181)},
        texts,
        versions(numhlo_edit_distance, jax_edit_distance, numba_edit_distance, numpy_edit_distance),
    ),
    Program(
        "viterbi",
        {"tiny": (3, 5), "small": (16, 300), "large": (64, 5000), "other": (16, 301)},
        markov_model,
        versions(numhlo_viterbi, jax_viterbi, numba_viterbi, numpy_viterbi),
    ),
)
