"""A small convolutional network as JAX exports it: run compiled and interpreted, vmapped and differentiated."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import numhlo
from numhlo import stablehlo

NHWC = ("NHWC", "HWIO", "NHWC")


def parameters(rng):
    shapes = {"k1": (3, 3, 1, 4), "k2": (3, 3, 4, 6), "scale": (4,), "offset": (4,), "w": (24, 5), "b": (5,)}
    return {name: (rng.standard_normal(shape) * 0.5).astype(np.float32) for name, shape in shapes.items()}


def network(p, x):
    y = lax.conv_general_dilated(x, p["k1"], (1, 1), "SAME", dimension_numbers=NHWC)
    mean, variance = y.mean((0, 1, 2)), y.var((0, 1, 2))
    y = jax.nn.relu((y - mean) * lax.rsqrt(variance + 1e-3) * p["scale"] + p["offset"])
    y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    y = lax.conv_general_dilated(y, p["k2"], (2, 2), "SAME", dimension_numbers=NHWC)
    y = lax.reduce_window(y, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "SAME") / 4
    return jax.nn.log_softmax(y.reshape(y.shape[0], -1) @ p["w"] + p["b"])


def loss(p, x, labels):
    return -jnp.take_along_axis(network(p, x), labels[:, None], 1).mean()


def exported(function, *arguments):
    return stablehlo.parse(jax.jit(function).lower(*arguments).as_text())


def close(found, expected, tolerance=2e-5):
    leaves = jax.tree.leaves(expected)
    for ours, theirs in zip(found, leaves, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, tolerance, tolerance)


@pytest.mark.slow
def test_a_network_and_its_gradient(rng):
    p, x, labels = parameters(rng), rng.standard_normal((3, 8, 8, 1)).astype(np.float32), np.array([1, 4, 0], np.int32)

    def step(p, x, labels):
        return network(p, x), jax.value_and_grad(loss, (0, 1))(p, x, labels)

    module = exported(step, p, x, labels)
    assert all(
        f"stablehlo.{name}" in module.as_text() for name in ("convolution", "reduce_window", "select_and_scatter")
    )
    arrays = [*jax.tree.leaves(p), x, labels]
    expected = jax.jit(step)(p, x, labels)
    close(module.run("main", *arrays), expected)
    close(module.interpret("main", *arrays), expected)
    close(stablehlo.parse(module.as_text(generic=True)).run("main", *arrays), expected)


@pytest.mark.slow
@pytest.mark.usefixtures("first_answers")
def test_the_exported_network_is_a_function(rng):
    p, labels = parameters(rng), np.array([1, 4, 0], np.int32)
    x = rng.standard_normal((3, 8, 8, 1)).astype(np.float32)
    images = rng.standard_normal((2, 3, 8, 8, 1)).astype(np.float32)
    leaves, tree = jax.tree.flatten(p)
    call = exported(loss, p, x, labels).callable("main")
    indices = tuple(range(len(leaves) + 1))

    @numhlo.jit
    def every(leaves, x, images, labels):
        gradients = numhlo.grad(call, indices)(*leaves, x, labels)
        lanes = numhlo.vmap(lambda image: call(*leaves, image, labels))(images)
        return gradients, lanes, numhlo.vmap(numhlo.grad(lambda image: call(*leaves, image, labels)))(images)

    gradients, lanes, in_lanes = every(leaves, x, images, labels)

    @jax.jit
    def wanted(p, x, images, labels):
        lanes = jax.vmap(lambda image: loss(p, image, labels))(images)
        return (
            jax.grad(loss, (0, 1))(p, x, labels),
            lanes,
            jax.vmap(jax.grad(lambda image: loss(p, image, labels)))(images),
        )

    close([*gradients, lanes, in_lanes], wanted(p, x, images, labels))


@pytest.mark.slow
@pytest.mark.usefixtures("first_answers")
def test_a_gradient_is_differentiated_again(rng):
    x = rng.standard_normal((2, 6, 6, 2)).astype(np.float32)

    def total(x):
        return (lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 3).sum()

    call = exported(jax.grad(total), x).callable("main")  # has a select_and_scatter
    found = numhlo.jit(lambda x: (numhlo.vmap(call)(x[None]), numhlo.grad(lambda x: (call(x) ** 2).sum())(x)))(x)
    close(found, [jax.grad(total)(x)[None], jax.grad(lambda x: (jax.grad(total)(x) ** 2).sum())(x)])


NORMALIZED = """
func.func @main(%x: tensor<4x3x2xTYPE>, %s: tensor<3xTYPE>, %o: tensor<3xTYPE>, %g: tensor<4x3x2xTYPE>)
    -> (tensor<4x3x2xTYPE>, tensor<3xTYPE>, tensor<3xTYPE>, tensor<4x3x2xTYPE>, tensor<4x3x2xTYPE>, tensor<3xTYPE>,
        tensor<3xTYPE>) {
  %y, %m, %v = "stablehlo.batch_norm_training"(%x, %s, %o) {epsilon = 0.001 : f32, feature_index = 1 : i64}
    : (tensor<4x3x2xTYPE>, tensor<3xTYPE>, tensor<3xTYPE>)
    -> (tensor<4x3x2xTYPE>, tensor<3xTYPE>, tensor<3xTYPE>)
  %z = "stablehlo.batch_norm_inference"(%y, %s, %o, %m, %v) {epsilon = 0.25 : f32, feature_index = 1 : i64}
    : (tensor<4x3x2xTYPE>, tensor<3xTYPE>, tensor<3xTYPE>, tensor<3xTYPE>, tensor<3xTYPE>) -> tensor<4x3x2xTYPE>
  %a, %b, %c = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) {epsilon = 0.001 : f32, feature_index = 1 : i64}
    : (tensor<4x3x2xTYPE>, tensor<3xTYPE>, tensor<3xTYPE>, tensor<3xTYPE>, tensor<4x3x2xTYPE>)
    -> (tensor<4x3x2xTYPE>, tensor<3xTYPE>, tensor<3xTYPE>)
  return %y, %m, %v, %z, %a, %b, %c : tensor<4x3x2xTYPE>, tensor<3xTYPE>, tensor<3xTYPE>, tensor<4x3x2xTYPE>,
    tensor<4x3x2xTYPE>, tensor<3xTYPE>, tensor<3xTYPE>
}"""


def normalized(x, s, o, epsilon=np.float32(0.001)):
    mean, variance = x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)
    return s[:, None] * (x - mean) / jnp.sqrt(variance + epsilon) + o[:, None]


@pytest.mark.specifies("normalization, BatchNorm")
def test_batch_normalization(rng):
    x, g = rng.standard_normal((2, 4, 3, 2))
    s, o = rng.standard_normal((2, 3))
    call = stablehlo.parse(NORMALIZED.replace("TYPE", "f64")).callable("main")
    compiled = numhlo.jit(
        lambda *a: (call(*a), numhlo.vmap(call, (0, None, None, 0))(a[0][None], a[1], a[2], a[3][None]))
    )
    (y, mean, variance, z, *gradients), lanes = compiled(x, s, o, g)
    np.testing.assert_allclose(y, normalized(x, s, o), 1e-12)
    np.testing.assert_allclose(mean, x.mean((0, 2)))
    np.testing.assert_allclose(variance, x.var((0, 2)))
    by_hand = s[:, None] * (y - mean[:, None]) / np.sqrt(variance + 0.25)[:, None] + o[:, None]
    np.testing.assert_allclose(z, by_hand, 1e-12)
    _, pull = jax.vjp(normalized, x, s, o)
    for found, expected in zip(gradients, pull(g), strict=True):
        np.testing.assert_allclose(found, expected, 1e-6, 1e-9)
    for one, lane in zip((y, mean, variance, z, *gradients), lanes, strict=True):
        np.testing.assert_allclose(lane[0], one, 1e-12)
    # the training op's derivative is what the op for it says
    pulled = numhlo.jit(numhlo.grad(lambda *a: (call(*a, g)[0] * g).sum(), (0, 1, 2)))(x, s, o)
    for found, expected in zip(pulled, gradients, strict=True):
        np.testing.assert_allclose(found, expected, 1e-9, 1e-12)


@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_batch_normalization_in_other_types(element, rng):
    module = stablehlo.parse(NORMALIZED.replace("TYPE", element))
    dtype = np.float32 if element == "f32" else jnp.bfloat16
    arrays = [rng.standard_normal(shape).astype(dtype) for shape in ((4, 3, 2), (3,), (3,), (4, 3, 2))]
    for found, expected in zip(module.run("main", *arrays), module.interpret("main", *arrays), strict=True):
        assert found.dtype == dtype
        np.testing.assert_allclose(
            found.astype(float), expected.astype(float), 1e-2 if element == "bf16" else 1e-5, 1e-6
        )


MAPS = """
func.func @main(%x: tensor<2x3xf64>, %n: tensor<2x3xi32>, %k: tensor<f64>)
    -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>) {
  %0 = "stablehlo.map"(%x, %n) ({
    ^bb0(%a: tensor<f64>, %i: tensor<i32>):
      %c = stablehlo.convert %i : (tensor<i32>) -> tensor<f64>
      %d = stablehlo.constant dense<2.0> : tensor<f64>
      %e = stablehlo.multiply %c, %d : tensor<f64>
      %f = stablehlo.add %a, %e : tensor<f64>
      %g = stablehlo.multiply %f, %k : tensor<f64>
      stablehlo.return %g : tensor<f64>
  }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf64>, tensor<2x3xi32>) -> tensor<2x3xf64>
  %1 = "stablehlo.map"(%x, %n) ({
    ^bb0(%a: tensor<f64>, %i: tensor<i32>):
      %one = stablehlo.constant dense<1> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %p = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %r = "stablehlo.if"(%p) ({
        %s = stablehlo.multiply %a, %k : tensor<f64>
        stablehlo.return %s : tensor<f64>
      }, {
        %s = stablehlo.negate %a : tensor<f64>
        stablehlo.return %s : tensor<f64>
      }) : (tensor<i1>) -> tensor<f64>
      stablehlo.return %r : tensor<f64>
  }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf64>, tensor<2x3xi32>) -> tensor<2x3xf64>
  %2 = "stablehlo.map"(%x) ({
    ^bb0(%a: tensor<f64>):
      stablehlo.return %k : tensor<f64>
  }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf64>) -> tensor<2x3xf64>
  return %0, %1, %2 : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}"""


@pytest.mark.specifies("map, Map")
def test_maps_of_any_computation(rng):
    x, n, k = rng.standard_normal((2, 3)), np.array([[1, -1, 0], [2, 5, -3]], np.int32), np.float64(1.5)
    module = stablehlo.parse(MAPS)
    expected = (x + 2.0 * n) * k, np.where(n > 0, x * k, -x), np.full_like(x, k)
    for run in (module.run, module.interpret):
        for found, wanted in zip(run("main", x, n, k), expected, strict=True):
            np.testing.assert_allclose(found, wanted)
    call = module.callable("main")

    def total(x, k):
        first, second, third = call(x, n, k)
        return (first * second + third).sum()

    dx, dk = numhlo.jit(numhlo.grad(total, (0, 1)))(x, k)
    first, second, _ = expected
    slope = np.where(n > 0, k, -1)
    np.testing.assert_allclose(dx, k * second + first * slope)
    np.testing.assert_allclose(dk, ((x + 2 * n) * second + first * np.where(n > 0, x, 0) + 1).sum())
    lanes = numhlo.jit(numhlo.vmap(call, (0, None, None)))(np.stack([x, -x]), n, k)
    np.testing.assert_allclose(lanes[1][1], -expected[1])


@pytest.mark.slow
@pytest.mark.specifies("open extents")
def test_any_number_of_images(rng):
    p = parameters(rng)
    (count,) = jax.export.symbolic_shape("count")
    shape = jax.ShapeDtypeStruct((count, 8, 8, 1), np.float32)
    module = stablehlo.parse(str(jax.export.export(jax.jit(lambda x: network(p, x)))(shape).mlir_module()))
    for images in (2, 3):
        x = rng.standard_normal((images, 8, 8, 1)).astype(np.float32)
        close(module.interpret("main", x), network(p, x))


@pytest.mark.usefixtures("first_answers")
def test_windows_of_a_scalar():
    text = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %i = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
      }) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32> }"""
    assert stablehlo.parse(text).run("main", np.float32(2)) == (2,)
