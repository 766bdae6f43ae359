"""Further names of `lax`, `lax.linalg`, `nn` and others: what JAX gives."""

from __future__ import annotations

import jax
import numpy as np
import pytest
import scipy.linalg

import numhlo.compat.jax as compat

jax.config.update("jax_enable_x64", True)

SHAPES = {
    "conv_shape_tuple": [((1, 3, 8), (5, 3, 3), (2,), "SAME"), ((1, 3, 8), (5, 3, 3), (2,), [(1, 2)])],
    "conv_general_permutations": [(("NHWC", "HWIO", "NHWC"),)],
    "conv_general_shape_tuple": [((1, 8, 8, 3), (3, 3, 3, 5), (2, 1), "VALID", ("NHWC", "HWIO", "NHWC"))],
    "conv_transpose_shape_tuple": [
        ((1, 4, 3), (3, 5, 3), (2,), padding, ("NWC", "WOI", "NWC")) for padding in ("SAME", "VALID", [(1, 2)])
    ],
    "reduce_window_shape_tuple": [((5, 6), (2, 3), (1, 2), ((0, 0), (1, 1)), (2, 1), (1, 2))],
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    for arguments in SHAPES[name]:
        wanted, found = getattr(jax.lax, name)(*arguments), getattr(compat.lax, name)(*arguments)
        np.testing.assert_array_equal(found, wanted)
    with pytest.raises(TypeError):
        compat.lax.conv_general_permutations(("NHWC", "HWIO", "NHW"))


RAGGED = {
    "kept": ((((2,), (2,)), ((0,), (1,))), [1], [0], (2, 5, 3), (2, 2, 3, 2), [1, 3]),
    "kept, by batch": ((((2,), (2,)), ((0,), (1,))), [1], [0], (2, 5, 3), (2, 2, 3, 2), [[1, 3], [2, 2]]),
    "summed over": ((((2,), (1,)), ((0,), (0,))), [2], [], (2, 3, 4), (2, 4, 2), [1, 2, 1]),
    "of batches": ((((2,), (1,)), ((0,), (0,))), [0], [], (3, 3, 4), (3, 4, 2), [1, 1]),
}
"""By where the ragged dimension is: dimension numbers, operands' shapes, and groups."""


@pytest.mark.parametrize("name", RAGGED)
def test_ragged_products(name, rng):
    *numbers, left, right, groups = RAGGED[name]
    x, y, sizes = rng.random(left), rng.random(right), np.array(groups)
    found, wanted = (
        module.lax.ragged_dot_general(x, y, sizes, module.lax.RaggedDotDimensionNumbers(*numbers))
        for module in (compat, jax)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_products_of_blocks_with_factors(rng):
    x, y, left, right = rng.random((2, 3, 8)), rng.random((2, 4, 8)), rng.random((2, 3, 2)), rng.random((2, 4, 4))
    wanted = np.einsum("bmk,bnk->bmn", x * np.repeat(left, 4, 2), y * np.repeat(right[..., :2], 4, 2))
    found = compat.nn.scaled_matmul(x, y, left, right[..., :2], preferred_element_type=np.float64)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    options = {"lhs_scale": left, "rhs_scale": np.swapaxes(right, 1, 2), "preferred_element_type": np.float32}
    swapped = np.swapaxes(y, 1, 2)
    wanted = jax.lax.scaled_dot(jax.numpy.asarray(x), swapped, **options)
    np.testing.assert_allclose(compat.lax.scaled_dot(x, swapped, **options), wanted, rtol=1e-2)
    with pytest.raises(TypeError, match="blocks"):
        compat.lax.scaled_dot(x, swapped, lhs_scale=right)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_polar_decomposition(dtype, rng):
    x = (rng.random((6, 4)) + 1j * rng.random((6, 4))).astype(dtype) if dtype[0] == "c" else rng.random((6, 4))
    x = x.astype(dtype)
    qdwh = compat.jit(compat.lax.linalg.qdwh)
    for factor in (1, 1e-3):
        u, h, count, done = qdwh(x * np.asarray(factor, dtype))
        wanted = scipy.linalg.polar(x * factor)
        tolerance = 1e-4 if dtype == "float32" else 1e-11
        np.testing.assert_allclose(u, wanted[0], atol=tolerance)
        np.testing.assert_allclose(h, wanted[1], atol=tolerance)
        theirs = jax.lax.linalg.qdwh(x * np.asarray(factor, dtype))
        assert (int(count), bool(done)) == (int(theirs[2]), bool(theirs[3])) and u.dtype == dtype
    part, _, _, _ = compat.lax.linalg.qdwh(x, dynamic_shape=(5, 3))
    np.testing.assert_allclose(part[:5, :3], scipy.linalg.polar(x[:5, :3])[0], atol=tolerance)
    assert not np.any(part[5:]) and not np.any(part[:, 3:])
    with pytest.raises(ValueError, match="M >= N"):
        compat.lax.linalg.qdwh(x.T)


def test_distributions():
    mean = np.array([0.1, 1.0, 5.0, 99.0, 100.0, 1000.0, -1.0, 0.0])
    np.testing.assert_allclose(
        compat.scipy.stats.poisson.entropy(mean), jax.scipy.stats.poisson.entropy(mean), rtol=1e-6
    )
    q = np.array([0.0, 0.2, 0.5, 0.9, 1.0, 1.5, -1.0])
    np.testing.assert_array_equal(
        compat.scipy.stats.bernoulli.ppf(q, 0.5), jax.scipy.stats.bernoulli.ppf(q, 0.5), strict=True
    )
    a, x = np.array([0.5, 3.0]), np.array([1.0, 2.0])
    np.testing.assert_allclose(compat.lax.igamma_grad_a(a, x), jax.lax.igamma_grad_a(a, x), rtol=1e-6)


def test_settings_and_facts(caplog):
    with compat.threefry_partitionable(True), compat.enable_checks(True):
        assert compat.config.jax_enable_checks
    assert not compat.config.jax_enable_checks and compat.process_indices() == [0]
    with pytest.raises(ValueError, match="here it is always True"), compat.threefry_partitionable(False):
        pass
    assert "cpu" in compat.print_environment_info(return_string=True)
    with caplog.at_level("INFO"):
        compat.debug.log("x is {:.1f}", compat.numpy.float32(2.0))
    assert "x is 2.0" in caplog.text
    assert compat.dtypes.scalar_type_of(compat.numpy.bfloat16(1)) is float
    assert issubclass(compat.errors.TracerBoolConversionError, compat.errors.JAXTypeError)
    assert compat.random.key_dtype("rbg") == compat.random.key(0, impl="rbg").dtype
