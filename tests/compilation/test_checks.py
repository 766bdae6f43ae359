"""`jit(check=)` and `jit(tier0=)`: what is found, what is not, where it is said to be, and what stays as it was."""

import os
import re
import time

import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import (
    ArgumentError,
    AxisOutOfBoundsError,
    IntegerOverflowError,
    InvalidValueError,
)


def message(function, check, *args, error=InvalidValueError):
    """Return what a checked call says, with this file's line numbers left out."""
    with pytest.raises(error) as caught:
        numhlo.jit(function, check=check)(*args)
    text = re.sub(r"test_checks.py:\d+", "test_checks.py:LINE", str(caught.value))
    return re.sub(r"\w+\.<locals>\.", "", text)


def test_nan_and_inf_name_op_line_and_element():
    def model(x):
        y = x + 1.0
        return np.sum(np.log(y))

    x = np.array([[1.0, 2.0], [-3.0, -4.0]])
    assert message(model, "nan,inf", x) == (
        "log: nan at [1, 0] of float64[2,2], of -2.0\n"
        "  at test_checks.py:LINE in model:  return np.sum(np.log(y))\n"
        "  it is checked for nan"
    )
    assert message(model, "inf", np.array([3.0, -1.0])) == (
        "log: inf at [1] of float64[2], of 0.0\n"
        "  at test_checks.py:LINE in model:  return np.sum(np.log(y))\n"
        "  it is checked for inf"
    )
    assert np.isnan(numhlo.jit(model, check="inf,bounds,overflow")(x))  # nobody asked


def test_how_a_function_is_computed_is_not_checked():
    """NumPy says nothing of these either: only what the user's op makes counts."""
    x = np.array([0.0, 1.0, 2.0, 7.0])
    for fun in (
        np.spacing,
        lambda x: np.nextafter(x, 1),
        lambda x: np.interp(x, x[:1], x[:1]),
        lambda x: np.interp(x, [0.0, 3.0, 3.0], [1.0, 2.0, 2.0]),
        lambda x: np.histogram(x, bins=[1, 2, 3])[0],
        lambda x: np.histogram2d(x, x, bins=2, range=[[0, 1], [0, 1]])[0],
    ):
        np.testing.assert_array_equal(numhlo.jit(fun, check="all")(x), fun(x))
    counts = message(
        lambda k: numhlo.numpy.bincount(k, length=2), "bounds", np.array([0, 5]), error=AxisOutOfBoundsError
    )
    assert counts.startswith("scatter: index 5 is outside axis 0 of length 2\n")


def test_rounds_steps_and_lanes():
    def newton(x):
        def step(s):
            return s - (s * s - 2.0) / (s - 1.5)

        return lax.fori_loop(0, 5, lambda _, s: step(s), x)

    text = message(newton, "inf", 1.5)
    assert text.startswith("divide: inf in a float64[], of 0.25, 0.0\n")
    assert "in round 0 of the loop at test_checks.py:LINE in newton:" in text

    def walk(xs):
        return lax.scan(lambda c, x: (c + x, np.sqrt(c)), 1.0, xs)

    text = message(walk, "nan", np.array([1.0, -5.0, 2.0]))
    assert text.startswith("sqrt: nan in a float64[], of -3.0\n") and "in step 2 of the loop at" in text

    def lanes(xs):
        return lax.map(lambda x: lax.while_loop(lambda s: s > 1.0, lambda s: np.log(s - 4.0), x), xs)

    text = message(lanes, "nan", np.array([0.0, 0.5, 5.5, 2.0]))
    assert text.startswith("log: nan in a float64[], of -2.0\n")
    assert re.search(r"in round 0 of the loop at .*; in lane 3 of the loop at .*; it is checked for nan$", text)
    text = message(numhlo.vmap(lambda x: np.log(x)), "nan", np.array([1.0, -2.0]))
    assert text.startswith("log: nan at [1] of float64[2], of -2.0\n  at test_checks.py:LINE in <lambda>:")
    text = message(numhlo.grad(lambda x: np.sqrt(x).sum()), "inf", np.array([1.0, 0.0]))
    assert text.startswith("divide: inf at [1] of float64[2], of 0.5, 0.0\n  at test_checks.py:LINE in <lambda>:")
    text = message(numhlo.vmap(lanes), "nan", np.array([[0.0, 0.5], [5.5, 2.0]]))
    assert re.search(r"\n  at test_checks.py:LINE in .*:  return lax.map.*\n.*in lane . of .*:  return lax.map", text)


def test_what_came_in_is_not_reported():
    x = np.array([np.nan, np.inf, 1.0])
    f = numhlo.jit(lambda x: (x + 1, np.sum(x), np.sort(x)[::-1], np.max(x, initial=-np.inf), x * 0.5 - 1), check="all")
    g = numhlo.jit(lambda x: (x + 1, np.sum(x), np.sort(x)[::-1], np.max(x, initial=-np.inf), x * 0.5 - 1))
    for found, expected in zip(f(x), g(x), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert message(lambda x: np.sqrt(x - 2), "nan", x).startswith("sqrt: nan at [2] of float64[3], of -1.0\n")


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (lambda x, y: x + y, (np.array([1, 2**62]), np.array([1, 2**62])), "add: 9.22337e+18 is no int64, at [1]"),
        (
            lambda x: x * x,
            (np.array([3, 200], np.int16),),
            "multiply: 40000 is no int16, at [1] of int16[2], of 200, 200",
        ),
        (lambda x: -x, (np.array([-128], np.int8),), "negate: 128 is no int8, at [0]"),
        (lambda x: abs(x), (np.array(-(2**31), np.int32),), "abs: 2147483648 is no int32, in a int32[]"),
        (lambda x: np.sum(x, dtype=np.int8), (np.full(3, 100, np.int8),), "reduce: 300 is no int8, in a int8[]"),
        (lambda x: np.prod(x), (np.full(70, 2),), "reduce: 1.18059e+21 is no int64, in a int64[]"),
        (
            lambda x: np.cumsum(x, axis=1, dtype=np.int8),
            (np.array([[1, 2, 3], [100, 20, 30]], np.int8),),
            "composite: 150 is no int8, at [1, 2] of int8[2,3]",
        ),
        (lambda x: np.cumprod(x), (np.full(70, 2),), "composite: 9.22337e+18 is no int64, at [62]"),
        (lambda x: x @ x, (np.full(2, 2**31),), "dot_general: 9.22337e+18 is no int64, in a int64[]"),
        (
            lambda x, y: x @ y,
            (np.full((2, 1), 2**31), np.array([[1, 2**32]])),
            "dot_general: 9.22337e+18 is no int64, at [0, 1]",
        ),
        (lambda x, y: x // y, (np.array([4, -(2**63)]), np.array([0, -1])), "divide: 9.22337e+18 is no int64, at [1]"),
        (
            lambda x: x.astype(np.int8),
            (np.array([5.0, 300.5]),),
            "convert: 300 is no int8, at [1] of int8[2], of 300.5",
        ),
        (lambda x: x.astype(np.int64), (np.array([np.nan]),), "convert: nan is no int64, at [0]"),
        (lambda x: x.astype(np.uint8), (np.array([-1]),), "convert: -1 is no uint8, at [0]"),
    ],
)
def test_overflow(function, args, expected):
    assert message(function, "overflow", *args, error=IntegerOverflowError).startswith(expected)


def test_what_is_no_overflow():
    f = numhlo.jit(
        lambda x, y: (
            x + y,
            x * 1,
            -y,
            np.sum(x),
            y.astype(np.int32),
            (x - 1.0).astype(np.int64),
            x.astype(np.uint64) - 1,
            np.cumsum(x),
            np.cumprod(x),
            np.cumsum(x[::-1]),
            y @ y,
            x // y,
            x // (y * 0),
            np.maximum.accumulate(x),
        ),
        check="overflow",
    )
    results = f(np.array([0, 2**62]), np.array([2**31 - 1, -(2**31)]))
    assert results[0].tolist() == [2**31 - 1, 2**62 - 2**31]
    assert results[6].tolist() == [2**64 - 1, 2**62 - 1]  # numbers without sign are meant to wrap


def test_bounds():
    x = np.arange(12.0).reshape(3, 4)

    def write(x, i):
        x[i] = 1.0
        return x

    cases = [
        (lambda x, i: x[i], (x, 3), "dynamic_slice: index 3 is outside axis 0 of length 3"),
        (lambda x, i: x[:, i], (x, np.array([0, -5])), "gather: index -5 is outside axis 1 of length 4"),
        (lambda x, i: x[1, i], (x, -6), "dynamic_slice: index -6 is outside axis 1 of length 4"),
        (lambda x, i: x[i, i], (x, np.array([2, -4])), "gather: index -4 is outside axis 0 of length 3"),
        (write, (x, np.array([1, -5])), "scatter: index -5 is outside axis 0 of length 3"),
        (write, (x, np.array([1, 3])), "scatter: index 3 is outside axis 0 of length 3"),
        (
            lambda x, i: lax.dynamic_slice(x, (0, i), (1, 2)),
            (x, 3),
            "dynamic_slice: index 3 is outside axis 1 of length 4",
        ),
        (
            lambda x, i: lax.dynamic_update_slice(x, np.zeros((2, 2)), (i, 0)),
            (x, 2),
            "dynamic_update_slice: index 2 is outside axis 0 of length 3",
        ),
    ]
    before = x.copy()
    for function, args, expected in cases:
        text = message(function, "bounds", *args, error=AxisOutOfBoundsError)
        assert text.startswith(f"{expected}\n  at test_checks.py:LINE"), text
    np.testing.assert_array_equal(x, before)
    good = numhlo.jit(lambda x, i: (x[i], x[:, np.stack([i, -i])], x[-1]), check="bounds")
    np.testing.assert_array_equal(good(x, 2)[1], x[:, [2, -2]])


def test_arguments_stay_as_they_were():
    def update(x, y):
        x += 1.0
        y[0] = np.log(x[0])
        return np.sqrt(-x)

    x, y = np.ones(3), np.zeros(3)
    f = numhlo.jit(update, check="nan", donate_argnums=1)
    with pytest.raises(InvalidValueError, match=r"sqrt: nan at \[0\]"):
        f(x, y)
    assert x.tolist() == [1.0] * 3 and y.tolist() == [0.0] * 3
    x[:] = -2.0
    with pytest.raises(InvalidValueError, match="log: nan"):
        f(x, y)
    assert x.tolist() == [-2.0] * 3


def test_it_is_said_and_costs_nothing_when_off():
    def f(x):
        return np.log(x)

    checked, plain = numhlo.jit(f, check=["nan", "inf"]), numhlo.jit(f)
    x = np.ones(3)
    checked(x)
    plain(x)
    plain.wait()
    plain(x)
    assert "runs op by op on the reference interpreter, and is checked for inf, nan" in checked.explain()
    assert "checked" not in plain.explain() and plain.cache_info().misses == 1  # they share no entries
    with numhlo.debugging(check="all"), pytest.raises(InvalidValueError):
        numhlo.jit(lambda x: np.log(x))(-x)
    with pytest.raises(ArgumentError, match="use one of nan, inf, bounds, overflow, all"):
        numhlo.jit(f, check="zero")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"check": 3}, r"check=3\n.*\n.*use one of nan, inf"),
        ({"static_argnums": True}, r"static_argnums=True\n.*\n.*give positions of arguments: ints"),
        ({"autograph": "yes"}, r"autograph='yes'\n.*\n.*give True, False or None"),
    ],
)
def test_options_of_the_wrong_kind_are_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        numhlo.jit(lambda x: x, **options)


def never_seen():
    """Return a function of exact operations whose kernel nobody has compiled before."""
    steps = [(lambda s: s * 0.5), (lambda s: s + 1.0), (lambda s: s - 3.0), (lambda s: -s)]
    chosen = [steps[byte % 4] for byte in os.urandom(20)]

    def mix(s):
        for step in chosen:
            s = step(s)
        return s

    return mix


def test_first_calls_wait_for_machine_code_where_asked():
    mix = never_seen()
    f = numhlo.jit(mix, tier0=False)
    x = np.linspace(0.0, 1.0, 5)
    np.testing.assert_array_equal(f(x), mix(x))
    assert f._cache.entries()[0].program.executable.ready
    with numhlo.debugging(tier0=False):
        g = numhlo.jit(never_seen())
        g(x)
        assert g._cache.entries()[0].program.executable.ready


@pytest.mark.parametrize("tier0", [True, False])
def test_effects_happen_once_each_and_in_order(tier0):
    """While kernels compile, when they arrive in the middle of the loop, and afterwards; callbacks may call jitted functions."""
    mix = never_seen()
    nested = numhlo.jit(lambda x: x * 2.0)
    seen = []

    def note(i, s):
        time.sleep(0.01)
        seen.append((int(i), float(nested(s)) / 2.0))

    def body(i, s):
        numhlo.debug.callback(note, i, s, ordered=True)
        return mix(s)

    f = numhlo.jit(lambda x: lax.fori_loop(0, 60, body, x), tier0=tier0)
    expected, values = 1.0, []
    for i in range(60):
        values.append((i, expected))
        expected = mix(expected)
    for _ in range(2):
        seen.clear()
        assert float(f(1.0)) == expected
        assert seen == values
