"""Complex functions against mpmath: accuracy, branch cuts, what is near 0 and what is far out."""

import mpmath
import numpy as np
import pytest

from numhlo.lowering.ops import elementwise
from tests.lowering.ops.evaluation import evaluate, same

PARTS = np.array([1e-9, 0.3, 1.0, 2.7, 15.0])
SIGNED = np.concatenate([PARTS, -PARTS])
GRID = (SIGNED[:, None] + 1j * SIGNED).ravel()

REFERENCES = {
    elementwise.CBRT: lambda z: mpmath.exp(mpmath.log(z) / 3),
    elementwise.COSINE: mpmath.cos,
    elementwise.EXPONENTIAL: mpmath.exp,
    elementwise.EXPONENTIAL_MINUS_ONE: mpmath.expm1,
    elementwise.LOG: mpmath.log,
    elementwise.LOG_PLUS_ONE: lambda z: mpmath.log(1 + z),
    elementwise.LOGISTIC: lambda z: 1 / (1 + mpmath.exp(-z)),
    elementwise.RSQRT: lambda z: 1 / mpmath.sqrt(z),
    elementwise.SIGN: lambda z: z / abs(z),
    elementwise.SINE: mpmath.sin,
    elementwise.SQRT: mpmath.sqrt,
    elementwise.TAN: mpmath.tan,
    elementwise.TANH: mpmath.tanh,
}


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.complex64, 4e-7), (np.complex128, 2e-14)])
@pytest.mark.parametrize("op", REFERENCES, ids=lambda op: op.name)
def test_functions_are_accurate_relative_to_their_size(op, dtype, tolerance):
    x = GRID.astype(dtype)
    found = evaluate(op, x)
    with mpmath.workprec(200):
        for number, value in zip(x, found, strict=True):
            exact = REFERENCES[op](mpmath.mpc(complex(number)))
            assert abs(mpmath.mpc(complex(value)) - exact) <= tolerance * abs(exact), number


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_products_quotients_and_powers(dtype):
    x, y = np.repeat(GRID[::7], 15).astype(dtype), np.tile(GRID[:45:3], 15).astype(dtype)[: 15 * len(GRID[::7])]
    tolerance = 4 * np.finfo(dtype).eps
    wide_x, wide_y = x.astype(np.complex128), y.astype(np.complex128)
    for op, expected in ((elementwise.MULTIPLY, wide_x * wide_y), (elementwise.DIVIDE, wide_x / wide_y)):
        assert (np.abs(evaluate(op, x, y) - expected) <= tolerance * np.abs(expected)).all()
    found = evaluate(elementwise.POWER, x, y)
    with mpmath.workprec(200):
        for base, exponent, value in zip(x, y, found, strict=True):
            exact = mpmath.power(mpmath.mpc(complex(base)), mpmath.mpc(complex(exponent)))
            if 1e-30 < abs(exact) < 1e30:
                assert abs(mpmath.mpc(complex(value)) - exact) <= 200 * tolerance * abs(exact)


def test_multiply_rounds_every_operation():
    x = np.array([0.1 + 0.7j] * 17, np.complex64)
    y = np.array([0.3 - 0.9j] * 17, np.complex64)
    a, b, c, d = (np.float32(v) for v in (0.1, 0.7, 0.3, -0.9))
    expected = complex(a * c - b * d, a * d + b * c)
    assert set(evaluate(elementwise.MULTIPLY, x, y).tolist()) == {expected}


@pytest.mark.specifies("complex numbers")
def test_branch_cuts_follow_the_sign_of_zero():
    x = np.array([complex(-4, 0.0), complex(-4, -0.0)])
    assert evaluate(elementwise.SQRT, x).tolist() == [2j, -2j]
    assert np.allclose(evaluate(elementwise.LOG, x).imag, [np.pi, -np.pi])
    assert np.allclose(evaluate(elementwise.CBRT, x).imag, [4 ** (1 / 3) * np.sin(np.pi / 3)] * 2 * np.array([1, -1]))
    assert evaluate(elementwise.ABS, x).tolist() == [4.0, 4.0]


def test_near_zero_nothing_is_lost():
    tiny = np.array([1e-20 + 1e-21j, 1e-20, 1e-20j])
    for op in (elementwise.EXPONENTIAL_MINUS_ONE, elementwise.LOG_PLUS_ONE, elementwise.TANH, elementwise.SINE):
        assert np.allclose(evaluate(op, tiny), tiny, rtol=1e-15, atol=0)
    assert np.allclose(evaluate(elementwise.ATAN2, tiny, np.ones(3) + 0j), tiny, rtol=1e-15, atol=0)


def test_far_out_nothing_overflows():
    x = np.array([1000 + 1j, -1000 + 1j])
    assert evaluate(elementwise.LOGISTIC, x).tolist() == [1, 0]
    assert np.allclose(evaluate(elementwise.TANH, x), [1, -1])
    assert evaluate(elementwise.RSQRT, np.array([complex(np.inf, 1)])) == 0
    assert evaluate(elementwise.EXPONENTIAL_MINUS_ONE, np.array([complex(np.inf, 0)])) == complex(np.inf, 0)
    assert evaluate(elementwise.ABS, np.array([3e38 + 3e38j], np.complex64)) == np.inf


def test_sign_of_zero_and_nan():
    found = evaluate(elementwise.SIGN, np.array([0j, complex(np.nan, 1), 3 - 4j]))
    assert same(found, np.array([0j, complex(np.nan, np.nan), 0.6 - 0.8j])).all()


@pytest.mark.specifies("complex numbers, maximum minimum")
def test_maximum_and_minimum_are_lexicographic():
    x, y = np.array([1 + 5j, 2 + 1j, 3j]), np.array([2 + 0j, 2 + 3j, -1j])
    assert evaluate(elementwise.MAXIMUM, x, y).tolist() == [2, 2 + 3j, 3j]
    assert evaluate(elementwise.MINIMUM, x, y).tolist() == [1 + 5j, 2 + 1j, -1j]
