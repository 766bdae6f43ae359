"""Initializers: the same weights as jax.nn.initializers from the same key."""

from __future__ import annotations

import jax
import jax.nn.initializers
import numpy as np
import pytest

import numhlo
import numhlo.compat.jax as compat
from numhlo import random
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.nn import initializers
from tests.library.agreement import assert_same

jax.config.update("jax_enable_x64", True)

FANS = ["glorot_normal", "he_uniform", "lecun_normal"]
CASES = {
    **{name: (lambda i, name=name: getattr(i, name)(), (4, 6)) for name in FANS},
    "axes": (lambda i: i.he_uniform(in_axis=(0, 1), out_axis=3, batch_axis=2), (2, 3, 4, 5)),
    "geometric": (lambda i: i.variance_scaling(0.5, "fan_geo_avg", "normal"), (3, 4)),
    "fan out": (lambda i: i.variance_scaling(0.5, "fan_out", "uniform", dtype=np.float64), (3, 4)),
    "normal": (lambda i: i.normal(2.0), (7,)),
    "uniform": (lambda i: i.uniform(), (7,)),
    "truncated": (lambda i: i.truncated_normal(1.0, lower=-1.0), (7,)),
    "constant": (lambda i: i.constant(3), (2, 2)),
    "zeros": (lambda i: i.zeros, (2, 2)),
    "ones": (lambda i: i.ones, ()),
}


@pytest.mark.parametrize("name", CASES)
def test_weights_are_jaxs(name):
    make, shape = CASES[name]
    wanted = np.asarray(make(jax.nn.initializers)(jax.random.key(5), shape, np.float32))
    assert_same(make(initializers)(random.key(5), shape, np.float32), wanted, name, ulps=64)


@pytest.mark.slow
def test_complex_weights():
    for distribution in ("truncated_normal", "normal", "uniform"):
        found = initializers.variance_scaling(1.0, "fan_in", distribution)(random.key(1), (4, 5), np.complex64)
        theirs = jax.nn.initializers.variance_scaling(1.0, "fan_in", distribution)
        wanted = np.asarray(theirs(jax.random.key(1), (4, 5), np.complex64))
        assert_same(found, wanted, distribution, ulps=64)


def test_orthogonal():
    for shape, axis in (((4, 4), -1), ((6, 3), -1), ((3, 2, 5), 0), ((2, 0), -1)):
        init = initializers.orthogonal(2.0, axis)
        weights = init(random.key(2), shape, np.float64)
        assert weights.shape == shape
        if not weights.size:
            continue
        matrix = np.moveaxis(weights, axis, -1).reshape(-1, shape[axis])
        short = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
        np.testing.assert_allclose(short @ short.T, 4 * np.eye(len(short)), atol=1e-12)
    for shape in ((3, 2, 2), (3, 4, 2, 5), (1, 2, 3, 2, 2)):
        kernel = initializers.delta_orthogonal()(random.key(2), shape, np.float32)
        middle = kernel[tuple((n - 1) // 2 for n in shape[:-2])]
        np.testing.assert_allclose(middle @ middle.T, np.eye(2), atol=1e-6)
        assert np.count_nonzero(kernel) <= middle.size


def test_names():
    assert initializers.xavier_normal is initializers.glorot_normal
    assert initializers.kaiming_uniform is initializers.he_uniform
    assert set(initializers.__all__) == {n for n in dir(jax.nn.initializers) if n[0] in "abcdefghijklmnopqrstuvwxyz"}
    default = initializers.he_normal()(random.key(0), (2, 3))
    assert default.dtype == np.float64 and initializers.he_normal(dtype="float32")(random.key(0), (2, 3)).itemsize == 4


def test_jitted():
    make = numhlo.jit(lambda key: initializers.glorot_normal()(key, (3, 4)))
    np.testing.assert_allclose(make(random.key(9)), initializers.glorot_normal()(random.key(9), (3, 4)), rtol=1e-13)
    assert not compat.nn.initializers.he_normal()(random.key(0), (2, 2)).flags.writeable


def test_refusals():
    with pytest.raises(ArgumentError, match=r"^variance_scaling\(mode='fan'\)\n.*\n  use one of fan_in, fan_out"):
        initializers.variance_scaling(1.0, "fan", "normal")
    with pytest.raises(ArgumentError, match="use one of truncated_normal, normal, uniform"):
        initializers.variance_scaling(1.0, "fan_in", "cauchy")
    with pytest.raises(ShapeError, match="make the weights at least two-dimensional, or pass in_axis="):
        initializers.he_normal()(random.key(0), (3,))
    with pytest.raises(ShapeError, match="make them at least two-dimensional"):
        initializers.orthogonal()(random.key(0), (3,))
    with pytest.raises(ShapeError, match="give 3 to 5 axes"):
        initializers.delta_orthogonal()(random.key(0), (3, 4, 2))
