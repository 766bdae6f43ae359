"""fmod against C's, which is exact: short quotients, quotients that a division rounds up, and those for the slow path."""

import numpy as np
import pytest

from tests.backend.both_ways import assert_same_both_ways
from tests.backend.vector_math.bounds import compiled, source

DTYPES = (np.float32, np.float64)
COUNT = 2000


def assert_exact(x, y):
    with np.errstate(all="ignore"):
        expected = np.fmod(x, y)
    found = compiled("fmod", x, y)
    np.testing.assert_array_equal(found, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bits", [2, 20, 24, 25, 26, 29, 30, 60, 100])
def test_quotients_of_some_bits(bits, dtype, rng):
    y = np.ldexp(rng.uniform(0.5, 1, COUNT), rng.integers(-20, 20, COUNT))
    x = y * np.ldexp(rng.uniform(0.5, 1, COUNT), rng.integers(bits - 2, bits + 1, COUNT))
    signs = rng.choice([-1, 1], (2, COUNT))
    assert_exact((x * signs[0]).astype(dtype), (y * signs[1]).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_neighbours_of_multiples(dtype, rng):
    y = rng.uniform(0.5, 2, COUNT).astype(dtype)
    x = y * rng.integers(1, 2**24, COUNT).astype(dtype)
    for near in (x, np.nextafter(x, dtype(0)), np.nextafter(x, dtype(np.inf))):
        assert_exact(near, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_special_pairs(dtype):
    info = np.finfo(dtype)
    least = info.smallest_subnormal
    positive = [0, 1, 3, 0.1, np.inf, info.max, info.tiny, least, 5 * least, 2.0**25, 2.0**29, 1e30]
    values = np.array([*positive, *(-v for v in positive), np.nan], dtype)
    x, y = (part.ravel() for part in np.meshgrid(values, values))
    assert_exact(x, y)
    assert_same_both_ways(*source("fmod", dtype), [x, y, np.empty_like(x)], x.size)


@pytest.mark.parametrize("dtype", DTYPES)
def test_subnormal_numbers(dtype, rng):
    word = np.int64 if dtype is np.float64 else np.int32
    bits = np.finfo(dtype).nmant
    x, y = (rng.integers(0, 2 ** (bits - less), COUNT).astype(word).view(dtype) for less in (0, 15))
    assert_exact(x, y)
