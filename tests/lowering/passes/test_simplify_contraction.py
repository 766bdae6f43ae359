"""dot becomes dot_general, with the same numbers."""

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
