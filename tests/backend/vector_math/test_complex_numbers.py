"""Functions of complex numbers against NumPy's: ordinary values closely, zeros and infinities exactly."""

import mpmath
import numpy as np
import pytest

from numhlo.backend import vector_math

FUNCTIONS = {
    "abs": (vector_math.abs_c128, np.abs),
    "exp": (vector_math.exp_c128, np.exp),
    "log": (vector_math.log_c128, np.log),
    "sqrt": (vector_math.sqrt_c128, np.sqrt),
    "sin": (vector_math.sin_c128, np.sin),
    "cos": (vector_math.cos_c128, np.cos),
    "expm1": (vector_math.expm1_c128, np.expm1),
    "tan": (vector_math.tan_c128, np.tan),
    "tanh": (vector_math.tanh_c128, np.tanh),
    "sign": (vector_math.sign_c128, np.sign),
    "logistic": (vector_math.logistic_c128, lambda z: 1 / (1 + np.exp(-z))),
    "rsqrt": (vector_math.rsqrt_c128, lambda z: 1 / np.sqrt(z)),
    "cbrt": (vector_math.cbrt_c128, lambda z: np.exp(np.log(z) / 3)),
}
LIMITS = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ordinary_values(name, rng):
    own, reference = FUNCTIONS[name]
    sizes = np.exp(rng.uniform(-5, 3, 200))
    values = sizes * np.exp(1j * rng.uniform(-np.pi, np.pi, 200))
    near_one = np.exp(1j * rng.uniform(-np.pi, np.pi, 50)) * (1 + rng.uniform(-1e-6, 1e-6, 50))
    for z in (*values, *near_one):
        np.testing.assert_allclose(own(z), reference(z), rtol=2e-15, atol=1e-18)


@pytest.mark.parametrize("name", ["abs", "exp", "log", "sqrt", "tan", "tanh"])
def test_limits(name):
    own, reference = FUNCTIONS[name]
    for re in LIMITS:
        for im in LIMITS:
            if name == "exp" and not np.isfinite(im):
                continue  # C leaves the signs open
            z = np.array([re, im]).view(np.complex128)[0]
            with np.errstate(all="ignore"):
                found, expected = np.complex128(own(z)), np.complex128(reference(z))
            for left, right in ((found.real, expected.real), (found.imag, expected.imag)):
                np.testing.assert_allclose(left, right, rtol=2e-15, err_msg=str(z))


def test_sizes_that_overflow():
    assert vector_math.abs_c128(np.complex128(3e300 + 4e300j)) == 5e300
    assert vector_math.abs_c128(np.complex128(3e-310 + 4e-310j)) == pytest.approx(5e-310, rel=1e-6)
    assert vector_math.abs_c128(np.complex128(complex(np.inf, np.nan))) == np.inf


def test_roots_of_subnormal_numbers(rng):
    parts = np.concatenate(
        [[5e-324, -5e-324, 1e-323, 0.0, 2.0**-960], rng.normal(size=40) * 10.0 ** rng.uniform(-322, -280, 40)]
    )
    for z in parts[:, None] + 1j * parts[None, ::-1]:
        for one in z:
            root = np.complex128(vector_math.sqrt_c128(one))
            assert abs(root - np.sqrt(one)) <= 2e-15 * abs(root), one


def test_sizes_of_complex64(rng):
    parts = np.concatenate([rng.normal(size=200) * 10.0 ** rng.uniform(-44, 38, 200), LIMITS, [np.nan, 3.4e38]])
    values = np.stack([parts, rng.permutation(parts)], -1).astype(np.float32).view(np.complex64)[:, 0]
    for z in values:
        with np.errstate(all="ignore"):
            expected = np.float32(np.hypot(np.float64(z.real), np.float64(z.imag)))
        np.testing.assert_array_max_ulp(np.float32(vector_math.abs_c64(z)), expected, 1)


@pytest.mark.parametrize(("name", "exact"), [("expm1", mpmath.expm1), ("log1p", mpmath.log1p), ("tanh", mpmath.tanh)])
def test_errors_in_units_of_the_larger_part(name, exact, rng):
    values = np.concatenate([(rng.normal(size=60) + 1j * rng.normal(size=60)) * size for size in (1e-8, 1e-3, 1, 10)])
    own = getattr(vector_math, f"{name}_c128")
    with mpmath.workprec(200):
        for z in values:
            found, expected = own(z), exact(mpmath.mpc(z))
            larger = max(abs(expected.real), abs(expected.imag))
            parts = (found.real - expected.real, found.imag - expected.imag)
            assert max(map(abs, parts)) <= 5 * 2.0**-52 * larger, z


def test_hyperbolic_tangents_of_steep_and_broken_numbers():
    for re in (50.0, -800.0, 1e300, np.nan, 0.0, -0.0):
        for im in (0.0, -0.0, 0.3, np.inf, -np.inf, np.nan):
            z = np.array([re, im]).view(np.complex128)[0]
            with np.errstate(all="ignore"):
                found, expected = np.complex128(vector_math.tanh_c128(z)), np.tanh(z)
            for left, right in ((found.real, expected.real), (found.imag, expected.imag)):
                np.testing.assert_allclose(left, right, rtol=2e-15, err_msg=str(z))
                assert np.isnan(left) or np.signbit(left) == np.signbit(right), z
