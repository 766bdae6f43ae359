"""Programs in JAX's default of 32 bits: loops, indices and functions that compute in 64 inside, beside JAX's values."""

import jax
import numpy as np
import pytest

import numhlo.compat.jax as ours

FLOATS = [np.array([3, 1, 2], np.float32), np.array([0.5, 2, 1], np.float32), np.array([1, 1, 4], np.float32)]
INTS = [np.array([3, 1, 1], np.int32), np.array([0, 2, 3], np.int32), np.array([2, 2, 1], np.int32)]


def counted(m, x):
    return m.lax.fori_loop(0, 3, lambda i, c: c + i, x)


def of_key(draw):
    return lambda m, x: draw(m.random, m.random.fold_in(m.random.key(3), x[0]))


def jitted_inside(m, x):
    """Call a jitted function with constants of 64 bits."""
    inner = m.jit(lambda a, b, y: a * y + b)
    return inner(np.float64(2.0), np.ones(3), x)


def evaluated(m, x):
    """Evaluate a jaxpr that splits a key."""
    program = m.make_jaxpr(lambda key: m.random.bits(m.random.fold_in(key, 4000000000), (3,)))(m.random.PRNGKey(3))
    return m.core.eval_jaxpr(program.jaxpr, program.consts, m.random.PRNGKey(x[0]))


PROGRAMS = {
    "a jaxpr of keys": (evaluated, INTS),
    "jit in jit": (jitted_inside, FLOATS),
    "fori_loop": (counted, INTS),
    "fori_loop of floats": (counted, FLOATS),
    "fori_loop to a traced bound": (lambda m, x: m.lax.fori_loop(0, x[0], lambda i, c: c + i, x), INTS),
    "fori_loop in a branch": (lambda m, x: m.lax.cond(x[0] > 1, lambda x: counted(m, x), lambda x: x, x), INTS),
    "fori_loop in vmap": (lambda m, x: m.vmap(lambda y: counted(m, y))(x), INTS),
    "fori_loop in a while_loop": (
        lambda m, x: m.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, counted(m, c[1])), (0, x)),
        INTS,
    ),
    "scan": (lambda m, x: m.lax.scan(lambda c, y: (c + y, c), 0, x), INTS),
    "gradient of a loop": (lambda m, x: m.grad(lambda w: counted(m, w * w).sum())(x), FLOATS),
    "repeat": (lambda m, x: m.numpy.repeat(x, x, total_repeat_length=5), INTS),
    "roll": (lambda m, x: m.numpy.roll(x, x[0]), INTS),
    "searchsorted": (lambda m, x: m.numpy.searchsorted(m.numpy.sort(x), x), INTS),
    "setdiff1d": (lambda m, x: m.numpy.setdiff1d(x, x[1:], size=3), INTS),
    "unique": (lambda m, x: m.numpy.unique(x, size=3, return_counts=True, return_index=True), INTS),
    "squareplus": (lambda m, x: m.nn.squareplus(x), INTS),
    "mish": (lambda m, x: m.nn.mish(x), INTS),
    "expi": (lambda m, x: m.scipy.special.expi(x), FLOATS),
    "expn": (lambda m, x: m.scipy.special.expn(2, x), FLOATS),
    "poisson": (of_key(lambda random, key: random.poisson(key, 3.0)), INTS),
}


@pytest.mark.not_every_call  # 32 bits hold for its block alone, in which it makes every call itself
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_in_32_bits(name):
    program, inputs = PROGRAMS[name]
    with jax.enable_x64(False), ours.enable_x64(False):
        jitted, wanted = ours.jit(lambda x: program(ours, x)), jax.jit(lambda x: program(jax, x))
        earlier = []
        for k, x in enumerate([*inputs, *inputs]):
            given = x.copy()
            found, expected = ours.tree.leaves(jitted(x)), jax.tree.leaves(wanted(x))
            earlier.append((found, expected))
            np.testing.assert_array_equal(x, given)
            for one, other in (pair for pairs in earlier for pair in zip(*pairs, strict=True)):
                assert (one.dtype, one.shape) == (other.dtype, other.shape)
                np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-6)
            if k == 2:
                jitted.wait()


@pytest.mark.not_every_call  # as above
def test_a_binomial_number_is_drawn():
    with ours.enable_x64(False):
        draw = ours.jit(lambda key: ours.random.binomial(key, 5, 0.5))
        found = {float(draw(ours.random.key(k))) for k in range(20)}
    assert found <= {0.0, 1.0, 2.0, 3.0, 4.0, 5.0} and len(found) > 2
