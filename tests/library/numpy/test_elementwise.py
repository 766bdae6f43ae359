"""Ufuncs: every one on every dtype, promotion of pairs and of Python numbers, ``out=``, ``where=``, ``dtype=``, messages."""

from __future__ import annotations

import inspect
from typing import Any

import ml_dtypes
import numpy
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

import numhlo.numpy
from numhlo.library.numpy.ufunc_calls import Ufunc
from numhlo.library.numpy.ufunc_rules.elementwise import RULES
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from tests.library.agreement import assert_same, check, check_all, refusal, run_traced, same_refusal
from tests.library.arrays import DTYPES, FLOATS, SHAPES, layouts, sample

ROOMY = {
    "logaddexp": 64,
    "logaddexp2": 64,
    "arcsin": 32,
    "arccos": 32,
    "arccosh": 32,
    "arcsinh": 32,
    "arctan": 32,
    "arctanh": 32,
    "tan": 32,
    "power": 2000,
}
"""Functions that lose bits to cancellation, in NumPy as here, or in other places than NumPy."""

FINITE = {"exp2", "expm1", "log1p", "reciprocal", "tan", "tanh"}
"""Functions that are compared on finite complex numbers only; infinities and NaN have no single right answer."""

PAIRS = [
    "add", "multiply", "divide", "power", "maximum", "equal", "less", "arctan2", "floor_divide", "bitwise_and", "hypot",
    "logical_and", "remainder", "copysign", "left_shift",
]  # fmt: skip


def has_loop(ufunc, *arrays):
    try:
        with numpy.errstate(all="ignore"):
            ufunc(*arrays)
    except TypeError:
        return False
    return True


def operands(rng, ufunc, dtype):
    name = ufunc.__name__
    special = dtype.kind != "c" or name not in FINITE
    arrays = [sample(rng, dtype, special=special) for _ in range(ufunc.nin)]
    if "shift" in name:
        arrays[1] = rng.integers(0, 70, 40).astype(dtype)
    if name == "reciprocal":
        arrays = [numpy.where(x == 0, 1, x).astype(dtype) if dtype.kind in "biu" else x for x in arrays]
    if name == "power" and dtype.kind == "i":
        arrays[1] = numpy.abs(arrays[1] % 7).astype(dtype)
    if name == "ldexp":
        arrays[1] = rng.integers(-200, 200, 40).astype(numpy.int32)
    return arrays


@pytest.mark.parametrize("ufunc", RULES, ids=lambda u: u.__name__)
def test_every_dtype(ufunc, rng):
    cases: list[Any] = []
    for dtype in DTYPES:
        arrays = operands(rng, ufunc, dtype)
        if has_loop(ufunc, *arrays):
            cases.append((dtype.name, lambda np, *xs: getattr(np, ufunc.__name__)(*xs), *arrays))
    assert cases
    check_all(cases, ulps=ROOMY.get(ufunc.__name__))


@pytest.mark.slow
def test_pairs_of_dtypes(rng):
    cases: list[Any] = []
    for name in PAIRS:
        for first in DTYPES:
            for second in DTYPES:
                x, y = sample(rng, first, (8,), False), numpy.abs(sample(rng, second, (8,), False)).astype(second)
                if has_loop(getattr(numpy, name), x, y):
                    cases.append(
                        (f"{name} {first} {second}", lambda np, x, y, name=name: getattr(np, name)(x, y), x, y)
                    )
    check_all([c for c in cases if not c[0].startswith("power")], plain=False)
    check_all([c for c in cases if c[0].startswith("power")], plain=False, ulps=2000)


def test_python_numbers_adapt(rng):
    cases: list[Any] = []
    for name in ["add", "multiply", "divide", "maximum", "equal", "less", "arctan2", "remainder"]:
        for dtype in DTYPES:
            x = sample(rng, dtype, (8,), False)
            for number in (True, 3, 2.5, 1j, 0, -1):
                forms = {
                    "right": (lambda np, x, name=name, n=number: getattr(np, name)(x, n), x),
                    "left": (lambda np, x, name=name, n=number: getattr(np, name)(n, x), x),
                    "argument": (lambda np, x, n, name=name: getattr(np, name)(x, n), x, number),
                }
                for form, case in forms.items():
                    if number == -1 and dtype.kind == "u" and name not in ("equal", "less"):
                        continue  # NumPy refuses the number, which a traced one can't be
                    if has_loop(lambda *a, case=case: case[0](numpy, *a), *case[1:]):
                        cases.append((f"{name} {dtype} {number} {form}", *case))
    check_all(cases, plain=False)


def test_comparisons_with_numbers_that_do_not_fit():
    x, y = numpy.array([0, 7, 255], numpy.uint8), numpy.array([2**64 - 1, 0], numpy.uint64)
    names = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
    for n in (-1, 255, 256, -(2**70), 2**64, 2**64 - 1):
        check(lambda np, x, y, n=n: [getattr(np, f)(a, n) for f in names for a in (x, y)], x, y)
        check(lambda np, x, y, n=n: [getattr(np, f)(n, a) for f in names for a in (x, y)], x, y)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.sampled_from(SHAPES), st.sampled_from(SHAPES), st.integers(0, 4), st.integers(0, 100))
def test_broadcasting_and_layouts(first, second, layout, seed):
    rng = numpy.random.default_rng(seed)
    x, y = (sample(rng, numpy.dtype("f8"), shape, False) for shape in (first, second))
    forms = layouts(x)
    x = forms[layout % len(forms)]
    try:
        numpy.broadcast_shapes(first, second)
    except ValueError:
        with pytest.raises(ShapeError):
            run_traced(numhlo.numpy.add, [x, y])
        return
    check(lambda np, x, y: (np.add(x, y), np.where(x > y, x, y), np.maximum(y, x)), x, y)


def test_out_where_dtype_casting():
    x, y = numpy.array([1.5, -2.0, 3.0]), numpy.array([2, 3, -1], numpy.int32)
    mask = numpy.array([True, False, True])

    def f(np, x, y, mask, o):
        a = np.add(x, y, out=o)
        b = np.multiply(o, 2.0, out=o, where=mask)
        c = np.add(x, y, dtype=numpy.float32)
        d = np.add(x, x, out=y, casting="unsafe")
        e = np.divmod(x, 2.0, out=(o, None))
        g = np.negative(x, o)
        return a, b, c, d, e, g, np.equal(x, y, dtype=bool), np.add(y, y, dtype=numpy.int64)

    check(f, x, y, mask, numpy.zeros(3))
    check(lambda np, x, o: np.modf(x, out=(o[0], o[1])), x, numpy.zeros((2, 3)))


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u1", "u8"])
def test_reciprocals_of_integers(dtype):
    with numpy.errstate(all="ignore"):
        check(
            lambda np, x: (np.reciprocal(x), np.reciprocal(x[0])), numpy.array([0, 1, 2, numpy.iinfo(dtype).max], dtype)
        )


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u1", "u8"])
def test_divisors_of_the_least_number(dtype):
    low, high = numpy.iinfo(dtype).min, numpy.iinfo(dtype).max
    x, y = (
        numpy.array([low, low, low, 12, 0, 0, high, high], dtype),
        numpy.array([6, 0, low, 18, 0, low, low, 1], dtype),
    )
    drawn = numpy.random.default_rng(3).integers(low, high, (2, 50), dtype)
    x, y = numpy.append(x, drawn[0]), numpy.append(y, drawn[1])
    check(lambda np, x, y: (np.gcd(x, y), np.lcm(x, y)), x, y)


def test_methods_go_element_by_element_where_order_matters():
    x = numpy.array([[7, 1, 2, 3], [9, 5, 4, 2], [6, 3, 2, 1]])

    def methods(np, x, y, starts):
        results = [np.subtract.reduce(x), np.floor_divide.reduce(x, 1, keepdims=True), np.divide.reduce(x, initial=1e3)]
        results += [np.subtract.reduce(x, 1, where=x > 2, initial=x[0, 0]), np.greater.reduce(x > 2, 1)]
        results += [np.hypot.reduce(y, 1, where=y > 2, initial=3.0), np.logical_and.reduce(x, 1, initial=False)]
        results += [np.divide.accumulate(x, 1), np.hypot.accumulate(y), np.subtract.accumulate(x[:0]), x.max()]
        results += [np.subtract.reduceat(x, [0, 2, 1], 1), np.bitwise_xor.reduceat(x, [0, 1]), np.add.reduceat(x, [0])]
        results += [np.add.reduceat(x[0], starts), np.logaddexp.reduceat(y, starts[1:], 1)]
        return results

    check(methods, x, x / 2, numpy.array([0, 2, 1, 3]), ulps=8)

    def updates(np, x, y, v, mask):
        np.power.at(x, ([0, 0, 2], [1, 1, 3]), [2, 3, 2])
        np.negative.at(y, [0, 0, 1])
        np.hypot.at(y, [0, 0], v)
        np.divide.at(y, (slice(None), 2), 3)
        np.left_shift.at(x, mask, 1)
        np.add.at(x, [0, 0], 0.7)  # cut off after every element
        np.equal.at(x, 2, x[2])

    check(updates, x + 1, x / 2, x[1] / 3, x > 4, ulps=4)
    same_refusal(lambda np, x: np.subtract.reduce(x, (0, 1)), x)
    same_refusal(lambda np, x: np.subtract.reduce(x[:0]), x)


def test_reduce_by_halves():
    x = numpy.array([[3, 1, 2], [0, 5, -4]])

    def folds(np, x, y):
        results = [np.gcd.reduce(x), np.lcm.reduce(x, 1), np.gcd.reduce(x, None, initial=4), np.gcd.reduce(x[:, :0], 1)]
        results += [np.logical_xor.reduce(x, (0, 1)), np.logical_xor.reduce(x, 1, where=x > 0, keepdims=True)]
        results += [
            np.fmax.reduce(y),
            np.fmin.reduce(y, 1),
            np.logical_or.accumulate(x, 1),
            np.logical_and.accumulate(x),
        ]
        return results

    check(folds, x, numpy.array([[numpy.nan, 1.0, 2.0], [0.5, numpy.nan, -1.0]]))
    check(
        lambda np, y: (np.logaddexp.reduce(y, 1), np.hypot.reduce(y), np.logaddexp2.reduce(y[:, :0], 1)), x / 2, ulps=8
    )
    one = lambda np, x: (np.gcd.reduce(x[2:]), np.hypot.reduce(x[2:]), np.hypot.reduce(x[2, 0]), np.fmax.reduce(x[2:]))
    check(one, -numpy.arange(6).reshape(3, 2))
    same_refusal(lambda np, x: np.lcm.reduce(x[:0]), x)


def test_reduce_accumulate_outer_at():
    x = numpy.array([[3, 1, 2], [0, 5, -4]])

    def f(np, x, v):
        results = [
            np.add.reduce(x),
            np.multiply.reduce(x, 1),
            np.maximum.reduce(x, (0, 1)),
            np.minimum.reduce(x, 1, keepdims=True),
        ]
        results += [
            np.logical_and.reduce(x),
            np.logical_or.reduce(x, 1),
            np.bitwise_or.reduce(x),
            np.bitwise_and.reduce(x, 1),
        ]
        results += [np.bitwise_xor.reduce(x, None), np.add.reduce(x, 0, initial=10, where=x > 0)]
        results += [np.maximum.reduce(x, dtype="f4"), np.minimum.reduce(x, 1, "f8", keepdims=True)]
        results += [
            np.logical_and.reduce(x, dtype=bool),
            np.bitwise_or.reduce(x, dtype="i2"),
            np.add.reduce(x, dtype="f4"),
        ]
        results += [
            np.add.accumulate(x),
            np.multiply.accumulate(x, 1),
            np.maximum.accumulate(x),
            np.minimum.accumulate(x, 1),
        ]
        results += [np.multiply.outer(v, x), np.subtract.outer(x[0], v)]
        for ufunc in (np.add, np.subtract, np.multiply, np.maximum, np.minimum):
            ufunc.at(v, [0, 1, 0], 2)
        np.negative.at(v, [1])
        return results

    check(f, x, numpy.array([5, 7, 9]))

    def narrow(np, x, v):
        np.subtract.at(x, (slice(None), 1), v[:2])
        np.subtract.at(x, x > 2, v[0])
        np.subtract.at(x, np.where(x > 2), v[1])
        np.subtract.at(x, ([0, 0], [1, 2]), v[:2])
        np.subtract.at(x, ..., v > 5)
        return x

    check(narrow, x, numpy.array([5, 7, 9], "u1"))
    same_refusal(lambda np, x: np.bitwise_or.reduce(x, dtype="f8"), x)


def test_bfloat16():
    x = numpy.array([1.5, -2.25, 3.0, numpy.nan], ml_dtypes.bfloat16)

    def f(x):
        n = numhlo.numpy
        return (
            x + 1.5,
            x * x,
            n.exp(x),
            x + numpy.float16(2),
            x * numpy.float32(2),
            x > 0,
            n.isnan(x),
            x.sum(),
            n.floor(x),
        )

    found, _ = run_traced(f, [x])
    kinds = ["bfloat16", "bfloat16", "bfloat16", "float32", "float32", "bool", "bool", "bfloat16", "bfloat16"]
    assert [a.dtype.name for a in found] == kinds
    wide = x.astype(numpy.float32)
    assert_same(found[0], (wide + 1.5).astype(x.dtype))
    assert_same(found[2], numpy.exp(wide).astype(x.dtype))


def test_powers_by_small_numbers(rng):
    x = sample(rng, numpy.dtype("f8"))
    check(lambda np, x: (x**2, x**0.5, x**-1, x**1, x**0, x**3, x**2.0, 2**x), x)
    for dtype in DTYPES:
        check(lambda np, x: x**2, sample(rng, dtype), ulps=16)


def test_eager_calls_are_numpys():
    x = numpy.array([1.0, 4.0])
    out = numpy.zeros(2)
    assert type(numhlo.numpy.sqrt(x)) is numhlo.Array
    assert numhlo.numpy.sqrt(x, out=out).tolist() == [1.0, 2.0] == out.tolist()
    assert numhlo.numpy.add.reduce(x) == 5
    assert numhlo.numpy.add.outer(x, x).shape == (2, 2)
    assert list(inspect.signature(numhlo.numpy.add).parameters)[:3] == ["x1", "x2", "out"]
    assert isinstance(numhlo.numpy.add, Ufunc)
    assert (numhlo.numpy.add.nin, numhlo.numpy.add.nout) == (2, 1)
    assert repr(numhlo.numpy.add) == "<numhlo ufunc 'add'>"


@pytest.mark.parametrize(
    "fun",
    [
        lambda np, x: np.add(x, "a"),
        lambda np, x: np.add(x),
        lambda np, x: np.add(x, x, x, x),
        lambda np, x: np.bitwise_and(x, x),
        lambda np, x: x << 1,
        lambda np, x: np.arange(3) ** -1,
        lambda np, x: np.add(np.arange(3), 2**70),
        lambda np, x: np.add(x, 1, nonsense=2),
        lambda np, x: np.add(x, 1, dtype="nonsense"),
        lambda np, x: np.add(x, 1j, out=x),
        lambda np, x: np.add(x, [[1, 2, 3]], out=x),
    ],
)
def test_refused_as_by_numpy(fun):
    same_refusal(fun, numpy.array([1.0, 2.0, 3.0]), plain=False)


def test_broadcasting_messages_use_the_users_names():
    x, bias = numpy.zeros((3, 4), numpy.float32), numpy.zeros(3, numpy.float32)

    def in_place(np, x, bias):
        x *= bias

    tail = "try bias[:, None] to line it up with axis 0"
    assert refusal(lambda np, x, bias: x + bias, x, bias, kind=ShapeError) == (
        "add: cannot broadcast float32[3,4] with float32[3]\n  at test_elementwise.py\n"
        f"  trailing sizes differ: 4 (x) against 3 (bias); {tail}"
    )
    assert refusal(in_place, x, bias, kind=ShapeError) == (
        "multiply: cannot broadcast float32[3,4] with float32[3]\n  at test_elementwise.py\n"
        f"  trailing sizes differ: 4 (x) against 3 (bias); {tail}"
    )
    assert refusal(lambda np, x, bias: np.where(x > 0, x, bias), x, bias, kind=ShapeError) == (
        "where: cannot broadcast bool[3,4] with float32[3,4] with float32[3]\n  at test_elementwise.py\n"
        f"  trailing sizes differ: 4 (x > 0) against 4 (x) against 3 (bias); {tail}"
    )
    assert refusal(lambda np, x, b: x * b, numpy.zeros((2, 3)), numpy.zeros((3, 3)), kind=ShapeError) == (
        "multiply: cannot broadcast float64[2,3] with float64[3,3]\n  at test_elementwise.py\n"
        "  sizes of axis -2 differ: 2 (x) against 3 (b); make the sizes equal or 1"
    )
    pair = (x, bias)
    assert refusal(lambda np, *pair: np.add(*pair), *pair, kind=ShapeError) == (
        "add: cannot broadcast float32[3,4] with float32[3]\n  at test_elementwise.py\n"
        "  trailing sizes differ: 4 against 3; try y[:, None] to line it up with axis 0, where y is the one of shape [3]"
    )


def test_messages():
    x = numpy.zeros((3, 4), numpy.float32)
    assert refusal(lambda np, x: np.bitwise_and(x, x), x, kind=DTypeError) == (
        "bitwise_and has no loop for float32, float32\n  at test_elementwise.py\n"
        "  ufunc 'bitwise_and' not supported for the input types, and the inputs could not be safely coerced to any "
        "supported types according to the casting rule ''safe''"
    )
    assert refusal(lambda np, x: np.add(x, 1, where=x > 0), x, kind=ArgumentError) == (
        "add(where=mask) without out=\n  at test_elementwise.py\n"
        "  elements outside the mask would be uninitialized memory; pass out=, or write where(mask, add(...), other)"
    )
    concrete = numpy.zeros((3, 4))
    assert refusal(lambda np, x: np.add(x, 1, out=concrete), x, kind=UnsupportedError) == (
        "add: writing a traced array into a concrete one\n  at test_elementwise.py\n"
        "  an array that plain NumPy made is not part of the traced program, so it can't take a traced value; "
        "make it with numhlo.numpy (zeros, empty, ...), or pass it to the traced function as an argument"
    )
    assert refusal(lambda np, x: np.add(x, 1.5, out=x.astype(int)), x, kind=DTypeError) == (
        "add: cannot cast output from float32 to int64 with casting rule 'same_kind'\n  at test_elementwise.py\n"
        "  use an out array of dtype float32, or casting='unsafe'"
    )
    assert refusal(lambda np, x: scipy.special.struve(0, x), x, kind=UnsupportedError) == (
        "struve of a traced array, a ufunc that is not NumPy's\n  at test_elementwise.py\n"
        "  its code takes arrays in memory, and is no part of the traced program; "
        "use functions that numhlo.scipy.special has, functions of arrays instead of frompyfunc, or pure_callback"
    )
    assert refusal(lambda np, x: numpy.isnat(x), x, kind=UnsupportedError) == (
        "numpy.isnat of a traced array\n  at test_elementwise.py\n"
        "  this NumPy ufunc (or ufunc method) has no traced meaning yet; "
        "compute it outside the traced function, or from functions of numhlo.numpy"
    )


def test_floats_cover_all_widths():
    assert {d.itemsize for d in FLOATS} == {2, 4, 8}


@pytest.mark.parametrize("dtype", [numpy.int8, numpy.uint8, numpy.int32, numpy.int64, numpy.uint64])
def test_integers_by_a_constant(dtype):
    limits = numpy.iinfo(dtype)
    x = numpy.array([*range(max(limits.min, -130), 127), limits.min, limits.max], dtype)
    for divisor in (1, 2, 7, 64, 100, 127):
        fun = lambda np, x, n=divisor: (x % n, x // n, np.divmod(x, np.full_like(x, n)), np.fmod(x, n))
        check(fun, x)
        text = numhlo.jit(lambda x, n=divisor: x % n).lower(x).as_text()
        assert ("remainder" in text) == (divisor & (divisor - 1) != 0)


def test_numbers_beside_bfloat16_are_weak_outside_tracing_too():
    x = numpy.array([0.5, -2.0, 3.0], ml_dtypes.bfloat16)
    functions = [
        lambda x: numhlo.numpy.where(x > 0, x, 0.25), lambda x: numhlo.numpy.clip(x, 0.0, 1), lambda x: numhlo.numpy.clip(x, max=2.5),
        lambda x: numhlo.numpy.multiply(x, 0.1), lambda x: numhlo.numpy.maximum(0, x), lambda x: numhlo.numpy.where(x > 0, 1.0, x),
    ]  # fmt: skip
    for f in functions:
        outside, traced = f(x), run_traced(f, [x])[0]
        assert outside.dtype == traced.dtype == x.dtype
        numpy.testing.assert_array_equal(outside.astype(float), traced.astype(float))
    assert numhlo.numpy.where(x > 0, x, numpy.float64(0.5)).dtype == numpy.float64


@pytest.mark.parametrize(("dtype", "least"), [("f4", -126), ("f8", -1022)])
def test_ldexp_rounds_once_where_results_are_subnormal(dtype, least):
    rng = numpy.random.default_rng(0)
    x = numpy.ldexp(rng.uniform(1, 2, 5000).astype(dtype), rng.integers(least, least // 2, 5000))
    exponents = least - rng.integers(0, 30, 5000) - numpy.frexp(x)[1]
    exponents[::3] = rng.integers(2 * least - 60, -2 * least + 60, exponents[::3].size)
    with numpy.errstate(all="ignore"):
        expected = numpy.ldexp(x, exponents)
    found = numhlo.jit(lambda x, n: numpy.ldexp(x, n), tier0=False)(x, exponents)
    numpy.testing.assert_array_equal(found, expected, strict=True)
