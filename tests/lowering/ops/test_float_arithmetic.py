"""Floating-point functions at their corners, and narrow floats against exact arithmetic rounded once."""

import mpmath
import numpy as np
import pytest

from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.ops import elementwise
from tests.lowering.ops.evaluation import all_codes, evaluate, pairs, same

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("length", [1, 3, 8, 37])
def test_zeros_are_ordered_whatever_the_length(dtype, length):
    plus, minus = np.zeros(length, dtype), np.full(length, -0.0, dtype)
    for x, y in ((plus, minus), (minus, plus)):
        assert not np.signbit(evaluate(elementwise.MAXIMUM, x, y)).any()
        assert np.signbit(evaluate(elementwise.MINIMUM, x, y)).all()
    assert np.signbit(evaluate(elementwise.MAXIMUM, minus, minus)).all()
    assert not np.signbit(evaluate(elementwise.MINIMUM, plus, plus)).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_maximum_and_minimum_propagate_nan_and_keep_numbers(dtype):
    values = np.array([np.nan, 1, -1, np.inf, -np.inf, 2.5], dtype)
    x, y = pairs(values)
    assert same(evaluate(elementwise.MAXIMUM, x, y), np.maximum(x, y)).all()
    assert same(evaluate(elementwise.MINIMUM, x, y), np.minimum(x, y)).all()
    strided = np.stack([x, y], axis=1)
    assert same(evaluate(elementwise.MAXIMUM, strided[:, 0], strided[:, 1]), np.maximum(x, y)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_round_nearest_afz(dtype):
    below_half = np.nextafter(dtype(0.5), dtype(0))
    large = dtype(1 / np.finfo(dtype).eps)  # the least value without halves
    x = np.array([2.5, -2.5, 0.5, -0.5, below_half, -below_half, 1.5, large + 1, -0.0, np.inf, -np.inf, np.nan], dtype)
    expected = np.array([3, -3, 1, -1, 0, -0.0, 2, large + 1, -0.0, np.inf, -np.inf, np.nan], dtype)
    assert same(evaluate(elementwise.ROUND_NEAREST_AFZ, x), expected).all()


def test_round_nearest_even():
    x = np.array([2.5, 0.5, -0.5, 1.5, -3.5, 0.49999997], np.float32)
    assert same(evaluate(elementwise.ROUND_NEAREST_EVEN, x), np.array([2, 0, -0.0, 2, -4, 0], np.float32)).all()


def test_sign():
    x = np.array([-0.0, 0.0, np.nan, -np.inf, 5e-324, -7.0])
    assert same(evaluate(elementwise.SIGN, x), np.array([-0.0, 0.0, np.nan, -1, 1, -1])).all()


def test_remainder_takes_the_sign_of_the_dividend():
    x = np.array([-7.0, 7.0, -7.0, 1.0, np.inf, 5.0, -0.0])
    y = np.array([2.0, -2.0, np.inf, 0.0, 2.0, np.nan, 3.0])
    assert same(evaluate(elementwise.REMAINDER, x, y), np.array([-1, 1, -7, np.nan, np.nan, np.nan, -0.0])).all()


def test_rsqrt():
    x = np.array([0.0, -0.0, np.inf, 4.0, -1.0, np.nan])
    assert same(evaluate(elementwise.RSQRT, x), np.array([np.inf, -np.inf, 0.0, 0.5, np.nan, np.nan])).all()


@pytest.mark.specifies("logistic")
def test_logistic_saturates():
    x = np.array([1000.0, -1000.0, np.inf, -np.inf, 0.0, np.nan])
    assert same(evaluate(elementwise.LOGISTIC, x), np.array([1.0, 0.0, 1.0, 0.0, 0.5, np.nan])).all()
    assert evaluate(elementwise.LOGISTIC, np.array([-100.0], np.float32)) == np.float32(np.exp(-100.0))


REFERENCES = {
    elementwise.CBRT: (mpmath.cbrt, (1e-30, 1e30)),
    elementwise.COSINE: (mpmath.cos, (1e-4, 1e6)),
    elementwise.EXPONENTIAL: (mpmath.exp, (1e-10, 80)),
    elementwise.EXPONENTIAL_MINUS_ONE: (mpmath.expm1, (1e-20, 80)),
    elementwise.LOG: (mpmath.log, (1e-37, 1e37)),
    elementwise.LOG_PLUS_ONE: (mpmath.log1p, (1e-20, 1e20)),
    elementwise.LOGISTIC: (lambda x: 1 / (1 + mpmath.exp(-x)), (1e-10, 80)),
    elementwise.RSQRT: (lambda x: 1 / mpmath.sqrt(x), (1e-37, 1e37)),
    elementwise.SINE: (mpmath.sin, (1e-20, 1e6)),
    elementwise.SQRT: (mpmath.sqrt, (1e-37, 1e37)),
    elementwise.TAN: (mpmath.tan, (1e-20, 1e6)),
    elementwise.TANH: (mpmath.tanh, (1e-20, 30)),
}
POSITIVE_ONLY = {elementwise.LOG, elementwise.LOG_PLUS_ONE, elementwise.RSQRT, elementwise.SQRT}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("op", REFERENCES, ids=lambda op: op.name)
@pytest.mark.specifies("transcendental")
def test_functions_are_within_3_ulps(op, dtype):
    reference, (least, most) = REFERENCES[op]
    x = np.exp(RNG.uniform(np.log(least), np.log(most), 120)).astype(dtype)
    if op not in POSITIVE_ONLY:
        x = np.concatenate([x, -x])
    found = evaluate(op, x)
    with mpmath.workprec(150):
        for number, value in zip(x, found, strict=True):
            exact = reference(mpmath.mpf(float(number)))
            if op is elementwise.CBRT and number < 0:
                exact = -reference(mpmath.mpf(float(-number)))
            distance = abs(mpmath.mpf(float(value)) - exact)
            assert distance <= 3 * float(np.spacing(dtype(abs(float(exact))))), number


def nearest(exact, values):
    """Return the nearest of ``values`` (ascending, finite, of one type), ties to the even code."""
    wide = values.astype(np.float64)
    above = np.clip(np.searchsorted(wide, exact), 1, len(wide) - 1)
    low, high = wide[above - 1], wide[above]
    middle = (low + high) / 2
    even_low = (values[above - 1].view(np.uint8) & 1) == 0
    choose_low = (exact < middle) | ((exact == middle) & even_low)
    return np.where(choose_low, low, high)


@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2", "f8E3M4", "f6E3M2FN", "f4E2M1FN"])
@pytest.mark.parametrize("op", [elementwise.ADD, elementwise.MULTIPLY, elementwise.DIVIDE], ids=lambda op: op.name)
@pytest.mark.specifies("bf16, floats of 8 bits and less")
def test_narrow_floats_round_once(name, op):
    codes = all_codes(ELEMENT_TYPES[name])
    finite = codes[np.isfinite(codes.astype(np.float32))]
    order = np.argsort(finite.astype(np.float64), kind="stable")
    values = finite[order]
    values = values[np.r_[True, np.diff(values.astype(np.float64)) > 0]]
    x, y = pairs(finite)
    exact = {
        elementwise.ADD: lambda a, b: a + b,
        elementwise.MULTIPLY: lambda a, b: a * b,
        elementwise.DIVIDE: lambda a, b: a / np.where(b == 0, 1, b),
    }[op](x.astype(np.float64), y.astype(np.float64))
    inside = np.abs(exact) <= float(values[-1])
    if op is elementwise.DIVIDE:
        inside &= y.astype(np.float64) != 0
    found = evaluate(op, x, y).astype(np.float64)
    assert (found == nearest(exact, values))[inside].all()
    assert inside.sum() > len(x) // 4


def test_bfloat16_square_root_of_every_value():
    dtype = ELEMENT_TYPES["bf16"]
    x = all_codes(dtype)
    with np.errstate(all="ignore"):
        expected = np.sqrt(x.astype(np.float64)).astype(np.float32).astype(dtype)
    found = evaluate(elementwise.SQRT, x)
    assert same(found.astype(np.float32), expected.astype(np.float32)).all()
