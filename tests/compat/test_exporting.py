"""Exported programs, assignment to centroids, and matrices that NumPy refuses, under JAX's names."""

from __future__ import annotations

import jax
import jax.scipy.cluster.vq
import numpy as np
import pytest

import numhlo.compat.jax as compat
from numhlo.compat.jax.scipy.cluster.vq import vq
from numhlo.lowering.ir.errors import ArgumentError, ParseError, ShapeError, UnsupportedError

jax.config.update("jax_enable_x64", True)
jnp = compat.numpy


def test_export():
    spec = {"x": compat.ShapeDtypeStruct((3,), np.float64)}
    exported = compat.export.export(compat.jit(lambda d: {"y": jnp.sin(d["x"])}), platforms=["cpu"])(spec)
    assert [a.shape for a in exported.in_avals + exported.out_avals] == [(3,), (3,)]
    assert "stablehlo.sine" in exported.mlir_module() and exported.fun_name == "lambda"
    again = compat.export.deserialize(exported.serialize(vjp_order=1))
    x = np.arange(3.0)
    for program in (exported, again):
        assert isinstance(program.call({"x": x})["y"], compat.Array)
        np.testing.assert_allclose(compat.jit(program.call)({"x": x})["y"], np.sin(x))
    np.testing.assert_allclose(compat.grad(lambda x: again.call({"x": x})["y"].sum())(x), np.cos(x))
    with pytest.raises(ShapeError):
        again.call({"x": np.ones(4)})
    with pytest.raises(ArgumentError, match=r"pass jax.jit\(f\)"):
        compat.export.export(np.sin)
    with pytest.raises(UnsupportedError, match="StableHLO text is the same for all; leave it out"):
        compat.export.export(compat.jit(jnp.sin), platforms=["tpu"])
    with pytest.raises(ParseError):
        compat.export.deserialize(b"no program")
    with pytest.raises(AttributeError, match="shapes are known here: export a program for each"):
        _ = compat.export.symbolic_shape


def test_nearest_centroids(rng):
    rows, centroids = rng.random((20, 3)), rng.random((4, 3))
    for found in (vq(rows, centroids), compat.jit(vq)(rows, centroids)):
        for mine, other in zip(found, jax.scipy.cluster.vq.vq(rows, centroids), strict=True):
            np.testing.assert_allclose(mine, np.asarray(other), rtol=1e-13, strict=True)
    assert vq([0.0, 1.0, 5.0], [0.0, 2.0])[0].tolist() == [0, 0, 1]  # the first of equal ones
    with pytest.raises(ShapeError, match=r"observations \(20, 3\) by a code book \(4, 2\)"):
        compat.scipy.cluster.vq.vq(rows, centroids[:, :2])


@pytest.mark.parametrize(
    "f",
    [
        lambda jax: jax.numpy.linalg.inv(np.zeros((2, 2))),
        lambda jax: jax.numpy.linalg.solve(np.ones((2, 2)), np.ones(2)),
        lambda jax: jax.numpy.linalg.cholesky(-np.eye(2)),
        lambda jax: jax.scipy.linalg.cholesky(-np.eye(2)),
        lambda jax: jax.scipy.linalg.inv(np.zeros((2, 2))),
    ],
)
def test_matrices_that_numpy_refuses(f):
    found, wanted = f(compat), f(jax)
    assert found.shape == wanted.shape and not np.isfinite(found).all() and not np.isfinite(np.asarray(wanted)).all()
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        jnp.linalg.inv(jnp.ones((2, 3)))
