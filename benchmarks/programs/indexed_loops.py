"""Loops whose indices, lengths or branches depend on their data: a text's borders, a knapsack, sets, paths, a sort."""

from functools import partial

import numpy as np

from benchmarks.programs.element_loops import loop_program

CAPACITY = 500


def borders(text):
    """Return the longest border of each prefix, as Knuth, Morris and Pratt search with it."""
    found, length = np.zeros(len(text), np.int64), 0
    for i in range(1, len(text)):
        while length > 0 and text[length] != text[i]:
            length = found[length - 1]
        if text[length] == text[i]:
            length += 1
        found[i] = length
    return found


def _borders(np, lax):
    def step(text, i, s):
        found, length = s
        length = lax.while_loop(lambda k: (k > 0) & (text[k] != text[i]), lambda k: found[k - 1], length)
        length = np.where(text[length] == text[i], length + 1, length)
        return found.at[i].set(length), length

    def jitted(text):
        return lax.fori_loop(1, len(text), partial(step, text), (np.zeros(len(text), np.int64), np.int64(0)))[0]

    return jitted


def knapsack(weights, values):
    """Return the best value for each capacity."""
    best = np.zeros(CAPACITY + 1, np.int64)
    for i in range(len(weights)):
        for c in range(CAPACITY, weights[i] - 1, -1):
            best[c] = max(best[c], best[c - weights[i]] + values[i])
    return best


def _knapsack(np, lax):
    def jitted(weights, values):
        def item(i, best):
            def cell(s):
                c, best = s
                return c - 1, best.at[c].set(np.maximum(best[c], best[c - weights[i]] + values[i]))

            return lax.while_loop(lambda s: s[0] >= weights[i], cell, (CAPACITY, best))[1]

        return lax.fori_loop(0, len(weights), item, np.zeros(CAPACITY + 1, np.int64))

    return jitted


def union_find(firsts, seconds):
    """Return the parents after uniting pairs, paths halved on the way."""
    parents = np.arange(len(firsts))
    for e in range(len(firsts)):
        x = firsts[e]
        while parents[x] != x:
            parents[x] = parents[parents[x]]
            x = parents[x]
        y = seconds[e]
        while parents[y] != y:
            parents[y] = parents[parents[y]]
            y = parents[y]
        parents[x] = y
    return parents


def _union_find(np, lax):
    def halve(s):
        parents, x = s
        parents = parents.at[x].set(parents[parents[x]])
        return parents, parents[x]

    def jitted(firsts, seconds):
        def unite(e, parents):
            parents, x = lax.while_loop(lambda s: s[0][s[1]] != s[1], halve, (parents, firsts[e]))
            parents, y = lax.while_loop(lambda s: s[0][s[1]] != s[1], halve, (parents, seconds[e]))
            return parents.at[x].set(y)

        return lax.fori_loop(0, len(firsts), unite, np.arange(len(firsts)))

    return jitted


def floyd_warshall(lengths):
    """Return the shortest paths between all pairs."""
    paths = lengths.copy()
    for k in range(len(paths)):
        for i in range(len(paths)):
            for j in range(len(paths)):
                paths[i, j] = min(paths[i, j], paths[i, k] + paths[k, j])
    return paths


def _floyd_warshall(np, lax):
    def jitted(lengths):
        n = len(lengths)

        def cell(k, i, j, paths):
            return paths.at[i, j].set(np.minimum(paths[i, j], paths[i, k] + paths[k, j]))

        def row(k, i, paths):
            return lax.fori_loop(0, n, partial(cell, k, i), paths)

        return lax.fori_loop(0, n, lambda k, paths: lax.fori_loop(0, n, partial(row, k), paths), lengths)

    return jitted


def bubble_sort(x):
    """Return sorted numbers by exchanging neighbours."""
    x = x.copy()
    for i in range(len(x) - 1):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


def _bubble_sort(np, lax):
    def exchange(j, x):
        left, right = x[j], x[j + 1]
        return x.at[j].set(np.minimum(left, right)).at[j + 1].set(np.maximum(left, right))

    def jitted(x):
        n = len(x)
        return lax.fori_loop(0, n - 1, lambda i, x: lax.fori_loop(0, n - 1 - i, exchange, x), x)

    return jitted


def dijkstra(lengths):
    """Return the shortest paths from the first place, nearest places first."""
    n = len(lengths)
    distance, done = np.full(n, np.inf), np.zeros(n, np.bool_)
    distance[0] = 0.0
    for _ in range(n):
        nearest, least = 0, np.inf
        for v in range(n):
            if not done[v] and distance[v] < least:
                nearest, least = v, distance[v]
        done[nearest] = True
        for v in range(n):
            distance[v] = min(distance[v], distance[nearest] + lengths[nearest, v])
    return distance


def _dijkstra(np, lax):
    def jitted(lengths):
        def step(_, s):
            distance, done = s
            nearest = np.argmin(np.where(done, np.inf, distance))
            return np.minimum(distance, distance[nearest] + lengths[nearest]), done.at[nearest].set(True)

        places = np.arange(len(lengths))
        return lax.fori_loop(0, len(lengths), step, (np.where(places == 0, 0.0, np.inf), places < 0))[0]

    return jitted


def _pairs(size, rng):
    return rng.integers(0, size, size), rng.integers(0, size, size)


def _roads(size, rng):
    return (np.where(rng.random((size, size)) < 0.2, rng.uniform(1, 9, (size, size)), np.inf),)


def _program(plain, written, inputs, sizes):
    named = dict(zip(("tiny", "small", "large", "other"), sizes, strict=True))
    return loop_program(plain, written, inputs, named)


PROGRAMS = (
    _program(borders, _borders, lambda size, rng: (rng.integers(0, 2, size),), (12, 2000, 100_000, 2001)),
    _program(
        knapsack, _knapsack, lambda size, rng: (rng.integers(1, 50, size), rng.integers(1, 99, size)), (3, 30, 3000, 31)
    ),
    _program(union_find, _union_find, _pairs, (12, 500, 50_000, 501)),
    _program(floyd_warshall, _floyd_warshall, lambda size, rng: (rng.uniform(1, 9, (size, size)),), (4, 40, 200, 41)),
    _program(bubble_sort, _bubble_sort, lambda size, rng: (rng.normal(size=size),), (6, 60, 2000, 61)),
    _program(dijkstra, _dijkstra, _roads, (5, 60, 1000, 61)),
)
