"""Where ops that would make too long a kernel are cut: where the program repeats itself, so that pieces are equal.

An unrolled loop is the same ops again and again. Cut after every so many ops, its pieces begin at another place of the
body each time, and each is a kernel of its own. Here a cut's place depends on the ops around it alone: few values
cross it that somebody needs soon, and among places where as few do, what follows decides, by its hash. Equal bodies
are cut at equal places then. `fusion` says which ops would be in one kernel, and what pieces mean for stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, pairwise, repeat
from zlib import crc32

NEAR = 16
"""Ops behind a place that tell it from others; where these are equal, as many as a kernel has at most do."""

MODULUS = (1 << 61) - 1
FACTOR = 0x9E3779B97F4A7C1


def pieces(names: Sequence[str], uses: Sequence[Sequence[int]], most: int, deepest: int) -> list[int]:
    """Return the number of the piece that each op is in; the numbers rise.

    Parameters
    ----------
    names : sequence of str
        What each op is.
    uses : sequence of sequence of int
        Which ops use its result: places behind its own.
    most : int
        Ops of one piece.
    deepest : int
        Ops in a row that may depend on each other within one piece.

    Examples
    --------
    >>> body = ["sine", "add", "multiply"]
    >>> found = pieces(30 * body, [[k + 1] for k in range(89)] + [[]], 4, 100)
    >>> [found.count(number) for number in range(1, 9)]
    [3, 3, 3, 3, 3, 3, 3, 3]
    """
    sources: list[list[int]] = [[] for _ in names]
    for place, users in enumerate(uses):
        for user in users:
            sources[user].append(place)
    places = _places(_keys(names, uses, sources, most), _depths(sources), most, deepest)
    found = [0] * len(names)
    depths = [0] * len(names)
    first = number = 0
    for start, end in pairwise(places):
        place = start
        if end - first > most or not _fits(sources, depths, (first, start, end), deepest):
            first = start
            number += start > 0
        while not _fits(sources, depths, (first, place, end), deepest):  # no place within is a good one
            place = next(k for k in range(place, end) if depths[k] > deepest)
            found[first:place] = [number] * (place - first)
            first = place
            number += 1
        found[first:end] = [number] * (end - first)
    return found


def _fits(sources: Sequence[Sequence[int]], depths: list[int], bounds: tuple[int, int, int], deepest: int) -> bool:
    """Find how many ops in a row lead to those of a range, in a piece that began before; return whether few enough."""
    first, start, end = bounds
    for place in range(start, end):
        depth = 0
        for k in sources[place]:
            if k >= first and depths[k] > depth:
                depth = depths[k]
        depths[place] = depth + 1
    return max(depths[start:end]) <= deepest


def _depths(sources: Sequence[Sequence[int]]) -> list[int]:
    """Return for every place between ops how many before it depend on each other in a row, at most."""
    depths: list[int] = []
    for needed in sources:
        depth = 0
        for k in needed:
            depth = max(depth, depths[k])
        depths.append(depth + 1)
    return [0, *accumulate(depths, max)]


Key = tuple[int, int, int]


def _keys(
    names: Sequence[str], uses: Sequence[Sequence[int]], sources: Sequence[Sequence[int]], most: int
) -> list[Key]:
    """Return for every place before an op how bad a cut there is: values that cross it, then hashes of what follows."""
    count = len(names)
    crossing = [0] * (count + 1)
    for place, users in enumerate(uses):
        last = max([user for user in users if user - place <= most], default=place)
        crossing[place + 1] += 1
        crossing[last + 1 if last < count else count] -= 1
    known = {name: crc32(name.encode()) for name in set(names)}
    hashes = [0]
    for place, needed in enumerate(sources):
        word = hash((known[names[place]], *[place - k if place - k <= most else 0 for k in needed]))
        hashes.append((hashes[-1] * FACTOR + word) % MODULUS)

    def behind(length: int) -> Iterator[int]:
        """Give the hashes of so many ops behind each place, and one number where there are fewer."""
        power = pow(FACTOR, length, MODULUS)
        found = ((end - begin * power) % MODULUS for begin, end in zip(hashes, hashes[length:], strict=False))
        return chain(found, repeat(MODULUS))

    return list(zip(accumulate(crossing[:count]), behind(NEAR), behind(most), strict=False))


def _places(keys: Sequence[Key], depths: Sequence[int], most: int, deepest: int) -> list[int]:
    """Return where to cut, the ends included: places such that no better one is near enough on both sides."""
    count = len(keys)
    before, behind = [0] * count, [count] * count
    better: list[int] = []
    for place, key in enumerate(keys):
        while better and keys[better[-1]] > key:
            behind[better.pop()] = place
        same = bool(better) and keys[better[-1]] == key
        before[place] = before[better[-1]] if same else better[-1] if better else 0
        better.append(place)
    inner = [
        place
        for place in range(1, count)
        if behind[place] - before[place] > most or depths[behind[place]] - depths[before[place]] > deepest
    ]
    return [0, *inner, count]
