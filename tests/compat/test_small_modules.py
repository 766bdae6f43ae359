"""`image`, `dtypes` and `sequential_vmap` under JAX's names: what JAX gives."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import numhlo.compat.jax as compat
from numhlo.lowering.ir.errors import ArgumentError, ShapeError

jax.config.update("jax_enable_x64", True)


@pytest.mark.parametrize("method", ["nearest", "bilinear", "cubic", "lanczos3", "lanczos5", "area", "cubic-pytorch"])
def test_resize(method, rng):
    image = rng.random((7, 10, 2))
    for shape in ((14, 20, 2), (3, 4, 2), (5, 12, 1)):
        for antialias in (True, False):
            wanted = np.asarray(jax.image.resize(image, shape, method, antialias))
            found = compat.image.resize(image, shape, method, antialias)
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6, strict=True)
    traced = compat.jit(lambda x: compat.image.resize(x, (3, 4, 2), method))(image)
    np.testing.assert_allclose(traced, compat.image.resize(image, (3, 4, 2), method), rtol=1e-12)


def test_resize_of_integers_and_slopes():
    numbers = np.arange(6, dtype=np.int32).reshape(2, 3)
    resize = compat.image.resize
    assert resize(numbers, (4, 3), compat.image.ResizeMethod.NEAREST).dtype == np.int32
    assert resize(numbers, (4, 3), compat.image.ResizeMethod.LINEAR).dtype == np.float64
    slope = compat.grad(lambda x: (resize(x, (3, 5), "linear") ** 2).sum())(numbers * 1.0)
    wanted = jax.grad(lambda x: (jax.image.resize(x, (3, 5), "linear") ** 2).sum())(numbers * 1.0)
    np.testing.assert_allclose(slope, wanted, rtol=1e-6)


def test_resize_says_what_is_wrong():
    with pytest.raises(ArgumentError) as caught:
        compat.image.resize(np.ones((2, 2)), (3, 3), "sharp")
    assert str(caught.value).startswith("resize: no method 'sharp'\n")
    assert "choose one of nearest, linear, bilinear" in str(caught.value)
    with pytest.raises(ShapeError, match="resize of an array with 2 dimensions to 1 extents"):
        compat.image.resize(np.ones((2, 2)), (3,), "linear")


def test_sequential_vmap():
    def doubled(lib):
        def f(x, limit, more):
            y = lib.lax.while_loop(lambda c: c < limit, lambda c: c * 2, x)
            return {"y": y, "sum": (more["a"] + y).sum()}

        return lib.custom_batching.sequential_vmap(f)

    arguments = np.arange(1.0, 4.0), 10.0, {"a": np.ones((3, 2))}
    axes = (0, None, 0)
    found = compat.jit(compat.vmap(doubled(compat), in_axes=axes))(*arguments)
    wanted = jax.vmap(doubled(jax), in_axes=axes)(*arguments)
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value)
    assert float(doubled(compat)(3.0, 10.0, {"a": np.zeros(2)})["y"]) == 12.0


def test_dtypes():
    for name in (np.float32, "int8", bool, np.complex128):
        assert compat.dtypes.canonicalize_dtype(name) == jax.dtypes.canonicalize_dtype(name)
        assert compat.dtypes.itemsize_bits(name) == np.dtype(name).itemsize * 8
    assert compat.dtypes.issubdtype(np.float32, compat.numpy.floating)
    assert compat.dtypes.result_type(np.int8, np.float32) == np.float32
    assert compat.dtypes.finfo(np.float32).eps == np.finfo(np.float32).eps
