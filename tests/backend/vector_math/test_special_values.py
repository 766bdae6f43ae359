"""NaN, infinities, signed zeros, subnormal numbers, overflow and poles, as C's Annex F has them."""

import numpy as np
import pytest

from numhlo.backend.vector_math import exponential, hyperbolic
from numhlo.backend.vector_math.jitable import JITABLE
from tests.backend.both_ways import assert_same_both_ways
from tests.backend.vector_math.bounds import BOUNDS, EXACT, TWO_ARGUMENTS, compiled, source, ulps

INF, NAN = np.inf, np.nan
DTYPES = (np.float32, np.float64)
CASES: dict[str, list[tuple[float, float]]] = {  # argument and result, exactly, sign of zero included
    "acos": [(1, 0), (-1, np.pi), (2, NAN), (INF, NAN)],
    "acosh": [(1, 0), (0.5, NAN), (INF, INF), (-INF, NAN)],
    "asin": [(0, 0), (-0.0, -0.0), (1, np.pi / 2), (2, NAN)],
    "asinh": [(0, 0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "atan": [(0, 0), (-0.0, -0.0), (INF, np.pi / 2), (-INF, -np.pi / 2)],
    "atanh": [(0, 0), (-0.0, -0.0), (1, INF), (-1, -INF), (2, NAN), (-INF, NAN)],
    "cbrt": [(0, 0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (-8, -2), (27, 3)],
    "cos": [(0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN)],
    "cosh": [(0, 1), (INF, INF), (-INF, INF)],
    "digamma": [(0, -INF), (-0.0, INF), (INF, INF), (-3, NAN), (-INF, NAN)],
    "erf": [(0, 0), (-0.0, -0.0), (INF, 1), (-INF, -1)],
    "erf_inv": [(0, 0), (-0.0, -0.0), (1, INF), (-1, -INF), (2, NAN)],
    "erfc": [(0, 1), (INF, 0), (-INF, 2)],
    "exp": [(0, 1), (-0.0, 1), (INF, INF), (-INF, 0), (1e5, INF), (-1e5, 0)],
    "exp2": [(0, 1), (-0.0, 1), (3, 8), (-7, 2.0**-7), (-149, 2.0**-149), (INF, INF), (-INF, 0), (1e5, INF), (-1e5, 0)],
    "expm1": [(0, 0), (-0.0, -0.0), (INF, INF), (-INF, -1), (1e5, INF), (-1e5, -1)],
    "lgamma": [(0, INF), (-0.0, INF), (1, 0), (2, 0), (-2, INF), (INF, INF), (-INF, INF)],
    "log": [(0, -INF), (-0.0, -INF), (1, 0), (-1, NAN), (INF, INF), (-INF, NAN)],
    "log10": [(0, -INF), (-0.0, -INF), (1, 0), (1000, 3), (1e10, 10), (-1, NAN), (INF, INF), (-INF, NAN)],
    "log2": [(0, -INF), (-0.0, -INF), (1, 0), (8, 3), (2.0**-149, -149), (-1, NAN), (INF, INF), (-INF, NAN)],
    "log1p": [(0, 0), (-0.0, -0.0), (-1, -INF), (-2, NAN), (INF, INF)],
    "logistic": [(0, 0.5), (INF, 1), (-INF, 0), (-1e5, 0), (1e5, 1)],
    "rsqrt": [(0, INF), (-0.0, -INF), (4, 0.5), (INF, 0), (-1, NAN)],
    "sin": [(0, 0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "sinh": [(0, 0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (1e5, INF)],
    "tan": [(0, 0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "tanh": [(0, 0), (-0.0, -0.0), (INF, 1), (-INF, -1), (100, 1)],
}
# functions with f(x) = x for subnormal x (f'(0) = 1)
TANGENT_TO_IDENTITY = ("asin", "asinh", "atan", "atanh", "expm1", "log1p", "sin", "sinh", "tan", "tanh")


def subnormals(dtype):
    smallest = np.finfo(dtype).smallest_subnormal
    return np.array([smallest, 3 * smallest, np.finfo(dtype).tiny - smallest, np.finfo(dtype).tiny], dtype)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_special_values(name):
    for dtype in DTYPES:
        x, y = np.array(CASES[name] + [(NAN, NAN)], dtype).T
        tiny = subnormals(dtype) if name in TANGENT_TO_IDENTITY else np.array([], dtype)
        expected = np.concatenate([y, tiny, np.negative(tiny)])
        found = compiled(name, np.concatenate([x, tiny, np.negative(tiny)]))
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found[expected == 0]), np.signbit(expected[expected == 0]))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "oracle"), [("pow", np.power), ("atan2", np.arctan2)])
def test_special_pairs(name, oracle, dtype):
    limit = 2.0 ** (np.finfo(dtype).nmant + 1)
    positive = [0, 1, 2, 3, 0.5, 1.5, 2.5, INF, limit, limit - 1, limit + 2, limit / 2 + 1, limit / 2 - 1, 1e-30, 1e30]
    values = np.array([*positive, *(-v for v in positive), NAN], dtype)
    x, y = (part.ravel() for part in np.meshgrid(values, values))
    found = compiled(name, x, y)
    with np.errstate(all="ignore"):
        expected = oracle(x, y)
    special_result = ~np.isfinite(expected) | (expected == 0) | (np.abs(expected) == 1)
    np.testing.assert_array_equal(found[special_result], expected[special_result])
    np.testing.assert_allclose(found, expected, rtol=3 * np.finfo(dtype).eps)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected[known]))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["exp", "log", "erfc"])
def test_subnormal_numbers_are_not_flushed(name, dtype):
    info = np.finfo(dtype)
    low = np.log(float(info.smallest_subnormal))
    x = {
        "exp": np.linspace(low + 0.1, np.log(float(info.tiny)), 50),
        "log": np.geomspace(float(info.smallest_subnormal), float(info.tiny), 50),
        "erfc": np.linspace(9.2, 10.0, 50) if dtype is np.float32 else np.linspace(26.55, 27.2, 50),
    }[name].astype(dtype)
    found = compiled(name, x)
    assert np.all(found != 0)
    assert max(ulps(y, EXACT[name](a)) for a, y in zip(x.tolist(), found, strict=True)) <= 1.1


@pytest.mark.parametrize("dtype", DTYPES)
def test_exp_overflows_at_the_right_place(dtype):
    last = dtype(np.log(np.finfo(dtype).max.astype(np.longdouble)))
    while np.exp(last.astype(np.longdouble)) >= np.finfo(dtype).max.astype(np.longdouble) * (
        1 + np.finfo(dtype).epsneg
    ):
        last = np.nextafter(last, dtype(0))
    x = np.array([last, np.nextafter(last, dtype(INF)), np.nextafter(np.nextafter(last, dtype(INF)), dtype(INF))])
    np.testing.assert_array_equal(np.isinf(compiled("exp", x)), [False, True, True])


@pytest.mark.parametrize(("t", "dtype"), [("f32", np.float32), ("f64", np.float64)])
@pytest.mark.parametrize(("name", "base"), [("exp", np.e), ("exp2", 2)])
def test_powers_vanish_at_the_right_place_and_without_underflow(name, base, t, dtype, monkeypatch):
    """An underflow takes processors as long as ten such functions."""
    function = getattr(exponential, f"{name}_{t}")
    half = np.log2(float(np.finfo(dtype).smallest_subnormal)) - 1
    assert function(dtype((half + 0.01) / np.log2(base))) == np.finfo(dtype).smallest_subnormal
    assert function(dtype((half - 0.01) / np.log2(base))) == 0
    refuse_underflow(exponential, t, monkeypatch)
    for x in (half - 0.2, half * 1.3, half * 1.9, half * 2, -1e9, -INF):
        assert function(dtype(x / np.log2(base))) == 0
    with pytest.raises(FloatingPointError, match="underflow"):
        function(dtype((half + 0.5) / np.log2(base)))


@pytest.mark.parametrize(("t", "dtype"), [("f32", np.float32), ("f64", np.float64)])
def test_gates_are_shut_without_underflow(t, dtype, monkeypatch):
    refuse_underflow(hyperbolic, t, monkeypatch, "faded")
    logistic = getattr(hyperbolic, f"logistic_{t}")
    for x in (-1e4, -1e9, -INF):
        assert logistic(dtype(x)) == 0
    for x in (70, 100, 120, 720, 1e9, INF):
        assert logistic(dtype(x)) == 1
    monkeypatch.undo()
    half = np.log2(float(np.finfo(dtype).smallest_subnormal)) - 1
    assert logistic(dtype((half - 0.01) * np.log(2))) == 0
    assert logistic(dtype((half + 0.01) * np.log(2))) == np.finfo(dtype).smallest_subnormal


def refuse_underflow(module, t, monkeypatch, word="scaled"):
    scaled = JITABLE[getattr(exponential, f"{word}_{t}")]

    def strict(y, power):
        with np.errstate(under="raise"):
            return scaled(y, power)

    monkeypatch.setattr(module, f"{word}_{t}", strict)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BOUNDS)
def test_same_bits_with_the_jit_off(name, dtype):
    x = np.array([0, -0.0, 0.3, -0.7, 1, 1.2, -3.4, 9.5, 70, -90, 1e-40, 3e9, 1e30, INF, -INF, NAN], dtype)
    arguments = [x, np.roll(x, 5) if name in TWO_ARGUMENTS else x, np.empty_like(x)]
    kernel_name, text = source(name, dtype)
    assert_same_both_ways(kernel_name, text, arguments, x.size)
