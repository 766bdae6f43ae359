"""Bodies in other element types than what they combine: the verdicts of the official verifier, and converts by hand."""

import ml_dtypes
import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ops.casting import cast
from tests.lowering.ops.test_official_verdicts import accepted_by
from tests.oracle import official_parse

DTYPES = {"i1": np.bool_, "i8": np.int8, "ui32": np.uint32, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": float}
BODY = """({{ ^bb0(%x: tensor<{2}>, %y: tensor<{2}>): %z = stablehlo.add %x, %y : tensor<{2}>
    stablehlo.return %z : tensor<{2}> }})"""
SELECT = """({{ ^bb0(%x: tensor<{0}>, %y: tensor<{0}>): %z = stablehlo.compare GE, %x, %y
    : (tensor<{0}>, tensor<{0}>) -> tensor<i1> stablehlo.return %z : tensor<i1> }}"""
OPS = {
    "reduce": (f'"stablehlo.reduce"(%a, %i) {BODY} {{{{dimensions = array<i64: 0>}}}}', ""),
    "reduce_window": (f'"stablehlo.reduce_window"(%a, %i) {BODY} {{{{window_dimensions = array<i64: 4>}}}}', "1x"),
    "scatter": (
        '"stablehlo.scatter"(%a, %k, %i) <{{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], '
        f"scatter_dims_to_operand_dims = [0]>}}}}> {BODY}",
        "4x",
    ),
    "select_and_scatter": (
        f'"stablehlo.select_and_scatter"(%a, %s, %i) {SELECT}, {BODY[1:]} {{{{window_dimensions = array<i64: 4>}}}}',
        "4x",
    ),
}
TYPES = ("f32 f64 f32", "bf16 f32 f32", "f32 bf16 bf16", "f64 f32 f32", "i8 i8 ui32", "i1 i8 i8", "i8 i1 ui32")
TYPES += ("f32 f32 i8", "i8 f32 f32", "ui32 ui32 i8", "f32 f32 i1", "i8 ui32 i8")


def program(op, given, other, inside):
    line, extent = OPS[op]
    result = f"tensor<{extent}{inside}>"
    operands = {
        "scatter": f"tensor<4x{given}>, tensor<1xi32>, tensor<{other}>",
        "select_and_scatter": f"tensor<4x{given}>, tensor<1x{other}>, tensor<{other}>",
    }.get(op, f"tensor<4x{given}>, tensor<{other}>")
    return f"""func.func @main(%a: tensor<4x{given}>, %i: tensor<{other}>, %s: tensor<1x{other}>) -> {result} {{
      %k = stablehlo.constant dense<2> : tensor<1xi32>
      %0 = {line.format(given, other, inside)} : ({operands}) -> {result}
      return %0 : {result} }}"""


@pytest.mark.parametrize("op", OPS)
def test_operands_of_other_types_than_the_body(op):
    verdicts = set()
    for types in TYPES:
        given, other, inside = types.split()
        text = program(op, given, other, inside)
        is_right = accepted_by(official_parse, text)
        assert accepted_by(lambda text: stablehlo.parse(text).verify(), text) == is_right, types
        verdicts.add(is_right)
        if is_right:
            a, i, s = (
                cast(np.array(x), np.dtype(DTYPES[t]))
                for x, t in (([1.3, 7, 3, 0], given), (2.7, other), ([9.1], other))
            )
            (found,) = stablehlo.parse(text).interpret("main", a, i, s)
            same = program(op, inside, inside, inside)
            converted = [cast(x, found.dtype) for x in (a, i, s)]
            np.testing.assert_array_equal(found, stablehlo.parse(same).interpret("main", *converted)[0])
    assert verdicts == {True, False}
