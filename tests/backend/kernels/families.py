"""Programs over all families of ops, for what their kernels are: traced by JAX, planned, and not compiled."""

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from tests.backend.programs import from_jax, plan

X = np.linspace(-2.0, 2.0, 24, dtype=np.float32).reshape(4, 6)
V = np.linspace(0.1, 3.0, 40)
K = np.arange(40, dtype=np.int32) % 7
Z = (V[:32] + 1j * V[8:]).astype(np.complex64)
S = np.eye(5) * 4 + 0.1

PROGRAMS = {
    "elementwise": (lambda x: jnp.tanh(x) * 2 + jnp.exp(x) - jnp.where(x > 0, x, jnp.sin(x)), [X]),
    "narrow": (lambda x: (x.astype(jnp.bfloat16) * 3 + x.astype(jnp.float16).astype(jnp.bfloat16)) / 7, [X]),
    "integers": (lambda k: (k << 3 ^ ~k) // 5 + lax.population_count(k) % 3, [K]),
    "bits": (lambda v: lax.bitcast_convert_type(v.astype(np.float32), np.int32) & 255, [V]),
    "complex": (lambda z: jnp.exp(z) * z.conj() / (1 + z.real) + jnp.abs(z), [Z]),
    "softmax": (lambda x: jax.nn.softmax(x, axis=1), [X]),
    "reductions": (lambda x: (x.sum(0), x.max(1), jnp.argmin(x, 0), (x > 0).all(), jnp.var(x)), [X]),
    "product": (lambda x: x @ x.T + jnp.dot(x[0], x[1]), [X]),
    "convolution": (lambda x: lax.conv(x.reshape(1, 1, 4, 6), x[:2, :3].reshape(1, 1, 2, 3), (1, 1), "SAME"), [X]),
    "windows": (lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 3), (1, 2), "VALID"), [X]),
    "sort": (lambda v, k: lax.sort((k, v), num_keys=1), [V, K]),
    "ranks": (lambda v: (jnp.argsort(v), jnp.median(v), lax.top_k(v, 3)), [V]),
    "gather": (lambda v, k: v[k] + jnp.take(v, k[::-1], mode="clip"), [V, K]),
    "scatter": (lambda v, k: v.at[k].add(1.0).at[k[:3]].set(0.0), [V, K]),
    "cumulative": (lambda v: (jnp.cumsum(v), lax.cummax(v), lax.cumlogsumexp(v)), [V]),
    "transform": (lambda v: jnp.fft.irfft(jnp.fft.rfft(v) * 2), [V.astype(np.float32)]),
    "layout": (lambda x: jnp.pad(x.T[::-1], 1).reshape(-1)[3:40:2], [X]),
    "fori": (lambda v: lax.fori_loop(0, 9, lambda i, s: s * 0.5 + v[i], v), [V]),
    "while": (lambda x: lax.while_loop(lambda s: s.sum() < 1e3, lambda s: s * 1.5 + 1, jnp.abs(x)), [X]),
    "scan": (lambda v: lax.scan(lambda c, x: (c * x + 1, c), 0.0, v), [V]),
    "branches": (lambda v, k: lax.switch(k[2], [jnp.sin, jnp.cos, jnp.exp], v), [V, K]),
    "lanes": (jax.vmap(lambda a: lax.while_loop(lambda s: s < 10, lambda s: s * a + 1, a)), [V]),
    "factors": (lambda s: (jnp.linalg.cholesky(s), jnp.linalg.solve(s, s[0])), [S]),
    "special": (lambda v: lax.lgamma(v) + lax.erf(v) + lax.erf_inv(v / 4) + lax.pow(v, 1.5), [V]),
    "random": (
        lambda v: jax.random.normal(jax.random.key(3), (20,)) + jax.random.randint(jax.random.key(1), (20,), 0, 9),
        [V],
    ),
    "gradient": (jax.grad(lambda x: (jax.nn.relu(x @ x.T) ** 2).mean()), [X]),
}


def kernels_of(name):
    """Return the kernels that a program is planned to."""
    function, arguments = PROGRAMS[name]
    with jax.enable_x64(True):
        return plan(from_jax(function, *arguments)).kernels
