"""Data movement: every op against the index formula of the specification, on random ranks, and its constraints."""

import numpy as np
import pytest

from numhlo.lowering.ir import DYNAMIC, TensorType
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.ops.layout import BROADCAST_IN_DIM, CONCATENATE, PAD, RESHAPE, REVERSE, SLICE, TRANSPOSE
from tests.lowering.ops.evaluation import evaluate, infer, rejection, tensor


def rng_for(case):
    return np.random.default_rng([case, 5])


def random_array(rng, rank, least=0):
    shape = tuple(int(n) for n in rng.integers(least, 4, rank))
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.int64).reshape(shape)


CASES = range(60)


@pytest.mark.parametrize("case", CASES)
def test_transpose_and_reverse(case):
    rng = rng_for(case)
    x = random_array(rng, case % 7)
    permutation = tuple(int(n) for n in rng.permutation(x.ndim))
    found = evaluate(TRANSPOSE, x, permutation=permutation)
    for index in np.ndindex(x.shape):
        assert found[tuple(index[axis] for axis in permutation)] == x[index]
    dimensions = tuple(axis for axis in permutation if rng.integers(2))
    found = evaluate(REVERSE, x, dimensions=dimensions)
    for index in np.ndindex(x.shape):
        assert (
            found[
                tuple(n - 1 - i if k in dimensions else i for k, (i, n) in enumerate(zip(index, x.shape, strict=True)))
            ]
            == x[index]
        )


@pytest.mark.parametrize("case", CASES)
def test_slice(case):
    rng = rng_for(case)
    x = random_array(rng, case % 7)
    starts, limits, strides = [], [], []
    for extent in x.shape:
        low, high = sorted(int(n) for n in rng.integers(0, extent + 1, 2))
        starts.append(low), limits.append(high), strides.append(int(rng.integers(1, 4)))
    found = evaluate(SLICE, x, start_indices=tuple(starts), limit_indices=tuple(limits), strides=tuple(strides))
    for index in np.ndindex(found.shape):
        assert found[index] == x[tuple(a + i * s for a, i, s in zip(starts, index, strides, strict=True))]


@pytest.mark.parametrize("case", CASES)
def test_broadcast_in_dim(case):
    rng = rng_for(case)
    rank = case % 7
    shape = tuple(int(n) for n in rng.integers(0, 4, rank))
    dims = tuple(int(n) for n in rng.permutation(rank)[: rng.integers(0, rank + 1)])
    operand_shape = tuple(1 if rng.integers(3) == 0 else shape[d] for d in dims)
    x = np.arange(int(np.prod(operand_shape))).reshape(operand_shape)
    found = evaluate(BROADCAST_IN_DIM, x, result=TensorType(shape, x.dtype), broadcast_dimensions=dims)
    for index in np.ndindex(shape):
        assert found[index] == x[tuple(0 if n == 1 else index[d] for n, d in zip(operand_shape, dims, strict=True))]


def test_large_and_equal_broadcasts_copy_nothing():
    x = np.arange(3.0)
    large = evaluate(BROADCAST_IN_DIM, x, result=tensor("5000x3xf64"), broadcast_dimensions=(1,))
    assert large.base is not None
    assert (large == x).all()
    assert evaluate(BROADCAST_IN_DIM, x, result=tensor("3xf64"), broadcast_dimensions=(0,)) is x


@pytest.mark.parametrize("case", CASES)
@pytest.mark.specifies("pad")
def test_pad(case):
    rng = rng_for(case)
    x = random_array(rng, case % 5)
    interior = tuple(int(n) for n in rng.integers(0, 3, x.ndim))
    low = tuple(int(n) for n in rng.integers(-3, 4, x.ndim))
    spread = [n + max(n - 1, 0) * i for n, i in zip(x.shape, interior, strict=True)]
    high = tuple(max(int(n), -s - a) for n, s, a in zip(rng.integers(-3, 4, x.ndim), spread, low, strict=True))
    found = evaluate(PAD, x, np.array(-9), edge_padding_low=low, edge_padding_high=high, interior_padding=interior)
    expected = np.full(found.shape, -9)
    for index in np.ndindex(x.shape):
        place = tuple(a + i * (gap + 1) for a, i, gap in zip(low, index, interior, strict=True))
        if all(0 <= p < n for p, n in zip(place, found.shape, strict=True)):
            expected[place] = x[index]
    assert (found == expected).all()
    assert found.shape == tuple(s + a + b for s, a, b in zip(spread, low, high, strict=True))


def test_pad_example_of_the_specification():
    x = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
    found = evaluate(
        PAD, x, np.array(0, np.int32), edge_padding_low=(0, 1), edge_padding_high=(2, 1), interior_padding=(1, 2)
    )
    expected = np.zeros((5, 9), int)
    expected[0, [1, 4, 7]], expected[2, [1, 4, 7]] = [1, 2, 3], [4, 5, 6]
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("case", CASES)
def test_concatenate(case):
    rng = rng_for(case)
    rank = 1 + case % 6
    dimension = int(rng.integers(rank))
    shape = [int(n) for n in rng.integers(0, 3, rank)]
    parts = []
    for _ in range(int(rng.integers(1, 5))):
        shape[dimension] = int(rng.integers(0, 4))
        parts.append(rng.integers(0, 100, shape))
    found = evaluate(CONCATENATE, *parts, dimension=dimension)
    lines = [part.take(k, dimension) for part in parts for k in range(part.shape[dimension])]
    assert found.shape[dimension] == len(lines)
    for k, line in enumerate(lines):
        assert (found.take(k, dimension) == line).all()


def test_reshape_reads_in_row_major_order():
    x = np.arange(6).reshape(2, 3)
    assert evaluate(RESHAPE, x, result=tensor("3x2xi64")).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert evaluate(RESHAPE, x.T, result=tensor("6xi64")).tolist() == [0, 3, 1, 4, 2, 5]
    assert evaluate(RESHAPE, x[:1, :1], result=tensor("i64")).shape == ()
    assert evaluate(RESHAPE, x[:0], result=tensor("5x0x7xi64")).shape == (5, 0, 7)


@pytest.mark.parametrize("dtype", ELEMENT_TYPES.values(), ids=str)
@pytest.mark.specifies("layout")
def test_every_element_type_moves(dtype):
    x = np.arange(6).astype(np.int8).astype(dtype).reshape(2, 3)
    kind = TensorType((2, 3), dtype)
    evaluate(BROADCAST_IN_DIM, x, result=kind.with_shape((2, 2, 3)), broadcast_dimensions=(0, 2))
    evaluate(RESHAPE, x, result=kind.with_shape((6,)))
    evaluate(TRANSPOSE, x, permutation=(1, 0))
    evaluate(REVERSE, x, dimensions=(0, 1))
    evaluate(SLICE, x, start_indices=(0, 1), limit_indices=(2, 3), strides=(1, 2))
    evaluate(PAD, x, x[0, 0, ...], edge_padding_low=(1, -1), edge_padding_high=(0, 0), interior_padding=(0, 1))
    assert evaluate(CONCATENATE, x, x, dimension=0).tobytes() == x.tobytes() * 2


def test_broadcast_in_dim_c1_to_c5():
    f32, wide = tensor("3xf32"), tensor("2x3xf32")

    def reject(operand, result, dims):
        return rejection(BROADCAST_IN_DIM, operand, result=result, broadcast_dimensions=dims)

    assert "(C1)" in reject(f32, tensor("2x3xf64"), (1,))
    assert "(C2)" in reject(f32, wide, (0, 1))
    assert "(C3)" in reject(f32, wide, (2,))
    assert "(C4)" in reject(tensor("3x3xf32"), tensor("3x3xf32"), (1, 1))
    assert "(C5) extent 3 of operand dimension 0 must be 1 or 2" in reject(f32, wide, (0,))
    unknown = tensor("?xf32")
    assert infer(BROADCAST_IN_DIM, unknown, result=wide, broadcast_dimensions=(1,)) == wide


def test_reshape_c1_c2():
    f32 = tensor("2x3xf32")
    assert "(C1)" in rejection(RESHAPE, f32, result=tensor("6xf64"))
    assert "(C2)" in rejection(RESHAPE, f32, result=tensor("7xf32"))
    assert infer(RESHAPE, tensor("?x3xf32"), result=tensor("6xf32")) == tensor("6xf32")


def test_transpose_c1_c2_c3():
    f32 = tensor("2x3xf32")
    assert "(C2)" in rejection(TRANSPOSE, f32, permutation=(0, 0))
    assert "(C2)" in rejection(TRANSPOSE, f32, permutation=(0,))
    assert "(C1), (C3)" in rejection(TRANSPOSE, f32, result=tensor("3x2xf64"), permutation=(1, 0))
    assert "(C1), (C3)" in rejection(TRANSPOSE, f32, result=f32, permutation=(1, 0))
    assert infer(TRANSPOSE, tensor("?x3xf32"), permutation=(1, 0)) == tensor("3x?xf32")


def test_slice_c1_to_c5():
    f32 = tensor("4xf32")

    def reject(start, limit, stride, result=None):
        return rejection(SLICE, f32, result=result, start_indices=start, limit_indices=limit, strides=stride)

    assert "(C1), (C5)" in reject((0,), (4,), (2,), tensor("2xf64"))
    assert "(C2)" in reject((0, 0), (4,), (1,))
    for start, limit in (((-1,), (4,)), ((3,), (2,)), ((0,), (5,))):
        assert "(C3)" in reject(start, limit, (1,))
    assert "(C4)" in reject((0,), (4,), (0,))
    assert "(C1), (C5)" in reject((0,), (4,), (2,), tensor("3xf32"))


def test_pad_c1_to_c4():
    f32, scalar = tensor("2xf32"), tensor("f32")

    def reject(value, low, high, interior, result=None):
        return rejection(
            PAD, f32, value, result=result, edge_padding_low=low, edge_padding_high=high, interior_padding=interior
        )

    assert "(C1)" in reject(tensor("f64"), (0,), (0,), (0,))
    assert "(I2)" in reject(f32, (0,), (0,), (0,))
    assert "(C2)" in reject(scalar, (0, 0), (0,), (0,))
    assert "(C3)" in reject(scalar, (0,), (0,), (-1,))
    assert "(C4) negative padding" in reject(scalar, (-2,), (-1,), (0,))
    assert "(C4) the result must" in reject(scalar, (1,), (0,), (0,), tensor("4xf32"))
    unknown = infer(PAD, tensor("?xf32"), scalar, edge_padding_low=(1,), edge_padding_high=(1,), interior_padding=(0,))
    assert unknown.shape == (DYNAMIC,)


def test_concatenate_c1_to_c6():
    f32 = tensor("2x3xf32")
    assert "(C1)" in rejection(CONCATENATE, f32, tensor("2x3xf64"), dimension=0)
    assert "(C2)" in rejection(CONCATENATE, f32, tensor("2x4xf32"), dimension=0)
    assert "(C2)" in rejection(CONCATENATE, f32, tensor("3xf32"), dimension=0)
    assert "(C3)" in rejection(CONCATENATE, dimension=0)
    assert "(C4)" in rejection(CONCATENATE, f32, dimension=2)
    assert "(C5), (C6)" in rejection(CONCATENATE, f32, result=tensor("2x3xf64"), dimension=0)
    assert "(C5), (C6)" in rejection(CONCATENATE, f32, f32, result=tensor("5x3xf32"), dimension=0)
    assert infer(CONCATENATE, f32, tensor("?x?xf32"), dimension=0) == tensor("?x3xf32")


def test_reverse_c1_c2_c3():
    f32 = tensor("2x3xf32")
    assert "(C1)" in rejection(REVERSE, f32, result=tensor("3x2xf32"), dimensions=(0,))
    assert "(C2)" in rejection(REVERSE, f32, dimensions=(0, 0))
    assert "(C3)" in rejection(REVERSE, f32, dimensions=(2,))
