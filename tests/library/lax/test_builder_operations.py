"""The operations of XLA's builder under `numhlo.lax` and as ops of a `Builder`: the examples of their descriptions."""

import jax
import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, NumhloError
from numhlo.stablehlo import Builder

V = np.array([[[10, 11, 12], [15, 16, 17]]], np.float32) + np.arange(0, 40, 10, np.float32)[:, None, None]
X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def same(call, expected, *arrays):
    """Check a function of arrays, compiled and not."""
    for found in (numhlo.jit(call)(*arrays), call(*arrays)):
        np.testing.assert_array_equal(found, np.asarray(expected))


def built(write, *arrays):
    """Return the results of a function built by hand, compiled."""
    b = Builder("made")
    handles = write(b, *[b.parameter(k, np.asarray(a)) for k, a in enumerate(arrays)])
    b.set_return_value(*(handles if isinstance(handles, list | tuple) else [handles]))
    return b.build().run("made", *arrays)


@pytest.mark.specifies("Collapse, Reshape, Broadcast, Transpose, Rev, ConcatInDim, Slice, Pad")
def test_shapes():
    assert [lax.collapse(V, *d).shape for d in ((0, 3), (0, 2), (1, 3))] == [(24,), (8, 3), (4, 6)]
    same(lambda v: lax.reshape(v, (24,), (0, 1, 2)), V.ravel(), V)
    same(lambda v: lax.reshape(v, (8, 3), (0, 1, 2)), V.reshape(8, 3), V)
    out_of_order = [10, 20, 30, 40, 11, 21, 31, 41, 12, 22, 32, 42, 15, 25, 35, 45, 16, 26, 36, 46, 17, 27, 37, 47]
    for shape in ((24,), (8, 3), (2, 6, 2)):
        same(lambda v, shape=shape: lax.reshape(v, shape, (1, 2, 0)), np.reshape(out_of_order, shape), V)
    same(lambda v: lax.reshape(v, (), (0, 1)), 5, np.full((1, 1), 5.0))
    same(lambda v: lax.reshape(v, (1, 1), ()), [[5]], np.float64(5))
    same(lambda v: lax.broadcast(v, (2, 3)), np.full((2, 3), 7.0), 7.0)
    same(lambda v: lax.broadcast(v, (2,)), np.stack([X, X]), X)
    same(lambda v: lax.transpose(v, (2, 0, 1)), V.transpose(2, 0, 1), V)
    same(lambda v: v.T, X.T, X)
    same(lambda v: lax.rev(v, (0, 2)), V[::-1, :, ::-1], V)
    same(lambda v: lax.concatenate([v, v[:1]], 0), [[1, 2, 3], [4, 5, 6], [1, 2, 3]], X)
    same(lambda v: lax.slice(v, (2,), (4,)), [2, 3], np.arange(5.0))
    same(lambda v: lax.slice(v, (2, 1), (4, 3)), [[7, 8], [10, 11]], np.arange(12.0).reshape(4, 3))
    same(lambda v: lax.slice(v, (0, 0), (2, 3), (1, 2)), X[:, ::2], X)
    padded = [[0, 1, 0, 2, 0, 3], [0, 4, 0, 5, 0, 6], [0] * 6]
    same(lambda v: lax.pad(v, np.float32(0), [(0, 1, 0), (1, 0, 1)]), padded, X)
    same(lambda v: lax.pad(v, np.float32(0), [(-1, 0, 0), (0, -2, 0)]), [[4]], X)
    with pytest.raises(NumhloError):
        lax.collapse(V, 2, 1)


@pytest.mark.specifies("DynamicSlice, DynamicUpdateSlice, Clamp, Iota, Sort, Dot, DotGeneral")
def test_places_and_products():
    a, m = np.arange(5.0), np.arange(12.0).reshape(4, 3)
    same(lambda s: lax.dynamic_slice(a, s, (2,)), [2, 3], np.array([2]))
    same(lambda s: lax.dynamic_slice(m, s, (2, 2)), [[7, 8], [10, 11]], np.array([2, 1]))
    same(lambda s: lax.dynamic_slice(a, s, (2,)), [3, 4], np.array([9]))  # clamped
    same(lambda s: lax.dynamic_update_slice(a, np.array([5.0, 6]), s), [0, 1, 5, 6, 4], np.array([2]))
    rows = np.array([[12.0, 13], [14, 15], [16, 17]])
    same(
        lambda s: lax.dynamic_update_slice(m, rows, s),
        [[0, 1, 2], [3, 12, 13], [6, 14, 15], [9, 16, 17]],
        np.array([1, 1]),
    )
    same(lambda x: lax.clamp(0, x, 6), [0, 5, 6], np.array([-1, 5, 9]))
    same(lambda: lax.broadcasted_iota(np.float32, (2, 3), 1), [[0, 1, 2]] * 2)
    same(lax.sort, [1, 2, 3], np.array([3, 1, 2]))
    same(lax.sort, [[1, 3], [0, 2]], np.array([[3, 1], [2, 0]]))
    keys, values = numhlo.jit(lambda k, v: lax.sort_key_val(k, v))(np.array([2, 0, 1]), np.array([20.0, 0, 10]))
    assert (keys.tolist(), values.tolist()) == ([0, 1, 2], [0, 10, 20])
    same(lax.dot, 5.0, np.array([1.0, 2]), np.array([1.0, 2]))
    same(lax.dot, m @ np.array([1.0, 2, 3]), m, np.array([1.0, 2, 3]))
    same(lax.dot, m @ X.T.astype(float), m, X.T.astype(float))
    batched = np.arange(8.0).reshape(2, 2, 2)
    same(lambda x: lax.dot_general(x, x, (((2,), (1,)), ((0,), (0,)))), batched @ batched, batched)


@pytest.mark.specifies("comparisons with broadcasting, logical operations, unary operations, SqrtF32")
def test_elements():
    vector = np.array([1, 5, 3], np.float32)
    for name, function in (("EQ", np.equal), ("NE", np.not_equal), ("GE", np.greater_equal), ("GT", np.greater)):
        (found,) = built(
            lambda b, x, v, n=name: b.compare(x, v, comparison_direction=n, broadcast_dimensions=(1,)), X, vector
        )
        np.testing.assert_array_equal(found, function(X, vector), strict=True)
    flags = np.array([True, True, False, False]), np.array([True, False, True, False])
    found = built(lambda b, p, q: [b.and_(p, q), b.or_(p, q), b.not_(p)], *flags)
    assert [x.tolist() for x in found] == [
        (flags[0] & flags[1]).tolist(),
        (flags[0] | flags[1]).tolist(),
        (~flags[0]).tolist(),
    ]
    x = np.array([0.25, 9, 2, 1e-3], np.float32)
    for function, power in ((lax.sqrt_f32, 0.5), (lax.square_f32, 2), (lax.reciprocal_f32, -1)):
        exact = x.astype(np.float64) ** power
        for found in (function(x), numhlo.jit(function)(x)):
            assert found.dtype == np.float32
            assert (np.abs(found - exact) <= np.spacing(exact.astype(np.float32))).all()
        with pytest.raises(DTypeError, match="convert to float32"):
            function(np.ones(2))


@pytest.mark.specifies("Map, Reduce, ReduceWindow, SelectAndScatter")
def test_computations():
    same(
        lambda x, y: lax.map_elements(lambda a, b, s: a * s + b, x, y, static_operands=(10,)), X * 10 + 1, X, X * 0 + 1
    )
    with pytest.raises(ArgumentError, match="all of one shape"):
        lax.map_elements(np.add, X, X[:1])
    sums = [V.sum(axes) for axes in ((0,), (0, 1), (0, 1, 2))]
    for axes, wanted in zip(((0,), (0, 1), (0, 1, 2)), sums, strict=True):
        same(lambda v, axes=axes: lax.reduce(v, np.float32(0), lambda a, b: a + b, axes), wanted, V)

    def larger(a, b):
        first = a[0] >= b[0]
        return np.where(first, a[0], b[0]), np.where(first, a[1], b[1])

    initial = np.float32(-np.inf), np.int64(0)
    pair = numhlo.jit(lambda x, i: lax.reduce((x, i), initial, larger, (1,)))(
        X[:, ::-1].copy(), np.arange(6).reshape(2, 3)
    )
    assert [p.tolist() for p in pair] == [[3, 6], [0, 3]]
    table = np.array([[4, 1, 7, 3], [2, 8, 5, 6], [9, 0, 2, 1]], np.float32)
    for padding, wanted in (("VALID", [[1, 3], [0, 1]]), ("SAME", [[1, 1, 3, 3], [0, 0, 1, 1], [0, 0, 1, 1]])):
        strides = (1, 2) if padding == "VALID" else (1, 1)
        same(
            lambda t, p=padding, s=strides: lax.reduce_window(t, np.float32(np.inf), np.minimum, (2, 2), s, p),
            wanted,
            table,
        )
    source = np.array([[10, 20]], np.float32)
    ties = np.array([[4, 1, 8, 3], [2, 4, 5, 8]], np.float32)
    for direction, wanted in (
        (np.greater_equal, [[10, 0, 20, 0], [0, 0, 0, 0]]),
        (np.greater, [[0, 0, 0, 0], [0, 10, 0, 20]]),
    ):
        same(
            lambda x, s, d=direction: lax.select_and_scatter(x, d, (2, 2), (2, 2), "VALID", s, np.float32(0), np.add),
            wanted, ties, source,
        )  # fmt: skip
    overlapping = lambda x: lax.select_and_scatter(
        x, np.greater_equal, (3,), (2,), [(1, 1)], np.array([1.0, 2, 4]), 0.5, np.add
    )
    same(overlapping, [0.5, 3.5, 0.5, 0.5, 4.5], np.array([1.0, 9, 2, 3, 5]))


@pytest.mark.specifies("RngUniform, RngNormal, RngBernoulli, rng, random numbers")
def test_random_numbers():
    """Six standard deviations of mean and variance: a false alarm in a hundred million runs."""
    count = 40_000
    for wrap in (lambda f: f, numhlo.jit):
        coin = wrap(lambda mean: lax.rng_bernoulli(mean, (count,)))(np.float32(0.3))
        assert coin.dtype == np.uint32 and set(np.unique(coin)) <= {0, 1}
        assert abs(coin.mean() - 0.3) < 6 * np.sqrt(0.21 / count)
        normal = wrap(lambda mu, sigma: lax.rng_normal(mu, sigma, (count // 4, 4)))(np.float32(2), np.float32(3))
        assert normal.dtype == np.float32 and normal.shape == (count // 4, 4)
        assert abs(normal.mean() - 2) < 6 * 3 / np.sqrt(count) and abs(normal.var() - 9) < 6 * 9 * np.sqrt(2 / count)
        for kind in (np.float32, np.int32, np.uint32):
            uniform = wrap(lambda a, b: lax.rng_uniform(a, b, (count,)))(kind(2), kind(12))
            assert uniform.dtype == kind and uniform.min() >= 2 and uniform.max() < 12
            centre = 7.0 if kind is np.float32 else 6.5
            assert abs(uniform.mean() - centre) < 6 * np.sqrt(100 / 12 / count)
    twice = numhlo.jit(lambda: (lax.rng_uniform(0.0, 1.0, (4,)), lax.rng_uniform(0.0, 1.0, (4,))))()
    assert (twice[0] != twice[1]).any()
    with pytest.raises(DTypeError, match="two scalars of a float type"):
        lax.rng_normal(np.int32(0), np.int32(1), (3,))


@pytest.mark.specifies("CrossReplicaSum, GetDimensionSize, Trace, Fft, Cholesky")
def test_what_is_left(capsys):
    same(lax.cross_replica_sum, X, X)
    same(lambda x: lax.get_dimension_size(x, 1), np.int32(3), X)
    with pytest.raises(ArgumentError, match="there are 2"):
        lax.get_dimension_size(X, 2)
    np.testing.assert_array_equal(numhlo.jit(lambda x: lax.trace("seen", x) * 2)(X), X * 2)
    assert capsys.readouterr().out.startswith("seen: [[1. 2. 3.]")
    z = np.arange(12.0).reshape(3, 4) + 1j
    with pytest.raises(ArgumentError, match="fft of type 'dct'"):
        lax.fft(z, "dct", (3, 4))
    np.testing.assert_allclose(
        numhlo.jit(lambda z: lax.fft(z, "fft", (3, 4)))(z), np.fft.fft2(z), rtol=1e-12, atol=1e-12
    )
    for x in (X, X.astype(np.float32), X.astype(np.int64)):
        for kind in ("fft", "irfft", "rfft"):
            lengths = (4,) if kind == "irfft" else (3,)
            found, wanted = lax.fft(x, kind, lengths), jax.lax.fft(x, kind, lengths)
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
            assert found.dtype == wanted.dtype
    square = np.array([[4.0, 2], [2, 3]])
    factor = numhlo.jit(lax.linalg.cholesky)(square)
    np.testing.assert_allclose(factor @ factor.T, square, rtol=1e-12)
    solved = numhlo.jit(lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True))(factor, square)
    np.testing.assert_allclose(factor @ solved, square, rtol=1e-12)


@pytest.mark.specifies("Call, Conditional, While, GetTupleElement, AfterAll, CustomCall")
def test_control():
    def write(b, i, x):
        double = b.sub_builder("double")
        double.add(*[double.parameter(0, X)] * 2)
        chosen = b.case(i, regions=[lambda: x, lambda: b.call(double, x), lambda: -x])
        pair = b.tuple(chosen, b.tuple(i, b.after_all()))
        inner = b.get_tuple_element(pair, index=1)
        counted = b.while_(b.constant(0, np.int32), regions=[lambda k: k < 1000, lambda k: k + b.constant(1, np.int32)])
        return [b.get_tuple_element(pair, index=0), b.get_tuple_element(inner, index=0), counted]

    for index, factor in ((0, 1), (1, 2), (2, -1), (7, -1), (-3, -1)):
        found = built(write, np.int32(index), X)
        np.testing.assert_array_equal(found[0], X * factor)
        assert (int(found[1]), int(found[2])) == (index, 1000)
    numhlo.lowering.ops.register_custom_call("test.negative", lambda arrays, _: [-arrays[0]])
    (found,) = built(lambda b, x: b.custom_call(x, call_target_name="test.negative", result=X), X)
    np.testing.assert_array_equal(found, -X)


@pytest.mark.specifies("GetDimensionSize, size of a dimension, get_dimension_size")
def test_a_size_that_is_set():
    """Numbers beyond the size that was set are not there any more."""
    text = """func.func @main(%x: tensor<10xi32>, %n: tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>) {
      %0 = stablehlo.set_dimension_size %x, %n, dim = 0 :
        (tensor<10xi32>, tensor<i32>) -> tensor<?xi32, #stablehlo.bounds<10>>
      %z = stablehlo.constant dense<0> : tensor<i32>
      %o = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] :
        (tensor<?xi32, #stablehlo.bounds<10>>, tensor<i32>) -> tensor<i32>
      %2 = stablehlo.reduce(%0 init: %o) applies stablehlo.multiply across dimensions = [0] :
        (tensor<?xi32, #stablehlo.bounds<10>>, tensor<i32>) -> tensor<i32>
      %3 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?xi32, #stablehlo.bounds<10>>) -> tensor<i32>
      return %1, %2, %3 : tensor<i32>, tensor<i32>, tensor<i32>
    }"""
    module = numhlo.stablehlo.parse(text)
    numbers = np.arange(1, 11, dtype=np.int32)
    for size, total, product in ((5, 15, 120), (6, 21, 720)):
        assert [int(x) for x in module.run("main", numbers, np.int32(size))] == [total, product, size]


@pytest.mark.specifies("Conv, Gather")
def test_as_jax(rng):
    x, k = rng.normal(size=(2, 4, 6, 5)), rng.normal(size=(6, 2, 3, 2))
    options = {"feature_group_count": 2}
    padding = [(-1, 2), (1, 0)]
    arguments = (x, k, (2, 1), padding, (1, 2), (2, 1))
    found = numhlo.jit(lambda x, k: lax.conv_general_dilated(x, k, *arguments[2:], **options))(x, k)
    np.testing.assert_allclose(found, jax.lax.conv_general_dilated(*arguments, **options), rtol=1e-11)
    image, kernel = x[:, :3], rng.normal(size=(4, 3, 3, 3))
    for kind in ("SAME", "VALID"):
        found = numhlo.jit(lambda x, k, kind=kind: lax.conv(x, k, (1, 1), kind))(image, kernel)
        np.testing.assert_allclose(found, jax.lax.conv(image, kernel, (1, 1), kind), rtol=1e-11, atol=1e-13)
