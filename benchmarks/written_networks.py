"""Programs that are written for JAX: layers of neural networks, and training steps with them."""

from __future__ import annotations

from typing import Any

from benchmarks.written_data import Written, program, single, tree, whole

NETWORKS: list[Written] = []

CHANNELS_LAST = ("NHWC", "HWIO", "NHWC")
LAYER = tree(w=single(16, 128, scale=0.2), u=single(32, 128, scale=0.2), b=single(128))
GATES = tree(w=single(24, 96, scale=0.2), u=single(32, 96, scale=0.2), b=single(96))
BLOCK = tree(
    qkv=single(64, 192, scale=0.1), o=single(64, 64, scale=0.1), g=single(2, 64),
    up=single(64, 256, scale=0.1), down=single(256, 64, scale=0.1),
)  # fmt: skip
SMALL_IMAGES = tree(k=single(3, 3, 1, 8, scale=0.3), l=single(3, 3, 8, 16, scale=0.1), w=single(784, 10, scale=0.1))
LARGE_IMAGES = tree(k=single(3, 3, 3, 32, scale=0.3), l=single(3, 3, 32, 64, scale=0.1), w=single(4096, 10, scale=0.1))
DENSE = tree(a=single(100, 64, scale=0.1), b=single(64), c=single(64, 10, scale=0.1), d=single(10))
LEAVES = tree(**{f"w{k}": single(40, 30 + k) if k % 2 else single(30 + k) for k in range(20)})


@program(NETWORKS, single(8, 3, 32, 32), single(16, 3, 3, 3))
def convolution(jax: Any, x: Any, w: Any) -> Any:
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")


@program(NETWORKS, single(8, 28, 28, 16), single(3, 3, 16, 32))
def convolution_in_steps(jax: Any, x: Any, w: Any) -> Any:
    return jax.lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=CHANNELS_LAST)


@program(NETWORKS, single(4, 16, 16, 32), single(3, 3, 1, 32))
def convolution_by_channels(jax: Any, x: Any, w: Any) -> Any:
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=CHANNELS_LAST, feature_group_count=32)


@program(NETWORKS, single(8, 3, 32, 32), single(16, 3, 3, 3))
def convolution_grad(jax: Any, x: Any, w: Any) -> Any:
    def loss(w: Any) -> Any:
        return jax.numpy.sum(jax.nn.relu(jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")) ** 2)

    return jax.grad(loss)(w)


def max_pool(jax: Any, x: Any) -> Any:
    return jax.lax.reduce_window(x, -jax.numpy.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


NETWORKS.append(Written("max_pool", max_pool, (single(8, 32, 32, 16),)))


@program(NETWORKS, single(8, 32, 32, 16))
def average_pool(jax: Any, x: Any) -> Any:
    return jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME") / 9


@program(NETWORKS, single(16, 64, 64), single(16, 64, 64))
def batch_of_products(jax: Any, a: Any, b: Any) -> Any:
    return a @ b


@program(NETWORKS, single(4, 8, 64, 32), single(4, 8, 64, 32), single(4, 8, 64, 32))
def attention(jax: Any, q: Any, k: Any, v: Any) -> Any:
    scores = jax.numpy.einsum("bhqd,bhkd->bhqk", q, k) / 5.6
    return jax.numpy.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), v)


@program(NETWORKS, single(32, 128, 64), single(64), single(64))
def layer_norm(jax: Any, x: Any, gain: Any, shift: Any) -> Any:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * gain + shift


@program(NETWORKS, single(64, 16, 16, 16), single(16), single(16))
def batch_norm(jax: Any, x: Any, gain: Any, shift: Any) -> Any:
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - mean) / jax.numpy.sqrt(variance + 1e-5) * gain + shift, mean, variance


@program(NETWORKS, single(64, 8, 8, 16), single(16), single(16))
def batch_norm_grad(jax: Any, x: Any, gain: Any, shift: Any) -> Any:
    def loss(x: Any, gain: Any, shift: Any) -> Any:
        return (jax.nn.relu(batch_norm(jax, x, gain, shift)[0]) ** 2).mean()

    return jax.grad(loss, (0, 1, 2))(x, gain, shift)


@program(NETWORKS, single(32, 128, 64))
def gelu(jax: Any, x: Any) -> Any:
    return jax.nn.gelu(x)


@program(NETWORKS, single(32, 128, 64))
def silu(jax: Any, x: Any) -> Any:
    return jax.nn.silu(x)


@program(NETWORKS, single(128, 1000))
def softmax_rows(jax: Any, x: Any) -> Any:
    return jax.nn.softmax(x)


@program(NETWORKS, single(128, 1000), whole(1000, 128))
def cross_entropy_grad(jax: Any, scores: Any, labels: Any) -> Any:
    def loss(scores: Any) -> Any:
        found = jax.numpy.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], 1)
        return -jax.numpy.mean(found)

    return jax.grad(loss)(scores)


def one_hot_loss(jax: Any, scores: Any, labels: Any) -> Any:
    wanted = jax.nn.one_hot(labels, scores.shape[-1], dtype=scores.dtype)
    return -(wanted * jax.nn.log_softmax(scores)).sum(-1).mean()


@program(NETWORKS, single(256, 100), whole(100, 256))
def one_hot_grad(jax: Any, scores: Any, labels: Any) -> Any:
    return jax.value_and_grad(lambda scores: one_hot_loss(jax, scores, labels))(scores)


@program(NETWORKS, DENSE, single(64, 100), whole(10, 64))
def dense_step(jax: Any, p: Any, x: Any, labels: Any) -> Any:
    def loss(p: Any) -> Any:
        return one_hot_loss(jax, jax.numpy.tanh(x @ p["a"] + p["b"]) @ p["c"] + p["d"], labels)

    value, slope = jax.value_and_grad(loss)(p)
    return value, jax.tree.map(lambda a, b: a - 0.1 * b, p, slope)


@program(NETWORKS, single(5000, 32), single(32, 10), whole(5000, 64, 20), whole(10, 64))
def embedding_step(jax: Any, table: Any, w: Any, words: Any, labels: Any) -> Any:
    def loss(table: Any, w: Any) -> Any:
        return one_hot_loss(jax, table[words].mean(1) @ w, labels)

    slopes = jax.grad(loss, (0, 1))(table, w)
    return table - 0.1 * slopes[0], w - 0.1 * slopes[1]


def lstm(jax: Any, p: Any, xs: Any) -> Any:
    def cell(carried: Any, x: Any) -> Any:
        h, s = carried
        i, f, g, o = jax.numpy.split(x @ p["w"] + h @ p["u"] + p["b"], 4, -1)
        s = jax.nn.sigmoid(f) * s + jax.nn.sigmoid(i) * jax.numpy.tanh(g)
        h = jax.nn.sigmoid(o) * jax.numpy.tanh(s)
        return (h, s), h

    zeros = jax.numpy.zeros((xs.shape[1], p["u"].shape[0]), xs.dtype)
    return jax.lax.scan(cell, (zeros, zeros), xs)[1]


def gru(jax: Any, p: Any, xs: Any) -> Any:
    size = p["u"].shape[0]

    def cell(h: Any, x: Any) -> Any:
        a, b = x @ p["w"] + p["b"], h @ p["u"]
        r, z = jax.numpy.split(jax.nn.sigmoid(a[:, : 2 * size] + b[:, : 2 * size]), 2, -1)
        new = jax.numpy.tanh(a[:, 2 * size :] + r * b[:, 2 * size :])
        h = (1 - z) * new + z * h
        return h, h

    return jax.lax.scan(cell, jax.numpy.zeros((xs.shape[1], size), xs.dtype), xs)[1]


NETWORKS.append(Written("lstm", lstm, (LAYER, single(50, 8, 16))))
NETWORKS.append(Written("gru", gru, (GATES, single(50, 8, 24))))
NETWORKS.append(Written("gru_of_one", gru, (GATES, single(50, 1, 24))))


@program(NETWORKS, LAYER, single(50, 8, 16))
def lstm_grad(jax: Any, p: Any, xs: Any) -> Any:
    return jax.grad(lambda p: lstm(jax, p, xs).sum())(p)


@program(NETWORKS, GATES, single(50, 8, 24))
def gru_grad(jax: Any, p: Any, xs: Any) -> Any:
    return jax.grad(lambda p: (gru(jax, p, xs) ** 2).mean())(p)


def block(jax: Any, p: Any, x: Any) -> Any:
    count, length, width = x.shape

    def normed(x: Any, gain: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * gain

    parts = (normed(x, p["g"][0]) @ p["qkv"]).reshape(count, length, 3, 4, width // 4)
    q, k, v = (parts[:, :, part] for part in range(3))
    scores = jax.numpy.einsum("nqhd,nkhd->nhqk", q, k) / (width // 4) ** 0.5
    scores = jax.numpy.where(jax.numpy.tril(jax.numpy.ones((length, length), bool)), scores, -1e9)
    mixed = jax.numpy.einsum("nhqk,nkhd->nqhd", jax.nn.softmax(scores), v).reshape(x.shape)
    x = x + mixed @ p["o"]
    return x + jax.nn.gelu(normed(x, p["g"][1]) @ p["up"]) @ p["down"]


NETWORKS.append(Written("transformer_block", block, (BLOCK, single(8, 32, 64))))


@program(NETWORKS, BLOCK, single(8, 32, 64))
def transformer_block_grad(jax: Any, p: Any, x: Any) -> Any:
    return jax.grad(lambda p: (block(jax, p, x) ** 2).mean())(p)


def images(jax: Any, p: Any, x: Any) -> Any:
    for name in ("k", "l"):
        x = jax.lax.conv_general_dilated(x, p[name], (1, 1), "SAME", dimension_numbers=CHANNELS_LAST)
        x = max_pool(jax, jax.nn.relu(x))
    return x.reshape(x.shape[0], -1) @ p["w"]


def images_step(jax: Any, p: Any, x: Any, labels: Any) -> Any:
    value, slope = jax.value_and_grad(lambda p: one_hot_loss(jax, images(jax, p, x), labels))(p)
    return value, jax.tree.map(lambda a, b: a - 0.01 * b, p, slope)


NETWORKS.append(Written("small_images", images, (SMALL_IMAGES, single(16, 28, 28, 1))))
NETWORKS.append(Written("small_images_step", images_step, (SMALL_IMAGES, single(16, 28, 28, 1), whole(10, 16))))
NETWORKS.append(Written("images", images, (LARGE_IMAGES, single(8, 32, 32, 3))))
NETWORKS.append(Written("images_step", images_step, (LARGE_IMAGES, single(8, 32, 32, 3), whole(10, 8))))


@program(NETWORKS, LEAVES, LEAVES, LEAVES, LEAVES)
def adam(jax: Any, p: Any, slope: Any, first: Any, second: Any) -> Any:
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
    second = jax.tree.map(lambda v, g: 0.999 * abs(v) + 0.001 * g * g, second, slope)
    new = jax.tree.map(lambda w, m, v: w - 0.001 * m / 0.1 / (jax.numpy.sqrt(v / 0.001) + 1e-8), p, first, second)
    return new, first, second


@program(
    NETWORKS,
    tree(a=single(2, 50, scale=0.1), b=single(50), c=single(50, 2, scale=0.1)),
    single(20, 2),
    single(20, 30, 2),
)
def neural_ode_step(jax: Any, p: Any, start: Any, seen: Any) -> Any:
    def slope(p: Any, y: Any) -> Any:
        return jax.numpy.tanh(y**3 @ p["a"] + p["b"]) @ p["c"]

    def path(p: Any) -> Any:
        def step(y: Any, _: Any) -> Any:
            first = slope(p, y)
            second = slope(p, y + 0.0125 * first)
            third = slope(p, y + 0.0125 * second)
            y = y + 0.025 / 6 * (first + 2 * second + 2 * third + slope(p, y + 0.025 * third))
            return y, y

        return jax.lax.scan(step, start, None, length=30)[1]

    def loss(p: Any) -> Any:
        return jax.numpy.abs(path(p).swapaxes(0, 1) - seen).mean()

    value, gradient = jax.value_and_grad(loss)(p)
    return value, jax.tree.map(lambda w, g: w - 0.01 * g, p, gradient)
