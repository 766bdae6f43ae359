"""Long windows by doubling: the same as window by window, in order, for any body that may be bracketed anyhow."""

import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import comparison, elementwise
from numhlo.lowering.ops.windows import REDUCE_WINDOW
from numhlo.lowering.passes.legalization import legalize
from numhlo.stablehlo import parse
from tests.lowering.ops.one_op import combining, one_op_function

U32 = np.dtype(np.uint32)


def compose(b, a, c, d, e):
    """Compose x -> a x + c with x -> d x + e: associative, exact, and not commutative."""
    product = b.op(elementwise.MULTIPLY, c, d)
    return [b.op(elementwise.MULTIPLY, a, d), b.op(elementwise.ADD, product, e)]


def later(b, x, i, y, j):
    """Choose the greater value, of equal ones the one on the right."""
    better = b.op(comparison.COMPARE, x, y, comparison_direction="GT")
    return [b.op(comparison.SELECT, better, x, y), b.op(comparison.SELECT, better, i, j)]


CASES = {
    "prefix": ((50, 2), {"window_dimensions": (50, 1), "padding": [[49, 0], [0, 0]]}),
    "suffix": ((2, 33), {"window_dimensions": (1, 33), "padding": [[0, 0], [0, 32]]}),
    "both": ((40, 37), {"window_dimensions": (33, 35), "window_strides": (3, 2), "padding": [[1, 2], [-1, 3]]}),
    "dilated": ((45,), {"window_dimensions": (32,), "base_dilations": (2,), "window_dilations": (2,)}),
    "one": ((32,), {"window_dimensions": (32,)}),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("body", [compose, later])
def test_any_body_in_order(name, body, rng):
    shape, attributes = CASES[name]
    attributes = {k: np.array(v) if k == "padding" else v for k, v in attributes.items()}
    arrays = [rng.integers(0, 9, shape, np.uint32) for _ in range(2)] + [np.uint32(3), np.uint32(5)]
    region = combining(U32, U32), body
    function = one_op_function(REDUCE_WINDOW, [np.asarray(a) for a in arrays], [region], **attributes)
    legal = legalize(function)
    assert "reduce_window" not in {op.definition.name for op in legal.body.ops}
    for found, wanted in zip(interpret(legal, arrays), interpret(function, arrays), strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)


def test_work_grows_with_the_logarithm_and_known_ops_stay():
    def ops(count, dtype, definition=elementwise.ADD, single=True):
        def write(b, x, y):
            return [b.op(definition, x, y) if single else b.op(definition, b.op(definition, x, y), y)]

        types = [TensorType((count,), np.dtype(dtype)), TensorType((), np.dtype(dtype))]
        attributes = {"window_dimensions": (count,), "padding": np.array([[count - 1, 0]])}
        region = combining(dtype), write
        return legalize(one_op_function(REDUCE_WINDOW, types, [region], **attributes)).body.ops

    lengths = [len(ops(2**k, np.uint64)) for k in (5, 10, 20)]
    assert lengths[1] - lengths[0] == 5 * 3 and lengths[2] - lengths[1] == 10 * 3
    for dtype in (np.float32, np.int32, np.complex64):
        assert [op.definition.name for op in ops(100, dtype)] == ["reduce_window"]
    assert [op.definition.name for op in ops(31, np.float32, single=False)] == ["reduce_window"]
    assert len(ops(100, np.float32, single=False)) > 10
    assert len(ops(100, np.complex64, elementwise.MAXIMUM)) > 10


@pytest.mark.parametrize("op", [elementwise.MAXIMUM, elementwise.MINIMUM])
def test_running_extremes_of_complex_numbers(op, rng):
    x = (rng.integers(-3, 4, 70) + 1j * rng.integers(-3, 4, 70)).astype(np.complex64)
    region = combining(np.complex64), lambda b, x, y: [b.op(op, x, y)]
    attributes = {"window_dimensions": (70,), "padding": np.array([[69, 0]])}
    function = one_op_function(REDUCE_WINDOW, [x, x[:1].reshape(())], [region], **attributes)
    (found,) = interpret(legalize(function), [x, x[0]])
    wanted = [
        sorted(x[: k + 1], key=lambda z: (z.real, z.imag))[0 if op is elementwise.MINIMUM else -1] for k in range(70)
    ]
    np.testing.assert_array_equal(found, wanted)


def test_ops_of_other_dialects_are_refused():
    """Whatever their names: in a body, they are not taken for those that numhlo knows."""
    for name in ("other.reshape", "other.constant", "other.abs"):
        text = f"""func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{
          %0 = "stablehlo.map"(%x) <{{dimensions = array<i64: 0>}}> ({{
            ^bb0(%a: tensor<f32>):
              %b = "{name}"(%a) : (tensor<f32>) -> tensor<f32>
              "stablehlo.return"(%b) : (tensor<f32>) -> ()
          }}) : (tensor<3xf32>) -> tensor<3xf32>
          return %0 : tensor<3xf32>
        }}"""
        with pytest.raises(UnsupportedError, match=f"{name} can't be run"):
            parse(text).run("main", np.ones(3, np.float32))
