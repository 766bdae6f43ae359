"""Writes `tensorflow/*.mlir`: ``python export_tensorflow.py``, in an environment with tensorflow-cpu 2.21."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf
from exported_file import write

HERE = Path(__file__).parent / "tensorflow"
RNG = np.random.default_rng(0)
LOWER = "tf-lower-to-mlprogram-and-hlo"


def normal(*shape):
    """Return normal numbers."""
    return RNG.standard_normal(shape).astype(np.float32)


def attention(q, k, v):
    """Attend to what is not later."""
    scores = tf.einsum("bqhd,bkhd->bhqk", q, k) / 2.0
    scores = tf.where(tf.linalg.band_part(tf.ones([3, 3]), -1, 0) > 0, scores, -1e9)
    return tf.einsum("bhqk,bkhd->bqhd", tf.nn.softmax(scores), v)


def layer_norm(x, scale, offset):
    """Normalize rows."""
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale + offset


def convolve(x, k):
    """Convolve and pool."""
    return tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME")), 2, 2, "VALID")


def slopes(x, k):
    """Return a loss and its gradients."""
    with tf.GradientTape() as tape:
        tape.watch([x, k])
        loss = tf.reduce_sum(convolve(x, k) ** 2)
    return loss, *tape.gradient(loss, [x, k])


def lstm(x, w, u, b):
    """Run an LSTM."""

    def step(state, x):
        h, c = state
        i, f, g, o = tf.split(x @ w + h @ u + b, 4, 1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        return tf.sigmoid(o) * tf.tanh(c), c

    return tf.scan(step, x, (tf.zeros([2, 2]), tf.zeros([2, 2])))[0]


def loss(x, y):
    """Return a cross entropy and its gradient."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x))
    return value, tape.gradient(value, x)


def eigenvectors(a):
    """Return eigenvalues, and the matrix again."""
    a = a + tf.transpose(a)
    values, vectors = tf.linalg.eigh(a)
    return values, vectors @ tf.linalg.diag(values) @ tf.transpose(vectors)


def factors(a):
    """Return the product of Q and R."""
    q, r = tf.linalg.qr(a)
    return q @ r, tf.abs(r)


def choose(x, p):
    """Run one of two branches, and a loop."""
    y = tf.cond(p > 0, lambda: tf.sin(x), lambda: tf.cos(x))
    return y, *tf.while_loop(lambda i, y: tf.reduce_sum(y) < 100.0, lambda i, y: (i + 1, y * 1.5 + 1), (0, y))


def places(x, i):
    """Gather and scatter."""
    return (
        tf.gather(x, i, axis=1),
        tf.tensor_scatter_nd_add(x, i[:, None], x[:2]),
        tf.math.unsorted_segment_sum(x, i, 2),
    )


def rounded(x):
    """Quantize and take apart again."""
    return tf.quantization.fake_quant_with_min_max_args(x, -2, 2)


X, IMAGE, KERNEL = normal(4, 6), normal(1, 6, 6, 2), normal(3, 3, 2, 3)
Q = normal(2, 3, 2, 4)
AT_ONCE = {
    "attention": (attention, Q, Q + 1, Q - 1),
    "convolution_slopes": (slopes, IMAGE, KERNEL),
    "lstm": (lstm, normal(3, 2, 3), normal(3, 8), normal(2, 8), normal(8)),
    "loss": (loss, X, np.array([1, 0, 5, 3], np.int32)),
    "eigenvectors": (eigenvectors, normal(4, 4)),
    "qr": (factors, normal(2, 4, 3)),
    "solve": (lambda a, b: tf.linalg.solve(a, b), normal(3, 3), normal(3, 2)),
    "control_flow": (choose, normal(3), np.float32(0.5)),
    "fourier": (lambda x: (tf.signal.rfft(x), tf.signal.fft(tf.complex(x, -x))), normal(2, 8)),
    "int8": (lambda a, b: tf.matmul(a, b, output_type=tf.int32), *(RNG.integers(-99, 99, (3, 3)).astype(np.int8),) * 2),
}
"""By `get_compiler_ir`."""
LOWERED = {
    "largest": (lambda x: (*tf.math.top_k(x, 2), tf.math.erf(x)), X),
    "quantized": (rounded, X),
    "places": (places, normal(2, 3), np.array([1, 0], np.int32)),
    "statistics": (lambda x: (tf.math.reduce_std(x, 1), tf.reduce_logsumexp(x, 0), tf.argmax(x, 1)), X),
}
"""By the pass pipeline, for one shape."""
ANY_ROWS = {
    "any_layer_norm": (layer_norm, X, normal(6), normal(6)),
    "any_softmax": (lambda x, w, b: tf.nn.softmax(tf.nn.gelu(x @ w + b)), X, normal(6, 2), normal(2)),
    "any_attention": (attention, Q, Q + 1, Q - 1),
    "any_activations": (lambda x: (tf.nn.elu(x), tf.nn.softplus(x), tf.nn.leaky_relu(x)), X),
    "any_flat": (lambda x: tf.reshape(tf.transpose(x, [0, 2, 1, 3]), [-1, 12]), IMAGE),
}
"""By the pass pipeline, for any number of rows of the first argument (attention: of all)."""


def results_of(function, arrays):
    """Return what TensorFlow makes of arrays."""
    return [x.numpy() for x in tf.nest.flatten(function(*arrays))]


def lowered(function, specs, pipeline=LOWER):
    """Return a function lowered for arguments of given types."""
    concrete = tf.function(function).get_concrete_function(*specs)
    return tf.mlir.experimental.run_pass_pipeline(tf.mlir.experimental.convert_function(concrete), pipeline)


def saved_model():
    """Return the text of a small network that was trained a little and saved, with its weights, and what it makes."""
    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    net = [layers.Conv2D(3, 3), layers.BatchNormalization(), layers.ReLU(), layers.Flatten(), layers.Dense(2)]
    model = tf.keras.Sequential([tf.keras.Input((6, 6, 2)), *net])
    model.compile(tf.keras.optimizers.Adam(0.1), "mse")
    model.fit(np.repeat(IMAGE, 4, 0), np.ones((4, 2), np.float32), verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        model.export(folder, verbose=False)
        text = tf.mlir.experimental.convert_saved_model(folder, "serve")
    x = normal(3, 6, 6, 2)
    return tf.mlir.experimental.run_pass_pipeline(text, LOWER), [x], [model(x).numpy()]


def main():
    """Write all files."""
    for name, (function, *arrays) in AT_ONCE.items():
        compiled = tf.function(function, jit_compile=True)
        text = compiled.experimental_get_compiler_ir(*arrays)(stage="stablehlo")
        write(HERE / f"{name}.mlir", text, [np.asarray(x) for x in arrays], results_of(compiled, arrays))
    for name, (function, *arrays) in LOWERED.items():
        text = lowered(function, [tf.TensorSpec(x.shape, x.dtype) for x in arrays])
        write(HERE / f"{name}.mlir", text, arrays, results_of(function, arrays))
    for name, (function, *arrays) in ANY_ROWS.items():
        count = len(arrays) if function is attention else 1
        specs = [tf.TensorSpec([None, *x.shape[1:]] if k < count else x.shape, x.dtype) for k, x in enumerate(arrays)]
        write(HERE / f"{name}.mlir", lowered(function, specs), arrays, results_of(function, arrays))
    x = normal(2, 3)
    specs = [tf.TensorSpec([None, 3]), tf.TensorSpec([3, 4])]
    text = lowered(lambda x, w: tf.nn.softmax(x @ w), specs, "xla-legalize-tf")
    write(HERE / "any_mhlo.mlir", text, [x, normal(3, 4) * 0 + 1], [np.full((2, 4), 0.25, np.float32)])
    write(HERE / "any_network.mlir", *saved_model())


if __name__ == "__main__":
    main()
