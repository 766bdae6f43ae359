"""Searches with a stack, a queue and a forest: single elements are written in branches of branches."""

import numpy as np

from benchmarks.program import Program, versions

STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def flood_fill(free, start):
    """Return the cells that can be reached from one of them, found with a stack."""
    height, width = free.shape
    seen = np.zeros((height, width), np.bool_)
    stack = np.zeros(height * width, np.int64)
    stack[0] = start
    size = 1
    seen[start // width, start % width] = True
    while size > 0:
        size -= 1
        y, x = stack[size] // width, stack[size] % width
        for dy, dx in STEPS:
            if y + dy >= 0 and y + dy < height and x + dx >= 0 and x + dx < width:  # noqa: SIM102 - what branches of branches cost is measured
                if free[y + dy, x + dx] and not seen[y + dy, x + dx]:
                    seen[y + dy, x + dx] = True
                    stack[size] = (y + dy) * width + x + dx
                    size += 1
    return seen


def _neighbours(place, shape):
    for dy, dx in STEPS:
        y, x = place // shape[1] + dy, place % shape[1] + dx
        yield y, x, (y >= 0) & (y < shape[0]) & (x >= 0) & (x < shape[1])


def _flood_fill(np, lax):
    def jitted(free, start):
        def step(s):
            seen, stack, size = s
            size = size - 1
            for y, x, inside in _neighbours(stack[size], free.shape):
                new = inside & free[y, x] & ~seen[y, x]
                seen = seen.at[y, x].set(seen[y, x] | new)
                stack = stack.at[size].set(np.where(new, y * free.shape[1] + x, stack[size]))
                size = size + new
            return seen, stack, size

        first = start // free.shape[1], start % free.shape[1]
        begin = np.zeros(free.shape, bool).at[first].set(True), np.full(free.size + 1, start), np.int64(1)
        return lax.while_loop(lambda s: s[2] > 0, step, begin)[0]

    return jitted


def distances(free, start):
    """Return how many steps each cell is away from one of them, found with a queue in a ring; -1 where none lead."""
    height, width = free.shape
    room = 4 * (height + width)
    far, queue = np.full((height, width), -1), np.zeros(room, np.int64)
    queue[0] = start
    far[start // width, start % width] = 0
    head, count = 0, 1
    while count > 0:
        place = queue[head]
        head = (head + 1) % room
        count -= 1
        y, x = place // width, place % width
        for dy, dx in STEPS:
            v, u = y + dy, x + dx
            if 0 <= v < height and 0 <= u < width:  # noqa: SIM102 - as above
                if free[v, u]:  # noqa: SIM102 - as above
                    if far[v, u] < 0:
                        far[v, u] = far[y, x] + 1
                        queue[(head + count) % room] = v * width + u
                        count += 1
    return far


def _distances(np, lax):
    def jitted(free, start):
        width, room = free.shape[1], 4 * sum(free.shape)

        def step(s):
            far, queue, head, count = s
            place, head, count = queue[head], (head + 1) % room, count - 1
            for y, x, inside in _neighbours(place, free.shape):
                new, end = inside & free[y, x] & (far[y, x] < 0), (head + count) % room
                far = far.at[y, x].set(np.where(new, far[place // width, place % width] + 1, far[y, x]))
                queue = queue.at[end].set(np.where(new, y * width + x, queue[end]))
                count = count + new
            return far, queue, head, count

        far = np.full(free.shape, -1).at[start // width, start % width].set(0)
        return lax.while_loop(lambda s: s[3] > 0, step, (far, np.full(room, start), np.int64(0), np.int64(1)))[0]

    return jitted


def components(firsts, seconds):
    """Return the parents and sizes of trees, the smaller hung below the larger, and how many trees there are."""
    parents, sizes = np.arange(len(firsts)), np.ones(len(firsts), np.int64)
    count = len(firsts)
    for e in range(len(firsts)):
        a = firsts[e]
        while parents[a] != a:
            parents[a] = parents[parents[a]]
            a = parents[a]
        b = seconds[e]
        while parents[b] != b:
            parents[b] = parents[parents[b]]
            b = parents[b]
        if a != b:
            if sizes[a] < sizes[b]:
                parents[a] = b
                sizes[b] += sizes[a]
            else:
                parents[b] = a
                sizes[a] += sizes[b]
            count -= 1
    return parents, sizes, count


def _components(np, lax):
    def halve(s):
        parents, x = s
        parents = parents.at[x].set(parents[parents[x]])
        return parents, parents[x]

    def jitted(firsts, seconds):
        def unite(e, s):
            parents, sizes, count = s
            parents, a = lax.while_loop(lambda s: s[0][s[1]] != s[1], halve, (parents, firsts[e]))
            parents, b = lax.while_loop(lambda s: s[0][s[1]] != s[1], halve, (parents, seconds[e]))
            low, high = np.where(sizes[a] < sizes[b], a, b), np.where(sizes[a] < sizes[b], b, a)
            added = np.where(a != b, sizes[low], 0)
            return (
                parents.at[low].set(np.where(a != b, high, parents[low])),
                sizes.at[high].add(added),
                count - (a != b),
            )

        n = len(firsts)
        return lax.fori_loop(0, n, unite, (np.arange(n), np.ones(n, int), np.int64(n)))

    return jitted


def _grid(side, rng):
    return rng.random((side, side)) > 0.2, side * side // 2 + side // 2


def _pairs(count, rng):
    return rng.integers(0, count, count), rng.integers(0, count, count)


def _program(plain, written, inputs, sizes):
    return Program(
        plain.__name__,
        dict(zip(("tiny", "small", "large", "other"), sizes, strict=True)),
        inputs,
        versions(
            lambda numhlo: numhlo.jit(plain, autograph=True),
            lambda jax: jax.jit(written(jax.numpy, jax.lax)),
            lambda numba: numba.njit(plain),
            lambda _: plain,
        ),
    )


PROGRAMS = (
    _program(flood_fill, _flood_fill, _grid, (5, 60, 1000, 61)),
    _program(distances, _distances, _grid, (5, 60, 1000, 61)),
    _program(components, _components, _pairs, (12, 2000, 200_000, 2001)),
)
