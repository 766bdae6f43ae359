"""Absolute values of complex numbers that are compared with a constant: without square roots, with the same answers."""

import operator

import numpy as np
import pytest

import numhlo
from numhlo.backend.planning.compared_sizes import greatest_square

COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge]


def numbers(bound):
    """Return numbers around the circle with this radius, with and without their last digits, and special ones."""
    angles = np.linspace(0, 2 * np.pi, 41)
    near = [bound * factor * np.exp(1j * angles) for factor in (1 - 3e-16, 1, 1 + 3e-16, 0.9, 1.1)]
    ends = [0.0, 5e-324, 1e-200, bound, 1e200, np.inf, -np.inf, np.nan]
    return np.concatenate([*near, [complex(a, b) for a in ends for b in ends]])


@pytest.mark.not_every_call  # at the bound itself the last digit decides, in which the interpreter's root may differ
@pytest.mark.parametrize("bound", [5.0, 1e-99])
def test_answers_are_those_of_absolute_values(bound):
    z = numbers(bound)
    sizes = numhlo.jit(np.abs, tier0=False)(z)
    compared = numhlo.jit(
        lambda z: (
            [compare(np.abs(z), bound) for compare in COMPARISONS]
            + [compare(bound, np.abs(z)) for compare in COMPARISONS]
        ),
        tier0=False,
    )
    expected = [compare(sizes, bound) for compare in COMPARISONS] + [compare(bound, sizes) for compare in COMPARISONS]
    np.testing.assert_array_equal(compared(z), expected)
    assert "abs_c128" not in "".join(compared.lower(z).compile().kernels.values())


def test_what_else_is_compared_has_square_roots():
    z = numbers(2.0)
    for compare in (
        lambda z, bound: np.abs(z) == 2,
        lambda z, bound: np.abs(z) < bound,
        lambda z, bound: np.abs(z) > 0,
    ):
        assert "abs_c128" in "".join(numhlo.jit(compare).lower(z, 2.0).compile().kernels.values())


@pytest.mark.parametrize("number", [2.0, 0.1, 1e-100, 1e100, 1 / 3])
def test_greatest_squares_are_the_greatest(number):
    for strictly in (False, True):
        square = greatest_square(number, strictly=strictly)
        beyond = (lambda x: np.sqrt(x) >= number) if strictly else (lambda x: np.sqrt(x) > number)
        assert not beyond(square)
        assert beyond(np.nextafter(square, np.inf))
