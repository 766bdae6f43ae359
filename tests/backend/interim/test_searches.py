"""argmax and argmin by NumPy have the bits that the reduction has by its body."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from tests.backend.interim.in_python import InPython
from tests.backend.plain_engine import assert_same_bits
from tests.backend.programs import from_jax

SPECIAL = np.array([1.0, np.nan, -np.inf, 0.0, -0.0, np.inf, 2.5, -1.0])


def both(x):
    return jnp.argmax(x, 1), jnp.argmin(x, 0), jnp.argmax(x)


def backwards(x):
    """Places that fall: the last one of equals is wanted, which no search of NumPy's finds."""
    places = jax.lax.rev(jax.lax.iota(jnp.int32, x.shape[0]), (0,))

    def body(a, b):
        left = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1])) | (a[0] != a[0])
        return jnp.where(left, a[0], b[0]), jnp.where(left, a[1], b[1])

    return jax.lax.reduce((x, places), (x.dtype.type(0), np.int32(0)), body, (0,))


def largest(x):
    def body(a, b):
        left = (a[0] > b[0]) | (a[0] == b[0]) | (a[0] != a[0])
        return jnp.where(left, a[0], b[0]), jnp.where(left, a[1], b[1])

    places = jax.lax.broadcasted_iota(jnp.int32, x.shape, 1)
    return jax.lax.reduce((x, places), (x.dtype.type(0), np.int32(-1)), body, (1,))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "?"])
def test_searches_have_the_bits_of_the_reduction(dtype, rng):
    with np.errstate(invalid="ignore"):
        x = rng.choice(SPECIAL, (40, 7)).astype(dtype)
    for function, array in [(both, x), (largest, x), (backwards, x[:, 0])]:
        traced = from_jax(function, array)
        for left, right in zip(InPython(traced)([array]), interpret(traced, [array]), strict=True):
            assert_same_bits(left, np.asarray(right))
