import math

import ml_dtypes
import mpmath
import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.ops import FunctionBuilder, control_flow, special
from numhlo.lowering.ops.special_functions import decompositions

mp = mpmath.mp.clone()
mp.dps = 40


def decomposed(name, x):
    return interpret(special.decompose(f"numhlo.{name}", TensorType(x.shape, x.dtype)), [x])[0]


def evaluated(name, x):
    type = TensorType(x.shape, x.dtype)
    b = FunctionBuilder("f", [type])
    results = b.ops(control_flow.COMPOSITE, *b.arguments, **special.make(f"numhlo.{name}", [type]))
    return interpret(b.finish(results), [x])[0]


def log_gamma(x):
    return mp.log(abs(mp.gamma(x))) if abs(x) < 1000 else mp.re(mp.loggamma(x))


def spread(low, high, count, *, rng):
    return np.exp(rng.uniform(math.log(low), math.log(high), count))


ORACLES = {
    "erf": (mp.erf, lambda n, g: np.concatenate([spread(1e-8, 7, n, rng=g), -spread(1e-8, 7, n, rng=g)])),
    "erfc": (mp.erfc, lambda n, g: np.concatenate([spread(1e-8, 9, n, rng=g), -spread(1e-8, 7, n, rng=g)])),
    "erf_inv": (mp.erfinv, lambda n, g: np.concatenate([g.uniform(-1, 1, n), 1 - spread(1e-6, 1, n, rng=g)])),
    "lgamma": (log_gamma, lambda n, g: np.concatenate([spread(1e-6, 1e6, n, rng=g), g.uniform(0, 10, n)])),
    "digamma": (mp.digamma, lambda n, g: np.concatenate([spread(1e-5, 1e6, n, rng=g), g.uniform(0, 10, n)])),
    "sinh": (mp.sinh, lambda n, g: np.concatenate([spread(1e-8, 89, n, rng=g), -spread(1e-8, 89, n, rng=g)])),
    "cosh": (mp.cosh, lambda n, g: np.concatenate([spread(1e-8, 89, n, rng=g), -spread(1e-8, 89, n, rng=g)])),
    "asin": (mp.asin, lambda n, g: np.concatenate([g.uniform(-1, 1, n), 1 - spread(1e-6, 1, n, rng=g)])),
    "acos": (mp.acos, lambda n, g: np.concatenate([g.uniform(-1, 1, n), 1 - spread(1e-6, 1, n, rng=g)])),
    "atan": (mp.atan, lambda n, g: np.concatenate([spread(1e-8, 1e9, n, rng=g), -spread(1e-8, 1e9, n, rng=g)])),
    "asinh": (mp.asinh, lambda n, g: np.concatenate([spread(1e-8, 1e30, n, rng=g), -spread(1e-8, 1e30, n, rng=g)])),
    "acosh": (mp.acosh, lambda n, g: 1 + spread(1e-5, 1e30, n, rng=g)),
    "atanh": (mp.atanh, lambda n, g: np.concatenate([g.uniform(-1, 1, n), 1 - spread(1e-6, 1, n, rng=g)])),
}
"""The function in arbitrary precision, and where to look."""

BOUNDS = {np.float32: 4.0, np.float64: 4.0}
"""Largest error of the decompositions, in units in the last place."""


def errors_in_ulps(found, x, oracle):
    dtype = found.dtype
    errors = []
    for value, argument in zip(found, x, strict=True):
        exact = oracle(mp.mpf(float(argument)))
        unit = float(np.spacing(dtype.type(abs(float(exact)))))
        errors.append(float(abs(mp.mpf(float(value)) - exact)) / unit)
    return np.array(errors)


@pytest.mark.parametrize("dtype", BOUNDS, ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", ORACLES)
def test_accuracy(name, dtype, rng):
    oracle, points = ORACLES[name]
    x = points(60, rng).astype(dtype)
    x = x[np.abs(x) < 1] if name in {"erf_inv", "asin", "acos", "atanh"} else x
    errors = errors_in_ulps(decomposed(name, x), x, oracle)
    assert errors.max() < BOUNDS[dtype], (x[errors.argmax()], errors.max())
    errors = errors_in_ulps(evaluated(name, x), x, oracle)
    assert errors.max() < (0.51 if dtype == np.float32 else 4.0), (x[errors.argmax()], errors.max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda d: d.__name__)
def test_relative_accuracy_around_zeros(dtype):
    near = np.array([1e-3, -1e-3, 1e-5, -3e-5, 1e-6])
    for name, zeros in (("lgamma", (1.0, 2.0)), ("digamma", (1.4616321449683623,))):
        for zero in zeros:
            x = (zero + near).astype(dtype)
            assert errors_in_ulps(decomposed(name, x), x, ORACLES[name][0]).max() < 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda d: d.__name__)
def test_negative_arguments_of_gamma_functions(dtype, rng):
    x = -np.concatenate([rng.uniform(0, 20, 60), spread(1e-30, 1, 30, rng=rng)]).astype(dtype)
    for name in ("lgamma", "digamma"):
        for value, argument in zip(decomposed(name, x), x, strict=True):
            exact = ORACLES[name][0](mp.mpf(float(argument)))
            error = abs(mp.mpf(float(value)) - exact) / max(1, abs(exact))
            assert error < 8 * np.finfo(dtype).eps, (name, argument)


def signs(x):
    """Return which numbers are negative, or a negative zero; NaN is not."""
    return np.signbit(x) & ~np.isnan(x)


EDGES = [0.0, -0.0, 1, -1, 2, -2, 3, 0.5, -0.5, 8, 20, -20, 100, -100, 300, -300, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", ORACLES)
def test_edges_of_decompositions_agree_with_the_meaning(name, dtype):
    info = ml_dtypes.finfo(dtype)
    tiny, huge = float(info.smallest_subnormal), float(info.max)
    x = np.array([*EDGES, tiny, -tiny, huge, -huge, float(info.tiny)]).astype(dtype)
    found, expected = decomposed(name, x).astype(np.float64), evaluated(name, x).astype(np.float64)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(signs(found), signs(expected))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    np.testing.assert_allclose(found, expected, rtol=4 * float(info.eps), atol=2 * tiny)


def test_edges_by_value():
    for name, x, expected in (
        ("erf", [np.inf, -np.inf, -0.0], [1, -1, -0.0]),
        ("erfc", [np.inf, -np.inf, 0, 30], [0, 2, 1, 0]),
        ("erf_inv", [1, -1, -0.0, 1.5], [np.inf, -np.inf, -0.0, np.nan]),
        ("lgamma", [0, -0.0, -3, -np.inf, 1, 2], [np.inf, np.inf, np.inf, np.inf, 0, 0]),
        ("digamma", [0, -0.0, -3, np.inf, -np.inf], [-np.inf, np.inf, np.nan, np.inf, np.nan]),
        ("sinh", [711, -711, -0.0], [np.inf, -np.inf, -0.0]),
        ("cosh", [711, -711, 0], [np.inf, np.inf, 1]),
        ("acos", [1, -1, 2], [0, np.pi, np.nan]),
        ("atan", [np.inf, -0.0], [np.pi / 2, -0.0]),
        ("acosh", [1, 0.5, -3], [0, np.nan, np.nan]),
        ("atanh", [1, -1, -0.0, 2], [np.inf, -np.inf, -0.0, np.nan]),
    ):
        array = np.array(x, np.float64)
        for found in (decomposed(name, array), evaluated(name, array)):
            np.testing.assert_array_equal(found, expected, err_msg=name)
            np.testing.assert_array_equal(signs(found), signs(np.array(expected, float)), err_msg=name)


def test_largest_finite_results():
    for dtype, x in ((np.float32, 89.4), (np.float64, 710.4)):
        for name in ("sinh", "cosh"):
            (value,) = decomposed(name, np.array([x], dtype))
            exact = ORACLES[name][0](mp.mpf(float(dtype(x))))
            assert np.isfinite(value)
            assert abs(float(value / exact) - 1) < 4 * np.finfo(dtype).eps


def test_decompositions_are_shared_and_scalars_work():
    type = TensorType((), np.dtype(np.float32))
    assert special.decompose("numhlo.erf", type) is special.make("numhlo.erf", [type])["decomposition"]
    np.testing.assert_allclose(decomposed("erf", np.array(0.5, np.float32)), 0.5204998778130465, rtol=2e-7)


def test_undefined_element_types_are_refused():
    with pytest.raises(DTypeError, match=r"numhlo.erf is not defined for int32\[3\]"):
        special.make("numhlo.erf", [TensorType((3,), np.dtype(np.int32))])
    formulas = {*decompositions.FORMULAS, *decompositions.DOUBLE}
    assert formulas == set(special.FUNCTIONS) >= set(ORACLES)


COMPLEX = {
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128], ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_accuracy(name, dtype, rng):
    parts = rng.standard_normal((2, 500)) * np.exp(rng.uniform(-8, 4, (2, 500)))
    z = (parts[0] + 1j * parts[1]).astype(dtype)
    expected = COMPLEX[name](z.astype(np.complex128))
    for found in (decomposed(name, z), evaluated(name, z)):
        assert found.dtype == dtype
        errors = np.abs(found - expected) / np.abs(expected)
        assert errors.max() < 6 * np.finfo(dtype).eps, z[errors.argmax()]


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128], ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_branch_cuts_and_huge_numbers(name, dtype):
    info = np.finfo(dtype)
    ends = [0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 1e-30, float(info.max) / 8, float(info.max)]
    z = np.zeros((len(ends), len(ends)), dtype)
    z.real, z.imag = np.array(ends)[:, None], np.array(ends)
    with np.errstate(all="ignore"):
        expected = COMPLEX[name](z.astype(np.complex128)).astype(dtype)
    found = decomposed(name, z)
    for part, wanted in ((found.real, expected.real), (found.imag, expected.imag)):
        finite = np.isfinite(wanted)
        np.testing.assert_array_equal(np.isfinite(part), finite)
        np.testing.assert_array_equal(signs(part), signs(wanted))
        np.testing.assert_allclose(part[finite], wanted[finite], rtol=8 * info.eps, atol=float(info.tiny))
