"""Graphs made by hand: the examples of the XLA documentation, broadcasting, regions, errors noted and at once."""

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, VerificationError
from numhlo.stablehlo import Builder, DotDimensionNumbers
from tests.oracle import official_parse

F32 = np.float32


def run(builder, *arrays):
    return builder.build().interpret(builder.name, *arrays)


@pytest.mark.specifies("building graphs, compiling once")
def test_axpy_of_parameters():
    b = Builder("axpy")
    y = b.parameter(2, (4,), F32, "y")  # in any order
    alpha, x = b.parameter(0, (), F32, "alpha"), b.parameter(1, np.zeros(4, F32), name="x")
    total = b.add(b.multiply(alpha, x), y)
    assert (b.get_shape(total).shape, total.dtype, total.shape) == ((4,), np.dtype(F32), (4,))
    b.check_same_shape(total, y)
    assert b.check_shape(total, (4,)) is total and b.check_shape(total, np.zeros(4, F32)) is total
    module = b.build()
    official_parse(module.as_text())
    for factor in (2, -1):
        (found,) = module.run("axpy", F32(factor), np.arange(4, dtype=F32), np.ones(4, F32))
        np.testing.assert_array_equal(found, factor * np.arange(4) + 1)
    assert len(module.functions["axpy"].programs) == 1  # compiled once
    (slope,) = (
        numhlo.grad(lambda a: module.callable("axpy")(a, np.arange(4, dtype=F32), np.ones(4, F32)).sum())(F32(3)),
    )
    assert slope == 6


@pytest.mark.specifies("building graphs, compiling once")
def test_axpy_of_constants():
    b = Builder("axpy")
    alpha, x, y = b.constant(2.0, F32), b.constant([1, 2], F32), b.full((2,), 3, F32)
    total = b.add(b.multiply(alpha, x), y)
    np.testing.assert_array_equal(b.compute_constant(total), [5, 7])
    assert run(b)[0].tolist() == [5, 7]


def broadcast_sum(lhs, rhs, dimensions=None):
    b = Builder("sum", raise_at_once=True)
    x, y = (b.parameter(k, np.asarray(a)) for k, a in enumerate((lhs, rhs)))
    b.add(x, y, broadcast_dimensions=dimensions)
    return run(b, np.asarray(lhs), np.asarray(rhs))[0].tolist()


@pytest.mark.specifies(
    "broadcasting in dimensions, degenerate broadcasting, binary operations with broadcasting, BroadcastInDim"
)
def test_broadcasting():
    matrix, vector = np.zeros((2, 3)), np.array([7.0, 8, 9])
    assert broadcast_sum(matrix, 7.0) == [[7] * 3] * 2 and broadcast_sum(7.0, matrix) == [[7] * 3] * 2
    assert broadcast_sum(matrix, vector, (1,)) == [[7, 8, 9]] * 2
    square = np.zeros((3, 3))
    assert broadcast_sum(square, vector, (1,)) == [[7, 8, 9]] * 3
    assert broadcast_sum(square, vector, (0,)) == [[7] * 3, [8] * 3, [9] * 3]
    cuboid, plane = np.zeros((2, 3, 4)), np.arange(12.0).reshape(3, 4)
    assert broadcast_sum(cuboid, plane, (1, 2)) == [plane.tolist()] * 2
    x, y = np.arange(4.0)[:, None, None] + np.arange(3.0)[:, None], np.array([[5.0, 6]])
    assert broadcast_sum(y, x, (1, 2)) == (x + y).tolist()
    assert broadcast_sum(np.array([1.0, 2, 3, 4]), y, (0,)) == [[6, 7], [7, 8], [8, 9], [9, 10]]
    for first, second in (((2, 1), (2, 3)), ((7, 2, 5), (7, 1, 5)), ((1, 2, 5), (7, 2, 5)), ((2, 1), (1, 3))):
        a, b = np.arange(float(np.prod(first))).reshape(first), np.arange(float(np.prod(second))).reshape(second)
        assert broadcast_sum(a, b) == (a + b).tolist()


@pytest.mark.parametrize(
    ("first", "second", "dimensions", "message"),
    [
        ((7, 2, 5), (7, 2, 6), None, "extents must be equal, or one of them 1"),
        ((2, 3), (3,), None, r"say it: broadcast_dimensions=\(1,\)"),
        ((2, 3), (3,), (0,), "can't be broadcast"),
        ((2, 3, 4), (3, 4), (2, 1), "ascending"),
        ((2, 3), (3,), (5,), "there must be one for each dimension"),
    ],
)
@pytest.mark.specifies("degenerate broadcasting")
def test_what_cannot_be_broadcast(first, second, dimensions, message):
    with pytest.raises(ShapeError, match=message):
        broadcast_sum(np.zeros(first), np.zeros(second), dimensions)


@pytest.mark.specifies("errors and inner builders, While, Reduce, Call, DotGeneral, Conditional")
def test_regions():
    b = Builder("regions")
    x, n = b.parameter(0, (2, 3), F32), b.parameter(1, (), np.int32)
    adder = b.sub_builder("adder")
    adder.add(adder.parameter(0, (), F32), adder.parameter(1, (), F32))
    zero = b.constant(0, F32)
    first = b.reduce(x, zero, regions=[adder], dimensions=(0,))
    second = b.reduce(x, zero, regions=[adder.computation()], dimensions=(0,))
    third = b.reduce(x, zero, regions=[lambda a, c: b.maximum(a, c)], dimensions=(0,))
    step = b.constant(1, np.int32)
    count, power = b.while_(
        b.constant(0, np.int32), zero + 1, regions=[lambda i, p: i < n, lambda i, p: (i + step, p * 2)]
    )
    ordered = b.sort(x, regions=[lambda left, right: left > right], dimension=1)
    chosen = b.if_(n > 2, regions=[lambda: x, lambda: -x])
    called = b.call(adder, zero, 3 - zero)
    product = b.dot_general(
        x, x, result=np.zeros((2, 2), F32), dot_dimension_numbers=DotDimensionNumbers((), (), (1,), (1,))
    )
    b.set_return_value(first, second, third, count, power, ordered, chosen, called, product)
    array = np.array([[1, 5, 2], [4, -1, 3]], F32)
    official_parse(b.build().as_text())
    found = run(b, array, np.int32(5))
    wanted = [array.sum(0), array.sum(0), array.max(0), 5, 32, -np.sort(-array, 1), array, 3, array @ array.T]
    for left, right in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(left, right)


def test_operators():
    b = Builder("operators")
    x = b.parameter(0, (3,), np.float64)
    values = [x + 1, 1 + x, x - 1, 1 - x, x * 2, 2 * x, x / 2, 2 / x, x % 2, x**2, -x, x == 2, x != 2, x <= 2, x >= 2]
    b.set_return_value(*values, np.ones(3) + x)
    array = np.array([1.0, 2, 3])
    wanted = [
        array + 1,
        1 + array,
        array - 1,
        1 - array,
        array * 2,
        2 * array,
        array / 2,
        2 / array,
        array % 2,
        array**2,
    ]
    wanted += [-array, array == 2, array != 2, array <= 2, array >= 2, 1 + array]
    for left, right in zip(run(b, array), wanted, strict=True):
        np.testing.assert_array_equal(left, right)


def test_operators_of_integers_and_bits():
    b = Builder("bits")
    x = b.parameter(0, (3,), np.int32)
    values = [abs(x), 7 % x, 2**x, x & 6, 6 & x, x | 6, 6 | x, x ^ 6, 6 ^ x, ~x, ~(x > 2) & (x != 1)]
    b.set_return_value(*values, b.slice(x, start_indices=(1,), limit_indices=(3,)))
    a = np.array([1, 2, 3], np.int32)
    wanted = [a, 7 % a, 2**a, a & 6, a & 6, a | 6, a | 6, a ^ 6, a ^ 6, ~a, ~(a > 2) & (a != 1), a[1:]]
    for left, right in zip(run(b, a), wanted, strict=True):
        np.testing.assert_array_equal(left, right, strict=True)


def test_handles_have_no_truth_value():
    """A Python `if` took the first branch, whatever the value."""
    x = Builder("truth").parameter(0, (3,), np.float64)
    with pytest.raises(
        ArgumentError, match=r"^the truth value of <value of truth: tensor<3xi1>>\n.*\n  it is known when"
    ):
        bool(x > 0)


@pytest.mark.specifies("errors and inner builders")
def test_errors_are_noted():
    b = Builder("wrong")
    x = b.parameter(0, (3,), F32)
    broken = b.add(x, np.zeros(4, F32))  # the first error
    further = b.multiply(broken, x)
    assert "error" in repr(b) and "none" in repr(further)
    with pytest.raises(ShapeError, match=r"add: float32\[3\] and float32\[4\]") as caught:
        b.build()
    assert "broken = b.add(x, np.zeros(4, F32))" in str(caught.value)


def test_errors_of_inner_builders():
    b = Builder("outer")
    inner = b.sub_builder("inner")
    inner.sine(inner.parameter(0, (), np.int32))
    b.reduce(b.parameter(0, (3,), F32), F32(0), regions=[inner], dimensions=(0,))
    with pytest.raises(VerificationError, match="sine"):
        b.build()


@pytest.mark.specifies("errors and inner builders")
def test_errors_at_once():
    b = Builder("wrong", raise_at_once=True)
    x = b.parameter(0, (3,), F32)
    for call in (
        lambda: b.sine(np.int32(1)),
        lambda: b.check_shape(x, (4,)),
        lambda: b.check_same_shape(x, b.constant(1.0)),
        lambda: b.sub_builder("inner").sine(np.int32(1)),
    ):
        with pytest.raises((ShapeError, VerificationError)):
            call()


def test_attributes_are_taken_as_numpy_and_python_have_them():
    b = Builder("taken")
    x = b.parameter(0, (4,), F32)
    b.pad(x, F32(0), edge_padding_low=np.array([1]), edge_padding_high=[2], interior_padding=(np.int8(0),))
    total = [lambda a, c: a + c]
    b.reduce_window(x, F32(0), regions=total, window_dimensions=[2], window_strides=None, padding=[[1, 0]])
    b.batch_norm_inference(b.full((2, 3), 1, F32), *[b.full((3,), 1, F32)] * 4, epsilon=0, feature_index=np.int64(1))
    b.sort(x, regions=[lambda a, c: a < c], dimension=0, is_stable=np.bool_(True))
    b.all_gather(x, all_gather_dim=0, replica_groups=[[0, 1]], result=np.zeros(8, F32))
    text = b.build().as_text()
    official_parse(text)
    assert "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>" in text


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda b, x: b.parameter(0, (), F32), "defined twice"),
        (lambda b, x: b.parameter(2, (), F32), "parameter 1 is missing"),
        (lambda b, x: b.parameter(-1, (), F32), "numbers start at 0"),
        (lambda b, x: b.parameter(1, (2,)), "has a shape, but no dtype"),
        (lambda b, x: b.add(x, Builder("other").parameter(0, (3,), F32)), "a graph is closed"),
        (lambda b, x: b.call(Builder("other"), x), "not inside"),
        (lambda b, x: b.op("sines", x), "StableHLO has no op 'sines'"),
        (lambda b, x: b.reduce(x, F32(0), regions=[3], dimensions=(0,)), "a region is a builder or a function"),
        (lambda b, x: b.reverse(x, dimensions=0), "reverse: the attribute dimensions can't be 0"),
        (lambda b, x: b.reverse(x), "reverse: the attribute dimensions is missing"),
        (
            lambda b, x: b.gather(x, np.int32([1]), dimension_numbers=DotDimensionNumbers(), slice_sizes=[1]),
            "record:gat",
        ),
        (lambda b, x: b.all_gather(x, all_gather_dim=0, replica_groups=0, result=np.ones(3, F32)), "matrix of i64"),
        (lambda b, x: b.reshape(x, result=(3, 1)), "3 is no type of a result"),
    ],
)
def test_wrong_use(write, message):
    b = Builder("wrong")
    write(b, b.parameter(0, (3,), F32))
    with pytest.raises(ArgumentError, match=message):
        b.build()


def test_what_depends_on_a_parameter_is_no_constant():
    b = Builder("wrong")
    x = b.parameter(0, (3,), F32)
    total = b.reduce(b.constant([1, 2, 3], F32), F32(0), regions=[lambda a, c: a + c], dimensions=(0,))
    assert b.compute_constant(total) == 6
    with pytest.raises(ArgumentError, match="depends on a parameter"):
        b.compute_constant(total + x)


def test_methods_are_the_ops():
    b = Builder("b")
    assert {"add", "reduce", "custom_call"} <= set(dir(b))
    with pytest.raises(AttributeError, match="StableHLO no op of that name"):
        b.sines(1)


def test_one_inner_builder_is_called_several_times():
    b = Builder("main")
    x = b.parameter(0, (2,), F32)
    double = b.sub_builder("double")
    y = double.parameter(0, (2,), F32)
    double.add(y, y)
    once = b.call(double, x)
    b.call(double, once)
    module = b.build()
    assert [f.name for f in module.graph.reachable()].count("double") == 1
    assert module.run("main", F32([1, 2]))[0].tolist() == [4, 8]
    double.negate(double.add(y, y))  # what has been called is left as it was
    b.call(double, once)
    assert b.build().run("main", F32([1, 2]))[0].tolist() == [-4, -8]
    assert module.run("main", F32([1, 2]))[0].tolist() == [4, 8]


@pytest.mark.specifies("Select")
def test_select_of_tuples():
    b = Builder("main")
    p, x, y = b.parameter(0, (), np.bool_), b.parameter(1, (2,), F32), b.parameter(2, (), np.int32)
    b.select(p, b.tuple(x, b.tuple(y)), b.tuple(b.negate(x), b.tuple(b.negate(y))))
    module = b.build()
    for chosen, sign in ((True, 1), (False, -1)):
        ((found, (number,)),) = module.run("main", np.array(chosen), F32([1, 2]), np.int32(3))
        assert (found.tolist(), number.item()) == ([sign, 2 * sign], 3 * sign)
    b = Builder("main", raise_at_once=True)
    p, x = b.parameter(0, (2,), np.bool_), b.parameter(1, (2,), F32)
    with pytest.raises(ArgumentError, match="a scalar of booleans chooses between two tuples of one type"):
        b.select(p, b.tuple(x), b.tuple(x))
