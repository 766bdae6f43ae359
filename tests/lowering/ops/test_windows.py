"""reduce_window and select_and_scatter: constraints by number, the specification's examples, any body."""

import ml_dtypes
import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ir.types import BOOL, ELEMENT_TYPES
from numhlo.lowering.ops import comparison, control_flow, conversion, elementwise, windows
from numhlo.lowering.ops.reduction_order import reduce_in_order
from numhlo.lowering.ops.window_geometry import Windows, windows_of
from numhlo.lowering.ops.windows import REDUCE_WINDOW, SELECT_AND_SCATTER
from tests.lowering.ops.evaluation import tensor
from tests.lowering.ops.one_op import binary_body, combining, infer, run, scalar

X, INIT = tensor("3x2xf32"), tensor("f32")
ADD = binary_body(elementwise.ADD, np.float32)


def rejected(definition, types, regions, **attributes):
    with pytest.raises(VerificationError) as caught:
        infer(definition, types, regions, **attributes)
    return str(caught.value)


@pytest.mark.parametrize(
    ("rule", "changed"),
    [
        ("C4", {"window_dimensions": (2,)}),
        ("C5", {"window_dimensions": (2, 0)}),
        ("C6", {"window_strides": (1, 1, 1)}),
        ("C7", {"window_strides": (0, 1)}),
        ("C8", {"base_dilations": (1,)}),
        ("C9", {"base_dilations": (1, 0)}),
        ("C10", {"window_dilations": (1,)}),
        ("C11", {"window_dilations": (-1, 1)}),
        ("C12", {"padding": np.zeros((1, 2), np.int64)}),
    ],
)
def test_reduce_window_constraints(rule, changed):
    assert f"({rule})" in rejected(REDUCE_WINDOW, [X, INIT], [ADD], **{"window_dimensions": (2, 1), **changed})


def test_reduce_window_constraints_on_operands_and_body():
    size = {"window_dimensions": (2, 1)}
    two = [binary_body(elementwise.ADD, np.float32, np.float32)]
    assert "(C1)" in rejected(REDUCE_WINDOW, [X, X, INIT], two, **size)
    assert "(C2)" in rejected(REDUCE_WINDOW, [X, tensor("2x3xf32"), INIT, INIT], two, **size)
    assert "(C3)" in rejected(REDUCE_WINDOW, [X, tensor("i32")], [ADD], **size)
    assert "(C13)" in rejected(REDUCE_WINDOW, [X, INIT], [binary_body(elementwise.ADD, np.int32)], **size)
    wide = infer(REDUCE_WINDOW, [X, INIT], [binary_body(elementwise.ADD, np.float64)], **size)
    assert wide == [tensor("2x2xf64")]  # (C15), (C16)
    assert infer(REDUCE_WINDOW, [X, INIT], [ADD], window_dimensions=(4, 1)) == [tensor("0x2xf32")]


@pytest.mark.specifies("reduce_window")
def test_reduce_window_of_the_specification():
    options = {
        "window_dimensions": (2, 1),
        "window_strides": (4, 1),
        "base_dilations": (2, 1),
        "window_dilations": (3, 1),
        "padding": np.array([[2, 1], [0, 0]]),
    }
    x = np.array([[1, 2], [3, 4], [5, 6]])
    regions = [binary_body(elementwise.ADD, np.int64)]
    (found,) = run(REDUCE_WINDOW, x, np.int64(0), regions=regions, **options)
    assert found.tolist() == [[0, 0], [3, 4]]
    (found,) = run(REDUCE_WINDOW, x, np.int64(100), regions=regions, **options)
    assert found.tolist() == [[300, 300], [203, 204]]  # padding and holes are initial values, which comes first besides


def test_sums_have_the_bits_of_reductions(rng):
    x = rng.standard_normal((40, 5)).astype(np.float32)
    (found,) = run(REDUCE_WINDOW, x, np.float32(0.5), regions=[ADD], window_dimensions=(33, 1))
    expected = [[np.float32(0.5) + reduce_in_order(np.add, x[k : k + 33, j]) for j in range(5)] for k in range(8)]
    np.testing.assert_array_equal(found, expected)
    narrow = rng.standard_normal((3000,)).astype(ml_dtypes.bfloat16)
    body = binary_body(elementwise.ADD, ml_dtypes.bfloat16)
    (found,) = run(REDUCE_WINDOW, narrow, np.zeros((), narrow.dtype), regions=[body], window_dimensions=(3000,))
    assert found[0] == reduce_in_order(np.add, narrow.astype(np.float32)).astype(narrow.dtype)


def test_windows_are_looked_at_in_parts(rng, monkeypatch):
    x = rng.integers(0, 99, (50, 3))
    options = {"regions": [binary_body(elementwise.MAXIMUM, np.int64)], "window_dimensions": (7, 2)}
    (whole,) = run(REDUCE_WINDOW, x, np.int64(0), **options)
    monkeypatch.setattr(windows, "MOST_ELEMENTS", 100)
    (parts,) = run(REDUCE_WINDOW, x, np.int64(0), **options)
    assert parts.tolist() == whole.tolist() == [[x[i : i + 7, j : j + 2].max() for j in range(2)] for i in range(44)]


def comparing(direction="GE", dtype=np.int64):
    return (
        [scalar(dtype)] * 2,
        lambda b, x, y: [b.op(comparison.COMPARE, x, y, comparison_direction=direction)],
    )


SCATTER = binary_body(elementwise.ADD, np.int64)
OPERAND, SOURCE = np.array([[1, 5], [2, 5], [3, 6], [4, 4]]), np.array([[5, 6], [7, 8]])
OPTIONS = {"window_dimensions": (3, 1), "window_strides": (2, 1), "padding": np.array([[0, 1], [0, 0]])}


@pytest.mark.specifies("select_and_scatter")
def test_select_and_scatter_of_the_specification():
    regions = [comparing(), SCATTER]
    (found,) = run(SELECT_AND_SCATTER, OPERAND, SOURCE, np.int64(0), regions=regions, **OPTIONS)
    assert found.tolist() == [[0, 0], [0, 0], [5, 14], [7, 0]]


@pytest.mark.specifies("windows")
def test_any_selection_and_any_scatter():
    def branch(b, x, y):
        larger = b.op(comparison.COMPARE, x, y, comparison_direction="GE")
        bodies = [b.region([], lambda: [larger]), b.region([], lambda: [larger])]
        return b.ops(control_flow.IF, larger, regions=bodies, results=[scalar(BOOL)])

    regions = [([scalar(np.int64)] * 2, branch), binary_body(elementwise.MULTIPLY, np.int64)]
    (found,) = run(SELECT_AND_SCATTER, OPERAND, SOURCE, np.int64(2), regions=regions, **OPTIONS)
    assert found.tolist() == [[2, 2], [2, 2], [10, 96], [14, 2]]
    beyond = {**OPTIONS, "padding": np.array([[3, 1], [0, 0]])}
    (found,) = run(
        SELECT_AND_SCATTER,
        OPERAND,
        np.array([[9, 9], [5, 6], [7, 8]]),
        np.int64(0),
        regions=[comparing("LE"), SCATTER],
        **beyond,
    )
    assert found.tolist() == [[5, 6], [7, 0], [0, 0], [0, 8]]  # the first window sees nothing


def test_select_and_scatter_constraints():
    x, source, init = tensor("4x2xi64"), tensor("2x2xi64"), tensor("i64")
    good = [comparing(), SCATTER]
    for rule, types, changed in (
        ("C1", [x, tensor("2x2xi32"), init], {}),
        ("C2", [x, tensor("2x1xi64"), init], {}),
        ("C3", [x, source, tensor("1xi64")], {}),
        ("C4", [x, source, init], {"window_dimensions": (3,)}),
        ("C5", [x, source, init], {"window_dimensions": (3, 0)}),
        ("C6", [x, source, init], {"window_strides": (2,)}),
        ("C7", [x, source, init], {"window_strides": (2, -1)}),
        ("C8", [x, source, init], {"padding": np.zeros((2, 3), np.int64)}),
    ):
        assert f"({rule})" in rejected(SELECT_AND_SCATTER, types, good, **{**OPTIONS, **changed})
    assert "(C9)" in rejected(SELECT_AND_SCATTER, [x, source, init], [SCATTER, SCATTER], **OPTIONS)
    narrow = binary_body(elementwise.ADD, np.int32)
    assert "(C10)" in rejected(SELECT_AND_SCATTER, [x, source, init], [comparing(), narrow], **OPTIONS)


def test_scatter_may_accumulate_in_a_wider_type():
    regions = [comparing(dtype=np.int8), binary_body(elementwise.ADD, np.int32)]
    arrays = [a.astype(np.int8) for a in (OPERAND, SOURCE * 20, np.zeros(()))]
    (found,) = run(SELECT_AND_SCATTER, *arrays, regions=regions, **OPTIONS)
    assert found.dtype == np.int32 and found[2, 1] == np.int32(np.int8(120)) + np.int32(np.int8(-96))


def test_pairs_and_bodies_that_convert():
    def body(b, x, n, y, m):
        total = b.op(elementwise.ADD, n, m)
        return [b.op(elementwise.ADD, x, b.op(conversion.CONVERT, y, result=scalar(np.float32))), total]

    types = combining(np.float32, np.int64)
    x, n = np.arange(5, dtype=np.float32), np.arange(5)
    found = run(REDUCE_WINDOW, x, n, np.float32(0), np.int64(0), regions=[(types, body)], window_dimensions=(2,))
    assert [a.tolist() for a in found] == [[1, 3, 5, 7], [1, 3, 5, 7]]


def test_windows_of_every_element_type():
    windows = Windows((2,), (1,), ((0, 0),), (1,), (1,))
    for dtype in ELEMENT_TYPES.values():
        found = windows_of(np.ones(3, dtype), windows, (2,))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found == np.ones((), dtype), [[True, True], [True, True]])


@pytest.mark.parametrize("way", ["interpret", "run"])
def test_a_region_uses_a_scalar_from_outside(way):
    """Regions are evaluated on many elements at once; a scalar from outside stands for each of them."""
    module = stablehlo.parse("""func.func @main(%x: tensor<2x3xf32>, %low: tensor<f32>) -> tensor<2x2xf32> {
      %0 = "stablehlo.reduce_window"(%x, %low) <{window_dimensions = array<i64: 1, 2>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.maximum %low, %b : tensor<f32>
        %2 = stablehlo.maximum %a, %1 : tensor<f32>
        stablehlo.return %2 : tensor<f32>
      }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    }""")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    found = getattr(module, way)("main", x, np.float32(2.5))[0]
    np.testing.assert_array_equal(found, np.maximum(np.maximum(x[:, 1:], x[:, :-1]), 2.5))
