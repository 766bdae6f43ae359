"""Lines of text and the places that their ops come from."""

import re

from numhlo.lowering.text import parse, print_module
from numhlo.lowering.text.located_lines import annotated_text, located_lines

TEXT = """
func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.sine %x : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }, {
    %1 = func.call @twice(%x) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %2 = stablehlo.cosine %0 : tensor<f32> loc("model.py":7:1)
  %3 = stablehlo.negate %2 : tensor<f32> loc("model.py":7:5)
  return %3 : tensor<f32>
}
func.func private @twice(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
"""


def test_lines_are_the_printed_text():
    module = parse(TEXT, "model.mlir")
    for generic in (False, True):
        lines = located_lines(module, generic=generic)
        assert [line.text for line in lines] == print_module(module, generic=generic).splitlines()
        places = [(re.search(r"stablehlo\.(\w+)", line.text), line.location) for line in lines]
        found = {name[1]: location.line for name, location in places if name and location}
        assert found == {"if": 3, "sine": 4, "cosine": 7, "negate": 7, "add": 15}


def test_lines_that_begin_no_op_have_no_place():
    lines = located_lines(parse(TEXT, "model.mlir"))
    assert all(line.location is None for line in lines if "return" in line.text or line.text.strip().startswith("}"))


def test_annotations():
    notes = [line.partition("  // ")[2] for line in annotated_text(parse(TEXT, "model.mlir")).splitlines()]
    assert [note for note in notes if note] == [
        "model.mlir:3", "model.mlir:4", "model.mlir:7", "model.py:7", "model.mlir:15",
    ]  # fmt: skip
