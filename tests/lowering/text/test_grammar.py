"""Spellings that the specification's grammar has and MLIR's parser does not, and those that neither has."""

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.errors import ParseError
from numhlo.lowering.ir.types import ELEMENT_TYPES

LITERALS = {
    ("+3", "i32"): 3,
    ("+0x1F", "i32"): 31,
    ("-0x1F", "si16"): -31,
    ("3", "f32"): 3.0,
    ("+3.5", "f64"): 3.5,
    ("3e2", "f32"): 300.0,
    ("-3E-2", "f64"): -0.03,
    ("0x7F80", "bf16"): np.inf,
    ("0x3", "f4E2M1FN"): 1.5,
    ("(1, +2e1)", "complex<f32>"): 1 + 20j,
    ("0x1", "i1"): True,
}
REFUSED = [
    ("++3", "i32"),
    ("+-3", "i32"),
    ("+", "i32"),
    ("0b1", "i32"),
    ("3.", "i32"),
    (".5", "f32"),
    ("e5", "f32"),
    ("+0x7FC0", "bf16"),
    ("0x1F", "f4E2M1FN"),
    ("0x7F", "f6E2M3FN"),
    ("0x10", "i1"),
    ("+true", "i1"),
    ("(+, 1)", "complex<f64>"),
]


def constant(literal, element):
    type = f"tensor<{element}>"
    return f"func.func @main() -> {type} {{ %0 = stablehlo.constant dense<{literal}> : {type} return %0 : {type} }}"


@pytest.mark.parametrize(("literal", "element"), LITERALS)
@pytest.mark.specifies("reading")
def test_literals(literal, element):
    module = stablehlo.parse(constant(literal, element), strict=True)
    (found,) = module.interpret("main")
    assert found.dtype == ELEMENT_TYPES[element.removeprefix("s")]
    np.testing.assert_array_equal(np.asarray(found), np.array(LITERALS[literal, element]).astype(found.dtype))


@pytest.mark.parametrize(("literal", "element"), REFUSED)
def test_what_is_no_literal(literal, element):
    with pytest.raises(ParseError, match=r"\^"):
        stablehlo.parse(constant(literal, element))


@pytest.mark.parametrize("width", [2, 4, 8, 16, 32, 64])
def test_signed_integers_have_two_names(width):
    text = "func.func @main(%x: T) -> T { %0 = stablehlo.negate %x : T return %0 : T }".replace("T", "tensor<2xIxx>")
    named = stablehlo.parse(text.replace("Ixx", f"si{width}"), strict=True)
    assert named.as_text() == stablehlo.parse(text.replace("Ixx", f"i{width}")).as_text()


@pytest.mark.specifies("tokens and strings")
def test_tokens_by_their_plain_name():
    text = """func.func @main(%k: token) -> (token, tuple<token>) {
      %0 = "stablehlo.after_all"(%k) : (token) -> token
      %1 = "stablehlo.tuple"(%0) : (token) -> tuple<token>
      return %0, %1 : token, tuple<token> }"""
    official = text.replace("token", "!stablehlo.token")
    assert stablehlo.parse(text, strict=True).as_text() == stablehlo.parse(official).as_text()


def test_attributes_may_have_signs():
    text = """func.func @main() {
      %0 = "stablehlo.iota"() {iota_dimension = +0 : i64, x = 3 : f32} : () -> tensor<4xi32>
      return }"""
    assert "<{iota_dimension = 0 : i64}> {x = 3.000000e+00 : f32}" in stablehlo.parse(text).as_text(generic=True)
    with pytest.raises(ParseError, match="expected a number"):
        stablehlo.parse(text.replace("+0", "+ -0"))


def test_results_without_parentheses():
    text = "func.func @main(%x: tensor<f32>) -> tensor<f32>, tensor<f32> { return %x, %x : tensor<f32>, tensor<f32> }"
    assert [r.item() for r in stablehlo.parse(text).interpret("main", np.float32(2))] == [2, 2]
