import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.ops import FunctionBuilder, control_flow, elementwise, layout
from numhlo.lowering.ops.composites import COMPOSITES
from numhlo.lowering.ops.loops import loop_body, make_map, make_scan

F64 = np.dtype(np.float64)
SCALAR, ROW = TensorType((), F64), TensorType((3,), F64)


def step():
    """``(weight, (total, row)) , x -> total + weight * x, row * weight; y0 = total, y1 = row``."""
    b = FunctionBuilder("step", [SCALAR, SCALAR, ROW, SCALAR])
    weight, total, row, x = b.arguments
    new_total = b.op(elementwise.ADD, total, b.op(elementwise.MULTIPLY, weight, x))
    wide = b.op(layout.BROADCAST_IN_DIM, weight, result=ROW, broadcast_dimensions=())
    new_row = b.op(elementwise.MULTIPLY, row, wide)
    return b.finish([new_total, new_row, total, new_row])


def composite(name, decomposition, **attributes):
    b = FunctionBuilder("f", decomposition.argument_types)
    options = {"name": name, "composite_attributes": attributes, "decomposition": decomposition}
    return b.finish(b.ops(control_flow.COMPOSITE, *b.arguments, **options))


def scan_in_python(weight, total, row, xs, reverse):
    totals, rows = np.empty(len(xs)), np.empty((len(xs), 3))
    for k in reversed(range(len(xs))) if reverse else range(len(xs)):
        totals[k] = total
        total, row = total + weight * xs[k], row * weight
        rows[k] = row
    return total, row, totals, rows


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [0, 1, 6])
def test_scan_and_its_decomposition(length, reverse, rng):
    body = step()
    decomposition = make_scan(body, length, 1, 2, reverse)
    xs = rng.standard_normal(length)
    arrays = [np.array(0.5), np.array(1.0), np.ones(3), xs]
    expected = scan_in_python(0.5, 1.0, np.ones(3), xs, reverse)
    options = {"length": length, "num_consts": 1, "num_carries": 2, "reverse": reverse}
    function = composite("numhlo.scan", decomposition, **options)
    for program in (decomposition, function):
        for got, wanted in zip(interpret(program, arrays), expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-15)
            assert got.shape == np.shape(wanted)
    assert loop_body(function.body.ops[0]) is body
    assert loop_body(decomposition) is body


@pytest.mark.parametrize("lanes", [0, 1, 4])
def test_map_and_its_decomposition(lanes, rng):
    b = FunctionBuilder("lane", [SCALAR, ROW])
    scale, row = b.arguments
    wide = b.op(layout.BROADCAST_IN_DIM, scale, result=ROW, broadcast_dimensions=())
    body = b.finish([b.op(elementwise.MULTIPLY, row, wide), scale])
    decomposition = make_map(body, lanes, 1)
    rows = rng.standard_normal((lanes, 3))
    for program in (decomposition, composite("numhlo.map", decomposition, lanes=lanes, num_consts=1)):
        got = interpret(program, [np.array(2.0), rows])
        np.testing.assert_array_equal(got[0], 2 * rows)
        np.testing.assert_array_equal(got[1], np.full(lanes, 2.0))


def test_decomposition_may_be_a_plain_function():
    attributes = {"decomposition": lambda *arrays: ("decomposed", *arrays)}
    attributes["composite_attributes"] = {"length": 1, "num_consts": 0, "num_carries": 1, "reverse": False}
    assert COMPOSITES["numhlo.scan"].evaluate((1,), attributes, ()) == ("decomposed", 1)


def test_a_foreign_decomposition_is_refused():
    b = FunctionBuilder("foreign", [SCALAR])
    with pytest.raises(InternalError, match="foreign has no loop that calls a body"):
        loop_body(b.finish(b.arguments))
