"""Loops and branches in each other, with much state: in one native entry, and no state is copied from round to round."""

import numpy as np
import pytest

import numhlo
from numhlo import lax


@numhlo.kernel(result=lambda x: numhlo.ShapeDtypeStruct((), np.int64))
def place(x, out):
    """Return where in memory an array is."""
    out[()] = x.ctypes.data


@numhlo.kernel(result=lambda x: x)
def running(x, out):
    """Return running sums: a function of the user's, for Numba."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
        out[i] = total


def four_deep(x, m, rounds, limit):
    """A while in a branch in a scan in a fori loop, with a product of matrices, and a function of the user's inside."""

    def innermost(state):
        level, y, count = state
        return level * 0.5, running(y * 0.5) - y, count + 1

    def row(state, r):
        level, y, count = state

        def grow():
            return lax.while_loop(lambda s: (s[0] > limit) & (s[2] < 40), innermost, (level + r[0], y, count))

        level, y, count = lax.cond(r.sum() > 0, grow, lambda: (level * 0.25, m @ y, count))
        return (level, y, count), level + count

    def outer(k, state):
        total, y, count = state
        (level, y, count), seen = lax.scan(row, (total * 0.125, y, count), x)
        return total + seen.sum() + level * k, y / (1.0 + np.abs(y).max()), count

    return lax.fori_loop(0, rounds, outer, (1.0, x[0], 0))


def four_deep_in_python(x, m, rounds, limit):
    total, y, count = 1.0, x[0], 0
    for k in range(rounds):
        level, seen = total * 0.125, 0.0
        for r in x:
            if r.sum() > 0:
                level = level + r[0]
                while level > limit and count < 40:
                    level, y, count = level * 0.5, np.cumsum(y * 0.5) - y, count + 1
            else:
                level, y = level * 0.25, m @ y
            seen += level + count
        total, y = total + seen + level * k, y / (1.0 + np.abs(y).max())
    return total, y, count


@pytest.mark.slow
@pytest.mark.parametrize(("rounds", "limit"), [(4, 0.05), (3, 1e9), (0, 0.05), (6, -1.0)])
def test_four_deep(rounds, limit, rng):
    """How often each goes round is known at run time only; some never do."""
    x, m = rng.normal(size=(7, 12)), rng.normal(size=(12, 12)) / 4
    function = numhlo.jit(four_deep)
    expected = four_deep_in_python(x, m, rounds, limit)
    for answer in ("first", "native"):
        for found, right in zip(function(x, m, rounds, limit), expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-11, atol=1e-13, err_msg=answer)
        function.wait()
    assert function.lower(x, m, rounds, limit).compile().cost_analysis()["python steps"] == 0


def sixty(arrays, numbers, rounds):
    """Thirty arrays, each updated at one element from its neighbour, and thirty numbers, coupled likewise."""

    def step(k, state):
        arrays, numbers, at = state
        changed = []
        for i, a in enumerate(arrays):
            changed.append(a.at[k % 5].add(numbers[i] * 0.5 + k))
        after = [0.5 * numbers[i - 1] + a[0, 0] for i, a in enumerate(changed)]
        at = at.at[k].set(np.stack([place(changed[0]), place(changed[17])]))
        return tuple(changed), tuple(after), at

    return lax.fori_loop(0, rounds, step, (arrays, numbers, np.zeros((20, 2), np.int64)))


@pytest.mark.not_every_call  # its results are addresses
@pytest.mark.slow
def test_sixty_carries_stay_where_they_are(rng):
    arrays = tuple(rng.normal(size=(5, 300)) for _ in range(30))
    numbers = tuple(float(v) for v in rng.normal(size=30))
    function = numhlo.jit(sixty)
    function(arrays, numbers, 20)
    function.wait()
    found, after, at = function(arrays, numbers, 20)
    expected, level = [a.copy() for a in arrays], list(numbers)
    for k in range(20):
        for a, v in zip(expected, level, strict=True):
            a[k % 5] += v * 0.5 + k
        level = [0.5 * level[i - 1] + a[0, 0] for i, a in enumerate(expected)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(after, level, rtol=1e-12)
    assert len(set(at[:, 0].tolist())) == len(set(at[:, 1].tolist())) == 1
