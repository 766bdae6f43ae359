"""`while` loops whose known numbers alone say when they end are loops of the graph, with NumPy's results."""

import numpy as np
import pytest

import numhlo


def by_time(x):
    level, t, dt = 0.0, 0.0, 0.01
    while t < 20.0 - dt / 2:
        if level > 3:
            level -= x[0]
        level += dt
        t += dt
    return level, t


def by_break(x):
    level, step = 0.0, 0
    while True:
        if step >= 2000:
            break
        if level > 3:
            level -= x[0]
        level += 0.01
        step += 1
    return level, step


def shrinking(x):
    width, count = 1.0, 0
    while width > 1e-8:
        x = x * 0.99 + width
        x[0] += 1
        width *= 0.98
        count += 1
    return x, width, count


def last_step_is_cut(x):
    t, h = 0.0, 0.03
    while t < 10:
        if t + h > 10:
            h = 10 - t
        x = x - h * x * x
        t = t + h
        if abs(t - 10) < 1e-9:
            t = 10.0
    return x, t, h


def used_as_an_int_afterwards(x):
    t, count = 0.0, 0
    while t < 5:
        x = np.sin(x) + t
        t += 0.01
        count += 2
    return x[: count % 2 + 1], np.zeros(count).sum() + t


def inside_a_function(x):
    def advance(y, until):
        t = 0.0
        while t < until:
            y = y * 0.999 + t
            t += 0.125
        return y, t

    x, first = advance(x, 100.0)
    x, second = advance(x, 50.0)
    return x, first + second


def grows_beyond_64_bits(x):
    k, t = 1, 0.0
    while t < 1.0:
        x = x + 1 / k
        k *= 2
        t += 0.01
    return x


def by_two_numbers(x):
    a, b, going = 1, 500, True
    while going:
        x = np.cos(x) * a / b
        a += 1
        b -= 1
        going = a < b
    return x, a, b, going


FUNCTIONS = [
    by_time,
    by_break,
    shrinking,
    last_step_is_cut,
    used_as_an_int_afterwards,
    inside_a_function,
    by_two_numbers,
]


def listed(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("function", [*FUNCTIONS, grows_beyond_64_bits])
def test_same_as_numpy(function):
    run = numhlo.jit(function, autograph=True)
    for k in range(3):
        x = np.array([0.7, 0.2]) + k / 8
        kept = x.copy()
        for found, expected in zip(listed(run(x)), listed(function(x.copy())), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9)
        if function is not shrinking:
            np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_iterations_are_not_unrolled(function):
    text = numhlo.jit(function, autograph=True).lower(np.array([0.7, 0.2])).as_text()
    assert "stablehlo.while" in text
    assert len(text.splitlines()) < 250, len(text.splitlines())


def test_derivatives_of_such_a_loop():
    def decays(x):
        t = 0.0
        while t < 1:
            x = x - 0.01 * x * x
            t += 0.01
        return x

    found = numhlo.jit(numhlo.grad(decays), autograph=True)(0.5)
    expected = (decays(0.5 + 1e-6) - decays(0.5 - 1e-6)) / 2e-6
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_an_error_in_the_last_iteration_is_python_s():
    def reads_beyond(x):
        t, k = 0.0, 0
        total = 0.0
        while t < 1:
            total += x[k]
            k += 1
            t += 0.125
        return total

    with pytest.raises(IndexError):
        numhlo.jit(reads_beyond, autograph=True)(np.zeros(5))
    assert float(numhlo.jit(reads_beyond, autograph=True)(np.ones(8))) == 8
