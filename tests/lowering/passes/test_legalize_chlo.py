"""CHLO in terms of StableHLO: values against XLA, which has CHLO's meaning; what is shared, what is refused."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.passes.legalization import legalize
from numhlo.lowering.passes.legalize_chlo import SPECIAL
from numhlo.lowering.text import parse, print_function
from numhlo.lowering.verifier import verify
from tests.oracle import run_on_xla

SPREAD = np.array([-0.75, -0.25, 0.0, 0.125, 0.5, 0.875])
EDGES = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1.7e308])


def dialects(function):
    functions = [function, *function.callees()]
    return {op.definition.dialect for f in functions for op in f.body.walk()}


def legal(text):
    source = parse(text).main
    found = legalize(source)
    verify(found)
    assert found is not source and "chlo" not in dialects(found)
    assert found.argument_types == source.argument_types and found.result_types == source.result_types
    return found


def unary(name, type, result=None):
    return (
        f"func.func @main(%x: tensor<{type}>) -> tensor<{result or type}> {{\n"
        f"  %0 = chlo.{name} %x : tensor<{type}> -> tensor<{result or type}>\n"
        f"  return %0 : tensor<{result or type}>\n}}"
    )


@pytest.mark.parametrize("name", [*SPECIAL, "square", "tan"])
@pytest.mark.specifies("chlo")
def test_functions_of_one_argument(name):
    x = SPREAD + {"acosh": 2.0, "lgamma": 3.0, "digamma": 3.0}.get(name, 0.0)
    text = unary(name, "6xf64")
    (expected,) = run_on_xla(text, [x])
    (found,) = interpret(legal(text), [x])
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("name", ["is_inf", "is_pos_inf", "is_neg_inf"])
def test_infinities(name):
    text = unary(name, "10xf64", "10xi1")
    (expected,) = run_on_xla(text, [EDGES])
    (found,) = interpret(legal(text), [EDGES])
    assert found.dtype == np.bool_ and found.tolist() == expected.tolist()


def test_conj():
    z = np.array([1 + 2j, -3j, np.inf - 1j])
    (found,) = interpret(legal(unary("conj", "3xcomplex<f64>")), [z])
    assert found.tolist() == z.conj().tolist()
    text = unary("conj", "6xf64")
    assert interpret(legal(text), [SPREAD])[0].tolist() == SPREAD.tolist()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, ml_dtypes.bfloat16])
def test_next_after(dtype):
    limits = ml_dtypes.finfo(dtype)
    edges = np.array([*EDGES[:7], limits.max, -limits.smallest_subnormal, limits.smallest_normal], dtype)
    x, y = (a.reshape(-1) for a in np.meshgrid(edges, edges))
    text = jax.jit(lax.nextafter).lower(x, y).as_text()
    (found,) = interpret(legal(text), [x, y])
    with np.errstate(all="ignore"):
        expected = np.nextafter(x, y)  # XLA loses the sign of a zero that it steps to
    bits = f"u{np.dtype(dtype).itemsize}"
    numbers = ~np.isnan(expected.astype(np.float64))
    assert (np.isnan(found.astype(np.float64)) == ~numbers).all()
    assert (found.view(bits) == expected.view(bits))[numbers].all()


def test_next_after_needs_a_float():
    text = unary("next_after", "3xf64").replace("chlo.next_after %x :", "chlo.next_after %x, %x :")
    text = text.replace("f64", "f4E2M1FN").replace("> -> tensor", ">, tensor<3xf4E2M1FN> -> tensor")
    with pytest.raises(DTypeError, match=r"next_after of float4_e2m1fn\[3\]\n  at"):
        legalize(parse(text).main)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.specifies("chlo")
def test_top_k(dtype):
    x = np.array([[3, 1, 2, 3], [0, -1, 5, 5]], dtype)
    text = jax.jit(lambda x: lax.top_k(x, 3)).lower(x).as_text()
    assert "chlo.top_k" in text
    for found, expected in zip(interpret(legal(text), [x]), run_on_xla(text, [x]), strict=True):
        assert found.dtype == expected.dtype and found.tolist() == expected.tolist()


BROADCASTS = {
    "add": ("tensor<2x3xf32>, tensor<3xf32>", "tensor<2x3xf32>", ""),
    "subtract": ("tensor<f32>, tensor<2x3xf32>", "tensor<2x3xf32>", ""),
    "multiply": ("tensor<2x1xf32>, tensor<1x3xf32>", "tensor<2x3xf32>", ""),
    "divide": ("tensor<2xf32>, tensor<2x3xf32>", "tensor<2x3xf32>", "broadcast_dimensions = array<i64: 0>"),
    "compare": (
        "tensor<2x3xf32>, tensor<3xf32>",
        "tensor<2x3xi1>",
        "comparison_direction = #chlo<comparison_direction LT>",
    ),
}


@pytest.mark.parametrize("name", BROADCASTS)
def test_broadcasting(name, rng):
    operands, result, attributes = BROADCASTS[name]
    first, second = operands.split(", ")
    shown = f" {{{attributes}}}" if attributes else ""
    text = (
        f"func.func @main(%x: {first}, %y: {second}) -> {result} {{\n"
        f'  %0 = "chlo.broadcast_{name}"(%x, %y){shown} : ({operands}) -> {result}\n  return %0 : {result}\n}}'
    )
    shapes = [tuple(int(n) for n in t[7:-1].split("x")[:-1]) for t in (first, second)]
    x, y = (rng.uniform(1, 2, s).astype(np.float32) for s in shapes)
    (found,) = interpret(legal(text), [x, y])
    left = x[:, None] if name == "divide" else x
    function = {
        "add": np.add,
        "subtract": np.subtract,
        "multiply": np.multiply,
        "divide": np.divide,
        "compare": np.less,
    }
    np.testing.assert_array_equal(found, function[name](left, y))


def test_constant_like():
    text = unary("constant_like", "6xf64").replace("chlo.constant_like %x", '"chlo.constant_like"(%x)')
    text = text.replace(
        '"(%x) : tensor<6xf64> -> tensor<6xf64>', '"(%x) <{value = 2.5 : f64}> : (tensor<6xf64>) -> tensor<6xf64>'
    )
    assert interpret(legal(text), [SPREAD])[0].tolist() == [2.5] * 6


def test_what_is_legal_is_shared():
    text = jax.jit(jnp.sin).lower(SPREAD).as_text()
    source = parse(text).main
    assert legalize(source) is source


def test_regions_and_callees(rng):
    @jax.jit
    def inner(x):
        return lax.erf(x)

    def body(carry, row):
        return carry + inner(row), lax.cond(carry[0] > 0, lax.square, lambda r: jnp.sinh(r + carry), row)

    x = rng.normal(size=(4, 3))
    text = jax.jit(lambda x: lax.scan(body, jnp.zeros(3), x)).lower(x).as_text()
    before = print_function(parse(text).main)
    source = parse(text).main
    found = legalize(source)
    verify(found)
    assert print_function(source) == before
    for ours, theirs in zip(interpret(found, [x]), run_on_xla(text, [x]), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_locations_are_kept():
    found = legalize(parse(unary("erf", "3xf64"), "model.mlir").main)
    assert found.body.ops[0].location.describe() == "model.mlir:2"


def test_deprecated_ops(rng):
    text = """func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<5x2x4xf32> {
      %0 = stablehlo.dot %x, %y : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
      %1 = stablehlo.broadcast %0, sizes = [5] : (tensor<2x4xf32>) -> tensor<5x2x4xf32>
      return %1 : tensor<5x2x4xf32>
    }"""
    x, y = rng.normal(size=(2, 3)).astype(np.float32), rng.normal(size=(3, 4)).astype(np.float32)
    found = legalize(parse(text).main)
    verify(found)
    assert [op.definition.name for op in found.body.ops] == ["dot_general", "broadcast_in_dim"]
    np.testing.assert_allclose(interpret(found, [x, y])[0], np.broadcast_to(x @ y, (5, 2, 4)), rtol=1e-6)
