"""Activations: jax.nn as the oracle, run at once and traced."""

from __future__ import annotations

from types import SimpleNamespace

import jax
import mpmath
import numpy as np
import pytest

import numhlo
from numhlo import nn
from tests.library.agreement import assert_same, run_traced

jax.config.update("jax_enable_x64", True)

X = np.array([[0.5, -1.25, 2.0, 0.0], [35.0, -0.75, -40.0, 4.0]])
MASK = X > -2

SIMPLE = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "squareplus",
    "standardize",
    "swish",
    "tanh",
    "logsumexp",
]

OPTIONS = {
    "elu": lambda n, x: n.elu(x, 0.5),
    "celu": lambda n, x: n.celu(x, 2.0),
    "gelu": lambda n, x: n.gelu(x, approximate=False),
    "leaky": lambda n, x: n.leaky_relu(x, 0.2),
    "softmax": lambda n, x: (n.softmax(x, 0), n.softmax(x, (0, 1)), n.softmax(x, where=MASK), n.log_softmax(x, axis=0)),
    "squareplus": lambda n, x: n.squareplus(x, 1.0),
    "standardize": lambda n, x: n.standardize(x, 0, epsilon=1e-3),
    "glu": lambda n, x: n.glu(x, 0),
    "one_hot": lambda n, x: n.one_hot(np.array([[0, 2], [5, -1]]), 3, axis=1, dtype=np.float32),
    "one_hot default": lambda n, x: n.one_hot(np.array([0, 2]), 3),
    "logsumexp": lambda n, x: (n.logsumexp(x, axis=1, keepdims=True), n.logsumexp(x, b=x, return_sign=True), n.logsumexp(x, 0, where=MASK)),
}  # fmt: skip


@pytest.mark.parametrize("name", [*SIMPLE, *[f"{k} options" for k in OPTIONS]])
def test_agrees_with_jax(name):
    fun = OPTIONS.get(name.removesuffix(" options")) if name.endswith("options") else lambda n, x: getattr(n, name)(x)
    wanted = jax.tree.map(np.asarray, fun(jax.nn, jax.numpy.asarray(X)))
    for found in (fun(nn, X), run_traced(lambda x: fun(nn, x), [X])[0]):
        # JAX's own tail below 0 cancels
        assert_same(found, wanted, name, ulps=2**14 if name.startswith("squareplus") else 512)
    narrow, _ = run_traced(lambda x: fun(nn, x), [X.astype("f4")])
    assert all(np.asarray(x).dtype == np.float32 for x in jax.tree.leaves(narrow)) or name.startswith("one_hot")


def test_squareplus_loses_nothing_far_from_zero():
    mpmath.mp.dps = 50
    for dtype, top in ((np.float64, 1e200), (np.float32, 1e30), (np.float16, 6e4)):
        x = np.array([-300.0, -1.5, -1.0, -0.25, 0.0, 0.25, 1.0, 300.0, -top, top], dtype)
        wanted = [float((mpmath.mpf(float(v)) + mpmath.sqrt(mpmath.mpf(float(v)) ** 2 + 4)) / 2) for v in x[:-2]]
        found = nn.squareplus(x)
        np.testing.assert_allclose(found, np.array([*wanted, 1 / top, top], dtype), rtol=8 * np.finfo(dtype).eps)
    slope = numhlo.vmap(numhlo.grad(nn.squareplus))(np.array([-1.0, 0.0, 1.0, -1e200]))
    np.testing.assert_allclose(slope, [0.5 - 0.1 * 5**0.5, 0.5, 0.5 + 0.1 * 5**0.5, 0], rtol=1e-15)


def test_integers_and_kinks():
    assert nn.sigmoid(np.array([0, 1])).dtype == np.float64 and nn.relu(np.array([-2, 3])).tolist() == [0, 3]
    assert nn.standardize(np.ones(3, np.float32), mean=1.0, variance=2.0).dtype == np.float32
    slope = numhlo.grad(lambda x: nn.relu(x).sum())(np.array([-1.0, 0.0, 2.0]))
    assert slope.tolist() == [0.0, 0.0, 1.0]
    edges = np.array([-3.0, -1.0, 0.0, 1.0, 3.0, 6.0, np.inf])
    for name in ("relu6", "hard_tanh", "hard_sigmoid", "hard_silu"):
        ours, theirs = (t.vmap(t.grad(getattr(n, name)))(edges) for t, n in ((numhlo, nn), (jax, jax.nn)))
        assert_same(ours, np.asarray(theirs), name)
    assert nn.hard_tanh(np.array([True, False])).tolist() == [True, False]
    assert nn.soft_sign(np.array([3 + 4j], np.complex64)) == np.complex64(0.5 + 4j / 6)


def test_masks_that_leave_nothing():
    mask = np.array([[True, False], [False, False]])
    np.testing.assert_array_equal(nn.softmax(np.ones((2, 2)), where=mask), [[1, 0], [0, 0]])
    np.testing.assert_array_equal(
        nn.log_softmax(np.ones((2, 2)), where=mask), np.log(mask, where=mask, out=np.full((2, 2), -np.inf))
    )


@pytest.mark.parametrize("name", ["elu", "softplus", "gelu", "silu", "softmax", "log_softmax", "selu"])
def test_derivatives_agree_with_jax(name):
    weights = np.arange(8.0).reshape(2, 4)
    weighted = lambda n: lambda x: (getattr(n, name)(x) * weights).sum()
    ours, theirs = numhlo.grad(weighted(nn))(X), jax.grad(weighted(jax.nn))(X)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_the_greatest_element_is_a_constant_for_derivatives(name):
    """Who takes it must not be found again: results don't depend on it."""
    x = np.array([[1.0, 3.0, 3.0], [-np.inf, 2.0, 0.5], [-5.0, 0.0, -0.0]])
    loss = lambda n: lambda x: (n.tanh(getattr(n.lib, name)(x, axis=-1)) ** 2).sum()
    ours, theirs = SimpleNamespace(tanh=np.tanh, lib=nn), SimpleNamespace(tanh=jax.numpy.tanh, lib=jax.nn)
    text = numhlo.jit(numhlo.grad(loss(ours))).lower(x).as_text()
    assert "stablehlo.compare EQ, %arg0" not in text
    for derive in ("grad", "jacfwd", "hessian"):
        found, wanted = (getattr(n, derive)(loss(o))(np.maximum(x, -9)) for n, o in ((numhlo, ours), (jax, theirs)))
        np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(np.isnan(numhlo.grad(loss(ours))(x)), np.isnan(jax.grad(loss(theirs))(x)))
    batched = numhlo.vmap(numhlo.grad(loss(ours)))(x[::2])
    np.testing.assert_allclose(batched, np.asarray(jax.grad(loss(theirs))(x[::2])), rtol=1e-10, atol=1e-12)


def test_logarithms_of_differences_and_means():
    positive = np.array([1e-20, 0.1, 0.69, 0.7, 5.0, 50.0])
    for name, x, options in (
        ("log1mexp", positive, {}),
        ("logmeanexp", X, {}),
        ("logmeanexp", X, {"axis": 1, "keepdims": True}),
        ("logmeanexp", X, {"axis": 0, "where": MASK}),
        ("sparse_plus", X, {}),
        ("sparse_sigmoid", X / 2, {}),
    ):
        f = lambda x, name=name, options=options: getattr(nn, name)(x, **options)
        wanted = np.asarray(getattr(jax.nn, name)(x, **options))
        assert_same(f(x), wanted, name, ulps=64)
        assert_same(run_traced(f, [x])[0], wanted, name, ulps=64)
    slope = numhlo.grad(lambda x: nn.log1mexp(x).sum())(positive)
    np.testing.assert_allclose(slope, 1 / np.expm1(positive), rtol=1e-12)
    assert numhlo.grad(lambda x: nn.sparse_plus(x))(0.5) == nn.sparse_sigmoid(0.5)
