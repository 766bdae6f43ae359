"""Text, dates and exact numbers beside traced arrays: refused, with the user's line and what to write instead."""

from __future__ import annotations

import datetime
import decimal
import fractions
import operator
import statistics
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import DTypeError

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
