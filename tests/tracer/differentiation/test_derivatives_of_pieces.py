"""Derivatives of all orders where the formulas of a function change: where its pieces meet, and at zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import numhlo
import numhlo.numpy as nnp
from numhlo import lax
from numhlo.scipy import special

pytestmark = pytest.mark.usefixtures("first_answers")

PIECES: list[tuple[Callable[..., Any], Any, Any, Any]] = [
    (np.logaddexp, lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), (0.5, 1.25), (0.5, 2.0)),
    (np.logaddexp2, lambda x, y: mp.log(2**x + 2**y) / mp.log(2), (0.5, 1.25), (0.5, 2.0)),
    (np.hypot, mp.hypot, (0.0, 2.0, 1.5), (1.0, -2.0)),
    (np.power, mp.power, (1.5, 0.5, 2.0), (0.0, 1.0, 0.0)),
    (lambda x, y: nnp.sinc(x) + y, lambda x, y: mp.sinc(mp.pi * x) + y, (0.0, 1e-7, 0.15, 0.2), (0.0,)),
    (lambda x, y: np.i0(x) + y, lambda x, y: mp.besseli(0, x) + y, (8.0, -8.0, 0.0), (0.0,)),
    (lambda x, y: special.i1(x) + y, lambda x, y: mp.besseli(1, x) + y, (0.0, 1e-7, 1.0), (0.0,)),
    (lambda x, y: special.spence(x) + y, lambda x, y: mp.polylog(2, 1 - x).real + y, (1.0, 1 + 1e-7, 1.1), (0.0,)),
]
"""Functions that have all derivatives where their formulas change: by both operands."""


@pytest.mark.parametrize("case", range(len(PIECES)))
def test_higher_derivatives_where_the_pieces_of_a_function_meet(case: int) -> None:
    ours, exact, firsts, seconds = PIECES[case]
    orders = [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 0)]

    def derivatives(x: Any, y: Any) -> list[Any]:
        def once(f: Any, place: int) -> Any:
            return lambda x, y: numhlo.jvp(f, (x, y), (1.0 - place, 0.0 + place))[1]

        found = []
        for in_x, in_y in orders:
            f = ours
            for place in [0] * in_x + [1] * in_y:
                f = once(f, place)
            found.append(f(x, y))
        return found

    for x in firsts:
        for y in seconds:
            with mp.workdps(40):
                expected = [float(mp.re(mp.diff(exact, (x, y), n))) for n in orders]
            np.testing.assert_allclose(derivatives(x, y), expected, rtol=1e-9, atol=1e-9, err_msg=str((x, y)))


def test_powers_of_zero_have_all_derivatives() -> None:
    for exponent in range(4):
        for power in (exponent, float(exponent)):
            fun, expected = lambda x, n=power: x**n, [0.0**exponent]
            for k in range(3):
                expected.append(math.factorial(exponent) if exponent == k + 1 else 0.0)
            found = [fun]
            for _ in range(3):
                found.append(numhlo.grad(found[-1]))
            assert [float(f(0.0)) for f in found] == expected, power
    assert np.isposinf(numhlo.grad(np.cbrt)(0.0))


def test_derivatives_of_cbrt_at_zero_are_infinite() -> None:
    second = numhlo.grad(numhlo.grad(np.cbrt))
    assert [float(numhlo.grad(np.cbrt)(0.0)), float(second(0.0)), float(second(-0.0))] == [np.inf, -np.inf, np.inf]
    assert float(numhlo.grad(second)(0.0)) == np.inf


def test_whole_quotients_have_no_slope_where_they_are_infinite() -> None:
    x, y = np.array([1.0, 0.0, np.inf]), np.array([0.0, 0.0, 2.0])
    for place in (0, 1):
        assert not numhlo.grad(lambda x, y: np.floor_divide(x, y).sum(), argnums=place)(x, y).any()


def test_rules_that_need_large_tables_work_in_loops():
    x = np.random.default_rng(0).uniform(-1, 1, (64, 64))

    def rows(x):
        return lax.scan(lambda c, k: (c, lax.sort(x, dimension=1) * k), 0.0, np.arange(3.0))[1]

    order = np.argsort(x, 1, kind="stable")
    direction = np.take_along_axis(x**2, order, 1)
    for function in (rows, numhlo.jit(rows)):
        _, slope = numhlo.jvp(function, (x,), (x**2,))
        np.testing.assert_allclose(slope, direction * np.arange(3.0)[:, None, None])
        _, back = numhlo.vjp(function, x)
        np.testing.assert_allclose(back(np.ones((3, 64, 64)))[0], np.full((64, 64), 3.0))
