"""Meshes, shardings, `pmap` and `shard_map` on one device: JAX's programs run, with JAX's results."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from jax.experimental import multihost_utils as theirs

import numhlo.compat.jax as compat
from numhlo.compat.jax.experimental import mesh_utils, multihost_utils
from numhlo.compat.jax.experimental.compilation_cache import compilation_cache
from numhlo.compat.jax.experimental.pjit import pjit
from numhlo.compat.jax.experimental.shard_map import shard_map
from numhlo.lowering.ir.errors import ArgumentError, ShapeError

jax.config.update("jax_enable_x64", True)


def product_over_a_mesh(jax):
    jnp, P = jax.numpy, jax.sharding.PartitionSpec
    mesh = jax.make_mesh((1, 1), ("i", "j"), axis_types=(jax.sharding.AxisType.Auto,) * 2)

    def body(a, b):
        total = jax.lax.psum(a @ b, "j")
        return {
            "product": total,
            "place": jax.lax.axis_index("i") + jax.lax.all_gather(a, "j", axis=1, tiled=True).sum(),
        }

    specs = {"product": P("i", None), "place": P()}
    f = jax.shard_map(body, mesh=mesh, in_specs=(P("i", "j"), P("j", None)), out_specs=specs, check_vma=False)
    a, b = jnp.arange(6.0).reshape(2, 3), jnp.ones((3, 2))
    return f(a, b), jax.jit(f)(a, b), jax.grad(lambda a: f(a, b)["product"].sum())(a)


def parts_of_a_batch(jax):
    jnp = jax.numpy
    normalized = jax.pmap(lambda x, k: x * k / jax.lax.psum(x, "i"), axis_name="i", in_axes=(0, None))
    picked = jax.pmap(lambda x, n: x + n, static_broadcasted_argnums=1)
    return normalized(jnp.ones((1, 3)), 2.0), picked(jnp.zeros((1, 2)), 3)


@pytest.mark.parametrize("program", [product_over_a_mesh, parts_of_a_batch])
def test_programs(program):
    found, wanted = jax.tree.leaves(program(compat)), jax.tree.leaves(program(jax))
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, np.asarray(other), strict=True)


def test_arrays_lie_on_the_device_whole():
    mesh = compat.sharding.Mesh(mesh_utils.create_device_mesh((1,)), "x")
    spread = compat.NamedSharding(mesh, compat.P("x"))
    array = compat.device_put(np.arange(4.0), spread)
    assert array.sharding.is_fully_replicated and array.is_fully_addressable and not array.is_deleted()
    assert [shard.data.shape for shard in array.addressable_shards] == [(4,)]
    assert spread.shard_shape((4,)) == (4,) and spread.is_equivalent_to(array.sharding, 1)
    kept = compat.jit(lambda x: compat.lax.with_sharding_constraint(x, spread), in_shardings=spread, out_shardings=None)
    assert kept(array).tolist() == compat.reshard(array, spread).tolist() == [0, 1, 2, 3]
    with compat.set_mesh(mesh):
        total = compat.shard_map(lambda x: compat.lax.psum(x.sum(), "x"), in_specs=compat.P("x"), out_specs=compat.P())
        assert total(array) == 6
    assert compat.sharding.get_mesh() is None and mesh == compat.make_mesh((1,), ("x",))


def test_more_devices_are_refused():
    with pytest.raises(ArgumentError) as caught:
        compat.make_mesh((4, 2), ("x", "y"))
    assert str(caught.value).startswith("a mesh of 8 devices, and there is 1\n  at test_one_device.py:")
    assert str(caught.value).endswith(
        'ask for them first, by jax.config.update("jax_num_cpu_devices", 8) or by '
        "XLA_FLAGS=--xla_force_host_platform_device_count=8"
    )
    with pytest.raises(ArgumentError, match=r"pmap over an axis of extent 3\n.*\n.*use vmap"):
        compat.pmap(lambda x: x)(np.ones(3))
    mesh = compat.make_mesh((1,), ("x",))
    with pytest.raises(ArgumentError, match=r"names an axis 'y'\n.*\n  the mesh has \('x',\)"):
        compat.NamedSharding(mesh, compat.P("y"))
    with pytest.raises(ArgumentError, match="shard_map without a mesh"):
        shard_map(lambda x: x, in_specs=compat.P(), out_specs=compat.P())
    f = shard_map(lambda x: x, mesh=mesh, in_specs=compat.P("x", None), out_specs=compat.P("x"))
    with pytest.raises(ShapeError, match=r"P\('x', None\) for an argument of shape \(3,\)"):
        f(np.ones(3))
    assert mesh.abstract_mesh == compat.sharding.AbstractMesh((1,), ("x",))


def test_one_process_has_everything():
    tree = {"x": compat.numpy.arange(3.0), "n": 2}
    for tiled in (False, True):
        wanted = theirs.process_allgather(tree, tiled=tiled)
        found = multihost_utils.process_allgather(tree, tiled=tiled)
        assert jax.tree.map(np.shape, found) == jax.tree.map(np.shape, wanted)
    assert type(multihost_utils.broadcast_one_to_all(tree)["x"]) is np.ndarray
    multihost_utils.sync_global_devices("epoch")
    multihost_utils.assert_equal(tree)
    mesh = compat.make_mesh((1,), ("x",))
    for moved in (
        multihost_utils.host_local_array_to_global_array,
        multihost_utils.global_array_to_host_local_array,
    ):
        assert moved(tree, mesh, compat.P("x")) is tree
    assert pjit(lambda x: x + 1, in_shardings=None, out_shardings=None)(1.0) == 2.0
    compilation_cache.set_cache_dir("somewhere")
    assert compat.config.jax_compilation_cache_dir == "somewhere"
    compilation_cache.set_cache_dir(None)
    compilation_cache.reset_cache()
