"""`jit(autograph=True)`: long loops over known ranges and over arrays become loops of the graph, and mean what they mean in Python."""

import numpy as np
import pytest

import numhlo
from tests.work import count_calls

MOST_OPERATIONS = 800
"""Far fewer than the loops below have unrolled."""


def adds_up(x):
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0:
            total += x[i]
        else:
            total -= 1
    return total, i


def sorts(x):
    for i in range(1, len(x)):
        value, j = x[i], i - 1
        while j >= 0 and x[j] > value:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = value


def bubbles(x):
    swaps = 0
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
                swaps += 1
    return swaps


def pairs(x):
    n, k = len(x), 0
    out = np.zeros(n * (n - 1) // 2)
    for i in range(n):
        for j in range(i + 1, n):
            out[k] = abs(x[i] - x[j])
            k += 1
    return out, k


def best(x):
    found, place, previous, t = -np.inf, 0, 0, 0.0
    for i in range(len(x) - 1, -1, -1):
        if x[i] > found:
            found, place = x[i], i
        previous, t = i, t + 0.1
    return found, place, previous, t, np.zeros(i + 3)


def counts_steps(x):
    steps, total = 5, 0.0
    for i in range(len(x)):
        if x[i] < 1:
            total += steps
        steps += 2
    return total, np.ones(steps % 7)


def leaves(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < -2:
            break
        if x[i] < 0:
            continue
        total += x[i]
        if total > 60:
            return i
    return total + i


def wraps_around(x):
    y = np.zeros_like(x)
    for i in range(len(x) - 1):
        y[i] = x[i + 1] - x[i - 1]
        if y[i] > 0:
            y[i] *= 2
    return y


def enumerates(x):
    total, last = 0.0, 0
    for i, value in enumerate(x, start=2):
        if value > 0:
            total, last = total + value * i, i
    return total, last, i, np.zeros(i)


def zips_and_leaves(x):
    out, count = np.zeros_like(x), 0
    for k, (u, v) in enumerate(zip(x, x[::-1], strict=True)):
        if u < v:
            out[k] = u
            count += 1
        elif u > 2 * v:
            count -= 1
        else:
            continue
        if count > 4:
            break
    return out, count, k


def learns(x):
    rows, weights = x.reshape(-1, 2), np.zeros(2)
    for row, sign in zip(rows, np.where(x[::2] > 0, 1, -1), strict=True):
        if sign * (row @ weights) <= 0:
            weights += sign * row
    return weights


def backwards(x):
    best, out = -np.inf, np.zeros(len(x))
    for i in reversed(range(len(x))):
        best = max(best, x[i])
        out[i] = best
    for value in reversed(x):
        best = best / 2 + (value if value > 0 else 0)
    return out, best


def doubles_rows(x):
    for row in x.reshape(-1, 2):
        row *= 2 if row[0] > 0 else -1  # noqa: PLW2901
    return x


def counts_up(x):
    i, k, total = 0, len(x), 0.0
    while i < len(x) and k > 3:
        if x[i] > 0:
            total += x[i] / k
        x[i] = total
        i += 1
        k -= 1
    return total, np.zeros(i), np.zeros(k)


ROLLED = [
    counts_up,
    adds_up, sorts, bubbles, pairs, best, counts_steps, leaves, wraps_around,
    enumerates, zips_and_leaves, learns, backwards, doubles_rows,
]  # fmt: skip


def outgrows_64_bits(x):
    seed, total = 12345, 0.0
    for i in range(len(x)):
        seed = (6364136223846793005 * seed + 1442695040888963407) % 2**64
        total += x[i] * (seed / 2**64) if x[i] > 0 else 0.0
    return total, seed % 1000


def fibonacci(x):
    a, b, total = 0, 1, 0.0
    for i in range(len(x)):
        a, b = b, a + b
        if x[i] > 0:
            total += a % 7
    return total


def negative_powers(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total += 2**-i
    return total


def makes_a_list(x):
    found = []
    for i in range(len(x)):
        found.append(x[i] if x[i] > 0 else 0.0)
    return np.array(found)


class Tracker:
    def __init__(self, n):
        self.total, self.rounds, self.sums, self.log = 0.0, 0, np.zeros(n), []

    def add(self, i, x):
        self.rounds += 1
        if x > 0:
            self.total += x
        self.sums[i] = self.total
        self.log.append(self.total)


def changes_objects(x):
    tracker, seen = Tracker(len(x)), []

    def note(value):
        seen.append(value)

    for i in range(len(x)):
        tracker.add(i, x[i])
        note(x[i])
    return tracker.total, tracker.rounds, tracker.sums, np.array(tracker.log), np.array(seen)


def draws_by_name(x):
    kinds, total = ["add", "skip", "double"] * len(x), 0.0
    for i in range(len(x)):
        if kinds[i] == "add":
            total += x[i] if x[i] > 0 else 0.5
        elif kinds[i] == "double":
            total *= 1.5 if total < 5 else 0.5
    return total


def collects(x):
    found, state = [], 0.0
    for value in x:
        state = state * 0.9 + value if value > 0 else state / 2
        found.append(state)
    return np.array(found)


def goes_through_anything(x):
    total, factor = 0.0, 1
    for name, value in {"a": x[0], "b": x[1]}.items():
        total += value if name == "a" else 2 * value
    for value in (v * factor for v in x[:4]):
        total += value if value > 0 else 0
        factor += 1
    later = []
    for i in (5, 6, 7):
        later.append(lambda: i)
        total += 1 if total > 0 else 2
    return total, factor, len(name), [f() for f in later]


def counts_in_many_places(x):
    places, filled, total, i = [0], np.zeros(1, int), 0.0, 0

    def fill():
        filled[0] += 2

    while places[0] < 60 and i < 65:
        total += x[i] if x[i] > 0 else 0.5
        i += 1
        places[0] += 1
    while filled[0] < 50 and i < 67:
        total += x[i - 40] if x[i] > 0 else 0.5
        i += i % 2
        fill()
    while i < 2**40:
        total += x[i % 60] if x[i % 50] > 0 else 0.5
        i *= 2
    return total, i, filled


UNROLLED = [
    counts_in_many_places,
    collects,
    goes_through_anything,
    outgrows_64_bits,
    fibonacci,
    negative_powers,
    makes_a_list,
    changes_objects,
    draws_by_name,
]


def same_as_python(f, n):
    x = np.random.default_rng(1).normal(size=n) + 0.1
    ours, theirs = x.copy(), x.copy()
    found, expected = numhlo.jit(f, autograph=True)(ours), f(theirs)
    for a, b in zip(*map(numhlo.tree_util.tree_leaves, ((found, ours), (expected, theirs))), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype


@pytest.mark.parametrize("f", ROLLED, ids=lambda f: f.__name__)
def test_long_loops_are_rolled(f):
    same_as_python(f, 60)
    program = str(numhlo.jit(f, autograph=True).lower(np.ones(60)).as_text())
    assert program.count(" = ") < MOST_OPERATIONS


@pytest.mark.parametrize("f", UNROLLED, ids=lambda f: f.__name__)
def test_what_a_graph_can_not_repeat_is_unrolled(f):
    same_as_python(f, 70)


def test_an_index_out_of_bounds_raises_on_its_line():
    def reads_too_far(x):
        total = 0.0
        for i in range(len(x)):
            if x[i] > 0:
                total += x[i + 1]
        return total

    with pytest.raises(IndexError, match=r"total \+= x\[i \+ 1\]"):
        numhlo.jit(reads_too_far, autograph=True)(np.ones(80))


def test_short_loops_stay_unrolled():
    def halves(x):
        for i in range(5):
            x = np.where(x > i, x / 2, x)
        return x

    assert "stablehlo.while" not in str(numhlo.jit(halves, autograph=True).lower(np.ones(3)).as_text())


def test_derivatives_and_batches_of_rolled_loops():
    x = np.random.default_rng(1).normal(size=60)

    def smooth(x):
        total, y = 0.0, x[0]
        for i in range(1, len(x)):
            y = 0.9 * y + (x[i] if x[i] > 0 else 0.1 * x[i])
            total += y * y
        return total

    found = numhlo.grad(numhlo.jit(smooth, autograph=True))(x)
    for k in (0, 7, 59):
        step = 1e-6 * (np.arange(60) == k)
        np.testing.assert_allclose(found[k], (smooth(x + step) - smooth(x - step)) / 2e-6, rtol=1e-5)
    rows = np.stack([x, -x])
    np.testing.assert_allclose(numhlo.vmap(numhlo.jit(smooth, autograph=True))(rows), [smooth(row) for row in rows])


def test_derivatives_where_inner_loops_depend_on_the_round():
    def distances(x):
        total = 0.0
        for i in range(len(x)):
            for j in range(i + 1, len(x)):
                total += (x[i] - x[j]) ** 2 if x[i] > x[j] else 0.0
        return total

    x = np.arange(9.0)
    found = numhlo.grad(numhlo.jit(distances, autograph=True))(x)
    np.testing.assert_allclose(found, [0.0] * 9)
    found = numhlo.grad(numhlo.jit(distances, autograph=True))(-x)
    np.testing.assert_allclose(found, [2 * sum(j - i for j in range(9)) for i in range(9)])


def test_lists_that_say_when_a_while_ends():
    links = {0: [1, 2], 1: [3], 2: [4], 3: [5], 4: [], 5: [6], 6: []}

    def f(x):
        distance, queue = np.full(len(x), -1), [0]
        distance[0] = 0
        while queue:
            node = queue.pop(0)
            for other in links[node]:
                distance[other] = distance[node] + 1
                queue.append(other)
        return distance * x

    found = numhlo.jit(f, autograph=True)(np.ones(7))
    np.testing.assert_array_equal(found, [0, 1, 1, 2, 2, 3, 4])


def test_a_loop_that_only_its_body_ends_is_not_counted():
    def outer(x):
        for _ in range(20):
            i = 0
            while True:
                x = x * 0.5
                i += 1
                if i == 5:
                    break
        return x

    traced = lambda: numhlo.jit(outer, autograph=True).trace(np.ones(3))
    traced()
    assert count_calls(traced) < 100_000  # asking the test 100,000 times in each of 20 loops are 2,000,000
    np.testing.assert_allclose(numhlo.jit(outer, autograph=True)(np.ones(3)), 0.5**100)
