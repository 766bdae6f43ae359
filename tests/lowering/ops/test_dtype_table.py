"""Tables of functions by element type: what narrow types go through, and that results are arrays."""

import numpy as np
import pytest

from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ir.types import ELEMENT_TYPES, NARROW_FLOATS
from numhlo.lowering.ops.dtype_table import NARROW_INTEGERS, by_kind, returning_array, widened


def test_widened_types():
    assert {widened(dtype) for dtype in NARROW_FLOATS} == {np.dtype(np.float32)}
    assert [widened(dtype).name for dtype in NARROW_INTEGERS] == ["int8", "uint8", "int8", "uint8"]
    assert widened(np.dtype(np.int64)) == np.int64


def test_functions_see_arrays_that_numpy_computes_in():
    seen = []

    def function(x):
        seen.append((x.dtype.name, x.shape))
        return x + x.dtype.type(1)

    table = by_kind("next", integer=function, floating=function, wide_complex=function)
    for name in ("i4", "bf16", "f16", "f64", "complex<f32>"):
        dtype = ELEMENT_TYPES[name]
        result = table[dtype](np.ones((), dtype))
        assert type(result) is np.ndarray
        assert (result.dtype, result.shape) == (dtype, ())
        assert result.astype(np.complex64) == 2
    names = ["int8", "float32", "float32", "float64", "complex128"]
    assert seen == [(name, (1,)) for name in names]


def test_comparisons_keep_their_booleans():
    table = by_kind("finite", floating=np.isfinite)
    assert table[ELEMENT_TYPES["bf16"]](np.ones(2, ELEMENT_TYPES["bf16"])).dtype == bool


@pytest.mark.parametrize("function", [np.add, np.negative, np.logical_not])
def test_ufuncs_return_arrays(function):
    x = np.array(1.0)
    assert type(returning_array(function)(*[x] * function.nin)) is np.ndarray


def test_types_without_a_function_are_refused():
    with pytest.raises(UnsupportedError, match="next of bool has no meaning yet"):
        by_kind("next", integer=np.add)[ELEMENT_TYPES["i1"]]
