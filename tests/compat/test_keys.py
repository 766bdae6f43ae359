"""Keys of `jax.random.key`: shapes, dtype, numbers and errors beside JAX's."""

import jax
import numpy as np
import pytest

import numhlo.compat.jax as ours


def words(module, keys):
    return np.asarray(module.random.key_data(keys))


def folded(module, keys):
    """Fold numbers into a key along a scan, and draw by its other keys."""
    random = module.random
    last, drawn = module.lax.scan(lambda c, k: (random.fold_in(c, 1), random.bits(k)), random.key(3), keys)
    return words(module, last), np.asarray(drawn)


def keys_of(module):
    return module.random.split(module.random.key(3), 4)


VALUES = {
    "uniform": lambda m, keys: m.random.uniform(keys[0], (3,)),
    "vmap": lambda m, keys: m.vmap(lambda k: m.random.bits(k, (2,)))(keys),
    "jit": lambda m, keys: m.jit(lambda k: m.random.key_data(m.random.split(k)[1]))(keys[1]),
    "jit that returns keys": lambda m, keys: words(m, m.jit(lambda k: m.random.split(k, 3))(keys[1])),
    "scan": folded,
    "cond": lambda m, keys: words(m, m.lax.cond(True, lambda k: k, lambda k: m.random.fold_in(k, 2), keys[0])),
    "equal": lambda m, keys: keys == keys[1],
    "not equal": lambda m, keys: keys != keys[1],
    "wrapped": lambda m, keys: words(m, m.random.wrap_key_data(m.random.key_data(keys))[2]),
    "unpacked": lambda m, keys: [words(m, k) for k in m.random.split(keys[0])],
    "reshaped": lambda m, keys: words(m, keys.reshape(2, 2).T),
    "keyword": lambda m, keys: m.random.randint(key=keys[0], shape=(3,), minval=0, maxval=9),
}

MOVED = {
    "stack": lambda m, keys: m.numpy.stack([keys[0], keys[2]]),
    "array of keys": lambda m, keys: m.numpy.array([keys[0], m.random.key(9)]),
    "concatenate": lambda m, keys: m.numpy.concatenate([keys, keys[:1]]),
    "where": lambda m, keys: m.numpy.where(m.numpy.array([True, False, True, False]), keys, keys[1]),
    "traced where": lambda m, keys: m.jit(lambda c, k: m.numpy.where(c, k, k[1]))(m.numpy.arange(4) > 1, keys),
    "reshape": lambda m, keys: m.numpy.reshape(keys, (2, 2)),
    "roll": lambda m, keys: m.numpy.roll(keys, 1),
    "take": lambda m, keys: m.numpy.take(keys, m.numpy.array([3, 0])),
    "tile": lambda m, keys: m.numpy.tile(keys[0], 2),
    "set": lambda m, keys: keys.at[1].set(m.random.key(9)),
    "get": lambda m, keys: keys.at[m.numpy.array([1, 1])].get(),
    "a slice where the program says": lambda m, keys: m.jit(lambda k, i: m.lax.dynamic_slice_in_dim(k, i, 2))(keys, 1),
    "select": lambda m, keys: m.lax.select(False, keys, keys[::-1]),
    "of xla's generator": lambda m, keys: m.random.split(m.random.key(3, impl="rbg"), (2, 2)),
    "of its bits": lambda m, keys: m.random.split(m.random.key(3, impl="unsafe_rbg"), 3),
    "folded": lambda m, keys: m.random.fold_in(m.random.key(3, impl="rbg"), 7),
    "folded by bits": lambda m, keys: m.random.fold_in(m.random.key(3, impl="unsafe_rbg"), 7),
    "of four words": lambda m, keys: m.random.wrap_key_data(m.numpy.arange(4, dtype="uint32"), impl="rbg"),
}

DRAWN = {
    "uniform": lambda random, key: random.uniform(key, (3,)),
    "integers": lambda random, key: random.randint(key, (4,), 0, 10),
    "bytes": lambda random, key: random.bits(key, (5,), np.uint8),
    "a permutation": lambda random, key: random.permutation(key, 6),
    "a choice": lambda random, key: random.choice(key, 5, (3,), replace=False),
}

FACTS = {
    "shapes": lambda m, keys: [keys.shape, keys[1:3].shape, keys[0].shape, keys.reshape(-1, 2).shape, len(keys)],
    "shapes of keys": lambda m, keys: [k.shape for k in keys],
    "split by a shape": lambda m, keys: m.random.split(keys[0], (2, 3)).shape,
    "sizes": lambda m, keys: [keys.size, keys.ndim, keys.dtype.itemsize],
    "class": lambda m, keys: [isinstance(keys, m.Array), isinstance(m.random.PRNGKey(0), m.Array)],
    "dtype": lambda m, keys: [
        str(keys.dtype),
        *[m.numpy.issubdtype(keys.dtype, x) for x in (m.dtypes.prng_key, m.dtypes.extended, np.floating)],
    ],
    "implementation": lambda m, keys: str(m.random.key_impl(keys)),
    "old keys": lambda m, keys: [m.random.PRNGKey(0).shape, m.random.split(m.random.PRNGKey(0)).shape],
}

REFUSED = {
    "as numbers": lambda m, keys: np.asarray(keys),
    "several": lambda m, keys: m.random.normal(keys),
    "sum": lambda m, keys: keys[0] + 1,
    "length": lambda m, keys: len(keys[0]),
    "axes": lambda m, keys: keys[0, 0],
    "an unknown kind": lambda m, keys: m.random.key(0, impl="nonsense"),
    "sorted": lambda m, keys: m.numpy.sort(keys),
    "of two kinds": lambda m, keys: m.numpy.stack([keys[0], m.random.key(0, impl="rbg")]),
    "sine": lambda m, keys: m.numpy.sin(keys),
    "no key": lambda m, keys: m.random.normal(3),
    "seed": lambda m, keys: m.random.key(1.5),
    "compared": lambda m, keys: keys == m.numpy.ones(4),
}


@pytest.mark.parametrize("name", MOVED)
def test_keys_move_as_numbers_do(name):
    found, wanted = (MOVED[name](m, keys_of(m)) for m in (ours, jax))
    assert (found.shape, str(found.dtype)) == (wanted.shape, str(wanted.dtype))
    np.testing.assert_array_equal(words(ours, found), words(jax, wanted))
    assert str(ours.random.key_impl(found)) == str(jax.random.key_impl(wanted))


@pytest.mark.parametrize("impl", ["rbg", "unsafe_rbg"])
@pytest.mark.parametrize("name", DRAWN)
def test_numbers_of_other_keys(name, impl):
    found = ours.jit(lambda key: DRAWN[name](ours.random, key))(ours.random.key(5, impl=impl))
    np.testing.assert_array_equal(found, DRAWN[name](jax.random, jax.random.key(5, impl=impl)))
    np.testing.assert_array_equal(found, DRAWN[name](ours.random, ours.random.key(5, impl=impl)))


@pytest.mark.parametrize("name", VALUES)
def test_numbers_are_those_of_jax(name):
    wanted, found = VALUES[name](jax, keys_of(jax)), VALUES[name](ours, keys_of(ours))
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", FACTS)
def test_shapes_and_dtypes_are_those_of_jax(name):
    assert FACTS[name](ours, keys_of(ours)) == FACTS[name](jax, keys_of(jax))


@pytest.mark.parametrize("name", REFUSED)
def test_what_jax_refuses_is_refused(name):
    with pytest.raises((TypeError, ValueError, IndexError)):
        REFUSED[name](jax, keys_of(jax))
    with pytest.raises((TypeError, ValueError, IndexError)):
        REFUSED[name](ours, keys_of(ours))
