"""Programs as PyTorch/XLA, TensorFlow and JAX write them, old and new, with all their decoration: read and run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ShapeError, UnsupportedError
from numhlo.lowering.ir.structure import structurally_equal
from tests.oracle import official_generic, official_parse

X = np.arange(6, dtype=np.float32).reshape(2, 3)
W = np.arange(12, dtype=np.float32).reshape(4, 3) / 8
BIAS = np.array([1, -1, 0.5, 2], np.float32)

TORCH = """#loc = loc(unknown)
module @IrToHlo.29 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false,
    mhlo.use_auto_spmd_partitioning = false, mhlo.frontend_attributes = {entry = "a \\22quoted\\22 word"}} {
  func.func @main(%arg0: tensor<4xf32> loc(unknown), %arg1: tensor<4x3xf32>, %arg2: tensor<2x3xf32>)
      -> (tensor<2x4xf32>, tensor<2x4xi1>) {
    %0 = stablehlo.transpose %arg1, dims = [1, 0]
      {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[3,4]{0,1}"} : (tensor<4x3xf32>) -> tensor<3x4xf32>
    %1 = stablehlo.dot %arg2, %0, precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32> loc(#loc1)
    %3 = stablehlo.add %1, %2 : tensor<2x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<2x4xf32>
    %4 = stablehlo.custom_call @Sharding(%3) {backend_config = "", api_version = 1 : i32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %5 = stablehlo.maximum %3, %cst : tensor<2x4xf32>
    %6 = stablehlo.compare  GT, %3, %cst,  FLOAT : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
    return %5, %6 : tensor<2x4xf32>, tensor<2x4xi1>
  }
}
#loc1 = loc("add@file.py":12:5)
"""

OLD = """module @SyncTensorsGraph.8 {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4x3xf32>, %arg2: tensor<2x3xf32>)
      -> tuple<tensor<2x4xf32>, tensor<2x4xi1>> {
    %0 = "mhlo.transpose"(%arg1) {permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
    %1 = "mhlo.dot_general"(%arg2, %0) {dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [0]>, precision_config = [#mhlo<precision DEFAULT>, #mhlo<precision DEFAULT>]} :
      (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %2 = "mhlo.broadcast_in_dim" (%arg0) {broadcast_dimensions = dense<1> : tensor<1xi64>} : (tensor<4xf32>) -> (tensor<2x4xf32>)
    %3 = mhlo.add %1, %2 : tensor<2x4xf32>
    %4 = mhlo.constant dense<"0x00000000"> : tensor<2x4xf32>
    %5 = "mhlo.maximum"(%3, %4) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %6 = "mhlo.compare"(%3, %4) {comparison_direction = #mhlo<comparison_direction GT>} :
      (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
    %7 = "mhlo.tuple"(%5, %6) {xla_shape = "(f32[2,4]{1,0}, pred[2,4]{1,0})"} :
      (tensor<2x4xf32>, tensor<2x4xi1>) -> tuple<tensor<2x4xf32>, tensor<2x4xi1>>
    return %7 : tuple<tensor<2x4xf32>, tensor<2x4xi1>>
  }
}
"""

TENSORFLOW = """!batch = tensor<2x3xf32> // an alias
module attributes {tf.versions = {bad_consumers = [], min_consumer = 12 : i32, producer = 1395 : i32}, tf_saved_model.semantics} {
  func.func @main(%arg0: tensor<4xf32> {tf_saved_model.index_path = ["bias"]}, %arg1: tensor<4x3xf32>
      {tf_saved_model.index_path = ["w", 0]}, %arg2: !batch {tf_saved_model.index_path = [0]}) ->
      (tensor<2x4xf32> {tf_saved_model.index_path = []}, tensor<2x4xi1>)
      attributes {tf.entry_function = {control_outputs = "", inputs = "b,w,x", outputs = "y,p"},
                  tf_saved_model.exported_names = ["serving_default"]} {
    %w = "stablehlo.constant"() {value = dense_resource<weights> : tensor<4x3xf32>} : () -> tensor<4x3xf32>
    %sum = stablehlo.add %arg1, %w : tensor<4x3xf32> loc(fused["a", "b"("c")])
    %n = "stablehlo.get_dimension_size"(%arg2) <{dimension = 0 : i64}> : (!batch) -> tensor<i32>
    %n1 = "stablehlo.reshape"(%n) : (tensor<i32>) -> tensor<1xi32>
    %c4 = stablehlo.constant dense<4> : tensor<1xi32>
    %shape = "stablehlo.concatenate"(%n1, %c4) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %1 = "stablehlo.dot_general"(%arg2, %sum) <{dot_dimension_numbers = #stablehlo.dot<rhs_contracting_dimensions = [1],
      lhs_contracting_dimensions = [1],>}> {note} : (!batch, tensor<4x3xf32>) -> tensor<2x4xf32>
    %2 = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %shape) <{broadcast_dimensions = array<i64: 1>}> :
      (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %3 = "chlo.broadcast_add"(%1, %2) : (tensor<2x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %zero = stablehlo.constant dense<0.> : tensor<f32>
    %4 = "chlo.broadcast_maximum"(%3, %zero) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    %5 = chlo.broadcast_compare %3, %zero {comparison_direction = #chlo<comparison_direction GT>} :
      (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xi1>
    %6 = stablehlo.reshape %4 : (tensor<?x4xf32>) -> tensor<2x4xf32>
    %7 = stablehlo.reshape %5 : (tensor<?x4xi1>) -> tensor<2x4xi1>
    return %6, %7 : tensor<2x4xf32>, tensor<2x4xi1>
  }
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x04000000ZEROS"
    }
  }
#-}
""".replace("ZEROS", "00" * 48)


@pytest.mark.parametrize("name", ["TORCH", "OLD", "TENSORFLOW"])
def test_one_layer_of_every_producer(name):
    module = stablehlo.parse(globals()[name], name)
    module.verify()
    assert structurally_equal(stablehlo.parse(module.as_text()).graph, module.graph)
    assert structurally_equal(stablehlo.parse(module.as_text(generic=True)).graph, module.graph)
    product = X @ W.T + BIAS
    for results in (module.interpret("main", BIAS, W, X), module.run("main", BIAS, W, X)):
        found = results[0] if name == "OLD" else results
        np.testing.assert_allclose(found[0], np.maximum(product, 0), rtol=1e-6)
        np.testing.assert_array_equal(found[1], product > 0)


def test_shardings_on_one_device():
    mesh = Mesh(np.array(jax.devices()[:1]), ("i",))
    sharding = NamedSharding(mesh, PartitionSpec("i"))
    constrained = jax.jit(lambda x: jax.lax.with_sharding_constraint(jnp.sin(x), sharding) * 2, in_shardings=sharding)
    text = constrained.lower(BIAS).as_text()
    module = stablehlo.parse(text)
    assert 'sdy.sharding_constraint %0 <@mesh, [{"i"}]> : tensor<4xf32>' in module.as_text()
    for generic in (False, True):
        assert official_parse(module.as_text(generic=generic)) == official_parse(text)
    np.testing.assert_allclose(module.run("main", BIAS)[0], 2 * np.sin(BIAS), rtol=1e-6)


def test_a_shard_on_one_device_is_the_whole():
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<4xf32>
      %1 = stablehlo.add %0, %0 : tensor<4xf32>
      %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) : (tensor<4xf32>) -> tensor<4xf32>
      return %2 : tensor<4xf32>
    }"""
    module = stablehlo.parse(text)
    for run in (module.run, module.interpret):
        np.testing.assert_array_equal(run("main", BIAS)[0], 2 * BIAS)
    two = stablehlo.parse(
        text.replace("-> tensor<4xf32>\n      return", "-> tensor<8xf32>\n      return")
        .replace("tensor<4xf32> {\n      %0", "tensor<8xf32> {\n      %0")
        .replace("%2 : tensor<4", "%2 : tensor<8")
    )
    with pytest.raises(ShapeError, match="SPMDShardToFullShape"):
        two.run("main", BIAS)


def test_manual_computations():
    """On one device the body of a ``shard_map`` is computed as it is; for several it is kept, and refused when run."""
    text = """module @jit_f {
      sdy.mesh @mesh = <["i"=1]>
      func.func public @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) -> tensor<4xf32> {
        %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"i"}]>] out_shardings=[<@mesh, [{"i"}]>]
            manual_axes={"i"} (%arg1: tensor<4xf32>) {
          %1 = stablehlo.sine %arg1 : tensor<4xf32>
          %2 = stablehlo.add %1, %1 : tensor<4xf32>
          sdy.return %2 : tensor<4xf32>
        } : (tensor<4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>
      }
    }"""
    module = stablehlo.parse(text)
    for generic in (False, True):
        printed = module.as_text(generic=generic)
        assert official_parse(printed) == official_parse(text)
        assert structurally_equal(stablehlo.parse(printed).graph, module.graph)
        assert structurally_equal(stablehlo.parse(official_generic(printed)).graph, module.graph)
    np.testing.assert_allclose(module.run("main", BIAS)[0], 2 * np.sin(BIAS), rtol=1e-6)
    parted = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"i"}]>] out_shardings=[<@mesh, [{"i"}]>]
          manual_axes={"i"} (%y: tensor<2xf32>) {
        sdy.return %y : tensor<2xf32>
      } : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    with pytest.raises(UnsupportedError, match="its body is not one of whole arrays"):
        stablehlo.parse(parted).run("main", np.zeros(8, np.float32))
    bare = """func.func @main(%x: tensor<8xf32>) {
      %0 = "sdy.sharding_constraint"(%x) : (tensor<8xf32>) -> tensor<8xf32>
      "sdy.manual_computation"() : () -> ()
      return
    }"""
    printed = stablehlo.parse(bare).as_text()
    assert '"sdy.sharding_constraint"(%arg0) :' in printed and '"sdy.manual_computation"() :' in printed
