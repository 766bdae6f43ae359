"""constant and iota."""

import numpy as np
import pytest

from numhlo.lowering.ir.types import BOOL, ELEMENT_TYPES, INTEGERS
from numhlo.lowering.ops.creation import CONSTANT, IOTA
from tests.lowering.ops.evaluation import evaluate, infer, rejection, tensor


@pytest.mark.parametrize("dtype", ELEMENT_TYPES.values(), ids=str)
@pytest.mark.specifies("constant, creation")
def test_constants_of_every_type(dtype):
    value = np.ones((2, 0, 3), dtype)
    assert evaluate(CONSTANT, value=value) is value


def test_constant_c1():
    assert "(C1)" in rejection(CONSTANT, result=tensor("2xf32"), value=np.zeros(2))
    assert infer(CONSTANT, value=np.zeros((2, 3), np.int8)) == tensor("2x3xi8")


@pytest.mark.parametrize("dimension", [0, 1, 2])
@pytest.mark.parametrize("dtype", sorted(set(ELEMENT_TYPES.values()) - {BOOL}, key=str), ids=str)
@pytest.mark.specifies("iota")
def test_iota_counts_along_each_axis_in_every_type(dtype, dimension):
    shape = (2, 4, 3)
    found = evaluate(IOTA, result=tensor("2x4x3xi32").with_dtype(dtype), iota_dimension=dimension)
    with np.errstate(all="ignore"):
        expected = np.indices(shape)[dimension].astype(np.int8).astype(np.float32)
        if dtype in INTEGERS:
            expected = np.indices(shape)[dimension].astype(np.int8).astype(dtype).astype(np.float32)
        if dtype == ELEMENT_TYPES["f8E8M0FNU"]:  # has powers of two alone
            assert (found.astype(np.float32) == expected)[(expected == 1) | (expected == 2)].all()
            return
    assert (found.astype(np.complex64) == expected).all()


def test_iota_wraps_and_rounds_once():
    assert evaluate(IOTA, result=tensor("300xi8"), iota_dimension=0)[[127, 128, 299]].tolist() == [127, -128, 43]
    bfloat16 = evaluate(IOTA, result=tensor("260xbf16"), iota_dimension=0)
    assert bfloat16[[256, 257, 259]].astype(int).tolist() == [256, 256, 260]


def test_iota_of_no_elements():
    assert evaluate(IOTA, result=tensor("0x3xf32"), iota_dimension=0).shape == (0, 3)


def test_iota_c1():
    assert "(C1) iota_dimension must be in [0, 1), not 1" in rejection(IOTA, result=tensor("3xf32"), iota_dimension=1)
    assert "(C1)" in rejection(IOTA, result=tensor("f32"), iota_dimension=0)
    assert "integers, floats or complex" in rejection(IOTA, result=tensor("3xi1"), iota_dimension=0)
    assert "the result type must be given" in rejection(IOTA, iota_dimension=0)
