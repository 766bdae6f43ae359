"""Medians and quantiles of rows so long that places are found without sorting: values, NaN, derivatives, lanes."""

import numpy as np
import pytest

import numhlo

pytestmark = pytest.mark.usefixtures("first_answers")


def value(x):
    return np.asarray(x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("method", ["linear", "lower", "midpoint", "hazen", "inverted_cdf", "closest_observation"])
def test_numpys_values(dtype, method, rng):
    x = (rng.normal(size=(3, 401)) * 50).astype(dtype)
    q = [0.0, 0.25, 0.5, 0.731, 1.0]
    found = numhlo.jit(lambda x: np.quantile(x, q, axis=1, method=method))(x)
    expected = np.quantile(x, q, axis=1, method=method)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(value(found), expected, rtol=1e-6)


def test_medians_with_and_without_nan(rng):
    for length in (200, 201):
        x = rng.normal(size=(4, length))
        x[1, 7] = np.nan
        for axis in (None, 1):
            np.testing.assert_array_equal(value(numhlo.jit(lambda x: np.median(x, axis))(x)), np.median(x, axis))
        np.testing.assert_allclose(value(numhlo.jit(np.nanmedian)(x)), np.nanmedian(x))
        np.testing.assert_allclose(value(numhlo.jit(lambda x: np.nanmedian(x, 1))(x)), np.nanmedian(x, 1))


def test_traced_fractions_derivatives_and_lanes(rng):
    x = rng.normal(size=301)
    q = np.array([0.1, 0.6])
    np.testing.assert_allclose(value(numhlo.jit(np.quantile)(x, q)), np.quantile(x, q))
    slope = value(numhlo.grad(lambda x: np.median(x) * 2)(x))
    np.testing.assert_array_equal(np.flatnonzero(slope), [np.argsort(x)[150]])
    assert slope.max() == 2
    step = np.zeros(301)
    step[np.argsort(x)[30]] = 1.0
    _, tangent = numhlo.jvp(lambda x: np.quantile(x, 0.1), (x,), (step,))
    assert tangent == 1
    rows = rng.normal(size=(5, 301))
    lanes = numhlo.vmap(lambda row, q: (np.median(row), np.quantile(row, q)))(rows, np.linspace(0, 1, 5))
    np.testing.assert_allclose(value(lanes[0]), np.median(rows, 1))
    np.testing.assert_allclose(
        value(lanes[1]), [np.quantile(r, q) for r, q in zip(rows, np.linspace(0, 1, 5), strict=True)]
    )
