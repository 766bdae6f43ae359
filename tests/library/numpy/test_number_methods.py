"""What numbers have and arrays lack: methods, repetitions of lists, powers of Python's integers, text, lists."""

import collections
import sys

import numpy as np
import pytest

import numhlo
from numhlo.errors import ConcretizationError
from tests.tracer.python.test_plain_numpy import check

X = np.array([1.5, -0.5, 2.0])


@pytest.mark.parametrize("n", [3, -8, 0, 2**40, -(2**63) + 1])
def test_integers(n):
    def f(n, i):
        own = [n.bit_length(), n.bit_count(), n.numerator, n.denominator]
        return own, [i[0].bit_count(), i[1].numerator], np.float32(1) * n.bit_length()

    check(f, n, np.array([6, -3], np.int16))


def test_powers_of_integers_of_python():
    check(lambda n, x: [n**-1, n**-2, n**2, x * n**-1], 3, X.astype(np.float32))
    check(lambda n: n**-3, True)


def test_floats():
    def f(x, y):
        return [v.is_integer() for v in x] + [y.is_integer(), (y / 2).is_integer()]

    check(f, np.array([1.5, 2.0, np.inf, np.nan, -0.0], np.float32), 2.0)
    with pytest.raises(AttributeError, match="no attribute 'is_integer'"):
        numhlo.jit(lambda x: x.is_integer())(X)
    with pytest.raises(AttributeError, match="no attribute 'bit_length'"):
        numhlo.jit(lambda i: i[0].bit_length())(np.arange(3))


def test_lists_of_elements():
    def f(x):
        numbers = x.tolist()
        rows = np.outer(x, x).tolist()
        return (
            numbers,
            rows[1],
            max(numbers),
            sorted(numbers),
            np.float32(1) * numbers[0],
            (x > 0).tolist(),
            x[0].tolist(),
        )

    check(f, X)
    slope = numhlo.grad(lambda x: sum(v * v for v in x.tolist()))
    np.testing.assert_array_equal(slope(X), 2 * X)


@pytest.mark.parametrize(
    "fun",
    [
        lambda n, i: len([0] * n),
        lambda n, i: n * [1.0, 2.0],
        lambda n, i: (1, 2) * i[0],
        lambda n, i: [[0] * 2] * int(i.sum()),
        lambda n, i: [None] * i.argmax(),
    ],
)
def test_lists_are_repeated_a_known_number_of_times(fun):
    with pytest.raises(
        ConcretizationError, match=r"repetition of a list by the value of a traced array int64\[\]\n  at"
    ):
        numhlo.jit(fun)(2, np.array([2, 1]))


def test_known_repetitions():
    def f(x, n):
        made = [0] * np.asarray(3).sum()
        made *= len(x)
        return made, [1, 2] * x.argmax().astype(float).reshape(1), np.asarray(n) * [1, 2]

    check(f, X, 3)
    with pytest.raises(TypeError, match="can't multiply sequence by non-int"):
        numhlo.jit(lambda y: [1] * y)(2.0)


@pytest.mark.parametrize(
    "fun",
    [
        lambda n: len(str(n)),
        lambda n: sum(int(d) for d in str(n)),
        lambda n: str(n) == str(n)[::-1],
        lambda n: int(repr(n)),
        lambda n: str(n).count("1"),
        lambda n: "1" in str(n),
        lambda n: {str(n): 1},
    ],
)
def test_text_has_no_characters(fun):
    with pytest.raises(ConcretizationError, match=r"characters of a traced array as text, Traced<int64\[\]>\n  at"):
        numhlo.jit(fun)(121)


def test_text_is_shown(capsys):
    def f(n):
        sys.stdout.write(f"n is {n}|" + str(n) + "|" + str(2.5))
        return n + len(str(2.5))

    assert numhlo.jit(f)(4) == 7
    assert capsys.readouterr().out == "n is Traced<int64[]>|Traced<int64[]>|2.5"


def test_lines_are_the_users_where_the_standard_library_asks():
    with pytest.raises(ConcretizationError, match=r"hash .*\n  at test_number_methods.py:"):
        numhlo.jit(lambda x: collections.Counter(x).total())(X)


@pytest.mark.parametrize("name", ["hex", "as_integer_ratio"])
def test_what_needs_the_value(name):
    with pytest.raises(
        ConcretizationError, match=rf"{name}\(\) of a traced number float64\[\]\n  at test_number_methods"
    ):
        numhlo.jit(lambda x: getattr(float(x), name)()).trace(1.0)
    with pytest.raises(ConcretizationError, match=r"to_bytes\(\) of a traced number"):
        numhlo.jit(lambda n: int(n).to_bytes(2, "big")).trace(1)
