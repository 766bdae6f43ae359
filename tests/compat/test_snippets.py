"""Short expressions in JAX's default of 32 bits: dtypes, weak types, shapes, values and errors beside JAX's."""

import jax
import jax.experimental
import numpy as np
import pytest

import numhlo.compat.jax as ours

WEAK_TYPES = """
jax.vmap(lambda x: 2.0)(jnp.arange(3))
jax.vmap(lambda x: x * 2.0)(jnp.arange(3))
jax.vmap(lambda x: (x, 1))(jnp.arange(3.))
jax.vmap(lambda x, y: x + y, in_axes=(0, None))(jnp.arange(3), 2.5)
jax.vmap(lambda x: x, axis_size=3, in_axes=None)(1.0)
jax.jit(lambda x: x)(True)
jax.jvp(jnp.sin, (1.0,), (1.0,))
jax.jvp(lambda x, y: x * y, (1.0, 2.0), (1.0, 0.0))
jax.grad(lambda x: x**2)(3.0)
jax.grad(lambda x: x**2)(jnp.float32(3))
jax.value_and_grad(lambda x: x**3)(2.0)
jax.grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)
jax.grad(lambda d: d["a"] * d["b"])({"a": 1.0, "b": jnp.float32(2)})
jax.vjp(lambda x: x * 2, 3.0)[0]
jax.vjp(lambda x, y: (x * y, x + y), 3.0, 2.0)[1]((1.0, 1.0))
jax.jacfwd(lambda x: x**2)(2.0)
jax.jacrev(lambda x: x**2)(2.0)
jax.hessian(lambda x: x**3)(2.0)
jax.linearize(jnp.sin, 1.0)[1](2.0)
jax.grad(jax.checkpoint(lambda x: jnp.sin(x) ** 2))(1.0)
jax.grad(jax.nn.relu)(0.0)
jnp.arange(3) ** 2.0
2.0 ** jnp.arange(3)
jnp.asarray(2.0) ** jnp.arange(3)
jnp.broadcast_arrays(1, jnp.arange(2))
jnp.real(1 + 2j)
jnp.imag(3.0)
jnp.angle(1j)
jnp.isscalar(jnp.array(1.0))
lax.full((2,), 3.5, jnp.int32)
lax.map(lambda x: x * 2.0, jnp.arange(3))
lax.cond(True, lambda: 1, lambda: 2)
lax.switch(1, [lambda x: x, lambda x: x * 2], 5)
lax.while_loop(lambda c: c < 3, lambda c: c + 1.5, 0)
lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, 1.0))
lax.scan(lambda c, x: (c + x["a"], x), 0, {"a": jnp.arange(3), "b": jnp.ones(3)})
lax.scan(lambda c, _: (c * 2, c), 1, None, length=5)
lax.scan(lambda c, x: (c + x * 1.5, isinstance(c, jax.Array) and isinstance(x, jax.Array)), 0.0, jnp.arange(3))
lax.fori_loop(0, 3, lambda i, c: c + i, 0.0)
[jax.scipy.special.beta(2., 3.), jax.scipy.special.betaln(2., 3.), jax.scipy.special.ndtr(0.5)]
[jax.scipy.stats.norm.pdf(0.), jax.scipy.stats.norm.cdf(0.), jax.scipy.stats.laplace.cdf(.3)]
[jax.nn.gelu(1.0), jax.nn.silu(1.0)]
str(jax.typeof(1.0))
jax.make_jaxpr(lambda x: x + 1)(1.0).out_avals[0].weak_type
[e.primitive.name for e in jax.make_jaxpr(lambda x: jnp.sin(x) * x)(1.0).eqns]
str(jax.jit(lambda x: x * 2).trace(1.0).jaxpr.out_avals[0])
"""

VALUES = """
jax.grad(lambda x: x[jnp.array([0, 0, 1])].sum())(jnp.arange(3.))
jax.grad(lambda x: jnp.sort(x)[0])(jnp.array([1., 1., 0.5]))
jax.grad(lambda x: jnp.median(x))(jnp.array([1., 1., 3., 4.]))
jax.grad(lambda x: lax.top_k(x, 1)[0][0])(jnp.array([1., 1.]))
jax.grad(jnp.abs)(0.0)
jax.grad(jnp.abs)(-0.0)
jnp.concatenate([jnp.arange(2), jnp.ones(2)], dtype=jnp.int8)
jnp.promote_types("uint32", "int32")
jnp.asarray(type("Two", (), {"__jax_array__": lambda self: jnp.ones(2)})())
jnp.linalg.cholesky(-jnp.eye(2))
lax.cumsum(jnp.arange(4), reverse=True)
jnp.ones(3).mean(dtype=jnp.float16)
jax.random.multinomial(jax.random.PRNGKey(0), 1, jnp.array([[0., 1., 0.], [1., 0., 0.]]))
jax.random.multinomial(jax.random.PRNGKey(0), 9, jnp.array([0.1, 0.5, 0.4]), shape=(5, 3))
jax.random.binomial(jax.random.key(1), 30, 0.7, (20,))
jnp.array([1e10, -1e10, jnp.nan, jnp.inf, -jnp.inf, 300.5, -1.5]).astype(jnp.int32)
jnp.astype(jnp.array([1e10, jnp.nan, -jnp.inf, 300.5, -1.5]), jnp.uint8)
jnp.asarray(jnp.array([1e10, jnp.nan, -jnp.inf, 300.5, -1.5]), jnp.int8)
jnp.full((2,), jnp.float32(1e10), jnp.int16)
lax.convert_element_type(jnp.array([70000., -1.]), jnp.uint16)
jax.jit(lambda x: jnp.unique(x, True, True, True, 0, size=3))(jnp.array([[3, 1], [2, 1], [3, 1]]))
jax.jit(lambda x: jnp.unique(x, axis=1, size=2, fill_value=7))(jnp.array([[3, 1, 3], [2, 1, 2.5]]))
jax.jit(lambda a, b: jnp.intersect1d(a, b, size=4, return_indices=True))(jnp.array([3, 2, 1]), jnp.array([3, 4, 1]))
"""

REFUSED = """
lax.add(1, 2.0)
lax.mul(2, jnp.ones(2, jnp.uint8))
lax.clamp(0.0, jnp.arange(3), 1.0)
lax.while_loop(lambda c: c < 3, lambda c: c + 1.5, jnp.int32(0))
lax.scan(lambda c, x: (c.astype(jnp.int32), x), jnp.float32(0), jnp.arange(3))
lax.fori_loop(0, 3, lambda i, c: c.astype(jnp.float16), jnp.float32(1))
jnp.asarray(None)
jnp.array([None])
"""

FAILING_CALLBACKS = """
jax.pure_callback(lambda x: 1 / 0, jax.ShapeDtypeStruct((), jnp.float32), 1.0)
jax.jit(lambda x: jax.pure_callback(lambda x: 1 / 0, jax.ShapeDtypeStruct((), jnp.float32), x))(1.0)
jax.jit(lambda x: jax.experimental.io_callback(lambda x: 1 / 0, jax.ShapeDtypeStruct((), jnp.float32), x))(1.0)
"""


def lines(text):
    return [line for line in text.splitlines() if line]


def evaluated(module, line):
    names = {"jax": module, "jnp": module.numpy, "lax": module.lax}
    with module.enable_x64(False):
        return eval(line, names)


def facts(module, x):
    if isinstance(x, module.Array):
        return str(x.dtype), x.weak_type, x.shape
    return x if isinstance(x, str | bool | np.dtype) else type(x).__name__


@pytest.mark.not_every_call  # 32 bits hold for a block alone
@pytest.mark.parametrize("line", lines(WEAK_TYPES + VALUES))
def test_expressions(line):
    found, wanted = (m.tree.leaves(evaluated(m, line)) for m in (ours, jax))
    assert [facts(ours, x) for x in found] == [facts(jax, x) for x in wanted]
    for one, other in zip(found, wanted, strict=True):
        if isinstance(other, jax.Array):
            np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-6)


@pytest.mark.not_every_call  # as above
@pytest.mark.parametrize("line", lines(REFUSED))
def test_refused_expressions(line):
    with pytest.raises((TypeError, ValueError)) as wanted:
        evaluated(jax, line)
    with pytest.raises(TypeError if isinstance(wanted.value, TypeError) else ValueError):
        evaluated(ours, line)


@pytest.mark.not_every_call  # as above
@pytest.mark.parametrize("line", lines(FAILING_CALLBACKS))
def test_what_a_callback_raises(line):
    for module in (jax, ours):
        with pytest.raises(module.errors.JaxRuntimeError, match=r"(?s)error calling callback.*ZeroDivisionError"):
            evaluated(module, line)
