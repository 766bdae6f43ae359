"""Networks as people write them for JAX, and the steps that train them; see `exported_programs`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.exported_data import F32, Made, normal


def _layers(n: int) -> list[np.ndarray]:
    return [normal(n, n) / n**0.5, normal(n), normal(n, 10, seed=1) / n**0.5, normal(10, seed=1)]


def _mlp(w: Any, x: Any) -> Any:
    return jnp.tanh(x @ w[0] + w[1]) @ w[2] + w[3]


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


def sgd_step(n: int) -> Made:
    """A step of gradient descent on a small network."""

    def step(w: Any, x: Any, y: Any) -> Any:
        loss, slope = jax.value_and_grad(lambda w: _cross_entropy(_mlp(w, x), y))(w)
        return [a - 0.1 * g for a, g in zip(w, slope, strict=True)], loss

    return step, (_layers(n), normal(n, n, seed=2), np.arange(n, dtype=np.int32) % 10)


def adam_step(n: int) -> Made:
    """A step of Adam with weight decay, on pytrees."""

    def step(w: Any, m: Any, v: Any, t: Any, x: Any, y: Any) -> Any:
        g = jax.grad(lambda w: ((_mlp(w, x) - y) ** 2).mean())(w)
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b * b, v, g)
        rate = 1e-3 * jnp.sqrt(1 - 0.99**t) / (1 - 0.9**t)
        w = jax.tree.map(lambda a, b, c: a - rate * b / (jnp.sqrt(c) + 1e-8) - 1e-5 * a, w, m, v)
        return w, m, v

    w = _layers(n)
    zeros = [np.zeros_like(a) for a in w]
    return step, (w, zeros, zeros, F32(3), normal(n, n, seed=2), normal(n, 10, seed=3))


def logistic_regression(n: int) -> Made:
    """Fifty steps with momentum in one scan."""

    def fit(x: Any, y: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            w, velocity = state
            slope = jax.grad(lambda w: jnp.logaddexp(0, -y * (x @ w)).mean())(w)
            velocity = 0.9 * velocity - 0.1 * slope
            return (w + velocity, velocity), jnp.abs(slope).max()

        zeros = jnp.zeros(x.shape[1], F32)
        return lax.scan(step, (zeros, zeros), None, length=50)

    return fit, (normal(n, 8), np.sign(normal(n, seed=1)))


def _images(n: int) -> tuple[np.ndarray, np.ndarray]:
    return normal(2, n, n, 3), normal(3, 3, 3, 8, seed=1) * F32(0.2)


def convolution_step(n: int) -> Made:
    """A convolutional layer with pooling, and the gradient with respect to its kernel and its input."""

    def loss(x: Any, k: Any) -> Any:
        y = lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        y = lax.reduce_window(jax.nn.relu(y), -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return (y**2).mean()

    return jax.value_and_grad(loss, (0, 1)), _images(n)


def dilated_convolutions(n: int) -> Made:
    """Strided, dilated and depthwise convolutions, one after the other, and a transposed one."""

    def run(x: Any, k: Any) -> Any:
        numbers = ("NHWC", "HWIO", "NHWC")
        y = lax.conv_general_dilated(x, k, (2, 2), "SAME", rhs_dilation=(2, 2), dimension_numbers=numbers)
        depthwise = jnp.ones((3, 3, 1, 8), F32) / 9
        y = lax.conv_general_dilated(y, depthwise, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=8)
        return lax.conv_transpose(y, k, (2, 2), "SAME", transpose_kernel=True)

    return run, _images(n)


def average_pooling(n: int) -> Made:
    """Average pooling and its gradient."""

    def loss(x: Any) -> Any:
        y = lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9
        return jnp.sin(y).sum()

    return jax.grad(loss), _images(n)[:1]


def batch_normalization(n: int) -> Made:
    """A training step's normalization with running statistics."""

    def run(x: Any, scale: Any, offset: Any, mean: Any, var: Any) -> Any:
        m, v = x.mean((0, 1, 2)), x.var((0, 1, 2))
        y = (x - m) * lax.rsqrt(v + 1e-5) * scale + offset
        return y, 0.9 * mean + 0.1 * m, 0.9 * var + 0.1 * v

    ones = np.ones(3, F32)
    return run, (_images(n)[0], ones, ones * 0, ones * 0, ones)


def _attend(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(mask, scores, -1e30), -1), v)


def attention(n: int) -> Made:
    """Causal attention of several heads."""
    return _attend, tuple([normal(2, n, 4, 8, seed=k) for k in range(3)])


def transformer_block(n: int) -> Made:
    """A block with attention, normalization and a gated layer, and its gradient."""

    def block(w: Any, x: Any) -> Any:
        y = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)
        q, k, v = [(y @ a).reshape(*x.shape[:2], 4, 8) for a in w[:3]]
        x = x + _attend(q, k, v).reshape(x.shape)
        return x + (jax.nn.gelu(x @ w[3]) * (x @ w[4])) @ w[5]

    w = [normal(32, 32, seed=k) / F32(6) for k in range(6)]
    return jax.grad(lambda w, x: (block(w, x) ** 2).mean()), (w, normal(2, n, 32, seed=9))


def lstm(n: int) -> Made:
    """A recurrent network over time."""

    def run(x: Any, w: Any, u: Any) -> Any:
        def step(state: Any, row: Any) -> Any:
            h, c = state
            i, f, g, o = jnp.split(row @ w + h @ u, 4, -1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros((x.shape[1], 16), F32)
        return lax.scan(step, (zeros, zeros), x)

    return run, (normal(n, 4, 8), normal(8, 64, seed=1) / 3, normal(16, 64, seed=2) / 4)


def gated_units(n: int) -> Made:
    """The gradient through a scan of gated recurrent units."""

    def loss(w: Any, x: Any) -> Any:
        def step(h: Any, row: Any) -> Any:
            z = jax.nn.sigmoid(jnp.concatenate([row, h]) @ w[0])
            proposed = jnp.tanh(jnp.concatenate([row, z * h]) @ w[1])
            return (1 - z) * h + z * proposed, h.sum()

        last, sums = lax.scan(step, jnp.zeros(8, F32), x)
        return last.sum() + sums.mean()

    return jax.grad(loss), ([normal(12, 8, seed=k) / 3 for k in range(2)], normal(n, 4))


def embedding_update(n: int) -> Made:
    """Rows of a table read by index, and the table's update by their gradient."""

    def step(table: Any, ids: Any, target: Any) -> Any:
        slope = jax.grad(lambda t: ((t[ids].mean(1) - target) ** 2).sum())(table)
        return table.at[ids.reshape(-1)].add(0.01) - 0.1 * slope

    ids = np.random.default_rng(0).integers(0, n, (8, 5)).astype(np.int32)
    return step, (normal(n, 16), ids, normal(8, 16, seed=1))


def beam_step(n: int) -> Made:
    """The best continuations of several beams."""

    def step(scores: Any, logits: Any) -> Any:
        total = scores[:, None] + jax.nn.log_softmax(logits)
        best, places = lax.top_k(total.reshape(-1), 4)
        return best, places // logits.shape[1], places % logits.shape[1]

    return step, (normal(4), normal(4, n, seed=1))


def bfloat16_network(n: int) -> Made:
    """A network in bfloat16 with sums in float32."""

    def run(w: Any, x: Any) -> Any:
        h = jax.nn.relu(x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16))
        y = lax.dot_general(h, w.astype(jnp.bfloat16), (((1,), (0,)), ((), ())), preferred_element_type=F32)
        return y, h.astype(F32).max()

    return run, (np.round(normal(n, n)), np.round(normal(n, n, seed=1)))


def half_precision(n: int) -> Made:
    """A scaled loss's gradient in float16."""

    def loss(w: Any, x: Any) -> Any:
        return (jnp.maximum(x.astype(jnp.float16) * w.astype(jnp.float16), 0).astype(F32).mean()) * 128

    return jax.value_and_grad(loss), (normal(n), normal(n, n, seed=1))


def quantized_weights(n: int) -> Made:
    """A product of eight-bit integers with sums in 32 bits, scaled."""

    def run(x: Any, w: Any, scale: Any) -> Any:
        rounded = jnp.clip(jnp.round(x / scale), -128, 127).astype(jnp.int8)
        total = lax.dot_general(rounded, w, (((1,), (0,)), ((), ())), preferred_element_type=np.int32)
        return total.astype(F32) * scale

    return run, (normal(n, n), np.random.default_rng(0).integers(-128, 128, (n, n), np.int8), F32(0.03))


def per_example_gradients(n: int) -> Made:
    """The norm of each example's gradient: vmap of grad."""

    def run(w: Any, x: Any, y: Any) -> Any:
        def loss(w: Any, row: Any, label: Any) -> Any:
            return -jax.nn.log_softmax(_mlp(w, row))[label]

        slopes = jax.vmap(jax.grad(loss), (None, 0, 0))(w, x, y)
        return jnp.sqrt(sum((s.reshape(s.shape[0], -1) ** 2).sum(1) for s in slopes))

    return run, (_layers(16), normal(n, 16, seed=2), np.arange(n, dtype=np.int32) % 10)
