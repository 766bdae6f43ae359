"""A million float32 and a hundred thousand float64 bit patterns, against functions of higher precision."""

from typing import Any

import numpy as np
import pytest
from scipy import special

from tests.backend.vector_math.bounds import BOUNDS, compiled

ORACLES: dict[str, Any] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "sinh": np.sinh,
    "tan": np.tan,
    "tanh": np.tanh,
}
ONLY_FLOAT32: dict[str, Any] = {"erf": special.erf, "erfc": special.erfc, "logistic": special.expit}


def bit_patterns(dtype, count):
    """Return floats of uniformly random bits, half of them moved to where functions are neither 0 nor infinite."""
    dtype = np.dtype(dtype)
    bits = np.random.default_rng(11).integers(0, 2 ** (8 * dtype.itemsize), count, f"u{dtype.itemsize}", endpoint=False)
    x = bits.view(dtype)
    with np.errstate(all="ignore"):
        x[::2] = np.sign(x[::2]) * np.exp(np.log(np.abs(x[::2])) / 12)
    return x


def worst_error(found, exact):
    """Return the largest error in ULP of ``found``'s type, NaN and infinity counting as errors where they differ."""
    info = np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        rounded = exact.astype(found.dtype)
        same = ~np.isfinite(rounded) & ((found == rounded) | (np.isnan(found) & np.isnan(rounded)))
        exponent = np.maximum(np.frexp(np.where(same, 1, exact))[1] - 1, info.minexp)
        error = np.abs(found.astype(exact.dtype) - exact) / np.ldexp(exact.dtype.type(1), exponent - info.nmant)
        error = np.where(same, 0, error)
    assert not np.isnan(error).any()
    return float(error.max())


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ORACLES, *ONLY_FLOAT32])
def test_float32(name):
    x = bit_patterns(np.float32, 2**20)
    with np.errstate(all="ignore"):
        exact = (ORACLES | ONLY_FLOAT32)[name](x.astype(np.float64))
    assert worst_error(compiled(name, x), exact) <= BOUNDS[name][0]


@pytest.mark.slow
@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long double is no wider than double here")
@pytest.mark.parametrize("name", ORACLES)
def test_float64(name):
    x = bit_patterns(np.float64, 2**17)
    with np.errstate(all="ignore"):
        exact = ORACLES[name](x.astype(np.longdouble))
    assert worst_error(compiled(name, x), exact) <= BOUNDS[name][1]
