import jax
import ml_dtypes
import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType, tensor_type_of
from numhlo.lowering.ir.errors import ShapeError
from numhlo.lowering.ops import FunctionBuilder, control_flow
from numhlo.lowering.ops.ranking import make_top_k


def both(x, k):
    """Return the results of the composite and of its decomposition."""
    attributes = make_top_k(tensor_type_of(x), k)
    b = FunctionBuilder("f", [tensor_type_of(x)])
    results = b.ops(control_flow.COMPOSITE, *b.arguments, **attributes)
    return interpret(b.finish(results), [x]), interpret(attributes["decomposition"], [x])


def test_agrees_with_jax_and_the_decomposition(rng):
    for dtype in (np.float32, np.float64, np.int8, np.uint32):
        x = rng.integers(0, 6, (3, 20)).astype(dtype)
        if np.dtype(dtype).kind == "f":
            x[0, :6] = [np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf]
        for k in (0, 1, 7, 20):
            expected = jax.lax.top_k(x, k) if k else (x[:, :0], np.zeros((3, 0), np.int32))
            for values, places in both(x, k):
                np.testing.assert_array_equal(places, expected[1])
                np.testing.assert_array_equal(values, expected[0])
                assert (values.dtype, places.dtype) == (x.dtype, np.int32)


def test_other_element_types_and_ranks(rng):
    for dtype in (np.bool_, ml_dtypes.bfloat16, ml_dtypes.int4):
        x = rng.integers(0, 3, (2, 3, 5)).astype(dtype)
        (values, places), decomposed = both(x, 2)
        np.testing.assert_array_equal(values, decomposed[0])
        np.testing.assert_array_equal(places, decomposed[1])


@pytest.mark.parametrize(("shape", "k"), [((), 0), ((3,), 4), ((3,), -1)])
def test_k_out_of_range(shape, k):
    with pytest.raises(ShapeError, match="top_k"):
        make_top_k(TensorType(shape, np.dtype(np.float32)), k)
