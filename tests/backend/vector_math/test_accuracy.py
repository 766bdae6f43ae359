"""Errors against mpmath stay within the stated bounds: near the origin, at random, over all magnitudes, at edges."""

import numpy as np
import pytest

from tests.backend.vector_math.bounds import BOUNDS, EXACT, TWO_ARGUMENTS, compiled, ulps

DTYPES = (np.float32, np.float64)
# where a function is finite and not trivial, for float32 and float64: intervals for uniform points
DOMAINS = {
    "acos": ((-1, 1), (0.45, 0.55), (0.98, 1)),
    "acosh": ((1, 1.01), (1, 3), (1, 1e30)),
    "asin": ((-1, 1), (0.45, 0.55)),
    "asinh": ((-2, 2), (-0.6, 0.6), (-1e30, 1e30)),
    "atan": ((-2, 2), (-30, 30)),
    "atanh": ((-1, 1), (-0.3, 0.3)),
    "cbrt": ((-10, 10), (-1e30, 1e30)),
    "cos": ((-7, 7), (-1e8, 1e8), (-1e30, 1e30)),
    "cosh": ((-2, 2), (-88, 88)),
    "digamma": ((0.001, 1), (1, 2), (2, 12), (12, 1e6), (-12, -0.001)),
    "erf": ((-1.2, 1.2), (-6, 6)),
    "erf_inv": ((-0.75, 0.75), (0.7, 1), (0.999, 1)),
    "erfc": ((-1, 1), (-6, 10)),
    "exp": ((-1, 1), (-103, 88)),
    "exp2": ((-1, 1), (-149, 128)),
    "expm1": ((-1, 1), (-40, 88)),
    "lgamma": ((0.001, 0.5), (0.5, 2.5), (2.5, 12), (12, 1e6), (-12, -0.001)),
    "log": ((0.5, 2), (0, 1e30)),
    "log10": ((0.5, 2), (0.99, 1.01), (0, 1e30)),
    "log2": ((0.5, 2), (0.99, 1.01), (0, 1e30)),
    "log1p": ((-0.4, 0.6), (-1, 5), (0, 1e30)),
    "logistic": ((-2, 2), (-100, 30)),
    "rsqrt": ((0.5, 4), (0, 1e30)),
    "sin": ((-7, 7), (-1e8, 1e8), (-1e30, 1e30)),
    "sinh": ((-2, 2), (-88, 88)),
    "tan": ((-7, 7), (-1e8, 1e8), (-1e30, 1e30)),
    "tanh": ((-1, 1), (-15, 15)),
}
WIDE_IN_FLOAT64 = {
    "cosh": (-709, 709),
    "erfc": (10, 26.5),
    "exp": (-744, 709),
    "exp2": (-1074, 1024),
    "logistic": (-744, 40),
    "sinh": (-709, 709),
}
MAGNITUDES = ("asinh", "atan", "cbrt", "erf", "expm1", "log1p", "sin", "sinh", "tan", "tanh")
POINTS = 60


def points(name, dtype):
    """Return uniform points of each interval, for odd-like functions also log-spaced ones down to subnormals."""
    random = np.random.default_rng(sum(map(ord, name)))
    intervals = list(DOMAINS[name])
    if dtype is np.float64 and name in WIDE_IN_FLOAT64:
        intervals.append(WIDE_IN_FLOAT64[name])
    parts = [random.uniform(low, high, POINTS) for low, high in intervals]
    if name in MAGNITUDES:
        smallest = np.log(np.finfo(dtype).tiny) - 6
        parts.append(np.exp(random.uniform(smallest, 0, POINTS)) * random.choice([-1, 1], POINTS) * 0.9)
    x = np.concatenate(parts).astype(dtype)
    inside = {"acosh": x >= 1, **dict.fromkeys(("log", "log2", "log10"), x > 0), "rsqrt": x > 0, "log1p": x > -1}.get(
        name, np.abs(x) < np.inf
    )
    return x[inside & ((np.abs(x) < 1) | (name not in ("atanh", "erf_inv")))]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DOMAINS)
def test_error_in_ulp(name, dtype):
    x = points(name, dtype)
    found = compiled(name, x)
    worst = 0.0
    for argument, value in zip(x.tolist(), found, strict=True):
        exact = EXACT[name](argument)
        scale = abs(exact) if name in ("lgamma", "digamma") and argument < 0 and abs(exact) < 1 else 1
        worst = max(worst, ulps(value, exact) * float(scale))
    assert worst <= BOUNDS[name][DTYPES.index(dtype)]


def pairs(name, dtype):
    random = np.random.default_rng(7)
    if name == "atan2":
        x = random.normal(size=200) * 10.0 ** random.uniform(-10, 10, 200)
        return (x * random.uniform(-3, 3, 200)).astype(dtype), x.astype(dtype)
    limit = np.finfo(dtype).maxexp
    x = np.concatenate([2 ** random.uniform(-limit, limit, 200), 1 + random.uniform(-0.5, 0.5, 200) * 1e-3]).astype(
        dtype
    )
    y = random.uniform(-1.1 * limit, limit, 400) / np.log2(x.astype(float))
    return np.append(x, [-3, -0.5, 2.5]).astype(dtype), np.append(y, [7, -12, 3]).astype(dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [name for name in TWO_ARGUMENTS if name in BOUNDS])
def test_error_in_ulp_of_two_arguments(name, dtype):
    x, y = pairs(name, dtype)
    found = compiled(name, x, y)
    errors = [
        ulps(value, EXACT[name](a, b)) for a, b, value in zip(x.tolist(), y.tolist(), found, strict=True) if value != 0
    ]
    assert max(errors) <= BOUNDS[name][DTYPES.index(dtype)]
    assert len(errors) > 190


def test_nearest_float64_to_a_multiple_of_half_pi():
    # the float64 that comes closest to a multiple of pi/2, found by continued fractions (Muller 2006, table 11.1)
    x = np.array([6381956970095103 * 2.0**797])
    assert compiled("cos", x)[0] == pytest.approx(-4.6871659242546277e-19, rel=3e-16, abs=0)
    assert compiled("sin", x)[0] == 1.0
