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


CONSTANT = np.float32(2.5)


def _constant_twice(x: Any, n: Any) -> Any:
    y = x * x.sum() + x.max()
    body = lambda c: (c[0] + 1, c[1], c[2], np.tanh(c[3] @ c[3] * c[1] + c[2]))
    return lax.while_loop(lambda c: c[0] < n, body, (np.int32(0), CONSTANT, CONSTANT, y))[3]


def _argument_twice(x: Any, n: Any) -> Any:
    body = lambda c: (c[0] + 1, c[1], c[2], np.flip(c[3]) * 0.5 + c[1] @ c[2])
    return lax.while_loop(lambda c: c[0] < n, body, (np.int32(0), x, x, x + 1.0))[3]


def _argument_beside_its_next_value(x: Any, n: Any) -> Any:
    """One part of the state is what the other one was: an argument, then what the iteration before has made."""
    return lax.fori_loop(0, n, lambda i, c: (np.tanh(c[0] @ c[1]) + c[2], c[0], c[2]), (x, x, x))


def _one_array_twice(x: Any, n: Any) -> Any:
    y = np.cumsum(x, axis=0)
    return lax.fori_loop(0, n, lambda i, c: (np.cumsum(c[0], axis=0) * 0.25 + c[1], c[1]), (y, y))[0]


def _part_that_stays_is_read_after(x: Any, n: Any) -> Any:
    y = np.cumsum(x, axis=0)
    return lax.fori_loop(0, n, lambda i, c: (np.flip(c[0]) * 0.5 + c[1], c[1]), (y, y))


def _part_that_stays_is_another_ones_next(x: Any, n: Any) -> Any:
    y = np.cumsum(x, axis=0)
    return lax.fori_loop(0, n, lambda i, c: (c[1] @ c[2], c[0] * 0.5 + c[2], c[2]), (y, x, y))


def _swapped(x: Any, n: Any) -> Any:
    y = np.sort(x, axis=0)
    return lax.fori_loop(0, n, lambda i, c: (c[1], c[0] @ c[2], c[2]), (x, y, y))


def _space_used_before(x: Any, n: Any) -> Any:
    """The loop's second buffer would lie where the sorted array did, which the next call writes again."""
    a, b = np.cumsum(x), np.sort(x, axis=None)
    c = np.cumsum(b)
    return lax.fori_loop(0, n, lambda i, y: np.flip(y) + 1.0, a), c


def _nested_exchanges(x: Any, n: Any) -> Any:
    def outer(i: Any, c: Any) -> Any:
        first, second = c
        sorted_ = np.sort(first, axis=0)
        first = lax.fori_loop(0, n, lambda j, y: np.flip(y) * 0.5 + second, first)
        return second * 0.5, first + np.cumsum(sorted_, axis=1) * 0.1

    return lax.fori_loop(0, 3, outer, (x, x))


STATES = [
    _constant_twice,
    _argument_twice,
    _argument_beside_its_next_value,
    _one_array_twice,
    _part_that_stays_is_read_after,
    _part_that_stays_is_another_ones_next,
    _swapped,
    _space_used_before,
    _nested_exchanges,
]


def _flat(results: Any) -> list[np.ndarray]:
    return [np.asarray(r) for r in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.usefixtures("loops_in_steps")
@pytest.mark.parametrize("fun", STATES)
def test_state_that_shares_a_value_is_right_on_every_call(fun: Any) -> None:
    """Any numbers of iterations, inputs and earlier results included; the interpreter is the oracle."""
    inputs = [(RNG.normal(size=(40, 40)).astype(np.float32) * 0.1).copy() for _ in range(3)]
    for x in inputs:
        x.flags.writeable = False
    kept = [x.copy() for x in inputs]
    calls = [(k, n) for n in (1, 1, 2, 0, 3, 1) for k in range(3)]
    with numhlo.debugging(engine="interpreter"):
        reference = numhlo.jit(
            lambda x, n: fun(x, n)
        )  # a function of its own: it shares no cache with the compiled one
        expected = {(k, n): _flat(reference(inputs[k], np.int32(n))) for k, n in set(calls)}
    compiled = numhlo.jit(fun)
    compiled(inputs[0], np.int32(1))
    compiled.wait()
    earlier = []
    for call in calls:
        earlier.append((call, _flat(compiled(inputs[call[0]], np.int32(call[1])))))
        for (k, n), results in earlier:
            for found, right in zip(results, expected[k, n], strict=True):
                np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5, err_msg=f"input {k}, {n} iterations")
        for x, copy in zip(inputs, kept, strict=True):
            np.testing.assert_array_equal(x, copy)
