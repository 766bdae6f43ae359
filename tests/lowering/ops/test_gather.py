import itertools

import ml_dtypes
import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers
from numhlo.lowering.ops.indexing import GATHER
from tests.lowering.ops.one_op import infer, run
from tests.oracle import run_on_xla


def gather_by_the_specification(operand, indices, n, sizes, result_shape):
    """The formula of the specification's section on gather, one element after another."""
    result = np.empty(result_shape, operand.dtype)
    batch_dims = [d for d in range(len(result_shape)) if d not in n.offset_dims]
    for result_index in np.ndindex(*result_shape):
        batch_index = [result_index[d] for d in batch_dims]
        if n.index_vector_dim < indices.ndim:
            where = list(batch_index)
            where.insert(n.index_vector_dim, slice(None))
            start = [int(i) for i in indices[tuple(where)]]
        else:
            start = [int(indices[tuple(batch_index)])]
        position = [0] * operand.ndim
        for d in range(operand.ndim):
            if d in n.start_index_map:
                position[d] = min(max(start[n.start_index_map.index(d)], 0), operand.shape[d] - sizes[d])
            if d in n.operand_batching_dims:
                axis = n.start_indices_batching_dims[n.operand_batching_dims.index(d)]
                position[d] += batch_index[axis - (0 if axis < n.index_vector_dim else 1)]
        offsets = iter(result_index[d] for d in n.offset_dims)
        for d in range(operand.ndim):
            if d not in n.collapsed_slice_dims and d not in n.operand_batching_dims:
                position[d] += next(offsets)
        result[result_index] = operand[tuple(position)]
    return result


def random_case(rng):
    """Return operand, indices, dimension numbers and slice sizes that obey all constraints."""
    rank = int(rng.integers(0, 5))
    shape = [int(n) for n in rng.integers(1, 4, rank)]
    roles = rng.choice(["window", "collapsed", "batching"], rank)
    dims = {role: [d for d in range(rank) if roles[d] == role] for role in ("window", "collapsed", "batching")}
    mappable = [d for d in range(rank) if d not in dims["batching"]]
    mapped = [int(d) for d in rng.permutation(mappable)[: rng.integers(0, len(mappable) + 1)]]
    sizes = [1 if roles[d] != "window" else int(rng.integers(0, shape[d] + 1)) for d in range(rank)]
    free = [int(n) for n in rng.integers(1, 4, rng.integers(0, 3))]
    batch = [*free, *[shape[d] for d in dims["batching"]]]
    order = rng.permutation(len(batch))
    batch_shape = [batch[k] for k in order]
    own_axes = [int(np.flatnonzero(order == len(free) + k)[0]) for k in range(len(dims["batching"]))]
    vector = int(rng.integers(0, len(batch) + 1))
    index_shape = list(batch_shape)
    if len(mapped) == 1 and rng.integers(2):
        vector = len(batch_shape)
    else:
        index_shape.insert(vector, len(mapped))
    total = len(batch) + len(dims["window"])
    offsets = sorted(int(d) for d in rng.permutation(total)[: len(dims["window"])])
    numbers = GatherDimensionNumbers(
        tuple(offsets),
        tuple(dims["collapsed"]),
        tuple(dims["batching"]),
        tuple(a + (a >= vector) for a in own_axes),
        tuple(mapped),
        vector,
    )
    dtype = rng.choice([np.int8, np.int32, np.int64, np.uint8, np.uint64])
    low = -2 if np.iinfo(dtype).min < 0 else 0
    indices = rng.integers(low, 5, index_shape).astype(dtype)
    return rng.integers(0, 100, shape), indices, numbers, tuple(sizes)


@pytest.mark.specifies("gather")
def test_random_dimension_numbers(rng):
    shapes = set()
    for _ in range(300):
        operand, indices, numbers, sizes = random_case(rng)
        (got,) = run(GATHER, operand, indices, dimension_numbers=numbers, slice_sizes=sizes)
        expected = gather_by_the_specification(operand, indices, numbers, sizes, got.shape)
        np.testing.assert_array_equal(got, expected, err_msg=f"{numbers} {sizes}")
        shapes.add(got.shape)
    assert len(shapes) > 50


def test_worked_example_of_the_specification():
    operand = np.arange(1, 49, dtype=np.int32).reshape(2, 3, 4, 2)
    indices = np.array(
        [
            [[[0, 0], [1, 0], [2, 1]], [[0, 1], [1, 1], [0, 9]]],
            [[[0, 0], [2, 1], [2, 2]], [[1, 2], [0, 1], [1, 0]]],
        ]
    )
    numbers = GatherDimensionNumbers((3, 4), (1,), (0,), (1,), (2, 1), 3)
    (got,) = run(GATHER, operand, indices, dimension_numbers=numbers, slice_sizes=(1, 1, 2, 2))
    np.testing.assert_array_equal(got[0, 0], [[[1, 2], [3, 4]], [[3, 4], [5, 6]], [[13, 14], [15, 16]]])
    np.testing.assert_array_equal(got[1, 1], [[[43, 44], [45, 46]], [[33, 34], [35, 36]], [[27, 28], [29, 30]]])


@pytest.mark.specifies("gather")
def test_every_element_type_and_huge_unsigned_starts():
    numbers = GatherDimensionNumbers((), (0,), (), (), (0,), 1)
    for dtype in (np.bool_, ml_dtypes.bfloat16, ml_dtypes.int4, ml_dtypes.float8_e4m3fn, np.complex64):
        operand = np.arange(4).astype(dtype)
        indices = np.array([2**64 - 1, 2**63, 0], np.uint64)
        (got,) = run(GATHER, operand, indices, dimension_numbers=numbers, slice_sizes=(1,))
        np.testing.assert_array_equal(got, operand[[3, 3, 0]])


def test_size_zero():
    numbers = GatherDimensionNumbers((1,), (), (), (), (0,), 1)
    (got,) = run(GATHER, np.zeros((0,)), np.zeros((3, 1), np.int32), dimension_numbers=numbers, slice_sizes=(0,))
    assert got.shape == (3, 0)
    numbers = GatherDimensionNumbers((), (0,), (), (), (0,), 1)
    (got,) = run(GATHER, np.zeros((4,)), np.zeros((0,), np.int32), dimension_numbers=numbers, slice_sizes=(1,))
    assert got.shape == (0,)


VALID = {
    "offset_dims": (1,),
    "collapsed_slice_dims": (0,),
    "operand_batching_dims": (),
    "start_indices_batching_dims": (),
    "start_index_map": (0,),
    "index_vector_dim": 1,
}


@pytest.mark.parametrize(
    ("rule", "changes", "sizes"),
    [
        ("(C1)", {"offset_dims": ()}, (1, 3)),
        ("(C2)", {"index_vector_dim": 3}, (1, 3)),
        ("(C3)", {"start_index_map": (0, 1)}, (1, 3)),
        ("(C4)", {"offset_dims": (1, 0), "collapsed_slice_dims": ()}, (1, 3)),
        ("(C5)", {"offset_dims": (2,)}, (1, 3)),
        ("(C6)", {"offset_dims": (), "collapsed_slice_dims": (0, 0)}, (1, 1)),
        ("(C7)", {"offset_dims": (), "collapsed_slice_dims": (1, 0)}, (1, 1)),
        ("(C8)", {"collapsed_slice_dims": (2,)}, (1, 3)),
        ("(C9)", {}, (2, 3)),
        ("(C10)", {"offset_dims": (), "collapsed_slice_dims": (), "operand_batching_dims": (1, 0)}, (1, 1)),
        ("(C11)", {"collapsed_slice_dims": (), "operand_batching_dims": (2,)}, (1, 3)),
        ("(C13)", {"start_indices_batching_dims": (0, 0)}, (1, 3)),
        ("(C14)", {"start_indices_batching_dims": (2,)}, (1, 3)),
        ("(C15)", {"start_indices_batching_dims": (1,)}, (1, 3)),
        ("(C16)", {"start_indices_batching_dims": (0,)}, (1, 3)),
        (
            "(C17)",
            {
                "collapsed_slice_dims": (),
                "operand_batching_dims": (1,),
                "start_indices_batching_dims": (0,),
            },
            (1, 1),
        ),
        ("(C18)", {"collapsed_slice_dims": (), "operand_batching_dims": (0,)}, (1, 3)),
        ("(C19)", {"start_index_map": (2,)}, (1, 3)),
        ("(C20)", {}, (1,)),
        ("(C21)", {}, (1, 4)),
    ],
)
def test_constraints(rule, changes, sizes):
    types = [TensorType((5, 3), np.dtype(np.float32)), TensorType((7, 1), np.dtype(np.int32))]
    assert infer(GATHER, types, dimension_numbers=GatherDimensionNumbers(**VALID), slice_sizes=(1, 3)) == [
        TensorType((7, 3), np.dtype(np.float32))
    ]
    with pytest.raises(VerificationError) as caught:
        infer(GATHER, types, dimension_numbers=GatherDimensionNumbers(**{**VALID, **changes}), slice_sizes=sizes)
    assert rule in str(caught.value)


def test_positions_cover_the_operand():
    operand = np.arange(12).reshape(3, 4)
    pairs = np.array(list(itertools.product(range(3), range(4))))
    numbers = GatherDimensionNumbers((), (0, 1), (), (), (0, 1), 1)
    (got,) = run(GATHER, operand, pairs, dimension_numbers=numbers, slice_sizes=(1, 1))
    np.testing.assert_array_equal(got, np.arange(12))


def test_slices_of_nothing_that_collapse_are_zeros():
    text = """func.func @main(%a: tensor<4x5xf32>, %i: tensor<2x3xi32>) -> tensor<2x3xf32> {
      %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0],
        start_index_map = [1, 0]>, slice_sizes = array<i64: 0, 2>}> : (tensor<4x5xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32> }"""
    arrays = [np.ones((4, 5), np.float32), np.ones((2, 3), np.int32)]
    module = stablehlo.parse(text)
    for found in (module.run("main", *arrays), module.interpret("main", *arrays), run_on_xla(text, arrays)):
        np.testing.assert_array_equal(found[0], np.zeros((2, 3)))
