"""Programs whose values are tuples and tokens, or whose shapes are data; ids, and ops of other processes."""

from contextlib import nullcontext

import numpy as np
import pytest

import numhlo
from numhlo import stablehlo
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError, VerificationError
from tests.lowering.text.rare_programs import LINES, program
from tests.oracle import official_parse

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def both(text, *arguments):
    """Return the results of @main, compiled and interpreted, which must be the same."""
    module = stablehlo.parse(text)
    first, second, third = module.run("main", *arguments), module.run("main", *arguments), None
    third = module.interpret("main", *arguments)
    assert repr(first) == repr(second) == repr(third)
    return first


TUPLES = """module {
  func.func public @main(%t: tuple<tensor<3xf32>, tuple<tensor<i32>, !stablehlo.token>>, %k: tensor<i1>)
      -> (tuple<tensor<i32>, tuple<>, tuple<tensor<3xf32>>>, !stablehlo.token) {
    %x = stablehlo.get_tuple_element %t[0] : (tuple<tensor<3xf32>, tuple<tensor<i32>, !stablehlo.token>>) -> tensor<3xf32>
    %p = stablehlo.get_tuple_element %t[1] :
      (tuple<tensor<3xf32>, tuple<tensor<i32>, !stablehlo.token>>) -> tuple<tensor<i32>, !stablehlo.token>
    %0:2 = stablehlo.while(%s = %p, %y = %x) : tuple<tensor<i32>, !stablehlo.token>, tensor<3xf32>
    cond {
      %n = stablehlo.get_tuple_element %s[0] : (tuple<tensor<i32>, !stablehlo.token>) -> tensor<i32>
      %c = stablehlo.constant dense<5> : tensor<i32>
      %b = stablehlo.compare LT, %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %b : tensor<i1>
    } do {
      %n = stablehlo.get_tuple_element %s[0] : (tuple<tensor<i32>, !stablehlo.token>) -> tensor<i32>
      %m = stablehlo.add %n, %n : tensor<i32>
      %tok = stablehlo.get_tuple_element %s[1] : (tuple<tensor<i32>, !stablehlo.token>) -> !stablehlo.token
      %u = stablehlo.after_all %tok, %tok : !stablehlo.token
      %r = stablehlo.tuple %m, %u : tuple<tensor<i32>, !stablehlo.token>
      %z = stablehlo.negate %y : tensor<3xf32>
      stablehlo.return %r, %z : tuple<tensor<i32>, !stablehlo.token>, tensor<3xf32>
    }
    %1 = "stablehlo.if"(%k) ({
      %2 = func.call @pair(%0#1) : (tensor<3xf32>) -> tuple<tensor<3xf32>>
      stablehlo.return %2 : tuple<tensor<3xf32>>
    }, {
      %2 = stablehlo.tuple %x : tuple<tensor<3xf32>>
      stablehlo.return %2 : tuple<tensor<3xf32>>
    }) : (tensor<i1>) -> tuple<tensor<3xf32>>
    %n = stablehlo.get_tuple_element %0#0[0] : (tuple<tensor<i32>, !stablehlo.token>) -> tensor<i32>
    %none = stablehlo.tuple : tuple<>
    %result = stablehlo.tuple %n, %none, %1 : tuple<tensor<i32>, tuple<>, tuple<tensor<3xf32>>>
    %new = stablehlo.create_token : !stablehlo.token
    %last = stablehlo.optimization_barrier %new : !stablehlo.token
    return %result, %last : tuple<tensor<i32>, tuple<>, tuple<tensor<3xf32>>>, !stablehlo.token
  }
  func.func private @pair(%x: tensor<3xf32>) -> tuple<tensor<3xf32>> {
    %0 = stablehlo.add %x, %x : tensor<3xf32>
    %1 = stablehlo.tuple %0 : tuple<tensor<3xf32>>
    return %1 : tuple<tensor<3xf32>>
  }
}"""


@pytest.mark.specifies("tuple get_tuple_element after_all, tuples, tokens and strings")
def test_tuples_and_tokens():
    x = np.array([1, -2, 3], np.float32)
    (number, nothing, (found,)), token = both(TUPLES, (x, (np.int32(1), None)), True)
    assert (number, nothing, token) == (8, (), None)
    np.testing.assert_array_equal(found, -2 * x)
    (_, _, (found,)), _ = stablehlo.parse(TUPLES).callable()((x, (np.int32(1), None)), False)
    np.testing.assert_array_equal(found, x)
    traced = numhlo.jit(lambda x: stablehlo.parse(TUPLES).callable()((x, (1, None)), True)[0][2][0] + 1)
    np.testing.assert_array_equal(traced(x), 1 - 2 * x)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (X[0, :3], "an argument must be a tuple of 2 values, not a ndarray"),
        ((X[0, :3],), "an argument must be a tuple of 2 values, not 1 of them"),
        ((X[0, :3], (1, 2)), "a token is None, not 2"),
    ],
    ids=["array", "short", "token"],
)
@pytest.mark.specifies("tokens and strings")
def test_wrong_tuples(argument, message):
    with pytest.raises(ArgumentError, match=message):
        stablehlo.parse(TUPLES).run("main", argument, True)


@pytest.mark.specifies("order of effects, custom_call")
def test_order_of_effects():
    seen = []
    numhlo.lowering.ops.register_custom_call("test.effect", lambda arrays, _: seen.append(int(arrays[0])) or [])
    calls = "".join(
        f"%t{k + 1} = stablehlo.custom_call @test.effect(%c{k}, %t{k}) {{has_side_effect = true}} : "
        f"(tensor<i32>, !stablehlo.token) -> !stablehlo.token\n"
        for k in range(3)
    )
    constants = "".join(f"%c{k} = stablehlo.constant dense<{k}> : tensor<i32>\n" for k in range(3))
    stablehlo.parse(f"func.func @main(%t0: !stablehlo.token) {{\n{constants}{calls}return\n}}").run("main", None)
    assert seen == [0, 1, 2]


RESHAPE = """func.func public @main(%x: tensor<?x?xf32>, %shape: tensor<2xi64>, %n: tensor<i32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = stablehlo.set_dimension_size %0, %n, dim = 1 : (tensor<?x?xf32>, tensor<i32>) -> tensor<?x?xf32, #stablehlo.bounds<?, 9>>
  %2 = stablehlo.convert %1 : (tensor<?x?xf32, #stablehlo.bounds<?, 9>>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}"""


@pytest.mark.specifies("shapes that are data, size of a dimension, dynamic_reshape, GetDimensionSize")
def test_shapes_may_be_data():
    for shape, n in (((4, 3), 2), ((2, 6), 6), ((12, 1), 0)):
        (found,) = both(RESHAPE, X, np.array(shape), n)
        np.testing.assert_array_equal(found, X.reshape(shape)[:, :n])
    with pytest.raises(ShapeError, match=r"set_dimension_size: 5 is not in \[0, 4\]"):
        stablehlo.parse(RESHAPE).run("main", X, np.array([3, 4]), 5)


SHAPES_OF_INDEX = """func.func @main(%x: tensor<3x4xf32>, %s: tensor<2xindex>)
    -> (tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<2xindex>) {
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<3x4xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %1 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xindex>) -> tensor<?x?xi32>
  %v = stablehlo.constant dense<7.0> : tensor<f32>
  %2 = stablehlo.dynamic_broadcast_in_dim %v, %s, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x4xf32>
  %3 = call @sliced(%x, %s) : (tensor<3x4xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %4 = stablehlo.dynamic_pad %x, %v, %s, %s, %s
    : (tensor<3x4xf32>, tensor<f32>, tensor<2xindex>, tensor<2xindex>, tensor<2xindex>) -> tensor<?x?xf32>
  return %0, %1, %2, %3, %4, %s
    : tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<2xindex>
}
func.func private @sliced(%x: tensor<3x4xf32>, %s: tensor<2xindex>) -> tensor<?x?xf32> {
  %0 = stablehlo.real_dynamic_slice %x, %s, %s, %s
    : (tensor<3x4xf32>, tensor<2xindex>, tensor<2xindex>, tensor<2xindex>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}"""


def test_shapes_may_be_of_index():
    shape = np.array([3, 4])
    reshaped, counted, filled, sliced, padded, index = stablehlo.parse(SHAPES_OF_INDEX).interpret("main", X, shape)
    np.testing.assert_array_equal(reshaped, X)
    np.testing.assert_array_equal(counted, np.broadcast_to(np.arange(4), (3, 4)))
    np.testing.assert_array_equal(filled, np.full((3, 4), 7))
    assert sliced.size == 0
    assert padded.shape == (15, 24)
    np.testing.assert_array_equal(padded[3:12:4, 4:20:5], X)
    assert index.tolist() == [3, 4]


def test_only_shapes_may_be_of_index():
    for operand in ("index", "i64"):
        text = f"""func.func @main(%s: tensor<2xindex>, %x: tensor<2x{operand}>) -> tensor<?x?xi64> {{
          %0 = stablehlo.dynamic_reshape %x, %s : (tensor<2x{operand}>, tensor<2xindex>) -> tensor<?x?xi64>
          return %0 : tensor<?x?xi64> }}"""
        with (
            nullcontext()
            if operand == "i64"
            else pytest.raises(VerificationError, match="which is none of StableHLO's")
        ):
            stablehlo.parse(text).verify()
    assert official_parse(SHAPES_OF_INDEX)


@pytest.mark.specifies("shapes that are data")
def test_shapes_are_no_data_in_a_traced_function():
    called = stablehlo.parse(RESHAPE).callable()
    with pytest.raises(UnsupportedError, match="the result's shape depends on the values of an argument"):
        numhlo.jit(called)(X, np.array([4, 3]), np.int32(1))


@pytest.mark.specifies("dynamic_iota dynamic_reshape")
def test_shapes_that_are_constants_in_a_static_program():
    text = """func.func @main(%x: tensor<3x4xf32>) -> (tensor<2x6xf32>, tensor<2x3xi32>) {
      %s = stablehlo.constant dense<[2, 6]> : tensor<2xi32>
      %t = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
      %0 = stablehlo.dynamic_reshape %x, %s : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x6xf32>
      %1 = stablehlo.dynamic_iota %t, dim = 1 : (tensor<2xi32>) -> tensor<2x3xi32>
      return %0, %1 : tensor<2x6xf32>, tensor<2x3xi32>
    }"""
    reshaped, counted = both(text, X)
    np.testing.assert_array_equal(reshaped, X.reshape(2, 6))
    assert counted.tolist() == [[0, 1, 2]] * 2
    np.testing.assert_array_equal(numhlo.jit(stablehlo.parse(text).callable())(X)[0], reshaped)


def test_arguments_beyond_their_bounds():
    type = "tensor<?x4xf32, #stablehlo.bounds<3, ?>>"
    module = stablehlo.parse(f"func.func @main(%x: {type}) -> {type} {{ return %x : {type} }}")
    assert module.interpret("main", X)[0].shape == (3, 4)
    with pytest.raises(ShapeError) as caught:
        module.run("main", np.tile(X, (2, 1)))
    assert f"main takes {type} as argument 0, not float32[6,4]" in str(caught.value)


@pytest.mark.specifies("dynamic_conv")
def test_padding_of_a_convolution_is_data(rng):
    text = """func.func @main(%x: tensor<1x6x3xi8>, %k: tensor<3x3x2xi8>, %p: tensor<1x2xi32>) -> tensor<1x?x2xi32> {
      %0 = "stablehlo.dynamic_conv"(%x, %k, %p) <{batch_group_count = 1 : i64,
        dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64,
        window_strides = array<i64: 2>}> : (tensor<1x6x3xi8>, tensor<3x3x2xi8>, tensor<1x2xi32>) -> tensor<1x?x2xi32>
      return %0 : tensor<1x?x2xi32>
    }"""
    x, k = rng.integers(-100, 100, (1, 6, 3), np.int8), rng.integers(-100, 100, (3, 3, 2), np.int8)
    for low, high in ((0, 0), (2, 1), (-1, 0)):
        (found,) = both(text, x, k, np.array([[low, high]], np.int32))
        padded = np.pad(x[0].astype(np.int32), ((max(low, 0), max(high, 0)), (0, 0)))[max(-low, 0) :]
        wanted = [np.einsum("ki,kio->o", padded[i : i + 3], k.astype(np.int32)) for i in range(0, len(padded) - 2, 2)]
        np.testing.assert_array_equal(found[0], wanted, strict=True)


@pytest.mark.specifies("place in the grid, partition_id replica_id, ReplicaId")
def test_ids():
    text = """func.func @main() -> (tensor<ui32>, tensor<ui32>) {
      %0 = stablehlo.replica_id : tensor<ui32>
      %1 = stablehlo.partition_id : tensor<ui32>
      return %0, %1 : tensor<ui32>, tensor<ui32>
    }"""
    found = both(text)
    assert [(x.dtype, int(x)) for x in found] == [(np.uint32, 0)] * 2


@pytest.mark.parametrize("name", ["all_reduce", "infeed", "send"])
def test_other_processes(name):
    with pytest.raises(UnsupportedError) as caught:
        stablehlo.parse(program(LINES[name])).run(
            "main",
            *[np.zeros(s, np.float32) for s in ((4,), (2, 3), ())],
            np.int32(0),
            np.zeros(1, np.int32),
            np.zeros(2, np.int32),
            np.zeros(1, np.int64),
            np.zeros(2, np.uint64),
            np.eye(2, dtype=np.float32),
            np.zeros((1, 4, 2), np.float32),
            np.zeros((1, 2), np.int32),
            None,
            (0, (0, None)),
        )
    column = LINES[name].index(f'"stablehlo.{name}') + 1
    assert str(caught.value) == (
        f"stablehlo.{name} can't be run\n  at <string>:3:{column}\n  it exchanges data with other processes or the host, and "
        "a program that is called is one process; run it in all of them, by numhlo.distributed.ProcessGrid; or export the "
        "program for one device"
    )


DEPRECATED = """func.func @main(%x: tensor<2x3x4xf64>, %y: tensor<4x2x5xf64>, %i: tensor<2x3xi32>)
    -> (tensor<5x3x2xf64>, tensor<4x2xf64>, tensor<f64>, tensor<2x3x3x4xf64>, tensor<2x3x4xf64>, tensor<2x2xf64>) {
  %0 = stablehlo.einsum %x, %y, config = "abc,cae->eba" : (tensor<2x3x4xf64>, tensor<4x2x5xf64>) -> tensor<5x3x2xf64>
  %1 = stablehlo.unary_einsum %x, config = "abc->ca" : (tensor<2x3x4xf64>) -> tensor<4x2xf64>
  %2 = stablehlo.unary_einsum %x, config = "abc->" : (tensor<2x3x4xf64>) -> tensor<f64>
  %3 = "stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = 0 : i64}> :
    (tensor<2x3x4xf64>, tensor<2x3xi32>) -> tensor<2x3x3x4xf64>
  %4 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 1 : i64}> :
    (tensor<2x3x4xf64>, tensor<2x3xi32>) -> tensor<2x3x4xf64>
  %5 = stablehlo.einsum %x, %y, config = "abc,def->ad" : (tensor<2x3x4xf64>, tensor<4x2x5xf64>) -> tensor<2x4xf64>
  %6 = stablehlo.slice %5 [0:2, 0:2] : (tensor<2x4xf64>) -> tensor<2x2xf64>
  return %0, %1, %2, %3, %4, %6 :
    tensor<5x3x2xf64>, tensor<4x2xf64>, tensor<f64>, tensor<2x3x3x4xf64>, tensor<2x3x4xf64>, tensor<2x2xf64>
}"""


@pytest.mark.specifies("deprecated ops")
def test_deprecated_ops(rng):
    x, y, i = rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 2, 5)), np.array([[0, 1, 1], [1, 0, 0]], np.int32)
    expected = [np.einsum("abc,cae->eba", x, y), np.einsum("abc->ca", x), x.sum(), x[i]]
    expected += [np.stack([x[k][i[k]] for k in range(2)]), np.einsum("abc,def->ad", x, y)[:, :2]]
    for found, wanted in zip(both(DEPRECATED, x, y, i), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("config", ["aab,bcd->ac", "abc,cde->ax", "ab,cde->a", "abc,cde", "a.c,cde->a"])
def test_einsums_that_are_none(config):
    with pytest.raises(VerificationError, match=r"einsum\(float64\[2,3,4\], float64\[4,2,5\]\): "):
        stablehlo.parse(DEPRECATED.replace("abc,cae->eba", config)).run(
            "main", np.ones((2, 3, 4)), np.ones((4, 2, 5)), np.zeros((2, 3), np.int32)
        )


def test_notes_of_other_tools_change_nothing():
    """Attributes of other dialects are printed again; kernels do not depend on them, and equal ops are one."""
    lines = [
        f"%{k} = stablehlo.tanh %x {{mhlo.frontend_attributes = {{a = {k} : i32}}}} : tensor<3xf32>" for k in range(2)
    ]
    text = f"""func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {{
      {lines[0]}
      {lines[1]}
      %2 = stablehlo.add %0, %1 : tensor<3xf32>
      return %2 : tensor<3xf32>
    }}"""
    module = stablehlo.parse(text)
    (found,) = both(text, X[0, :3])
    np.testing.assert_allclose(found, 2 * np.tanh(X[0, :3]), rtol=3e-7)
    assert "mhlo.frontend_attributes = {a = 1 : i32}" in official_parse(module.as_text())
    module.run("main", X[0, :3])
    (compiled,) = module.callable().programs.values()
    assert [op.definition.name for op in compiled.function.body.ops] == ["tanh", "add"]


@pytest.mark.parametrize("element", ["i2", "i4", "ui2", "ui4"])
def test_shapes_of_narrow_integers(element):
    text = f"""func.func @main(%x: tensor<1x3xf32>, %s: tensor<1x{element}>) -> (tensor<?xi32>, tensor<?x?xf32>) {{
      %0 = "stablehlo.dynamic_iota"(%s) <{{iota_dimension = 0 : i64}}> : (tensor<1x{element}>) -> tensor<?xi32>
      %1 = stablehlo.real_dynamic_slice %x, %z, %l, %o : (tensor<1x3xf32>, tensor<2x{element}>, tensor<2x{element}>,
        tensor<2x{element}>) -> tensor<?x?xf32>
      return %0, %1 : tensor<?xi32>, tensor<?x?xf32> }}"""
    ones, zeros = (f"stablehlo.constant dense<{n}> : tensor<2x{element}>" for n in (1, 0))
    text = text.replace("%1 = ", f"%z = {zeros} %l = {ones} %o = {ones} %1 = ")
    dtype = stablehlo.parse(text).functions["main"].source.argument_types[1].dtype
    counted, cut = both(text, X[:1, :3], np.ones(1, dtype))
    assert (counted.tolist(), cut.tolist()) == ([0], [[0]])


OUTSIDE = {"i2": (-3, 2), "i4": (-9, 8), "ui2": (-1, 4), "ui4": (-1, 16), "i8": (-129, 128)}


@pytest.mark.parametrize("element", OUTSIDE)
def test_numbers_out_of_the_range_of_an_argument(element):
    module = stablehlo.parse(
        f"func.func @main(%x: tensor<{element}>) -> tensor<{element}> {{ return %x : tensor<{element}> }}"
    )
    low, high = OUTSIDE[element]
    for number in (low + 1, high - 1):
        assert int(module.run("main", number)[0]) == number
    for number in (low, high):
        with pytest.raises(ArgumentError, match=f"can't hold {number}"):
            module.run("main", number)


RANDOM = """func.func @main(%s: tensor<1xi64>) -> tensor<NxT> {
  %a = stablehlo.constant dense<0.0> : tensor<T> %b = stablehlo.constant dense<1.0> : tensor<T>
  %r = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<T>, tensor<T>, tensor<1xi64>) -> tensor<NxT>
  return %r : tensor<NxT> }""".replace("T", "f32")


def test_shapes_of_random_numbers():
    known, opened = (stablehlo.parse(RANDOM.replace("<Nx", f"<{n}x")) for n in ("3", "?"))
    for run in (known.run, known.interpret):
        assert run("main", np.array([3]))[0].shape == (3,)
        with pytest.raises(ShapeError, match=r"^rng: shape is \[4\], and the result is float32\[3\]\n.*\(C3\)"):
            run("main", np.array([4]))
    for n in (0, 5):
        assert opened.run("main", np.array([n]))[0].shape == (n,)
    with pytest.raises(ShapeError, match=r"^rng: the extents of its result would be \[-1\]"):
        opened.run("main", np.array([-1]))


def test_uniform_quantize_is_named():
    text = """func.func @main(%x: tensor<2xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5>> {
      %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
      return %0 : tensor<3x!quant.uniform<i8:f32, 0.5>> }"""
    with pytest.raises(VerificationError, match=r"^uniform_quantize\(tensor<2xf32>\): \(C1\) the result must have"):
        stablehlo.parse(text).verify()
