"""Attention: jax.nn as the oracle, run at once, traced, compiled, batched and differentiated."""

from __future__ import annotations

import jax
import jax.nn
import numpy as np
import pytest

import numhlo
from numhlo import nn
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError
from tests.library.agreement import refusal, run_traced

jax.config.update("jax_enable_x64", True)


def operands(heads=4, groups=2, dtype=np.float32, seed=0):
    g = np.random.default_rng(seed)
    shapes = (2, 5, heads, 3), (2, 6, groups, 3), (2, 6, groups, 3)
    return [g.normal(size=s).astype(dtype) for s in shapes]


BIAS = np.random.default_rng(1).normal(size=(1, 4, 5, 6)).astype(np.float32)
MASK = np.random.default_rng(2).random((2, 1, 5, 6)) > 0.3
LENGTHS = np.array([3, 5], np.int32)

CASES = {
    "plain": {},
    "scaled": {"scale": 0.3, "bias": BIAS},
    "masked": {"mask": MASK, "bias": BIAS[:, :1]},
    "wide mask": {"mask": np.broadcast_to(MASK, (2, 4, 5, 6))},
    "causal": {"is_causal": True},
    "window": {"local_window_size": 1},
    "windows": {"local_window_size": (2, 0), "implementation": "xla"},
    "lengths": {"query_seq_lengths": LENGTHS, "key_value_seq_lengths": LENGTHS},
    "everything": {"is_causal": True, "local_window_size": (3, 1), "key_value_seq_lengths": LENGTHS, "mask": MASK},
}


def close_to(found, wanted):
    np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-5, atol=1e-6, strict=True)


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_jax(name):
    options, arrays = CASES[name], operands()
    wanted = jax.nn.dot_product_attention(*arrays, **options, return_residual=True)
    at_once = nn.dot_product_attention(*arrays, **options, return_residual=True)
    traced = run_traced(lambda *a: nn.dot_product_attention(*a, **options, return_residual=True), arrays)[0]
    close_to(nn.dot_product_attention(*arrays, **options), wanted[0])
    for found in (at_once, traced):
        close_to(found[0], wanted[0])
        close_to(found[1], wanted[1])


def test_shapes_and_dtypes():
    for heads, groups in ((2, 2), (3, 1)):
        arrays = operands(heads, groups)
        found = nn.dot_product_attention(*arrays)
        np.testing.assert_allclose(found, jax.nn.dot_product_attention(*arrays), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(nn.dot_product_attention(*[a[0] for a in arrays]), found[0], rtol=1e-5, atol=1e-6)
    wide = operands(dtype=np.float64)
    found = nn.dot_product_attention(*wide)
    logits = np.einsum("btkgh,bskh->bkgts", wide[0].reshape(2, 5, 2, 2, 3), wide[1]) / np.sqrt(3)
    weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    exact = np.einsum("bkgts,bskh->btkgh", weights, wide[2]).reshape(2, 5, 4, 3)
    np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-14)  # JAX rounds the softmax to float32
    narrow = operands(dtype=np.float16)
    assert nn.dot_product_attention(*narrow).dtype == np.float16
    np.testing.assert_allclose(nn.dot_product_attention(*narrow), exact, atol=2e-3)


def test_compiled_batched_differentiated():
    q, k, v = operands(dtype=np.float64)
    f = lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True)
    np.testing.assert_allclose(numhlo.jit(numhlo.vmap(f))(q, k, v), f(q, k, v), rtol=1e-12, atol=1e-14)
    slopes = numhlo.grad(lambda *a: (f(*a) ** 2).sum(), argnums=(0, 1, 2))(q, k, v)
    step = [np.cos(x) for x in (q, k, v)]
    ahead, behind = (f(*[x + s * 1e-6 * d for x, d in zip((q, k, v), step, strict=True)]) for s in (1, -1))
    change = ((ahead**2).sum() - (behind**2).sum()) / 2e-6
    np.testing.assert_allclose(sum((s * d).sum() for s, d in zip(slopes, step, strict=True)), change, rtol=1e-6)


def test_refusals():
    q, k, v = operands()
    attend = nn.dot_product_attention
    assert refusal(lambda _, q, k, v: attend(q[:, :, :3], k, v), q, k, v, kind=ShapeError) == (
        "dot_product_attention: query is float32[2,5,3,3]\n  at test_attention.py\n"
        "  its number of heads must be a multiple of key's, which is 2"
    )
    for bad, kind in (
        (lambda: attend(q[0, 0], k, v), ShapeError),
        (lambda: attend(q, k, v[:, :2]), ShapeError),
        (lambda: attend(q[:1], k, v), ShapeError),
        (lambda: attend(q, k, v, BIAS[:, :3]), ShapeError),
        (lambda: attend(q, k, v.astype(np.float64)), DTypeError),
        (lambda: attend(q, k, v, implementation="cudnn"), ArgumentError),
    ):
        with pytest.raises(kind, match="dot_product_attention"):
            bad()
