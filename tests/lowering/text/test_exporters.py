"""Text that JAX prints: read, printed back, accepted by the official parser, and the same numbers on XLA."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from numhlo.lowering.ir.structure import structurally_equal
from numhlo.lowering.text import parse, print_module
from tests.oracle import official_parse, run_on_xla

X = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4)
SQUARE = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]], np.float32)
IMAGE = np.linspace(0, 1, 1 * 6 * 6 * 2, dtype=np.float32).reshape(1, 6, 6, 2)
KERNEL = np.linspace(-1, 1, 3 * 3 * 2 * 3, dtype=np.float32).reshape(3, 3, 2, 3)
KEY = np.array([1, 2], np.uint32)


def convolve(x, k):
    return lax.conv_general_dilated(x, k, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def loss(x, k):
    return (convolve(x, k) ** 2).sum()


def scan(x):
    return lax.scan(lambda c, row: (c + row.sum(), jnp.sin(c) * row), jnp.float32(0), x)


PROGRAMS = {
    "arithmetic": (lambda x: jnp.exp(x) + x**2 / (1 + jnp.abs(x)) - jnp.tanh(x), X),
    "special": (lambda x: (lax.erf(x), lax.erf_inv(x), lax.lgamma(x + 2), lax.digamma(x + 2), jnp.sinh(x)), X),
    "logic": (lambda x: (jnp.where(x > 0, x, -x), jnp.isnan(x), x.astype(jnp.int8), jnp.sign(x)), X),
    "matmul": (lambda x: jnp.einsum("ij,kj->ik", x, x) @ x, X),
    "reductions": (lambda x: (x.sum(0), x.max(1), x.argmax(), x.prod(), jnp.any(x > 0), x.mean(), x.std()), X),
    "sorting": (lambda x: (jnp.sort(x, 1), jnp.argsort(x, 0), lax.top_k(x, 2), jnp.median(x)), X),
    "indexing": (lambda x: (x[1:, ::2], x[[0, 2], [1, 3]], x.at[0, [1, 1]].add(2.0), jnp.roll(x, 1), x[::-1]), X),
    "cumulative": (lambda x: (jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x)), X),
    "cond": (lambda x: lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x), X),
    "switch": (lambda x: lax.switch(jnp.int32(2), [jnp.sin, jnp.cos, jnp.tan], x), X),
    "while": (lambda x: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 2), (0, x)), X),
    "fori": (lambda x: lax.fori_loop(0, 3, lambda i, y: y + i * x, x), X),
    "scan": (scan, X),
    "gradient of scan": (jax.grad(lambda x: scan(x)[1].sum()), X),
    "vmap": (jax.vmap(lambda row: jnp.outer(row, row)), X),
    "convolution": (convolve, IMAGE, KERNEL),
    "gradient of convolution": (jax.grad(loss, (0, 1)), IMAGE, KERNEL),
    "pooling": (lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), IMAGE),
    "gradient of pooling": (
        jax.grad(lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()),
        IMAGE,
    ),
    "random": (lambda k: (jax.random.normal(k, (3,)), jax.random.randint(k, (4,), 0, 9), jax.random.bits(k)), KEY),
    "rng bits": (lambda k: lax.rng_bit_generator(jnp.concatenate([k, k]), (3,)), KEY),
    "fft": (lambda x: (jnp.fft.fft(x), jnp.fft.irfft(x + 1j)), X),
    "cholesky": (jnp.linalg.cholesky, SQUARE),
    "solve": (lambda a: jnp.linalg.solve(a, a[0]), SQUARE),
    "complex": (lambda x: jnp.angle(x + 2j * x) + (x * 1j).imag, X),
    "integers": (
        lambda x: ((x * 9).astype(jnp.int32) // 2, (x * 9).astype(jnp.uint8) >> 1, lax.population_count(3)),
        X,
    ),
    "constants": (lambda x: x + np.arange(4, dtype=np.float32) * np.linspace(0, 1, 400, dtype=np.float32).sum(), X),
    "large constant": (lambda x: x.sum() * np.linspace(0, 1, 400, dtype=np.float32), X),
    "narrow": (lambda x: x.astype(jnp.bfloat16) * jnp.float8_e4m3fn(1.5).astype(jnp.bfloat16), X),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax(name):
    function, *arrays = PROGRAMS[name]
    lowered = jax.jit(function).lower(*arrays)
    text = lowered.as_text()
    module = parse(text)
    for generic in (False, True):
        printed = print_module(module, generic=generic)
        assert structurally_equal(parse(printed), module)
        assert structurally_equal(parse(official_parse(printed)), module)
    assert structurally_equal(parse(lowered.as_text(debug_info=True)), module)
    pairs = zip(run_on_xla(print_module(module), arrays), run_on_xla(text, arrays), strict=True)
    for ours, theirs in pairs:
        np.testing.assert_array_equal(ours, theirs)


def test_exports_with_symbolic_shapes():
    sizes = jax.export.symbolic_shape("n, 4")
    argument = jax.ShapeDtypeStruct(sizes, np.float32)
    exported = jax.export.export(jax.jit(lambda x: jnp.concatenate([x, x]).reshape(-1) + jnp.arange(8).sum()))(argument)
    text = exported.mlir_module()
    module = parse(text)
    assert structurally_equal(parse(official_parse(print_module(module))), module)


def test_debug_locations_are_read():
    def function(x):
        return jnp.sin(x) + 1

    first = function.__code__.co_firstlineno
    body = parse(jax.jit(function).lower(X).as_text(debug_info=True)).main.body
    (sine,) = [op for op in body.ops if op.definition.name == "sine"]
    assert sine.location.filename == __file__
    assert sine.location.line == first + 1
