"""Loops with positions from data: inside, counted from the end, outside on both ends; and very short loops."""

import numpy as np
import pytest

import numhlo
from numhlo import lax

EXTENTS = (5, 7)
PLACES = np.random.default_rng(3).integers(-16, 16, (200, 2))
PLACES[:4] = [[-(2**63), 2**63 - 1], [4, 6], [-5, -7], [5, -8]]


def kernels(function, *arguments):
    compiled = numhlo.jit(function).lower(*arguments).compile()
    return compiled(*arguments), "\n".join(compiled.kernels.values())


def nearest(index, extent):
    index = int(index)
    return min(max(index + extent if index < 0 else index, 0), extent - 1)


def test_reads_and_writes_anywhere():
    def loop(places, x):
        def step(k, s):
            x, total = s
            i, j = places[k, 0], places[k, 1]
            return x.at[i, j].set(total), total + x[j, i] + x[i].sum()

        return lax.fori_loop(0, len(places), step, (x, 1.0))

    def plain(places, x):
        x, total = x.copy(), 1.0
        for i, j in places.tolist():
            row = x[nearest(i, 5)].sum()
            read = x[nearest(j, 5), nearest(i, 7)]
            if -5 <= i < 5 and -7 <= j < 7:
                x[i, j] = total
            total += read + row
        return x, total

    x = np.random.default_rng(0).normal(size=EXTENTS) * 1e-3
    found, text = kernels(loop, PLACES, x)
    for value, expected in zip(found, plain(PLACES, x), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-12)
    assert "counted_from_end(" in text
    assert "placed(" in text


def test_places_of_branches_and_of_arrays_as_long():
    def loop(places, x, y, longer):
        def step(k, s):
            x, total = s
            i = places[k, 0]
            found = lax.cond(places[k, 1] > 0, lambda: x[i] * 2 + longer[i], lambda: y[i] - longer[i])
            x = lax.cond(places[k, 1] > 3, lambda x: x.at[i].set(total), lambda x: x, x)
            return x, found + x[i] + y[i] + longer[i] + total * 0.5

        return lax.fori_loop(0, len(places), step, (x, 1.0))

    def plain(places, x, y, longer):
        x, total = x.copy(), 1.0
        for i, j in places.tolist():
            at, far = nearest(i, 7), longer[nearest(i, 11)]
            found = x[at] * 2 + far if j > 0 else y[at] - far
            if j > 3 and -7 <= i < 7:
                x[i] = total
            total = found + x[at] + y[at] + far + total * 0.5
        return x, total

    draw = np.random.default_rng(1)
    arguments = PLACES, draw.normal(size=7), draw.normal(size=7), draw.normal(size=11)
    found, text = kernels(loop, *arguments)
    for value, expected in zip(found, plain(*arguments), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-12)
    assert "placed(" in text


@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_an_extreme_that_the_next_round_waits_for_is_quick(name):
    extreme = getattr(np, name)
    values = np.array([0.0, -0.0, 2.0, -3.0, np.inf, 0.0, -0.0, 1.0, 5.0, np.nan, 4.0])

    def sift(x):
        return lax.fori_loop(0, len(x) - 1, lambda j, x: x.at[j + 1].set(extreme(x[j], x[j + 1])), x)

    def running(x):
        return lax.fori_loop(0, len(x), lambda j, best: extreme(best, x[j]), x[0])

    found, text = kernels(sift, values)
    best, whole = kernels(running, values)
    np.testing.assert_array_equal(found, extreme.accumulate(values))
    np.testing.assert_array_equal(best, np.nan)
    expected_zeros = name == "minimum"
    assert np.signbit(found[1]) == expected_zeros
    assert f"quick_{name}(" in text
    assert f" {name}(" in whole
    assert "quick" not in whole


def test_short_rounds_are_counted_four_at_a_time():
    def chain(start):
        def step(s):
            x, length = s
            return np.where(x % 2 == 0, x // 2, 3 * x + 1), length + 1

        return lax.while_loop(lambda s: s[0] != 1, step, (start, np.int64(0)))

    lengths = {1: 0, 2: 1, 3: 7, 5: 5, 6: 8, 7: 16, 9: 19, 27: 111}  # OEIS A006577
    for start, length in lengths.items():
        found, text = kernels(chain, np.int64(start))
        assert [int(v) for v in found] == [1, length]
    assert text.count("break") == 4
    assert "rounds_left -= 4" in text
