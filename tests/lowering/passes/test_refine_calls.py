"""Calls that TensorFlow and PyTorch/XLA write for ops that StableHLO doesn't have."""

import numpy as np
import pytest
from scipy import special

from numhlo import stablehlo
from numhlo.lowering.ir.errors import DTypeError, NumhloError, ShapeError
from tests.oracle import official_parse

A = np.random.default_rng(0).standard_normal((2, 4, 3)).astype(np.float32)
S = A @ A.transpose(0, 2, 1) + np.eye(4, dtype=np.float32)
X = np.array([[3, 1, 2, 3], [0, -1, 5, 4]], np.float32)

QR = """func.func @main(%a: tensor<?x4x3xf32>) -> (tensor<?x4x4xf32>, tensor<?x4x3xf32>) {
  %0 = stablehlo.custom_call @Qr(%a) {backend_config = "", xla_shape = "(f32[2,4,3]{2,1,0}, f32[2,3]{1,0})"} :
    (tensor<?x4x3xf32>) -> tuple<tensor<?x4x3xf32>, tensor<?x3xf32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<?x4x3xf32>, tensor<?x3xf32>>) -> tensor<?x4x3xf32>
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<?x4x3xf32>, tensor<?x3xf32>>) -> tensor<?x3xf32>
  %3 = stablehlo.slice %1 [0:2, 0:4, 0:3] : (tensor<?x4x3xf32>) -> tensor<2x4x3xf32>
  %4 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%1, %2) :
    (tensor<?x4x3xf32>, tensor<?x3xf32>) -> tensor<?x4x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = stablehlo.pad %4, %z, low = [0, 0, 0], high = [0, 0, 1], interior = [0, 0, 0] :
    (tensor<?x4x3xf32>, tensor<f32>) -> tensor<?x4x4xf32>
  return %5, %1 : tensor<?x4x4xf32>, tensor<?x4x3xf32>
}"""

EIGH = """func.func @main(%a: tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xf32>) {
  %0:2 = stablehlo.custom_call @Eigh(%a) {backend_config = "CONFIGURATION"} :
    (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xf32>)
  return %0#0, %0#1 : tensor<2x4x4xf32>, tensor<2x4xf32>
}"""

TOP_K = """func.func @main(%x: tensor<?x4xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} :
    (tensor<?x4xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>)
  return %0#0, %0#1 : tensor<?x2xf32>, tensor<?x2xi32>
}"""


def both(text, *arrays, atol=1e-6):
    module = stablehlo.parse(text)
    official_parse(module.as_text())
    interpreted = module.interpret("main", *arrays)
    for x, y in zip(interpreted, module.run("main", *arrays), strict=True):
        np.testing.assert_allclose(x, y, 1e-5, atol)
    return interpreted


def test_packed_qr():
    q, packed = both(QR, A)
    r = np.triu(packed[:, :3])
    np.testing.assert_allclose(q[..., :3] @ r, A, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(q[..., :3].transpose(0, 2, 1) @ q[..., :3], np.eye(3)[None].repeat(2, 0), atol=1e-6)


@pytest.mark.parametrize(("configuration", "keep"), [("1,1,4,0.000001", np.tril), ("0,1,100,0.0", np.triu)])
def test_eigenvectors_of_one_triangle(configuration, keep):
    vectors, values = both(EIGH.replace("CONFIGURATION", configuration), keep(S), atol=3e-5)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(S), rtol=1e-4)
    np.testing.assert_allclose(S @ vectors, vectors * values[:, None], rtol=1e-3, atol=1e-4)


def test_packed_lu():
    text = """func.func @main(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<4xi32>) {
      %0:3 = stablehlo.custom_call @LuDecomposition(%a) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<4xi32>)
      return %0#0, %0#1, %0#2 : tensor<4x4xf32>, tensor<4xi32>, tensor<4xi32>
    }"""
    a = S[0][::-1]
    packed, _, order = both(text, a)
    lower, upper = np.tril(packed, -1) + np.eye(4), np.triu(packed)
    np.testing.assert_allclose(lower @ upper, a[np.asarray(order)], rtol=1e-5, atol=1e-5)


def test_largest_and_smallest():
    values, places = both(TOP_K, X)
    np.testing.assert_array_equal(values, [[3, 3], [5, 4]])
    np.testing.assert_array_equal(places, [[0, 3], [2, 3]])
    values, places = both(TOP_K.replace("largest = true", "largest = false"), X)
    np.testing.assert_array_equal(values, [[1, 2], [-1, 0]])
    np.testing.assert_array_equal(places, [[1, 2], [1, 0]])


@pytest.mark.parametrize("name", ["erf", "tan", "asinh"])
def test_functions(name):
    text = f"""func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {{
      %0 = stablehlo.custom_call @mhlo.{name}(%x) {{mhlo.attributes = {{}}, mhlo.version = 1 : i64}} : (tensor<?x4xf32>) -> tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }}"""
    wanted = {"erf": special.erf, "tan": np.tan, "asinh": np.arcsinh}[name](X)
    (found,) = both(text, X)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    plain = f"""func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {{
      %0 = mhlo.{name} %x : tensor<2x4xf32>
      %1 = "mhlo.{name}"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %2 = mhlo.subtract %0, %1 : tensor<2x4xf32>
      %3 = mhlo.add %0, %2 : tensor<2x4xf32>
      return %3 : tensor<2x4xf32>
    }}"""
    np.testing.assert_allclose(both(plain, X)[0], wanted, rtol=1e-5)


def test_reductions_and_largest_elements_of_mhlo():
    text = """func.func @main(%x: tensor<2x4xf32>) -> (tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xi32>) {
      %c = mhlo.constant dense<0.000000e+00> : tensor<f32>
      %0 = mhlo.reduce(%x init: %c) applies mhlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
      %values, %indices = mhlo.topk(%x, k = 2, largest = true) : tensor<2x4xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
      return %0, %values, %indices : tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xi32>
    }"""
    total, values, _ = both(text, X)
    np.testing.assert_array_equal(total, X.sum(1))
    np.testing.assert_array_equal(values, [[3, 3], [5, 4]])


def test_what_calls_declare_is_what_they_make():
    text = EIGH.replace("tensor<2x4xf32>", "tensor<2x5xf32>")
    with pytest.raises(ShapeError) as caught:
        stablehlo.parse(text).run("main", S)
    assert str(caught.value) == (
        "custom_call @Eigh declares (tensor<2x4x4xf32>, tensor<2x5xf32>)\n"
        "  at <string>:2:10\n"
        "  of float32[2,4,4] it makes (tensor<2x4x4xf32>, tensor<2x4xf32>)"
    )
    with pytest.raises(DTypeError, match="LAPACK has no such type"):
        stablehlo.parse(EIGH.replace("f32", "f16")).run("main", S.astype(np.float16))


def call(target, attributes, results):
    names = "%0:2" if results.startswith("(") else "%0"
    return (
        f"func.func @main(%x: tensor<2x4xf32>) {{\n"
        f"  {names} = stablehlo.custom_call @{target}(%x) {{{attributes}}} : (tensor<2x4xf32>) -> {results}\n  return\n}}"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            call("mhlo.topk", "mhlo.attributes = {k = 2 : i7}", "(tensor<2x2xf32>, tensor<2x2xi32>)"),
            r"^custom_call @mhlo\.topk of float32\[2,4\]: k is 2 : i7\n  at <string>:2:10",
        ),
        (
            call("mhlo.topk", "mhlo.attributes = {k = 9 : i64}", "(tensor<2x9xf32>, tensor<2x9xi32>)"),
            r"^custom_call @mhlo\.topk of float32\[2,4\]: k is 9",
        ),
        (
            call("lapack_sgeqrf_ffi", "", "(tensor<2x3xf32>, tensor<2xf32>)"),
            r"^a call of LAPACK declares results of shapes \[\(2, 3\), \(2,\)\]",
        ),
        (
            call("lapack_sgtsv_ffi", "", "(tensor<2x3xf32>, tensor<2xf32>)"),
            r"^a call of LAPACK takes arrays of shapes \[\(2, 4\)\]",
        ),
    ],
)
def test_malformed_calls(text, message):
    """Each ended in an error of Python's own."""
    with pytest.raises(NumhloError, match=message):
        stablehlo.parse(text).interpret("main", X)
