import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops import FunctionBuilder, control_flow, conversion, elementwise

F32 = TensorType((2,), np.dtype(np.float32))


def test_functions_ops_constants_and_regions():
    b = FunctionBuilder("f", [F32, TensorType((), np.dtype(np.bool_))])
    x, flag = b.arguments
    two = b.constant(np.array([2, 2], np.float32))
    regions = [
        b.region((), lambda: [b.op(elementwise.MULTIPLY, x, two)]),
        b.region((), lambda: [b.op(elementwise.ADD, x, two)]),
    ]
    (chosen,) = b.ops(control_flow.IF, flag, regions=regions)
    wide = b.op(conversion.CONVERT, chosen, result=TensorType((2,), np.dtype(np.float64)))
    function = b.finish([wide], visibility="public")
    assert (function.name, function.visibility) == ("f", "public")
    assert [len(r.ops) for r in regions] == [1, 1]
    assert [op.definition.name for op in function.body.ops] == ["constant", "if", "convert"]
    x_value = np.array([3, 4], np.float32)
    np.testing.assert_array_equal(interpret(function, [x_value, np.array(True)])[0], [6, 8])
    np.testing.assert_array_equal(interpret(function, [x_value, np.array(False)])[0], [5, 6])


def test_a_failing_region_leaves_the_builder_usable():
    b = FunctionBuilder("f", [F32])

    def fail():
        raise KeyError("oops")

    with pytest.raises(KeyError):
        b.region((), fail)
    assert b.finish(b.arguments).result_types == [F32]
