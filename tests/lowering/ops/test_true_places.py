import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import tensor_type_of
from numhlo.lowering.ops import FunctionBuilder, control_flow
from numhlo.lowering.ops.true_places import make_true_places


@pytest.mark.parametrize("shape", [(20,), (3, 20), (2, 2, 9), (0,), (2, 0), (0, 4)])
@pytest.mark.parametrize("size", [0, 1, 8, 20, 25])
def test_agrees_with_the_decomposition_and_numpy(shape, size, rng):
    mask = rng.uniform(size=shape) < 0.4
    mask[..., :1] = True
    attributes = make_true_places(tensor_type_of(mask), size)
    b = FunctionBuilder("f", [tensor_type_of(mask)])
    (found,) = interpret(b.finish(b.ops(control_flow.COMPOSITE, *b.arguments, **attributes)), [mask])
    (decomposed,) = interpret(attributes["decomposition"], [mask])
    assert found.dtype == decomposed.dtype == np.int64
    np.testing.assert_array_equal(found, decomposed)
    for index in np.ndindex(shape[:-1]):
        expected = np.flatnonzero(mask[index])[:size]
        np.testing.assert_array_equal(found[index][: expected.size], expected)
        assert (found[index][expected.size :] == shape[-1]).all()
