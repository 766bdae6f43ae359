"""Text, dates and exact numbers beside traced arrays: refused, with the user's line and what to write instead."""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
import operator
import random
import statistics
import struct
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import DTypeError, MutationError, UnsupportedError

X = np.arange(3.0)

OPERANDS = {
    "str": ("text", lambda x: x + "a"),
    "str on the left": ("text", lambda x: "a" + x),
    "bytes": ("text", lambda x: x < b"a"),
    "decimal.Decimal": (r"float\(value\)", lambda x: x * Decimal("1.5")),
    "decimal.Decimal on the left": (r"float\(value\)", lambda x: Decimal("1.5") * x),
    "equal decimal.Decimal": (r"float\(value\)", lambda x: x[0] == Decimal("1.5")),
    "fractions.Fraction": (r"float\(value\)", lambda x: x - Fraction(1, 2)),
    "datetime.timedelta": ("integers", lambda x: x * datetime.timedelta(1)),
    "datetime.date": ("integers", lambda x: datetime.date(2020, 1, 1) - x),
}
CALLS = {
    "statistics.mean": ("numpy's mean", lambda x: statistics.mean(x)),
    "statistics.stdev": ("numpy's mean", lambda x: statistics.stdev(x)),
    "decimal.Decimal": ("floats", lambda x: decimal.Decimal(x[0])),
    "fractions.Fraction": ("floats", lambda x: fractions.Fraction(x[0])),
}


@pytest.mark.parametrize("name", OPERANDS)
def test_operands(name):
    fix, f = OPERANDS[name]
    with pytest.raises(DTypeError, match=rf"traced array and a \w*\.?\w+\n  at test_foreign_values.py.*\n.*{fix}"):
        numhlo.jit(f)(X)


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    fix, f = CALLS[name]
    with pytest.raises(
        DTypeError, match=rf"{name} of a traced array float64.*\n  at test_foreign_values.py.*\n.*{fix}"
    ):
        numhlo.jit(f)(X)


def test_what_has_nothing_to_do_with_traced_arrays_is_computed():
    def f(x):
        scale = float(Fraction(1, 2) + Fraction(1, 4)) + float(Decimal("0.25")) + statistics.mean([1, 2])
        assert not x[0] == "a" and x[0] != "a" and not (x == "a").any()  # noqa: SIM201 - both operators
        return x * scale, f"{x.ndim}"

    found = numhlo.jit(lambda x: f(x)[0])(X)
    np.testing.assert_array_equal(found, X * 2.5)


def test_classes_of_users_answer_for_themselves():
    class Money(str):
        def __radd__(self, other):
            return other + 100

    class Amount:
        def __radd__(self, other):
            return other + 100

    for value in (Amount(), Money("a")):
        np.testing.assert_array_equal(numhlo.jit(operator.add, static_argnums=1)(X, value), X + 100)


class Labelled:
    """What pandas' Series are to traced arrays: an array with names, whose operators take arrays of values."""

    __module__ = "pandas"
    __pandas_priority__ = 3000

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)

    def _operate(self, other):
        if getattr(other, "__pandas_priority__", 0) > self.__pandas_priority__:
            return NotImplemented
        raise KeyError(other)

    __mul__ = __rmul__ = __lt__ = __rsub__ = _operate


def test_series_around_the_function_are_arrays():
    series = Labelled([1.0, 2.0, 4.0])
    f = numhlo.jit(lambda x: (x * series, series * x, series < x, x - series))
    for found, wanted in zip(f(X), (X * [1, 2, 4], X * [1, 2, 4], [0, 0, 0], X - [1, 2, 4]), strict=True):
        np.testing.assert_array_equal(found, wanted)
    with pytest.raises(AttributeError, match=r"leave out .to_numpy\(\) and .values; for columns pass dict\(frame\)"):
        numhlo.jit(lambda s: s.to_numpy())(series)


def test_elements_are_not_deleted():
    def f(x):
        del x[0]

    with pytest.raises(MutationError, match=r"test_foreign_values(?s:.*)write x = numpy.delete\(x, index\)"):
        numhlo.jit(f)(X)
    with pytest.raises(AttributeError, match=r"use numpy.append"):
        numhlo.jit(lambda x: x.append(1))(X)


@pytest.mark.parametrize(
    ("fun", "told"),
    [
        (
            lambda x: np.ma.masked_invalid(x).mean(),
            "numpy.ma.masked_invalid of a traced array(?s:.*)keep a mask beside",
        ),
        (lambda x: np.ma.array(x, mask=[True, False, True]), "numpy.ma.array of a traced array"),
        (lambda x: np.asmatrix(x).T, "numpy.asmatrix of a traced array(?s:.*)use arrays of two dimensions"),
        (lambda x: json.dumps({"a": x[0]}), "json.dumps of a traced array(?s:.*)outside the traced function"),
        (lambda x: struct.pack("d", x[0]), "struct.pack of a traced array"),
        (
            lambda x: np.random.default_rng(x.astype(int)[0]).normal(),
            "default_rng of a traced array(?s:.*)draw by numhlo",
        ),
        (lambda x: np.random.RandomState(int(x[0])).rand(), "RandomState of a traced array(?s:.*)mark the argument"),
        (lambda x: np.random.default_rng(3).normal(x[0]), "normal of a traced array(?s:.*)draw by numhlo.random"),
        (lambda x: random.uniform(0, x[0]), "random.uniform of a traced array(?s:.*)draw by numhlo.random"),
        (lambda x: np.testing.assert_equal(x[0], 3.0), "numpy.testing.assert_equal of a traced array(?s:.*)test it"),
    ],
)
def test_what_holds_no_traced_arrays_is_refused(fun, told):
    with pytest.raises(DTypeError, match=told) as caught:
        numhlo.jit(fun)(X)
    assert "at test_foreign_values.py" in str(caught.value)


def test_flags_are_not_set():
    def f(x):
        x.flags.writeable = False
        return x

    with pytest.raises(UnsupportedError, match=r"the flags of a traced array\n  at test_foreign_values.py"):
        numhlo.jit(f)(X)
