import functools
import itertools

import ml_dtypes
import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import DYNAMIC, TensorType
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ops import FunctionBuilder, comparison, control_flow, elementwise
from numhlo.lowering.ops.reduction import REDUCE
from numhlo.lowering.ops.reduction_order import reduce_in_order
from tests.lowering.ops.one_op import binary_body, combining, infer, run, scalar

EXACT = {
    elementwise.ADD: np.add,
    elementwise.MULTIPLY: np.multiply,
    elementwise.MAXIMUM: np.maximum,
    elementwise.MINIMUM: np.minimum,
    elementwise.AND: np.bitwise_and,
    elementwise.OR: np.bitwise_or,
    elementwise.XOR: np.bitwise_xor,
}


def subsets(rank):
    return itertools.chain.from_iterable(itertools.combinations(range(rank), k) for k in range(rank + 1))


@pytest.mark.parametrize("definition", EXACT, ids=lambda d: d.name)
def test_integers_and_booleans_over_any_axes(definition, rng):
    ufunc = EXACT[definition]
    for dtype in (np.bool_, np.int8, np.uint16, np.int64, ml_dtypes.int4):
        x = rng.integers(-8, 8, (2, 3, 4)).astype(dtype)
        init = np.asarray(rng.integers(-8, 8)).astype(dtype)
        for axes in subsets(3):
            (got,) = run(REDUCE, x, init, regions=[binary_body(definition, dtype)], dimensions=axes[::-1])
            wide = x.astype(np.int64) if dtype == ml_dtypes.int4 else x
            expected = ufunc(init.astype(wide.dtype), ufunc.reduce(wide, axis=axes, dtype=wide.dtype)).astype(dtype)
            np.testing.assert_array_equal(got, expected, err_msg=f"{dtype} {axes}")


def test_float_sums_and_products_have_the_specified_bits(rng):
    x = rng.standard_normal((3, 50, 4, 7))
    for dtype in (np.float32, np.float64, np.complex128):
        array, init = x.astype(dtype), np.asarray(0.7, dtype)
        (got,) = run(REDUCE, array, init, regions=[binary_body(elementwise.ADD, dtype)], dimensions=(3, 1))
        expected = init + reduce_in_order(np.add, array.transpose(0, 2, 1, 3).reshape(3, 4, -1))
        assert got.tobytes() == expected.tobytes()
    array, init = np.exp(0.1 * x).astype(np.float32), np.float32(0.7)
    (got,) = run(REDUCE, array, init, regions=[binary_body(elementwise.MULTIPLY, np.float32)], dimensions=(1,))
    expected = init * reduce_in_order(np.multiply, np.moveaxis(array, 1, -1))
    assert got.tobytes() == expected.tobytes()
    (got,) = run(REDUCE, x + 1j, np.array(1j), regions=[binary_body(elementwise.MULTIPLY, complex)], dimensions=(2,))
    np.testing.assert_allclose(got, 1j * np.prod(x + 1j, axis=2))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
def test_narrow_floats_are_summed_in_float32_and_rounded_once(dtype, rng):
    x = rng.standard_normal((2, 3000)).astype(dtype)
    (got,) = run(REDUCE, x, np.asarray(1, dtype), regions=[binary_body(elementwise.ADD, dtype)], dimensions=(1,))
    expected = (np.float32(1) + reduce_in_order(np.add, x.astype(np.float32))).astype(dtype)
    assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_float_extremes_keep_nan_and_order_zeros(dtype):
    x = np.array([[1, np.nan, 2], [-0.0, 0.0, -0.0], [-0.0, -0.0, -0.0], [3, -7, 5]], dtype)
    for definition, init, expected in (
        (elementwise.MAXIMUM, -np.inf, [np.nan, 0.0, -0.0, 5]),
        (elementwise.MINIMUM, np.inf, [np.nan, -0.0, -0.0, -7]),
    ):
        for array in (x, x[:, ::-1]):
            init_value = np.asarray(init, dtype)
            (got,) = run(REDUCE, array, init_value, regions=[binary_body(definition, dtype)], dimensions=(1,))
            np.testing.assert_array_equal(got.astype(float), expected)
            np.testing.assert_array_equal(np.signbit(got.astype(float)), np.signbit(expected))
    (got,) = run(
        REDUCE, x[1:3], np.asarray(0.0, dtype), regions=[binary_body(elementwise.MAXIMUM, dtype)], dimensions=(1,)
    )
    assert not np.any(np.signbit(got.astype(float)))


def test_without_elements_results_are_the_initial_values():
    body = binary_body(elementwise.ADD, np.float32)
    (got,) = run(REDUCE, np.zeros((2, 0, 3), np.float32), np.float32(7), regions=[body], dimensions=(1,))
    np.testing.assert_array_equal(got, np.full((2, 3), 7))
    (got,) = run(REDUCE, np.zeros((0, 3), np.float32), np.float32(7), regions=[body], dimensions=(1,))
    assert got.shape == (0,)


def argmax(b, value, place, best, best_place):
    """Keep the larger value, of equal ones the one with the smaller index."""
    greater = b.op(comparison.COMPARE, value, best, comparison_direction="GT")
    equal = b.op(comparison.COMPARE, value, best, comparison_direction="EQ")
    earlier = b.op(comparison.COMPARE, place, best_place, comparison_direction="LT")
    wins = b.op(elementwise.OR, greater, b.op(elementwise.AND, equal, earlier))
    return [b.op(comparison.SELECT, wins, value, best), b.op(comparison.SELECT, wins, place, best_place)]


def test_argmax_is_a_reduction_of_two_inputs(rng):
    for n in (1, 2, 3, 10, 33):
        x = rng.integers(0, 5, (4, n)).astype(np.float32)
        places = np.broadcast_to(np.arange(n, dtype=np.int32), x.shape)
        body = (combining(np.float32, np.int32), argmax)
        inits = np.float32(-np.inf), np.int32(2**31 - 1)
        best, where = run(REDUCE, x, places, *inits, regions=[body], dimensions=(1,))
        np.testing.assert_array_equal(best, x.max(axis=1))
        np.testing.assert_array_equal(where, x.argmax(axis=1))


def test_order_of_elements_is_kept_for_bodies_that_do_not_commute(rng):
    # 2x2 integer matrices, multiplied: associative, not commutative
    def multiply(b, *entries):
        a, c = entries[:4], entries[4:]

        def entry(i, j):
            first = b.op(elementwise.MULTIPLY, a[2 * i], c[j])
            return b.op(elementwise.ADD, first, b.op(elementwise.MULTIPLY, a[2 * i + 1], c[2 + j]))

        return [entry(i, j) for i in range(2) for j in range(2)]

    for n in (1, 2, 5, 8, 13):
        matrices = rng.integers(-2, 3, (2, n, 2, 2))
        parts = [matrices[:, :, i, j] for i in range(2) for j in range(2)]
        inits = [np.int64(v) for v in (1, 0, 0, 1)]
        got = run(REDUCE, *parts, *inits, regions=[(combining(*[np.int64] * 4), multiply)], dimensions=(1,))
        for row in range(2):
            expected = functools.reduce(np.matmul, matrices[row])
            np.testing.assert_array_equal([g[row] for g in got], expected.reshape(-1))


def test_body_with_control_flow_runs_left_to_right():
    def saturating(b, x, y):
        total = b.op(elementwise.ADD, x, y)
        limit = b.constant(np.int64(10))
        over = b.op(comparison.COMPARE, total, limit, comparison_direction="GT")
        return b.ops(control_flow.IF, over, regions=[b.region((), lambda: [limit]), b.region((), lambda: [total])])

    x = np.array([[4, 4, 4, -3], [1, 2, 3, 4]])
    (got,) = run(REDUCE, x, np.int64(0), regions=[(combining(np.int64), saturating)], dimensions=(1,))
    np.testing.assert_array_equal(got, [7, 10])


def test_body_may_use_values_from_outside(rng):
    f64 = np.dtype(np.float64)
    b = FunctionBuilder("f", [TensorType((5, 3), f64), TensorType((), f64)])
    x, scale = b.arguments

    def scaled(acc, element):
        return [b.op(elementwise.ADD, b.op(elementwise.MULTIPLY, acc, scale), element)]

    body = b.region([scalar(f64)] * 2, scaled)
    results = b.ops(REDUCE, x, b.constant(np.float64(0)), regions=[body], dimensions=(0,))
    array = rng.standard_normal((5, 3))
    (got,) = interpret(b.finish(results), [array, np.array(1.0)])
    np.testing.assert_allclose(got, array.sum(axis=0))


def test_body_may_widen_the_element_type():
    body = binary_body(elementwise.ADD, np.int32)
    (got,) = run(REDUCE, np.full((4,), 100, np.int8), np.int8(1), regions=[body], dimensions=(0,))
    assert got.dtype == np.int32
    assert got == 401
    body = binary_body(elementwise.ADD, np.float32)
    (got,) = run(REDUCE, np.ones(3000, np.float16), np.float16(0), regions=[body], dimensions=(0,))
    assert got == 3000


def test_body_that_ignores_its_arguments():
    def seven(b, x, y):
        return [b.constant(np.float32(7))]

    (got,) = run(
        REDUCE, np.ones((2, 5), np.float32), np.float32(0), regions=[(combining(np.float32), seven)], dimensions=(1,)
    )
    np.testing.assert_array_equal(got, [7, 7])


F32 = np.dtype(np.float32)
X, INIT = TensorType((2, 3), F32), TensorType((), F32)


@pytest.mark.parametrize(
    ("rule", "types", "axes", "body"),
    [
        ("(C1)", [X, TensorType((2, 4), F32), INIT, INIT], (0,), (F32, F32)),
        ("(C2)", [X, TensorType((), np.dtype(np.int32))], (0,), (F32,)),
        ("(C2)", [X, X], (0,), (F32,)),
        ("(C3)", [X, X, INIT], (0,), (F32,)),
        ("(C4)", [X, INIT], (2,), (F32,)),
        ("(C5)", [X, INIT], (1, 1), (F32,)),
        ("(C6)", [X, INIT], (0,), (np.int32,)),
        ("(C6)", [X, INIT], (0,), (F32, F32)),
    ],
)
def test_constraints(rule, types, axes, body):
    assert infer(REDUCE, [X, INIT], regions=[binary_body(elementwise.ADD, F32)], dimensions=(0,)) == [
        TensorType((3,), F32)
    ]
    with pytest.raises(VerificationError) as caught:
        infer(REDUCE, types, regions=[binary_body(elementwise.ADD, *body)], dimensions=axes)
    assert rule in str(caught.value)


def test_unknown_extents():
    types = [TensorType((DYNAMIC, 3), F32), INIT]
    assert infer(REDUCE, types, regions=[binary_body(elementwise.ADD, F32)], dimensions=(1,)) == [
        TensorType((DYNAMIC,), F32)
    ]
