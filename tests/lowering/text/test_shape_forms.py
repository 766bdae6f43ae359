"""Ops of arith, tensor and shape, which TensorFlow and torch-mlir write where shapes are computed: read as StableHLO."""

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ParseError, UnsupportedError
from tests.oracle import official_parse

X = np.arange(6, dtype=np.float32).reshape(2, 3)
V = np.array([-7, 2, 5], np.int32)

SHAPES = {
    "%r = shape.shape_of %x : tensor<?x3xf32> -> tensor<2xindex>": [2, 3],
    "%r = shape.const_shape [4, 5] : tensor<2xindex>": [4, 5],
    "%s = shape.shape_of %x : tensor<?x3xf32> -> !shape.shape\n"
    "%r = shape.to_extent_tensor %s : !shape.shape -> tensor<2xindex>": [2, 3],
    "%d = tensor.dim %x, %c0 : tensor<?x3xf32>\n%r = tensor.from_elements %d, %c1 : tensor<2xindex>": [2, 1],
    "%d = tensor.rank %x : tensor<?x3xf32>\n%r = tensor.from_elements %d, %d : tensor<2xindex>": [2, 2],
    "%s = shape.shape_of %x : tensor<?x3xf32> -> tensor<2xindex>\n%d = tensor.extract %s[%c0] : tensor<2xindex>\n"
    "%e = shape.get_extent %s, %c1 : tensor<2xindex>, index -> index\n%n = arith.muli %d, %e : index\n"
    "%m = shape.num_elements %s : tensor<2xindex> -> index\n%r = tensor.from_elements %n, %m : tensor<2xindex>": [6, 6],
    "%s = shape.shape_of %x : tensor<?x3xf32> -> tensor<2xindex>\n%t = shape.const_shape [4, 1, 3] : tensor<3xindex>\n"
    "%w = shape.cstr_broadcastable %s, %t : tensor<2xindex>, tensor<3xindex>\n%q = shape.assuming %w -> (tensor<3xindex>) {\n"
    "%u = shape.broadcast %s, %t : tensor<2xindex>, tensor<3xindex> -> tensor<?xindex>\n"
    "%v = tensor.cast %u : tensor<?xindex> to tensor<3xindex>\nshape.assuming_yield %v : tensor<3xindex>\n}\n"
    '%head, %tail = "shape.split_at"(%q, %c-2) : (tensor<3xindex>, index) -> (!shape.shape, !shape.shape)\n'
    "%r = shape.concat %tail, %head : !shape.shape, !shape.shape -> tensor<3xindex>": [2, 3, 4],
    "%s = shape.shape_of %x : tensor<?x3xf32> -> tensor<2xindex>\n%i = arith.index_cast %s : tensor<2xindex> to tensor<2xi32>\n"
    "%c = arith.constant dense<[5, -1]> : tensor<2xi32>\n%j = arith.maxsi %i, %c : tensor<2xi32>\n"
    "%r = arith.index_cast %j : tensor<2xi32> to tensor<2xindex>": [5, 3],
    "%c = arith.constant dense<[6, 7]> : tensor<2xindex>\n%d = arith.constant dense<2> : tensor<2xindex>\n"
    "%r = arith.divui %c, %d : tensor<2xindex>": [3, 3],
    "%a = shape.const_witness true\n%b = shape.cstr_eq %k, %k : tensor<2xindex>, tensor<2xindex>\n"
    "%w = shape.assuming_all %a, %b\n"
    '%r = "shape.assuming"(%w) ({ "shape.assuming_yield"(%k) : (tensor<2xindex>) -> () }) : (!shape.witness) -> tensor<2xindex>': [4, 1],
    '%d = "tensor.dim"(%x, %c1) : (tensor<?x3xf32>, index) -> index\n'
    '%e = "arith.constant"() <{value = -3 : index}> : () -> index\n'
    '%p = "arith.cmpi"(%d, %e) <{predicate = 8 : i64}> : (index, index) -> i1\n'
    "%q = arith.cmpi sgt, %d, %e : index\n%f = arith.select %p, %d, %e : index\n%g = arith.select %q, %d, %e : index\n"
    "%r = tensor.from_elements %f, %g : tensor<2xindex>": [-3, 3],
}  # fmt: skip
"""What computes the shape ``%r``, and the shape."""


def program(body):
    rank = body[: body.rindex("index>")].rpartition("tensor<")[2].rstrip("x")
    return f"""func.func @main(%x: tensor<?x3xf32>) -> tensor<{rank}xi64> {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c-2 = arith.constant -2 : index
      %k = shape.const_shape [4, 1] : tensor<2xindex>
      {body}
      %i64 = arith.index_cast %r : tensor<{rank}xindex> to tensor<{rank}xi64>
      return %i64 : tensor<{rank}xi64>
    }}"""


@pytest.mark.parametrize("body", SHAPES)
def test_shapes_that_are_computed(body):
    module = stablehlo.parse(program(body))
    (found,) = module.interpret("main", X)
    np.testing.assert_array_equal(found, SHAPES[body])
    printed = module.as_text(locations=True)
    assert "shape." not in printed and "arith." not in printed and "index" not in printed
    official_parse(printed)
    np.testing.assert_array_equal(stablehlo.parse(printed).run("main", X)[0], SHAPES[body])


def test_softmax_of_tensorflow():
    """As ``tf-lower-to-mlprogram-and-hlo`` writes it for any number of rows."""
    text = """module {
      func.func @softmax(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
        %cst = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
        %0 = stablehlo.exponential %arg0 : tensor<?x3xf32>
        %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %dim_1 = tensor.dim %1, %c0 : tensor<?xf32>
        %from_elements_2 = tensor.from_elements %dim_1, %c1 : tensor<2xindex>
        %8 = stablehlo.dynamic_reshape %1, %from_elements_2 : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
        %9 = shape.shape_of %0 : tensor<?x3xf32> -> tensor<2xindex>
        %10 = shape.cstr_broadcastable %9, %from_elements_2 : tensor<2xindex>, tensor<2xindex>
        %11 = shape.assuming %10 -> (tensor<?x3xf32>) {
          %12 = shape.shape_of %0 : tensor<?x3xf32> -> tensor<2xindex>
          %13 = shape.broadcast %12, %from_elements_2 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
          %14 = stablehlo.dynamic_broadcast_in_dim %0, %13, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x3xf32>
          %15 = stablehlo.dynamic_broadcast_in_dim %8, %13, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x3xf32>
          %16 = stablehlo.divide %14, %15 : tensor<?x3xf32>
          shape.assuming_yield %16 : tensor<?x3xf32>
        }
        return %11 : tensor<?x3xf32>
      }
    }"""  # fmt: skip
    module = stablehlo.parse(text)
    official_parse(module.as_text())
    for x in (X, X[:1]):
        (found,) = module.run("softmax", x)
        np.testing.assert_allclose(found, np.exp(x) / np.exp(x).sum(1, keepdims=True), rtol=1e-6)


def test_scalars_and_elements():
    text = """func.func @main(%v: tensor<3xi32>, %t: tensor<3xi64>) -> (tensor<i64>, tensor<3xi32>, tensor<i32>) {
      %c1 = arith.constant 1 : index
      %0 = tensor.extract %v[%c1] : tensor<3xi32>
      %c = arith.constant 10 : i32
      %1 = arith.subi %c, %0 overflow<nsw> : i32 loc("there")
      %2 = arith.extsi %1 : i32 to i64
      %3 = tensor.from_elements %2 : tensor<i64>
      %4 = tensor.from_elements %1, %0, %c : tensor<3xi32>
      %i = arith.index_cast %t : tensor<3xi64> to tensor<3xindex>
      %e = tensor.extract %i[%c1] : tensor<3xindex>
      %f = arith.index_cast %e : index to i32
      %5 = tensor.from_elements %f : tensor<i32>
      return %3, %4, %5 : tensor<i64>, tensor<3xi32>, tensor<i32>
    }"""
    module = stablehlo.parse(text)
    for results in (module.run("main", V, V.astype(np.int64)), module.interpret("main", V, V.astype(np.int64))):
        assert [r.tolist() for r in results] == [8, [8, 2, 10], 2]
    assert 'loc("there")' in module.as_text(locations=True)


ERRORS = {
    "%r = arith.muli %e : index": "there must be 2 operands, not 1",
    "%r = arith.addi %e, %e, %e : index": "there must be 2 operands, not 3",
    "%r = arith.select %e, %e : index": "there must be 3 operands, not 2",
    "%r = shape.any %k, %k : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>": "shape.any is not an op with a form",
    "%d = tensor.dim %x, %e : tensor<?x3xf32>": "which dimension is meant must be a constant",
    "%d = tensor.dim %x, %c9 : tensor<?x3xf32>": "there are 2 dimensions, not 9",
    "%d = arith.addi %c9, %c9 : i32": "operand 0 is of type tensor<i64>, not i32",
    "%d = shape.assuming %c9 -> (tensor<2xindex>) {\n}": "shape.assuming takes a witness, not tensor<i64>",
    "%w = shape.const_witness true\n%d = shape.assuming %w -> (index) {\nshape.assuming_yield\n}": "yields 0 values, and declares 1",
    "%d = stablehlo.add %k, %k : tensor<2xi32>": "operand 0 is of type tensor<2xi64>, not tensor<2xi32>",
    "%d = arith.constant 1 : vector<2xi8>": "a constant of vector can't be read",
    "%d = shape.shape_of 3 : tensor<?x3xf32> -> tensor<2xindex>": "the operands, attributes or types are not those of shape.shape_of",
    '%d = "tensor.dim"(%x) : (tensor<?x3xf32>) -> index': "the operands, attributes or types are not those of tensor.dim",
    '%d = "arith.constant"() : () -> i32': "the operands, attributes or types are not those of arith.constant",
    '%d = "arith.addi"() : () -> i32': "there must be 2 operands, not 0",
}  # fmt: skip


@pytest.mark.parametrize("body", ERRORS)
def test_errors(body):
    text = f"""func.func @main(%x: tensor<?x3xf32>) {{
      %c9 = arith.constant 9 : index
      %k = shape.const_shape [4, 1] : tensor<2xindex>
      %e = tensor.extract %k[%c9] : tensor<2xindex>
      {body}
      return
    }}"""
    with pytest.raises(ParseError, match=r"at <string>:[56]:") as caught:
        stablehlo.parse(text)
    assert ERRORS[body] in str(caught.value)


def test_arguments_of_index():
    text = """func.func @main(%s: tensor<2xindex>) {
      %c0 = arith.constant 0 : index
      %0 = tensor.extract %s[%c0] : tensor<2xindex>
      return
    }"""
    with pytest.raises(
        ParseError, match="an argument of a function can't be of index here: give it as i64\n  at <string>:3:12"
    ):
        stablehlo.parse(text)


def test_ops_that_tensorflow_left():
    text = """func.func @f(%x: tensor<?x3xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
      %0 = "tf.Tile"(%x, %s) {device = ""} : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
      return %0 : tensor<?x?xf32>
    }"""
    with pytest.raises(UnsupportedError) as caught:
        stablehlo.parse(text).run("f", X, V[1:])
    assert str(caught.value) == (
        "tf.Tile can't be run\n  at <string>:2:12\n  numhlo has no definition of it; TensorFlow has no StableHLO of it "
        "for unknown extents, or was not asked for it: export for given shapes, by tf.function(f, jit_compile=True)"
        '.experimental_get_compiler_ir(*args)(stage="stablehlo")'
    )
