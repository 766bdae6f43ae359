"""dot becomes dot_general, with the same numbers; bytes that are widened are multiplied as bytes."""

import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.passes import optimize
from numhlo.lowering.text import parse


@pytest.mark.parametrize(("left", "right", "result"), [("2x3", "3x4", "2x4x"), ("3", "3x4", "4x"), ("3", "3", "")])
def test_dot_is_a_dot_general(left, right, result, rng):
    types = f"tensor<{left}xf64>, tensor<{right}xf64>"
    first, second = types.split(", ")
    text = (
        f"func.func @main(%x: {first}, %y: {second}) -> tensor<{result}f64> {{\n"
        f'  %0 = "stablehlo.dot"(%x, %y) <{{precision_config = [#stablehlo<precision HIGHEST>, '
        f"#stablehlo<precision DEFAULT>]}}> : ({types}) -> tensor<{result}f64>\n  return %0 : tensor<{result}f64>\n}}"
    )
    found = optimize(parse(text).main)
    (op,) = found.body.ops
    assert op.definition.name == "dot_general"
    assert op.attributes["precision_config"] == ("HIGHEST", "DEFAULT")
    x, y = (rng.normal(size=[int(n) for n in side.split("x")]) for side in (left, right))
    np.testing.assert_allclose(interpret(found, [x, y])[0], x @ y)


@pytest.mark.parametrize(
    ("left", "right", "wide", "narrow"),
    [
        ("i8", "i8", "i32", True),
        ("ui8", "ui8", "i32", True),
        ("i8", "i8", "i64", True),
        ("i4", "i4", "i32", True),
        ("i8", "ui8", "i32", False),
        ("i8", "i8", "ui32", False),
        ("i16", "i16", "i32", False),
        ("i32", "i32", "i8", False),
        ("i8", "i8", "f32", False),
    ],
)
def test_products_of_widened_bytes_are_products_of_bytes(left, right, wide, narrow, rng):
    text = (
        f"func.func @main(%x: tensor<5x7x{left}>, %y: tensor<7x3x{right}>) -> tensor<5x3x{wide}> {{\n"
        f"  %0 = stablehlo.convert %x : (tensor<5x7x{left}>) -> tensor<5x7x{wide}>\n"
        f"  %1 = stablehlo.convert %y : (tensor<7x3x{right}>) -> tensor<7x3x{wide}>\n"
        f"  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : "
        f"(tensor<5x7x{wide}>, tensor<7x3x{wide}>) -> tensor<5x3x{wide}>\n  return %2 : tensor<5x3x{wide}>\n}}"
    )
    module = parse(text)
    found = optimize(module.main)
    names = [op.definition.name for op in found.body.ops]
    assert names == (["dot_general"] if narrow else ["convert", "convert", "dot_general"])
    dtypes = [v.tensor.dtype for v in module.main.body.arguments]
    arrays = [rng.integers(0, 7, shape).astype(dtype) for shape, dtype in zip([(5, 7), (7, 3)], dtypes, strict=True)]
    np.testing.assert_array_equal(interpret(found, arrays)[0], interpret(module.main, arrays)[0], strict=True)
