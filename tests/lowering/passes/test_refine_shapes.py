"""Unknown extents made known: every dynamic op, shapes computed through calls and loops, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType, tensor_type_of
from numhlo.lowering.ir.errors import ShapeError, UnsupportedError, VerificationError
from numhlo.lowering.passes.legalization import legalize
from numhlo.lowering.passes.refine_shapes import refine_shapes
from numhlo.lowering.text import parse, print_module
from numhlo.lowering.verifier import verify


def refined(source, *arrays):
    before = print_module(source)
    found = refine_shapes(source.main, [tensor_type_of(a) for a in arrays])
    verify(found)
    assert print_module(source) == before
    values = [v for f in [found, *found.callees()] for op in f.body.walk() for v in op.results]
    assert all(v.tensor.is_static for v in [*found.body.arguments, *values])
    return found


def run(text, *arrays):
    return interpret(legalize(refined(parse(text), *arrays)), arrays)


HEAD = """func.func @main(%x: tensor<?x3xf32>) -> tensor<{result}> {{
  %c2 = stablehlo.constant dense<2> : tensor<1xi32>
  %c3 = stablehlo.constant dense<3> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<2xi32>
  %zero = stablehlo.constant dense<0> : tensor<2xi32>
  %f = stablehlo.constant dense<7.0> : tensor<f32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %n3 = stablehlo.concatenate %n1, %c3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %m = stablehlo.multiply %n1, %c3 : tensor<1xi32>
  {body}
  return %r : tensor<{result}>
}}"""

X = np.arange(12, dtype=np.float32).reshape(4, 3)
CASES = {
    "get_dimension_size": ("i32", "%r = stablehlo.add %n, %n : tensor<i32>", np.int32(8)),
    "dynamic_reshape": (
        "?xf32",
        "%r = stablehlo.dynamic_reshape %x, %m : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>",
        X.reshape(-1),
    ),
    "dynamic_broadcast_in_dim": (
        "?x3xf32",
        "%r = stablehlo.dynamic_broadcast_in_dim %f, %n3, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>",
        np.full((4, 3), 7.0),
    ),
    "dynamic_iota": (
        "?x3xi32",
        "%r = stablehlo.dynamic_iota %n3, dim = 0 : (tensor<2xi32>) -> tensor<?x3xi32>",
        np.arange(4)[:, None].repeat(3, 1),
    ),
    "dynamic_pad": (
        "?x?xf32",
        "%r = stablehlo.dynamic_pad %x, %f, %one, %zero, %zero : (tensor<?x3xf32>, tensor<f32>, tensor<2xi32>, "
        "tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>",
        np.pad(X, [(1, 0), (1, 0)], constant_values=7),
    ),
    "real_dynamic_slice": (
        "?x?xf32",
        "%r = stablehlo.real_dynamic_slice %x, %one, %n3, %one : (tensor<?x3xf32>, tensor<2xi32>, tensor<2xi32>, "
        "tensor<2xi32>) -> tensor<?x?xf32>",
        X[1:, 1:],
    ),
    "dynamic_gather": (
        "?x2xf32",
        "%sizes = stablehlo.concatenate %n1, %c2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"
        '  %start = stablehlo.constant dense<1> : tensor<1xi32>\n  %r = "stablehlo.dynamic_gather"(%x, %start, %sizes) '
        "<{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [1]>}> : "
        "(tensor<?x3xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x2xf32>",
        X[:, 1:],
    ),
    "convert": ("?x3xf64", "%r = stablehlo.convert %x : (tensor<?x3xf32>) -> tensor<?x3xf64>", X),
    "chlo": ("?x3xf32", "%r = chlo.square %x : tensor<?x3xf32> -> tensor<?x3xf32>", X * X),
    "dot_general": (
        "?x?xf32",
        "%r = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<?x3xf32>, tensor<?x3xf32>) -> "
        "tensor<?x?xf32>",
        X @ X.T,
    ),
    "bitcast_convert": (
        "?x3x4xi8",
        "%r = stablehlo.bitcast_convert %x : (tensor<?x3xf32>) -> tensor<?x3x4xi8>",
        X.view(np.int8).reshape(4, 3, 4),
    ),
    "convolution": (
        "?x?xf32",
        "%k = stablehlo.constant dense<2.0> : tensor<3x5xf32>\n  %r = stablehlo.convolution(%x, %k) "
        "dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} "
        ": (tensor<?x3xf32>, tensor<3x5xf32>) -> tensor<?x?xf32>",
        2 * X.sum(1, keepdims=True) + np.zeros(5),
    ),
    "chlo.broadcast_add": (
        "?x3xf32",
        "%r = chlo.broadcast_add %f, %x : (tensor<f32>, tensor<?x3xf32>) -> tensor<?x3xf32>",
        X + 7,
    ),
    "reshape": ("3x?xf32", "%r = stablehlo.reshape %x : (tensor<?x3xf32>) -> tensor<3x?xf32>", X.reshape(3, 4)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.specifies(
    "dynamic_broadcast_in_dim dynamic_gather dynamic_iota dynamic_pad dynamic_reshape get_dimension_size"
)
def test_ops(name):
    result, body, expected = CASES[name]
    (found,) = run(HEAD.format(result=result, body=body), X)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.specifies("shapes that are data")
def test_extents_that_do_not_fit_together():
    text = """func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %0 = chlo.broadcast_add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    with pytest.raises(ShapeError, match=r"broadcast_add: float32\[4\] and float32\[3\] don't fit together"):
        run(text, X[:, 0], X[0])


TYPE = "tensor<?x3xf32>"
RECEIVER = "func.func private @g(%x: tensor<2x3xf32>) -> tensor<?x3xf32> {"
BROKEN_PROMISES = {
    "an extent": (
        "5xf32",
        "%r = stablehlo.dynamic_reshape %x, %m : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<5xf32>",
        r"dynamic_reshape: float32\[12\] where the program says that its result is tensor<5xf32>",
    ),
    "a bound": (
        "?x3xf32, #stablehlo.bounds<3, ?>",
        f"%r = stablehlo.add %x, %x : ({TYPE}, {TYPE}) -> tensor<?x3xf32, #stablehlo.bounds<3, ?>>",
        r"add: float32\[4,3\] where .* is tensor<\?x3xf32, #stablehlo.bounds<3, \?>>",
    ),
    "what a function takes": (
        "?x3xf32",
        f"%r = call @g(%x) : ({TYPE}) -> {TYPE} return %r : {TYPE} }} {RECEIVER} %r = stablehlo.add %x, %x : "
        f"(tensor<2x3xf32>, tensor<2x3xf32>) -> {TYPE}",
        r"call: float32\[4,3\] where @g takes tensor<2x3xf32>",
    ),
    "a negative extent": (
        "?x?xf32",
        "%k = stablehlo.constant dense<-2> : tensor<2xi32> "
        "%r = stablehlo.dynamic_broadcast_in_dim %f, %k, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>",
        r"dynamic_broadcast_in_dim: the extents of its result would be \[-2, -2\]",
    ),
    "an extent of -1": (
        "?xf32",
        "%k = stablehlo.constant dense<-1> : tensor<1xi32> "
        "%r = stablehlo.dynamic_reshape %x, %k : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>",
        r"dynamic_reshape: the extents of its result would be \[-1\]",
    ),
}


@pytest.mark.parametrize("name", BROKEN_PROMISES)
def test_shapes_that_are_not_what_the_program_says(name):
    result, body, message = BROKEN_PROMISES[name]
    with pytest.raises(ShapeError, match=rf"^{message}\n  at <string>:\d+:\d+"):
        run(HEAD.format(result=result, body=body), X)


def test_results_of_top_k():
    text = """func.func @main(%x: tensor<?x3xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>) {
      %0:2 = chlo.top_k(%x, k = 2) : tensor<?x3xf32> -> (tensor<?x2xf32>, tensor<?x2xi32>)
      return %0#0, %0#1 : tensor<?x2xf32>, tensor<?x2xi32>
    }"""
    values, places = run(text, X)
    assert values.tolist() == X[:, :0:-1].tolist() and places.tolist() == [[2, 1]] * 4


def test_a_static_program_is_only_copied():
    source = parse(
        jax.jit(lambda x: lax.scan(lambda c, r: (c + r, c), jnp.zeros(3), x)).lower(X.astype("f8")).as_text()
    )
    found = refined(source, X.astype(np.float64))
    for ours, theirs in zip(interpret(found, [X.astype("f8")]), interpret(source.main, [X.astype("f8")]), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def polymorphic(function, *shapes):
    scope = jax.export.SymbolicScope()
    specs = [jax.ShapeDtypeStruct(jax.export.symbolic_shape(s, scope=scope), np.float64) for s in shapes]
    return parse(str(jax.export.export(jax.jit(function))(*specs).mlir_module()))


def windows(x):
    half = x.shape[0] // 2
    return x[:half] + x[x.shape[0] - half :], lax.fori_loop(0, half, lambda i, s: s * 2 + x[i], 1.0)


@pytest.mark.specifies("open extents")
def test_shapes_go_through_calls_and_loops(rng):
    source = polymorphic(windows, "2*n,")
    for extent in (4, 10):
        x = rng.normal(size=extent)
        for found, wanted in zip(interpret(refined(source, x), [x]), windows(jnp.asarray(x)), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_windows_that_move_with_a_loop():
    def sums(x):
        return lax.scan(lambda total, row: (total + row, total), jnp.zeros(x.shape[1], x.dtype), x)

    source, x = polymorphic(sums, "n, m"), X.astype(np.float64)
    for found, wanted in zip(interpret(refined(source, x), [x]), sums(jnp.asarray(x)), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("change", [("add %s, %one", "add %s, %s"), ("%e, %one :", "%e, %step :")])
def test_windows_whose_size_or_step_is_not_known(change):
    text = """func.func @main(%x: tensor<?xf32>, %s: tensor<1xi32>) -> tensor<?xf32> {
      %one = stablehlo.constant dense<1> : tensor<1xi32>
      %step = stablehlo.constant dense<2> : tensor<1xi32>
      %e = stablehlo.add %s, %one : tensor<1xi32>
      %0 = stablehlo.real_dynamic_slice %x, %s, %e, %one :
        (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    np.testing.assert_array_equal(run(text, X[0], np.array([2], np.int32))[0], X[0, 2:3])
    with pytest.raises(UnsupportedError, match="real_dynamic_slice: the result's shape depends on the values"):
        run(text.replace(*change), X[0], np.array([2], np.int32))


def test_assertions_are_checked():
    source = polymorphic(lambda x, y: x + y[: x.shape[0]], "n,", "n,")
    refined(source, np.ones(3), np.ones(3))
    with pytest.raises(ShapeError, match=r"(?s)Input shapes do not match .* args\[1\]\.shape\[0\] \(= 4\)"):
        refined(source, np.ones(3), np.ones(4))


def test_shapes_that_depend_on_values():
    text = """func.func @main(%x: tensor<4xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {
      %0 = stablehlo.dynamic_reshape %x, %n : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    with pytest.raises(UnsupportedError) as caught:
        run(text, X[:, 0], np.array([4], np.int32))
    assert str(caught.value) == (
        "dynamic_reshape: the result's shape depends on the values of an argument\n"
        "  at <string>:2:12\n  shapes must follow from the arguments' shapes, or from small integers among them"
    )


def test_shapes_that_change_in_a_loop():
    text = """func.func @main(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {
      %0:2 = stablehlo.while(%a = %x, %q = %p) : tensor<?xf32>, tensor<i1>
      cond {
        stablehlo.return %q : tensor<i1>
      } do {
        %1 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        stablehlo.return %1, %q : tensor<?xf32>, tensor<i1>
      }
      return %0#0 : tensor<?xf32>
    }"""
    with pytest.raises(VerificationError, match=r"while\(float32\[4\], bool\[\]\): \(C2\) body must return"):
        run(text, X[:, 0], np.bool_(True))


def test_extents_that_nothing_tells():
    text = """func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %0 = stablehlo.reshape %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
      return %0 : tensor<?x?xf32>
    }"""
    with pytest.raises(UnsupportedError, match=r"reshape: the extents of its result tensor<\?x\?xf32> are not known"):
        run(text, X)


def test_types_are_given():
    source = parse("func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }")
    assert refine_shapes(source.main, [TensorType((2,), np.dtype("f4"))]).result_types == [
        TensorType((2,), np.dtype("f4"))
    ]
