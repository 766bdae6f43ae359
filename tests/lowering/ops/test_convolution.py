"""convolution: its constraints by number, its types, its values against the specification's example and XLA."""

import ml_dtypes
import numpy as np
import pytest

from numhlo.lowering.ir import DYNAMIC, TensorType
from numhlo.lowering.ops.convolution import CONVOLUTION
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers
from tests.lowering.ops.evaluation import evaluate, infer, rejection, tensor

NUMBERS = ConvolutionDimensionNumbers.from_letters("b01f", "01io", "b01f")
GROUPS = {"feature_group_count": 1, "batch_group_count": 1, "dimension_numbers": NUMBERS}
LHS, RHS = tensor("4x7x6x4xf32"), tensor("3x2x4x6xf32")


def without(**changed):
    return ConvolutionDimensionNumbers(**{**NUMBERS.__dict__, **changed})


@pytest.mark.parametrize(
    ("rule", "changed"),
    [
        ("C2", {"window_strides": (1,)}),
        ("C3", {"window_strides": (1, 0)}),
        ("C4", {"padding": np.zeros((2, 1), np.int64)}),
        ("C5", {"lhs_dilation": (1, 1, 1)}),
        ("C6", {"lhs_dilation": (0, 1)}),
        ("C7", {"rhs_dilation": (1,)}),
        ("C8", {"rhs_dilation": (1, -1)}),
        ("C9", {"window_reversal": (True,)}),
        ("C10", {"batch_group_count": 3}),
        ("C11", {"feature_group_count": 3}),
        ("C12", {"dimension_numbers": without(input_spatial_dimensions=(1,))}),
        ("C13", {"dimension_numbers": without(input_spatial_dimensions=(1, 1))}),
        ("C14", {"feature_group_count": 2}),
        ("C17", {"dimension_numbers": without(kernel_spatial_dimensions=(0, 1, 2))}),
        ("C18", {"dimension_numbers": without(kernel_spatial_dimensions=(0, 4))}),
        ("C19", {"dimension_numbers": without(output_spatial_dimensions=())}),
        ("C20", {"dimension_numbers": without(output_batch_dimension=3)}),
        ("C21", {"feature_group_count": 0}),
        ("C22", {"batch_group_count": -1}),
        ("C23", {"feature_group_count": 2, "batch_group_count": 2}),
        ("C24", {"precision_config": ("DEFAULT",)}),
    ],
)
def test_convolution_constraints(rule, changed):
    assert f"({rule})" in rejection(CONVOLUTION, LHS, RHS, **{**GROUPS, **changed})


def test_convolution_constraints_on_operands():
    assert "(C1)" in rejection(CONVOLUTION, LHS, tensor("3x4x6xf32"), **GROUPS)
    assert "(C15)" in rejection(CONVOLUTION, LHS, tensor("3x2x4x5xf32"), **{**GROUPS, "batch_group_count": 2})
    assert "(C16)" in rejection(CONVOLUTION, LHS, tensor("3x2x2x5xf32"), **{**GROUPS, "feature_group_count": 2})
    assert "(C25)" in rejection(CONVOLUTION, LHS, RHS, result=tensor("4x5x5x5xf32"), **GROUPS)
    assert "(C27)" in rejection(CONVOLUTION, LHS, tensor("3x2x4x6xf64"), **GROUPS)


def test_convolution_types():
    assert infer(CONVOLUTION, LHS, RHS, **GROUPS) == tensor("4x5x5x6xf32")
    assert infer(CONVOLUTION, LHS, RHS, result=tensor("4x5x5x6xf64"), **GROUPS) == tensor("4x5x5x6xf64")
    open_batch = TensorType((DYNAMIC, 7, DYNAMIC, 4), LHS.dtype)
    assert infer(CONVOLUTION, open_batch, RHS, **GROUPS).shape == (DYNAMIC, 5, DYNAMIC, 6)
    small = {"padding": np.array([[0, 0], [-6, 0]])}
    assert infer(CONVOLUTION, LHS, RHS, **GROUPS, **small).shape == (4, 5, 0, 6)


@pytest.mark.specifies("convolution")
def test_the_example_of_the_specification():
    x = np.array([[1, 2, 5, 6], [3, 4, 7, 8], [10, 11, 14, 15], [12, 13, 16, 17]]).reshape(1, 4, 4, 1)
    options = {"window_strides": (4, 4), "lhs_dilation": (2, 2), "padding": np.zeros((2, 2), np.int64)}
    found = evaluate(CONVOLUTION, x, np.ones((3, 3, 1, 1), np.int64), **GROUPS, **options)
    assert found.tolist() == [[[[10], [26]], [[46], [62]]]]


def test_narrow_floats_are_rounded_once_and_integers_wrap():
    x, k = np.full((1, 8, 8, 64), 1.0), np.full((8, 8, 64, 1), 1 / 64)
    for dtype in (np.float16, ml_dtypes.bfloat16):
        assert float(evaluate(CONVOLUTION, x.astype(dtype), k.astype(dtype), **GROUPS)[0, 0, 0, 0]) == 64
    wrapped = evaluate(CONVOLUTION, x.astype(np.int8), (64 * k).astype(np.int8), **GROUPS)
    assert wrapped.ravel().tolist() == [8 * 8 * 64 % 256]
    wide = evaluate(CONVOLUTION, x.astype(np.int8), (64 * k).astype(np.int8), result=tensor("1x1x1x1xi32"), **GROUPS)
    assert wide.ravel().tolist() == [8 * 8 * 64]
