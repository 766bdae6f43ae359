"""Arguments that a function writes into: new values in the caller's memory, and nothing half done when a call fails."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import numhlo
from numhlo import lax, switches
from numhlo.lowering.ir.errors import MutationError
from tests.backend.runtime.test_interrupt import press_ctrl_c


@pytest.fixture(autouse=True)
def compiled_engine():
    with switches.using(engine="compiled"):
        yield


X = np.linspace(0.5, 3.0, 24).reshape(4, 6)
Y = np.cos(X) * 3


def polynomial(x, y):
    x[...] = ((0.5 * x - 0.25) * x + 1.5) * x


def polynomial_returned(x, y):
    x[...] = x * x + 1
    return x


def into_another(x, y):
    np.multiply(x, 2, out=y)
    return y.sum()


def both(x, y):
    x += y
    y *= x


def swapped(x, y):
    x[...], y[...] = y.copy(), x.copy()


def rotated_rows(x, y):
    x[0], x[1], x[2] = x[1].copy(), x[2].copy(), x[0].copy()
    y[...] = x.T.reshape(4, 6)


def old_value_returned(x, y):
    before = x.copy()
    x -= y
    return before


def old_value_read_elsewhere(x, y):
    x[...] = x[::-1] + x[:, ::-1]


def read_after_the_last_write(x, y):
    x += 1
    total = x.sum(axis=0)
    x *= total
    return total, x[1]


def elements_one_by_one(x, y):
    for i in range(3):
        x[i + 1, i] += x[i, i] * y[0, 0]


def windows_from_windows(x, y):
    x[1:3] += x[:2]
    x[:, 2:4] = x[:, 3:5] * 2
    x[2:, 1:] = y[2:, 1:]


def masked(x, y):
    x[x > 1] = 0
    y[y < x] += 5


def product_into(x, y):
    x[...] = (y @ y.T) @ y


def argument_of_an_argument(x, y):
    x[...] = y


def constant(x, y):
    x[...] = 7
    y[1:] = np.array([1.0, 2, 3, 4, 5, 6])


def rows_normalized(x, y):
    y -= y.mean(axis=1, keepdims=True)
    y /= np.sqrt((y * y).sum(axis=1, keepdims=True))


def looped(x, y):
    def step(k, carry):
        return carry * 0.5 + y

    x[...] = lax.fori_loop(0, 10, step, x)


def filled(x, rounds):
    def step(k, table):
        table[k % 4, (k + 1) % 6] = table[(k + 3) % 4, k % 6] * 0.5 + k
        return table

    x[...] = lax.fori_loop(0, rounds, step, x)


def filled_soon(x, y):
    x[:, 0] = y[:, 1]
    filled(x, 20)
    filled(x, 30)


def filled_for_long(x, y):
    filled(x, 100_000)


def loops_and_elements(x, y):
    x[0, 0] += 1
    filled(x, 20)
    x[1, 1] += y[0, 0]
    filled(x, 5000)


def filled_until_interrupted(x, y):
    filled(x, 100_000_000)


def filled_while(x, y):
    def step(state):
        table, k = state
        table[k % 4, k % 6] += y[0, 0]
        return table, k + 1

    x[...], _ = lax.while_loop(lambda state: state[0][0, 0] < 8, step, (x, 0))


FUNCTIONS = [
    filled_soon,
    filled_for_long,
    loops_and_elements,
    filled_while,
    polynomial,
    polynomial_returned,
    into_another,
    both,
    swapped,
    rotated_rows,
    old_value_returned,
    old_value_read_elsewhere,
    read_after_the_last_write,
    elements_one_by_one,
    windows_from_windows,
    masked,
    product_into,
    argument_of_an_argument,
    constant,
    rows_normalized,
    looped,
]


def in_layouts(array):
    """Return equal arrays that lie in memory in different ways."""
    padded = np.zeros((8, 12))
    padded[::2, ::2] = array
    flipped = array[::-1].copy()
    words = np.zeros(array.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(array.shape)
    words[...] = array
    return [
        array.copy(),
        array.copy().view(numhlo.Array),
        padded[::2, ::2],
        flipped[::-1],
        np.asfortranarray(array),
        array.astype(">f8"),
        words,
    ]


def check(function, expected_function, x, y):
    """Check a call against NumPy: the result, and both arguments afterwards."""
    a, b = x.astype(float).copy(), y.astype(float).copy()
    expected = expected_function(a, b)
    found = function(x, y)
    np.testing.assert_allclose(x, a, rtol=1e-13)
    np.testing.assert_allclose(y, b, rtol=1e-13)
    assert (found is None) == (expected is None)
    for one, other in zip(numhlo.tree_util.tree_leaves(found), numhlo.tree_util.tree_leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)
        assert not np.may_share_memory(one, x) and not np.may_share_memory(one, y)


def test_written_arguments_are_numpys():
    jitted = [numhlo.jit(function) for function in FUNCTIONS]
    for f in jitted:  # answered by NumPy while kernels compile
        check(f, f.__wrapped__, X.copy(), Y.copy())
    for f in jitted:
        f.wait()
        for _ in range(2):
            check(f, f.__wrapped__, X.copy(), Y.copy())
        for x, y in zip(in_layouts(X), reversed(in_layouts(Y)), strict=True):
            check(f, f.__wrapped__, x, y)
    with switches.using(engine="interpreter"):
        for function in FUNCTIONS:
            check(numhlo.jit(function), function, X.copy(), X.T.copy().T)


IN_PLACE = {
    polynomial: {0},
    into_another: {1},
    both: {0, 1},
    elements_one_by_one: {0},
    windows_from_windows: {0},
    masked: {0, 1},
    product_into: {0},
    rows_normalized: {1},
    filled_soon: {0},
    filled_for_long: {0},
    loops_and_elements: {0},
}


def test_new_values_are_made_in_the_arguments_memory():
    for function, written in IN_PLACE.items():
        x, y = X.copy(), Y.copy()
        program = numhlo.jit(function).lower(x, y).compile()._entry.program.executable.program
        assert program.overwritten == written, function.__name__
        own = {b.index: k for k, b in enumerate(program.buffers) if b.place.name == "ARGUMENT"}
        assert program.written == {k: own[k] for k in written}, function.__name__
    kept = (old_value_returned, old_value_read_elsewhere, swapped, looped, filled_until_interrupted, filled_while)
    for function in kept:
        program = numhlo.jit(function).lower(X, Y).compile()._entry.program.executable.program
        assert program.written and not program.overwritten, function.__name__


def test_small_writes_into_large_arrays_copy_nothing():
    def write(x):
        x[3] = 1.0
        x[10:20] = x[5:15] + 1
        x[7] += x[8]

    x = np.arange(100_000.0)
    compiled = numhlo.jit(write).lower(x).compile()
    assert compiled.memory_analysis().arena_bytes < 1000
    assert compiled.memory_analysis().result_bytes == 0
    expected = x.copy()
    write(expected)
    compiled(x)
    np.testing.assert_array_equal(x, expected)


def test_scalars_are_not_written():
    def add(x, y):
        x += y
        return x

    f = numhlo.jit(add)
    for x in (2.0, np.float64(3.0), 2.0, np.float64(3.0)):
        assert f(x, 1.0) == x + 1
        f.wait()


def test_arrays_that_share_memory():
    f = numhlo.jit(both)
    for _ in range(2):
        x = X.copy()
        with pytest.raises(MutationError, match="shares memory"):
            f(x, x)
        with pytest.raises(MutationError, match="shares memory"):
            f(x, x[::-1])
        np.testing.assert_array_equal(x, X)
        line = np.arange(47.0)
        with pytest.raises(MutationError, match="shares memory"):
            f(line[:24].reshape(4, 6), line[23:].reshape(4, 6))
        pair = np.stack([X, Y], -1)
        check(f, both, pair[..., 0], pair[..., 1])  # interleaved, without an element in common
        line = np.arange(48.0)
        check(f, both, line[:24].reshape(4, 6), line[24:].reshape(4, 6))
        frozen = X.copy()
        frozen.flags.writeable = False
        with pytest.raises(MutationError, match="read-only"):
            f(Y.copy(), frozen)
        np.testing.assert_array_equal(frozen, X)
        f.wait()


def test_donated_memory_that_another_argument_has_too_is_not_written():
    f = numhlo.jit(lambda x, y: (x + 1 + y[::-1]) * 2, donate_argnums=0)
    for _ in range(3):
        x = X.copy()
        np.testing.assert_array_equal(f(x, x), (X + 1 + X[::-1]) * 2)
        np.testing.assert_array_equal(x, X)
        f.wait()


def test_an_error_while_tracing_leaves_arguments_alone():
    @numhlo.jit
    def fail(x):
        x += 1
        raise RuntimeError("no")

    x = X.copy()
    with pytest.raises(RuntimeError, match="no"):
        fail(x)
    np.testing.assert_array_equal(x, X)


@pytest.mark.skipif(sys.platform == "win32", reason="native loops can't be interrupted there")
def test_an_interrupt_leaves_arguments_alone():
    @numhlo.jit
    def run(x, limit):
        x += 1
        count = lax.while_loop(lambda k: k != limit, lambda k: k + 1, 0)
        x += count

    run(X.copy(), 5)
    run.wait()  # the signal must find the loop, not the compiler
    x = X.copy()
    for _ in range(2):
        press_ctrl_c(0.2)
        with pytest.raises(KeyboardInterrupt):
            run(x, -1)
        np.testing.assert_array_equal(x, X)
    run(x, 5)
    np.testing.assert_array_equal(x, X + 6)


def counted_up(v):
    before = v
    v += 1
    return before, v, isinstance(v, float), hasattr(v, "__len__")


def test_scalars_of_numpys_are_no_arrays():
    """An array is updated, a scalar's name bound again, whichever of them a function was traced with first."""
    jitted = numhlo.jit(counted_up)
    for _ in range(2):
        for v in (np.float64(2.0), np.array(2.0), np.float64(5.0), np.array(5.0)):
            own = v.copy()
            expected, found = counted_up(own), jitted(v)
            assert [float(x) for x in found] == [float(x) for x in expected] and v == own
        jitted.wait()
    assert jitted.cache_info().misses == 2

    def outer(x):
        scalar, array = x[0], np.zeros(())
        return jitted(scalar), scalar, jitted(array), array

    found = numhlo.tree_util.tree_leaves(numhlo.jit(outer)(np.array([2.0, 7.0])))
    assert [float(x) for x in found] == [2, 3, 1, 0, 2, 1, 1, 0, 1, 1]

    indifferent = numhlo.jit(lambda v: v * 2)
    assert indifferent(np.float64(2.0)) == indifferent(np.array(2.0)) == 4.0 and indifferent.cache_info().misses == 1
