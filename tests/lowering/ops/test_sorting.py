import ml_dtypes
import numpy as np
import pytest

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ops import comparison, control_flow, elementwise, sorting
from numhlo.lowering.ops.sort_keys import ordered_keys
from numhlo.lowering.ops.sorting import SORT
from tests.lowering.ops.one_op import comparator, infer, run, scalar

SPECIAL = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-40]


def sort(*arrays, body, **options):
    return run(SORT, *arrays, regions=[body], **options)


@pytest.mark.parametrize("direction", ["LT", "GT"])
def test_one_key_of_every_type_moves_others_along(direction, rng):
    for dtype in (np.bool_, np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32, ml_dtypes.bfloat16,
                  ml_dtypes.int4, ml_dtypes.float8_e5m2):  # fmt: skip
        keys = rng.integers(0 if dtype == np.uint64 else -6, 6, (3, 40)).astype(dtype)
        places = np.broadcast_to(np.arange(40, dtype=np.int32), keys.shape)
        got, moved = sort(keys, places, body=comparator(dtype, direction, others=[np.int32]), dimension=1)
        wide = keys.astype(np.float64)
        order = np.argsort(wide if direction == "LT" else -wide, axis=1, kind="stable")
        np.testing.assert_array_equal(moved, order, err_msg=str(dtype))
        np.testing.assert_array_equal(got.astype(np.float64), np.take_along_axis(wide, order, axis=1))


def test_worked_example_of_the_specification():
    first, second = np.array([[1, 2, 3], [3, 2, 1]]), np.array([[3, 2, 1], [1, 2, 3]])
    got = sort(first, second, body=comparator(np.int64, "GT", others=[np.int64]), dimension=0, is_stable=True)
    np.testing.assert_array_equal(got[0], [[3, 2, 3], [1, 2, 1]])
    np.testing.assert_array_equal(got[1], [[1, 2, 1], [3, 2, 3]])


def test_large_unsigned_keys():
    x = np.array([2**64 - 1, 0, 2**63, 2**63 - 1], np.uint64)
    np.testing.assert_array_equal(sort(x, body=comparator(np.uint64, "LT"))[0], np.sort(x))
    np.testing.assert_array_equal(sort(x, body=comparator(np.uint64, "GT"))[0], np.sort(x)[::-1])


def test_any_axis_and_sizes_zero_and_one(rng):
    x = rng.standard_normal((3, 4, 5))
    for axis in range(-3, 3):
        np.testing.assert_array_equal(sort(x, body=comparator(x.dtype, "LT"), dimension=axis)[0], np.sort(x, axis=axis))
    for shape in ((0,), (1,), (3, 0), (0, 3), (2, 1)):
        assert sort(np.zeros(shape), body=comparator(np.float64, "LT"))[0].shape == shape
    np.testing.assert_array_equal(sort(x[0, 0], body=comparator(x.dtype, "LT"))[0], np.sort(x[0, 0]))


def test_total_order_puts_nans_outermost_by_sign(rng):
    for dtype in (np.float16, np.float32, np.float64, ml_dtypes.bfloat16):
        x = rng.permutation(np.array(SPECIAL, dtype))
        (got,) = sort(x, body=comparator(dtype, "LT", compare_type="TOTALORDER"))
        got = got.astype(np.float64)
        assert np.isnan(got[[0, -1]]).all()
        assert np.signbit(got).tolist() == [True] * 4 + [False] * 5
        assert (np.diff(got[1:-1]) >= 0).all()


def canonical_less(dtype):
    """Return the comparator that JAX writes for floats: zeros are equal, NaNs are equal and last."""

    def canonical(b, x):
        zero, nan = b.constant(np.zeros((), dtype)), b.constant(np.full((), np.nan, dtype))
        is_zero = b.op(comparison.COMPARE, x, zero, comparison_direction="EQ")
        is_nan = b.op(comparison.COMPARE, x, x, comparison_direction="NE")
        return b.op(comparison.SELECT, is_nan, nan, b.op(comparison.SELECT, is_zero, zero, x))

    def write(b, x, y, *_):
        operands = canonical(b, x), canonical(b, y)
        return [b.op(comparison.COMPARE, *operands, comparison_direction="LT", compare_type="TOTALORDER")]

    return [scalar(dtype), scalar(dtype), scalar(np.int64), scalar(np.int64)], write


def test_canonical_floats_keep_the_order_of_equal_ones(rng, monkeypatch):
    monkeypatch.setattr(sorting, "_merge_sort", None)  # must be recognised
    x = rng.choice(np.array(SPECIAL, np.float32), (4, 200))
    places = np.broadcast_to(np.arange(200), x.shape)
    _, moved = sort(x, places, body=canonical_less(np.float32), dimension=1)
    expected = np.argsort(x, axis=1, kind="stable")
    np.testing.assert_array_equal(moved, expected)


def lexicographic(b, x0, y0, x1, y1, *_):
    less0 = b.op(comparison.COMPARE, x0, y0, comparison_direction="LT")
    equal0 = b.op(comparison.COMPARE, x0, y0, comparison_direction="EQ")
    less1 = b.op(comparison.COMPARE, x1, y1, comparison_direction="LT")
    return [b.op(elementwise.OR, less0, b.op(elementwise.AND, equal0, less1))]


def test_two_keys(rng, monkeypatch):
    monkeypatch.setattr(sorting, "_merge_sort", None)
    first, second = rng.integers(0, 4, 300), rng.integers(0, 4, 300).astype(np.float32)
    types = [scalar(d) for d in (np.int64, np.int64, np.float32, np.float32, np.int64, np.int64)]
    *_, moved = sort(first, second, np.arange(300), body=(types, lexicographic))
    np.testing.assert_array_equal(moved, np.lexsort((second, first)))


def by_remainder(b, x, y, *_):
    """An order that no guess finds."""
    seven = b.constant(np.int64(7))
    parts = [b.op(elementwise.REMAINDER, v, seven) for v in (x, y)]
    return [b.op(comparison.COMPARE, *parts, comparison_direction="LT")]


def test_unknown_orders_are_merge_sorted(rng):
    types = [scalar(np.int64)] * 4
    for n in (2, 3, 7, 8, 9, 100, 257):
        x = rng.integers(0, 1000, (3, n))
        places = np.broadcast_to(np.arange(n), x.shape)
        _, moved = sort(x, places, body=(types, by_remainder), dimension=1)
        np.testing.assert_array_equal(moved, np.argsort(x % 7, axis=1, kind="stable"))


def test_a_wrong_guess_is_rejected():
    x = np.array([3, 1, 2, 14])
    types = [scalar(np.int64)] * 2
    np.testing.assert_array_equal(sort(x, body=(types, by_remainder))[0], [14, 1, 2, 3])


def test_comparator_with_control_flow_runs_pair_by_pair(rng):
    def write(b, x, y):
        order = [b.op(comparison.COMPARE, x, y, comparison_direction=d) for d in ("LT", "GT")]
        zero = b.constant(np.int64(0))
        positive = b.op(comparison.COMPARE, x, zero, comparison_direction="GE")
        regions = [b.region((), lambda: [order[0]]), b.region((), lambda: [order[0]])]
        return b.ops(control_flow.IF, positive, regions=regions)

    x = rng.integers(-20, 20, (2, 15))
    np.testing.assert_array_equal(sort(x, body=([scalar(np.int64)] * 2, write))[0], np.sort(x))


def test_comparator_that_finds_all_equal_keeps_the_order():
    def never(b, x, y):
        return [b.constant(np.bool_(False))]

    x = np.array([3, 1, 2])
    np.testing.assert_array_equal(sort(x, body=([scalar(np.int64)] * 2, never))[0], x)


def test_complex_numbers_as_pairs(rng):
    x = rng.integers(0, 3, 50) + 1j * rng.integers(0, 3, 50)
    got = sort(x, body=comparator(np.complex128, "LT"))[0]
    np.testing.assert_array_equal(got, np.sort(x))


F32 = np.dtype(np.float32)


@pytest.mark.parametrize(
    ("rule", "shapes", "dimension", "body"),
    [
        ("(C1)", [], 0, ([], lambda b: [b.constant(np.bool_(True))])),
        ("(C3)", [(3,), (4,)], 0, comparator(F32, "LT", others=[F32])),
        ("(C4)", [(3,)], 1, comparator(F32, "LT")),
        ("(C4)", [(3,)], -2, comparator(F32, "LT")),
        ("(C5)", [(3,)], 0, comparator(F32, "LT", others=[F32])),
        ("(C5)", [(3,)], 0, comparator(np.int32, "LT")),
        ("(C5)", [(3,)], 0, ([scalar(F32)] * 2, lambda b, x, y: [x])),
    ],
)
def test_constraints(rule, shapes, dimension, body):
    with pytest.raises(VerificationError) as caught:
        infer(SORT, [TensorType(s, F32) for s in shapes], regions=[body], dimension=dimension)
    assert rule in str(caught.value)


def test_doubles_of_a_dtype_that_numpy_does_not_call_built_in():
    x = (1 - np.arange(20) * 1e-12).astype(np.dtype(np.float64).newbyteorder("="))
    (keys,) = ordered_keys(x, total=False)
    np.testing.assert_array_equal(keys.argsort(kind="stable"), np.arange(20)[::-1])


@pytest.mark.parametrize("compare_type", ["FLOAT", "TOTALORDER"])
@pytest.mark.parametrize("direction", ["LT", "GT"])
def test_values_that_numpy_sorts_have_the_bits_of_a_stable_sort(compare_type, direction, rng, monkeypatch):
    plain = rng.normal(size=(3, 50))
    cases = [plain, np.array(SPECIAL), np.array([1.0, -0.0, 0.0, -0.0]), np.array([np.nan, 2.0, 1.0]), plain * 0.0]
    body = comparator(np.float64, direction, compare_type=compare_type)
    found = [sort(x, body=body)[0] for x in cases]
    asked = []
    monkeypatch.setattr(sorting, "_find_order", lambda *rest: asked.append(rest))
    assert sort(plain, body=body)[0].tobytes() == found[0].tobytes()
    assert not asked
    monkeypatch.undo()
    monkeypatch.setattr(sorting, "_sort_values", lambda *rest: None)
    for x, values in zip(cases, found, strict=True):
        assert sort(x, body=body)[0].tobytes() == values.tobytes()


def test_values_that_compare_equal_keep_their_order(rng):
    def is_nearer_zero(b, lhs, rhs):
        sizes = [b.op(elementwise.ABS, v) for v in (lhs, rhs)]
        return [b.op(comparison.COMPARE, *sizes, comparison_direction="LT")]

    x = rng.integers(-5, 6, 40)
    (got,) = sort(x, body=([scalar(x.dtype)] * 2, is_nearer_zero))
    np.testing.assert_array_equal(got, sorted(x.tolist(), key=abs))
