import numpy as np
import pytest

from numhlo.lowering.ir import DYNAMIC, TensorType
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ops import indexing
from numhlo.lowering.ops.indexing import clamped_start
from tests.lowering.ops.one_op import infer, run

F32 = np.dtype(np.float32)
INTEGERS = [np.dtype(f"{kind}int{width}") for kind in ("", "u") for width in (8, 16, 32, 64)]


@pytest.mark.specifies("dynamic slices, dynamic_slice")
def test_dynamic_slice_clamps_starts_of_every_integer_type():
    x = np.arange(5 * 300).reshape(5, 300)
    for dtype in INTEGERS:
        lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
        for start, column in [(0, 0), (1, 3), (lowest, highest), (highest, lowest), (3, 100)]:
            (got,) = run(
                indexing.DYNAMIC_SLICE, x, np.array(start, dtype), np.array(column, dtype), slice_sizes=(2, 40)
            )
            row, first = min(max(int(start), 0), 3), min(max(int(column), 0), 260)
            np.testing.assert_array_equal(got, x[row : row + 2, first : first + 40])


def test_dynamic_slice_edges():
    x = np.arange(6.0).reshape(2, 3)
    assert run(indexing.DYNAMIC_SLICE, np.array(7.0), slice_sizes=())[0] == 7.0
    assert run(indexing.DYNAMIC_SLICE, x, np.int32(9), np.int32(9), slice_sizes=(0, 3))[0].shape == (0, 3)
    np.testing.assert_array_equal(run(indexing.DYNAMIC_SLICE, x, np.int8(-1), np.int8(1), slice_sizes=(2, 3))[0], x)


@pytest.mark.specifies("dynamic_update_slice")
def test_dynamic_update_slice_follows_the_specification_and_leaves_the_operand():
    operand = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]], np.int32)
    before = operand.copy()
    update = np.ones((2, 2), np.int32)
    (got,) = run(indexing.DYNAMIC_UPDATE_SLICE, operand, update, np.int64(-1), np.int64(3))
    np.testing.assert_array_equal(got, np.ones((4, 4)))
    np.testing.assert_array_equal(operand, before)
    assert run(indexing.DYNAMIC_UPDATE_SLICE, np.array(1.0), np.array(2.0))[0] == 2.0
    (same,) = run(indexing.DYNAMIC_UPDATE_SLICE, operand, np.ones((0, 4), np.int32), np.uint64(2**63), np.uint64(0))
    np.testing.assert_array_equal(same, before)


def test_dynamic_slice_worked_example():
    operand = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]], np.int32)
    (got,) = run(indexing.DYNAMIC_SLICE, operand, np.int64(-1), np.int64(3), slice_sizes=(2, 2))
    np.testing.assert_array_equal(got, np.ones((2, 2)))


@pytest.mark.parametrize(
    ("rule", "operand", "starts", "sizes"),
    [
        ("(C2)", (2, 3), ["int32"], (1, 1)),
        ("(C2)", (2, 3), ["int32"] * 2, (1,)),
        ("(C3)", (2, 3), ["int32", "int64"], (1, 1)),
        ("(C4)", (2, 3), ["int32"] * 2, (3, 1)),
        ("(C4)", (2, 3), ["int32"] * 2, (1, -1)),
        ("integer scalars", (2,), ["float32"], (1,)),
    ],
)
def test_dynamic_slice_constraints(rule, operand, starts, sizes):
    types = [TensorType(operand, F32), *[TensorType((), np.dtype(s)) for s in starts]]
    with pytest.raises(VerificationError) as caught:
        infer(indexing.DYNAMIC_SLICE, types, slice_sizes=sizes)
    assert rule in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "update", "dtype", "starts"),
    [
        ("(C2)", (1, 1), "float64", ["int32"] * 2),
        ("(C3)", (1,), "float32", ["int32"] * 2),
        ("(C4)", (1, 1), "float32", ["int32"]),
        ("(C5)", (1, 1), "float32", ["int32", "int8"]),
        ("(C6)", (1, 4), "float32", ["int32"] * 2),
    ],
)
def test_dynamic_update_slice_constraints(rule, update, dtype, starts):
    types = [TensorType((2, 3), F32), TensorType(update, np.dtype(dtype))]
    with pytest.raises(VerificationError) as caught:
        infer(indexing.DYNAMIC_UPDATE_SLICE, [*types, *[TensorType((), np.dtype(s)) for s in starts]])
    assert rule in str(caught.value)


def test_unknown_extents_are_accepted_and_declared_ones_kept():
    operand, index = TensorType((DYNAMIC, 3), F32), TensorType((), np.dtype(np.int32))
    assert infer(indexing.DYNAMIC_SLICE, [operand, index, index], slice_sizes=(5, 3)) == [TensorType((5, 3), F32)]
    declared = TensorType((7, 3), F32)
    types = [operand, TensorType((1, 3), F32), index, index]
    assert infer(indexing.DYNAMIC_UPDATE_SLICE, types, results=[declared]) == [declared]
    with pytest.raises(VerificationError):
        infer(indexing.DYNAMIC_UPDATE_SLICE, types, results=[TensorType((7, 4), F32)])


def test_clamped_start_of_numpy_integers():
    assert clamped_start(np.array(2**63, np.uint64), 4) == 4
    assert clamped_start(np.array(-128, np.int8), 4) == 0
