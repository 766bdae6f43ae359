"""`Array` outside tracing: results without dimensions, and Python's floats beside floats of ml_dtypes."""

import operator

import ml_dtypes
import numpy as np
import pytest

import numhlo
import numhlo.numpy as hnp

BFLOAT16, FLOAT8, INT4 = (np.dtype(t) for t in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.int4))
OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")


@pytest.mark.parametrize("name", ["argmax", "argmin", "trace", "take", "dot", "searchsorted", "sum", "max", "mean"])
def test_results_without_dimensions_are_arrays(name):
    x = hnp.arange(6.0).reshape(2, 3)
    row = hnp.arange(3.0)
    calls = {
        "take": lambda x: x.take(4),
        "dot": lambda x: row.dot(row),
        "searchsorted": lambda x: row.searchsorted(1.5),
    }
    call = calls.get(name, operator.methodcaller(name))
    found = call(x)
    assert type(found) is hnp.Array and found.shape == ()
    assert found == numhlo.jit(call)(x) == call(np.asarray(x))


def test_methods_give_out_what_they_write_into():
    x, out = hnp.arange(6).reshape(2, 3), np.zeros((), np.int64)
    assert x.argmax(out=out) is out and out == 5
    assert type(x.argmax(axis=0)) is hnp.Array and type(hnp.ones(2, object).dot([1, 2])) is not hnp.Array


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", [BFLOAT16, FLOAT8], ids=str)
def test_pythons_floats_are_weak(name, dtype):
    x = hnp.array([0.5, 1.0, 1.5, 3.0]).astype(dtype)
    for call in (lambda x: getattr(operator, name)(x, 0.3), lambda x: getattr(operator, name)(0.3, x)):
        found = call(x)
        assert type(found) is hnp.Array and found.dtype == dtype
        np.testing.assert_array_equal(found.astype(float), numhlo.jit(call, tier0=False)(x).astype(float))


def test_what_is_not_weak():
    x = hnp.ones(2, BFLOAT16)
    assert (x * np.float32(0.5)).dtype == np.float32 and (x * np.ones(2)).dtype == np.float64
    assert (hnp.ones(2, INT4) * 0.5).dtype == hnp.multiply(hnp.ones(2, INT4), 0.5).dtype == np.float16
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert (hnp.ones(2, np.float16) * 1e6).dtype == np.float16


def test_comparisons_round_pythons_floats():
    third = hnp.full(2, 1 / 3, BFLOAT16)
    assert (third == 1 / 3).all() and not (third < 1 / 3).any() and (third >= 1 / 3).all()
    assert numhlo.jit(lambda x: (x == 1 / 3).all())(third)


def numbers_that_are_bound_again(x, made, sums):
    """In-place operators on results without dimensions, beside arrays that were made without dimensions."""
    s = x.sum()
    t = s
    s /= 2
    n = sums(x > 1)
    n /= 2
    wide = x.max()
    wide += x
    a = made(3.0)
    b = a
    a *= 2
    c = made(s)
    c += 1
    view = x[..., 0]
    view -= 5
    return [s, t, n, wide, a, b, c, x]


def test_in_place_operators_on_results_without_dimensions():
    expected = numbers_that_are_bound_again(np.arange(3.0), np.asarray, np.sum)
    found = numbers_that_are_bound_again(hnp.arange(3.0), hnp.asarray, hnp.sum)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)
    sums = numhlo.jit(lambda x: [x.sum() * k for k in range(10)], tier0=False)
    for _ in range(3):  # later ones lie in one block of memory
        one, other, *_ = sums(np.ones(3, np.float32))
        same = other
        other += 1
        assert (one, other, same) == (0, 4, 3)
    memory = np.array(1.0)
    shared = hnp.asarray(memory)
    shared += 1
    assert memory == 2.0


def test_results_without_dimensions_are_no_arrays_to_write_into_as_arguments():
    @numhlo.jit
    def grow(s):
        s += 1
        return s

    x = hnp.arange(3.0)
    for number, left in ((x.sum(), 3.0), (numhlo.jit(lambda x: x.sum())(x), 3.0), (hnp.array(3.0), 4.0)):
        assert grow(number) == 4.0 and number == left


def test_results_that_were_made_as_arrays_without_dimensions_are_arrays_to_write_into():
    def counted(state):
        state["steps"][...] += 1
        return state, np.array(state["steps"] * 2), state["steps"] * 2

    count, state = numhlo.jit(counted, tier0=False), {"steps": np.zeros(())}
    for number in range(1, 5):  # later calls go through machine code
        state, array, scalar = count(state)
        same, other = array, scalar
        array += 1
        scalar += 1
        assert (state["steps"], array, same, scalar, other) == (number, *[2 * number + 1] * 3, 2 * number)
    assert numhlo.jit(lambda state: count(count(state)[0])[0])(state)["steps"] == 6
