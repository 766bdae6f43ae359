"""What a function refers to: callees wherever an attribute holds them."""

import pytest

from numhlo.lowering.ir import Module
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.passes.legalization import legalize
from numhlo.lowering.text import parse, print_module
from numhlo.lowering.verifier import verify

CUSTOM = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @solve(%x) {called_computations = [@first, @second]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.sinh %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @second(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @first(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


def test_functions_that_a_custom_call_names_are_callees():
    main = parse(CUSTOM).main
    assert [f.name for f in main.callees()] == ["first", "second"]
    assert [f.name for f in Module([main]).reachable()] == ["main", "first", "second"]
    printed = print_module(Module([main]))
    assert "@first" in printed and print_module(parse(printed)) == printed


def test_functions_that_a_custom_call_names_are_checked_and_made_legal():
    found = legalize(parse(CUSTOM).main)
    first, second = found.callees()
    assert all(op.definition.dialect != "chlo" for f in (first, second) for op in f.body.walk())
    assert second.callees() == [first]
    verify(found)
    recursive = CUSTOM.replace("func.call @first(%x)", "func.call @main(%x)")
    with pytest.raises(VerificationError, match="recursion: @main calls @second calls @main"):
        verify(parse(recursive))


def test_parts_of_a_graph_say_what_they_are():
    module = parse(CUSTOM)
    body = module.main.body
    assert repr(module).startswith("<module @: <function @main(tensor<4xf32>) -> (tensor<4xf32>)>, <function @first")
    assert repr(body) == "<region (tensor<4xf32>) -> (tensor<4xf32>), 1 op>"
    assert repr(body.arguments[0]) == "<value of type tensor<4xf32>>"
