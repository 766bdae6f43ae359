"""Collectives of one process, and custom calls that are ops: the same as on XLA and in JAX, on one device."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from numhlo import stablehlo
from numhlo.lowering.ir.errors import UnsupportedError
from tests.oracle import official_parse, run_on_xla

X = np.arange(8, dtype=np.float32).reshape(2, 4)
T = "tensor<2x4xf32>"
ONE = "replica_groups = dense<0> : tensor<1x1xi64>"
SUM = """({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  })"""
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
OPS = {
    "all_reduce": f'%0 = "stablehlo.all_reduce"(%a) <{{{ONE}, {CHANNEL}, use_global_device_ids}}> {SUM}',
    "all_reduce.everybody": f'%0 = "stablehlo.all_reduce"(%a) <{{replica_groups = dense<> : tensor<0x0xi64>}}> {SUM}',
    "all_gather": f'%0 = "stablehlo.all_gather"(%a) <{{all_gather_dim = 1 : i64, {ONE}}}>',
    "all_to_all": '%0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 0 : i64, '
    f"{ONE}, split_count = 1 : i64, split_dimension = 1 : i64}}>",
    "reduce_scatter": f'%0 = "stablehlo.reduce_scatter"(%a) <{{{ONE}, scatter_dimension = 0 : i64}}> {SUM}',
    "collective_broadcast": f'%0 = "stablehlo.collective_broadcast"(%a) <{{{ONE}}}>',
    "collective_permute": '%0 = "stablehlo.collective_permute"(%a) '
    "<{source_target_pairs = dense<0> : tensor<1x2xi64>}>",
    "collective_permute.nobody": '%0 = "stablehlo.collective_permute"(%a) '
    "<{source_target_pairs = dense<> : tensor<0x2xi64>}>",
}


def program(line):
    return f"func.func public @main(%a: {T}) -> {T} {{\n  {line} : ({T}) -> {T}\n  return %0 : {T}\n}}"


@pytest.mark.parametrize("name", OPS)
def test_one_process_is_alone(name):
    text = program(OPS[name])
    module = stablehlo.parse(text)
    official_parse(module.as_text())
    expected = X if name == "collective_broadcast" else run_on_xla(text, [X])[0]  # XLA has none on the CPU
    for results in (module.run("main", X), module.interpret("main", X)):
        np.testing.assert_array_equal(results[0], expected, strict=True)


@pytest.mark.parametrize("name", ["all_reduce", "all_gather", "collective_broadcast", "collective_permute"])
def test_other_processes_are_refused(name):
    two = {
        "dense<0> : tensor<1x1xi64>": "dense<[[0, 1]]> : tensor<1x2xi64>",
        "dense<0> : tensor<1x2xi64>": "dense<[[0, 1]]> : tensor<1x2xi64>",
    }
    text = program(OPS[name])
    for old, new in two.items():
        text = text.replace(old, new)
    if name == "all_gather":
        text = text.replace(f"-> {T}", "-> tensor<2x8xf32>").replace(f"%0 : {T}", "%0 : tensor<2x8xf32>")
    with pytest.raises(
        UnsupportedError, match=rf"^stablehlo\.{name} can't be run\n  at <string>:2:8\n  it exchanges data"
    ):
        stablehlo.parse(text).run("main", X)


def test_collectives_of_a_mesh_of_one_device():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("i",))
    rows, all_rows = jax.sharding.PartitionSpec("i"), jax.sharding.PartitionSpec()

    def of_a_shard(x):
        return lax.psum(x, "i"), lax.ppermute(x, "i", [(0, 0)]), lax.psum_scatter(x[None], "i"), lax.axis_index("i")

    specs = (all_rows, rows, rows, all_rows)
    function = jax.jit(jax.shard_map(of_a_shard, mesh=mesh, in_specs=rows, out_specs=specs, check_vma=False))
    found = stablehlo.parse(function.lower(X).as_text()).run("main", X)
    for x, y in zip(found, function(X), strict=True):
        np.testing.assert_array_equal(x, y)


def test_approximate_top_k_is_exact():
    """Its computation is a function that ends as regions do."""

    def function(x):
        return lax.approx_max_k(x, 2), lax.approx_min_k(x, 1, reduction_dimension=0)

    x = np.random.default_rng(0).normal(size=(3, 7)).astype(np.float32)
    text = jax.jit(function).lower(x).as_text()
    assert "stablehlo.return" in text and "@ApproxTopK" in text
    module = stablehlo.parse(text)
    official_parse(module.as_text())
    for found, wanted in zip(module.run("main", x), jax.tree.leaves(jax.jit(function)(jnp.asarray(x))), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_groups_of_a_builder():
    b = stablehlo.Builder("sum")
    b.all_reduce(b.parameter(0, X), regions=[lambda x, y: x + y], replica_groups=[[0]], result=X)
    np.testing.assert_array_equal(b.build().run("sum", X)[0], X)
