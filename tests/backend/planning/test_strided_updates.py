"""Writes through slices with steps: one kernel that touches what is written, in place, whatever the update reads."""

import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.passes.pipeline import optimize
from tests.backend.plain_engine import assert_same_bits
from tests.backend.programs import evaluated, launched, plan


def add_one(x):
    x[::2] += 1


def middle(x):
    x[1:-1, 1:-1] += x[1:-1, 1:-1] * 0.5


def corners(x):
    x[1::2, ::3] = 0.0


def backwards(x):
    x[::-2] = x[1::2, ::-1] if x.ndim > 1 else x[1::2]


def neighbours(x):
    x[1:-1:2] = 0.5 * (x[:-2:2] + x[2::2])


def columns(x):
    x[:, 0] = x[:, 1] * x[:, 2]


def halves(x):
    x[: len(x) // 2] = x[len(x) // 2 :] * 2


def overlapping(x):
    x[::2] = x[1 : 1 + len(x[::2])] * 2


def rows(x):
    x[np.array([3, 0, 3])] += 1


def twice(x):
    x[::2] += 1
    x[::3] *= 2


def reversed_whole(x):
    x[::-1] += 1


def reversed_part(x):
    x[3:-2][::-1] *= x[3:-2][::-1]


def transposed(x):
    x.T[2:5] = 1


def transposed_more(x):
    x.T[2:5, ::-1][:, 1::2] += x.T[2:5, ::-1][:, 1::2]


def transposed_whole(x):
    y = x.T
    y[...] = y * 2 + 1


def row_of_view(x):
    row = x[::2][3]
    row[2:5] = 7
    row[None, ::-2][0, 1] = 8


LAUNCHES = {add_one: 1, middle: 1, corners: 1, neighbours: 1, columns: 1, halves: 1, rows: 3, twice: 2}
LAUNCHES |= {backwards: 2, overlapping: 2}
LAUNCHES |= {
    reversed_whole: 1,
    reversed_part: 1,
    transposed: 1,
    transposed_more: 1,
    transposed_whole: 1,
    row_of_view: 2,
}
"""How many there are; updates that read what they overwrite are computed first, unless nothing is in the way."""


@pytest.mark.parametrize("function", LAUNCHES)
def test_written_arguments(function, rng):
    one_dimension = function in (add_one, neighbours, halves, overlapping, rows, twice, reversed_whole, reversed_part)
    array = rng.normal(size=101 if one_dimension and function is not halves else 100)
    array = array if one_dimension else rng.normal(size=(12, 12))
    traced = numhlo.jit(function).trace(array)._traced
    program = plan(optimize(traced.function), written=traced.written)
    assert not evaluated(program)
    assert len(launched(program)) == LAUNCHES[function]
    assert function is overlapping or program.written == {0: 0}  # the argument's own buffer
    expected, given = array.copy(), array.copy()
    function(expected)
    numhlo.jit(function)(given)
    assert_same_bits(given, expected)


def test_slices_come_first():
    def function(x):
        x[::-1].T[2:5][None, 0, ::2][:, 1:3] = 1

    text = numhlo.jit(function).lower(np.zeros((20, 30))).as_text()
    moved = [line for line in text.splitlines() if "transpose" in line or "reverse" in line]
    assert moved
    assert not any("30" in line.partition(":")[2] for line in moved)


def test_in_loops_and_under_transformations(rng):
    def relaxed(x):
        def body(_, x):
            neighbours(x)
            x[2:-1:2] = 0.5 * (x[1:-2:2] + x[3::2])
            return x

        return lax.fori_loop(0, 3, body, x)

    for size in (11, 301):  # in local variables, and in memory
        x = rng.normal(size=size)
        expected = x.copy()
        for _ in range(3):
            neighbours(expected)
            expected[2:-1:2] = 0.5 * (expected[1:-2:2] + expected[3::2])
        compiled = numhlo.jit(relaxed).lower(x).compile()
        assert compiled.cost_analysis()["python steps"] == 0
        assert_same_bits(np.asarray(compiled(x)), expected)

    def energy(x):
        y = x * 2
        y[::3] = np.sin(y[1::3])
        return (y * y).sum()

    x = rng.normal(size=(4, 99))
    by_lanes = np.asarray(numhlo.jit(numhlo.vmap(energy))(x))
    np.testing.assert_allclose(by_lanes, [energy(row) for row in x], rtol=1e-12)
    gradient = np.asarray(numhlo.jit(numhlo.grad(energy))(x[0]))
    y = 2 * x[0]
    expected = np.where(np.arange(99) % 3 == 0, 0, 4 * y)
    expected[1::3] += 2 * np.sin(2 * y[1::3])
    np.testing.assert_allclose(gradient, expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int8, bool])
def test_element_types(dtype, rng):
    def masked(x, y):
        x[3::5] = y[3::5]
        return x

    x, y = (rng.integers(0, 2, (2, 200))).astype(dtype)
    assert_same_bits(np.asarray(numhlo.jit(masked)(x.copy(), y)), masked(x.copy(), y))
