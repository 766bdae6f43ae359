"""What other tools write and tracing does not: any comparator, values from outside bodies, narrow indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numhlo

RNG = np.random.default_rng(11)


def one_op(op: str, types: str, bodies: list[str], attributes: str, returned: str) -> Callable[..., Any]:
    """Return a function of ``%x: tensor<5xf64>, %k: tensor<f64>`` that applies an op with bodies of two scalars."""
    regions = ", ".join(f"{{ ^bb0(%a: tensor<f64>, %b: tensor<f64>): {body} }}" for body in bodies)
    text = f"""func.func @main(%x: tensor<5xf64>, %k: tensor<f64>) -> {returned} {{
      %zero = stablehlo.constant dense<0.0> : tensor<f64>
      %places = stablehlo.constant dense<[[1], [3]]> : tensor<2x1xi64>
      %two = stablehlo.slice %x [0:2] : (tensor<5xf64>) -> tensor<2xf64>
      %r = "stablehlo.{op}"{types.split(":", maxsplit=1)[0]} ({regions}) {{{attributes}}} : {types.split(":", 1)[1]}
      return %r : {returned}
    }}"""
    return numhlo.stablehlo.parse(text).callable("main")


def comparing(direction: str, of: str) -> str:
    """Return a body that compares what ``of`` (text, with @ for the scalar) makes of each scalar."""
    made = [of.replace("@", f"%{name}") for name in "ab"]
    return (
        f"%p = stablehlo.{made[0]} : tensor<f64> %q = stablehlo.{made[1]} : tensor<f64>"
        f" %c = stablehlo.compare {direction}, %p, %q : (tensor<f64>, tensor<f64>) -> tensor<i1>"
        " stablehlo.return %c : tensor<i1>"
    )


def test_comparators_of_sorts_use_values_from_outside() -> None:
    by_product = comparing("LT", "multiply @, %k")
    fun = one_op(
        "sort",
        "(%x): (tensor<5xf64>) -> tensor<5xf64>",
        [by_product],
        "dimension = 0 : i64, is_stable = true",
        "tensor<5xf64>",
    )
    x, w = RNG.normal(size=5), np.arange(5.0)
    slope = numhlo.grad(lambda x, k: (fun(x, k) * w).sum(), (0, 1))
    order = np.argsort(-x)
    down, of_k = slope(x, -1.0)
    np.testing.assert_array_equal(down[order], w)
    assert of_k == 0
    np.testing.assert_array_equal(numhlo.jvp(fun, (x, -1.0), (w, 1.0))[1], w[order])
    both = numhlo.vmap(slope, (None, 0))(x, np.array([1.0, -1.0]))[0]
    np.testing.assert_array_equal(both[1], down)
    np.testing.assert_array_equal(both[0][order[::-1]], w)


def test_bodies_of_scatters_use_values_from_outside() -> None:
    body = (
        "%p = stablehlo.multiply %b, %k : tensor<f64> %c = stablehlo.add %a, %p : tensor<f64>"
        " stablehlo.return %c : tensor<f64>"
    )
    numbers = "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
    fun = one_op(
        "scatter",
        "(%x, %places, %two): (tensor<5xf64>, tensor<2x1xi64>, tensor<2xf64>) -> tensor<5xf64>",
        [body],
        f"scatter_dimension_numbers = #stablehlo.scatter<{numbers}>, unique_indices = true",
        "tensor<5xf64>",
    )
    xs, ks = RNG.normal(size=(3, 5)), RNG.normal(size=3)
    for x_axis, k_axis in ((0, None), (None, 0), (0, 0)):
        given = [xs if x_axis == 0 else xs[0], ks if k_axis == 0 else ks[0]]
        found = numhlo.vmap(fun, (x_axis, k_axis))(*given)
        for lane, result in enumerate(found):
            x, k = (part[lane] if axis == 0 else part for part, axis in zip(given, (x_axis, k_axis), strict=True))
            np.testing.assert_allclose(result, x + k * np.array([0, x[0], 0, x[1], 0]), rtol=1e-15)


def selecting(selection: str) -> Callable[..., Any]:
    """Return a function of ``x`` and ``k`` that adds elements of ``k * [1, 2]`` to where windows select."""
    text = f"""func.func @main(%x: tensor<5xf64>, %k: tensor<f64>) -> tensor<5xf64> {{
      %zero = stablehlo.constant dense<0.0> : tensor<f64>
      %weights = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
      %wide = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %source = stablehlo.multiply %wide, %weights : tensor<2xf64>
      %r = "stablehlo.select_and_scatter"(%x, %source, %zero) ({{ ^bb0(%a: tensor<f64>, %b: tensor<f64>): {selection}
      }}, {{ ^bb0(%a: tensor<f64>, %b: tensor<f64>): %q = stablehlo.add %a, %b : tensor<f64>
        stablehlo.return %q : tensor<f64> }}) {{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}}
        : (tensor<5xf64>, tensor<2xf64>, tensor<f64>) -> tensor<5xf64>
      return %r : tensor<5xf64>
    }}"""
    return numhlo.stablehlo.parse(text).callable("main")


@pytest.mark.parametrize("direction", ["GE", "GT", "LE", "LT"])
@pytest.mark.parametrize("of", ["multiply @, @", "negate @"])
def test_any_selection_has_a_transpose(direction: str, of: str) -> None:
    fun = selecting(comparing(direction, of))
    w = np.arange(1.0, 6.0)
    for x in (RNG.normal(size=5), np.array([1.0, -1.0, 1.0, 1.0, -1.0])):  # ties, too
        assert numhlo.grad(lambda k, x=x: (fun(x, k) * w).sum())(3.0) == (fun(x, 1.0) * w).sum()


def test_selections_use_values_from_outside() -> None:
    fun = selecting(comparing("GE", "multiply @, %k"))
    x, w = np.array([1.0, -2.0, 3.0, 5.0, -1.0]), np.arange(1.0, 6.0)
    for k in (2.0, -2.0):
        slope = numhlo.jit(numhlo.grad(lambda k: (fun(x, k) * w).sum()))(k)
        assert slope == (fun(x, k) / k * w).sum() == numhlo.jvp(lambda k: (fun(x, k) * w).sum(), (k,), (1.0,))[1]


def test_infinite_constants_of_dropped_branches_give_no_nan() -> None:
    """Exported programs expand the inverse error function: x * inf where abs(x) is 1, else a polynomial."""
    text = """func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {
      %inf = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
      %wide = stablehlo.broadcast_in_dim %inf, dims = [] : (tensor<f64>) -> tensor<4xf64>
      %one = stablehlo.constant dense<1.0> : tensor<4xf64>
      %size = stablehlo.abs %x : tensor<4xf64>
      %at_pole = stablehlo.compare EQ, %size, %one : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
      %pole = stablehlo.multiply %x, %wide : tensor<4xf64>
      %else = stablehlo.sine %x : tensor<4xf64>
      %y = stablehlo.select %at_pole, %pole, %else : tensor<4xi1>, tensor<4xf64>
      return %y : tensor<4xf64>
    }"""
    fun = numhlo.stablehlo.parse(text).callable("main")
    x = np.array([0.5, 1.0, -0.25, 3.0])
    expected = np.array([np.cos(0.5), np.inf, np.cos(-0.25), np.cos(3.0)])
    slopes = (numhlo.grad(lambda x: fun(x).sum()), numhlo.jit(numhlo.grad(lambda x: fun(x).sum())))
    for slope in (*slopes, lambda x: numhlo.vjp(fun, x)[1](np.ones(4))[0]):
        np.testing.assert_allclose(slope(x), expected)
    curvature = numhlo.hessian(lambda x: fun(x).sum())(x[[0, 0, 2, 3]])
    np.testing.assert_allclose(curvature, np.diag(-np.sin(x[[0, 0, 2, 3]])))


@pytest.mark.parametrize(("element", "dtype"), [("i8", "int8"), ("ui8", "uint8"), ("i16", "int16")])
def test_narrow_indices_into_long_axes(element: str, dtype: str) -> None:
    numbers = "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1"
    types = f"(tensor<300xf64>, tensor<2x1x{element}>) -> tensor<2xf64>"
    text = f"""func.func @main(%x: tensor<300xf64>, %i: tensor<2x1x{element}>) -> tensor<2xf64> {{
      %r = "stablehlo.gather"(%x, %i) {{dimension_numbers = #stablehlo.gather<{numbers}>,
        slice_sizes = array<i64: 1>}} : {types}
      return %r : tensor<2xf64>
    }}"""
    fun = numhlo.stablehlo.parse(text).callable("main")
    index = np.array([[7], [101]], dtype)
    slope = numhlo.grad(lambda x: (fun(x, index) ** 2).sum())(np.arange(300.0))
    assert np.flatnonzero(slope).tolist() == [7, 101]
    assert slope[101] == 202


@pytest.mark.parametrize(("element", "dtype"), [("i8", "int8"), ("ui8", "uint8")])
@pytest.mark.parametrize("combiner", ["add", "multiply"])
def test_scatters_at_narrow_indices_into_long_axes(combiner: str, element: str, dtype: str) -> None:
    numbers = "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
    text = f"""func.func @main(%x: tensor<300xf64>, %i: tensor<2x1x{element}>, %u: tensor<2xf64>) -> tensor<300xf64> {{
      %r = "stablehlo.scatter"(%x, %i, %u) ({{ ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %c = stablehlo.{combiner} %a, %b : tensor<f64>
        stablehlo.return %c : tensor<f64>
      }}) {{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}
        : (tensor<300xf64>, tensor<2x1x{element}>, tensor<2xf64>) -> tensor<300xf64>
      return %r : tensor<300xf64>
    }}"""
    fun = numhlo.stablehlo.parse(text).callable("main")
    x, index, w = np.linspace(0.5, 2.0, 300), np.array([[7], [101]], dtype), np.linspace(1.0, 2.0, 300)
    slope = numhlo.grad(lambda u: (fun(x, index, u) * w).sum())(np.array([3.0, 5.0]))
    places = [7, 101]
    np.testing.assert_allclose(slope, w[places] if combiner == "add" else (w * x)[places], rtol=1e-12)
