"""What a loop carries survives its rounds: no step's scratch space may overlap it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numhlo
from numhlo import lax

RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(300, 4))
START = RNG.normal(size=(3, 4))
MIX = RNG.normal(size=(3, 3))


def _total(c: Any) -> Any:
    return np.tanh(DATA @ c.T).sum()


def _plain(rounds: int) -> tuple[np.ndarray, float]:
    c, total = START, 0.0
    for _ in range(rounds):
        total = total + _total(c)
        c = MIX @ c
    return c, total


def _by_while(c: Any) -> Any:
    body = lambda s: (MIX @ s[0], s[1] + _total(s[0]), s[2] + 1)
    return lax.while_loop(lambda s: s[2] < 5, body, (c, 0.0, 0))[:2]


def _by_fori(c: Any) -> Any:
    return lax.fori_loop(0, 5, lambda _, s: (MIX @ s[0], s[1] + _total(s[0])), (c, 0.0))


def _by_scan(c: Any) -> Any:
    return lax.scan(lambda s, _: ((MIX @ s[0], s[1] + _total(s[0])), None), (c, 0.0), length=5)[0]


def _nested(c: Any) -> Any:
    inner = lambda _, s: (MIX @ s[0], s[1] + _total(s[0]))
    return lax.fori_loop(0, 5, lambda _, s: lax.fori_loop(0, 1, inner, s), (c, 0.0))


@pytest.mark.parametrize("fun", [_by_while, _by_fori, _by_scan, _nested])
def test_carries_read_after_scratch_space_was_used(fun: Any) -> None:
    expected = _plain(5)
    compiled = numhlo.jit(fun)
    for answer in ("first", "native"):
        c, total = compiled(START)
        np.testing.assert_allclose(c, expected[0], rtol=1e-12, err_msg=answer)
        np.testing.assert_allclose(total, expected[1], rtol=1e-12, err_msg=answer)
        compiled.wait()


def _mirrored(a: Any) -> Any:
    """Add to each element but the first the one at the other end, as the array was before the inner loop."""
    inner = lambda old: lambda j, new: new.at[j].set(old[j] + 0.5 * old[-1 - j])
    return lax.fori_loop(0, 4, lambda _, a: lax.fori_loop(1, len(a), inner(a), a), a)


def _mirrored_twice(a: Any) -> Any:
    """Do so in two arrays that begin as the same one, reading each in the other's rounds."""

    def swap(j: Any, s: Any) -> Any:
        first, second = s
        first = first.at[j].set(first[j] + second[-1 - j])
        return first, second.at[j].add(first[-1 - j])

    return lax.fori_loop(0, 3, lambda _, a: sum(lax.fori_loop(1, len(a), swap, (a, a))), a)


def test_inner_loop_reads_the_array_that_it_began_with() -> None:
    start = RNG.normal(size=70)
    once, twice = start, start
    for _ in range(4):
        once = np.append(once[0], once[1:] + 0.5 * once[-2::-1])
    for _ in range(3):
        first, second = twice.copy(), twice.copy()
        for j in range(1, 70):
            first[j] += second[-1 - j]
            second[j] += first[-1 - j]
        twice = first + second
    for fun, expected in ((_mirrored, once), (_mirrored_twice, twice)):
        compiled = numhlo.jit(fun)
        for answer in ("first", "native"):
            np.testing.assert_allclose(compiled(start), expected, rtol=1e-12, err_msg=f"{fun.__name__} {answer}")
            compiled.wait()


def _scattered(a: Any, places: Any) -> Any:
    """Write and read elements at places inside and outside an array: writes outside are dropped."""

    def step(k: Any, s: Any) -> Any:
        a, total = s
        a = a.at[places[k]].set(a[3] + k)
        a = a.at[places[k] - 1].multiply(2.0)
        return a, total + a[3]

    return lax.fori_loop(0, len(places), step, (a, 0.0))


def test_elements_written_only_inside_the_array() -> None:
    places = np.array([3, -1, 70, -71, 69, 0, -70, 1000, 3, -(2**62)])
    start = RNG.normal(size=70)
    expected, total = start.copy(), 0.0
    for k, place in enumerate(places):
        if -70 <= place < 70:
            expected[place] = expected[3] + k
        if -70 <= place - 1 < 70:
            expected[place - 1] *= 2.0
        total += expected[3]
    compiled = numhlo.jit(_scattered)
    for answer in ("first", "native"):
        found, summed = compiled(start, places)
        np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=answer)
        np.testing.assert_allclose(summed, total, rtol=1e-12, err_msg=answer)
        compiled.wait()
