import ml_dtypes
import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import tensor_type_of
from numhlo.lowering.ops import FunctionBuilder, control_flow
from numhlo.lowering.ops.order_statistics import make_order_statistics
from tests.backend.plain_engine import assert_same_bits

PLACES = np.array([0, 9, 3, -4, 4, 70])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, ml_dtypes.bfloat16, np.int8, np.uint32, np.bool_])
def test_agrees_with_sorting_and_the_decomposition(dtype, rng):
    x = rng.integers(0, 6, (3, 20)).astype(dtype)
    if x.dtype.kind not in "iub":
        x[0, :8] = np.array([np.nan, -np.nan, 0.0, -0.0, 0.0, -0.0, np.inf, -np.inf]).astype(dtype)
    types = [tensor_type_of(x), tensor_type_of(PLACES)]
    attributes = make_order_statistics(*types)
    b = FunctionBuilder("f", types)
    (found,) = interpret(b.finish(b.ops(control_flow.COMPOSITE, *b.arguments, **attributes)), [x, PLACES])
    (decomposed,) = interpret(attributes["decomposition"], [x, PLACES])
    assert_same_bits(found, decomposed)
    ordered = np.sort(x.astype(np.float32) if x.dtype == ml_dtypes.bfloat16 else x, axis=-1)
    np.testing.assert_array_equal(found.astype(ordered.dtype), ordered[:, np.clip(PLACES, 0, 19)])
