"""Running reductions of every element type: the meaning is the decomposition's, step by step."""

import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType, element_spelling
from numhlo.lowering.ir.types import BOOL, COMPLEX, ELEMENT_TYPES, FLOATS
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.cumulative import COMBINERS, initial_value, make_cumulative


def is_nan(x):
    """Return where elements are not themselves, for any dtype."""
    return np.not_equal(x, x)


def sample(dtype):
    numbers = [[1, -2, 3, 0], [-3, 1, 0, 2], [2, 2, -1, -1]]
    if dtype in FLOATS:
        numbers = [[-0.0, 0.5, -1.5, 0], [0.0, -0.0, 2, -3], [-0.0, 0.0, np.nan, 1]]
    if dtype in COMPLEX:
        return np.array([[-7 - 5j, 1 + 2j], [-7 + 1j, 1 + 3j], [-1j, 0.5 + 9j]], dtype)
    return np.array(numbers).astype(np.int8 if dtype not in FLOATS else np.float64).astype(dtype)


@pytest.mark.parametrize("dtype", [d for d in ELEMENT_TYPES.values() if d != ELEMENT_TYPES["f8E8M0FNU"]], ids=str)
def test_meaning_is_the_decomposition(dtype):
    x = sample(dtype)
    type = TensorType(x.shape, dtype)
    b = FunctionBuilder("all", [type])
    attributes = [
        make_cumulative(kind, type, axis, reverse)
        for kind in COMBINERS
        for axis, reverse in ((0, False), (1, True), (0, True))
    ]
    function = b.finish([b.op(COMPOSITE, b.arguments[0], result=type, **a) for a in attributes])
    for found, parameters in zip(interpret(function, [x]), attributes, strict=True):
        (wanted,) = interpret(parameters["decomposition"], [x])
        assert found.dtype == dtype, parameters["name"]
        same = (found == wanted) | (is_nan(found) & is_nan(wanted))
        assert same.all(), (parameters["name"], found, wanted)
        if dtype in FLOATS:
            np.testing.assert_array_equal(np.signbit(found[same]), np.signbit(wanted[same]))


@pytest.mark.parametrize("dtype", [d for d in ELEMENT_TYPES.values() if d != BOOL], ids=element_spelling)
def test_extremes_start_below_or_above_everything(dtype):
    limits = [initial_value(kind, dtype).reshape(1) for kind in ("cummax", "cummin")]
    assert all(v.dtype == dtype and not is_nan(v).any() for v in limits)
    x = sample(dtype)
    x = np.append(x[~is_nan(x)], np.array([-np.inf - 5j, np.inf + 5j], dtype) if dtype in COMPLEX else x[:0])
    assert (limits[0] <= x).all() and (limits[1] >= x).all()
