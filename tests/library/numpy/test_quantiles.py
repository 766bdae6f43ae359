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


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.oracle("numpy>=2.4")
def test_weights(dtype, rng):
    """Weights are multiples of 1/8, whose sums are exact: shares that equal a fraction do so in any order."""
    x = (rng.normal(size=(3, 4, 5)) * 50).astype(dtype)
    x[0, 0] = x[0, 1]
    weights = rng.integers(0, 5, x.shape) / 8
    weights[:, 0, 0] = 1
    cases = [
        (None, weights),
        (1, weights + 1),
        (-1, [0, 1, 2.5, 0, 1]),
        ((2, 0), weights[:, 0].T),
        ((0, 1, 2), weights),
    ]
    for q in (0.5, np.array([[0.0, 0.25, 1.0]]), np.float32(0.4)):

        def f(x, q=q):
            options = [{"axis": axis, "weights": w, "method": "inverted_cdf"} for axis, w in cases]
            return [np.quantile(x, q, **o, keepdims=True) for o in options] + [np.percentile(x, 60 * q, **options[2])]

        for found, expected in zip(numhlo.jit(f)(x), f(x), strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(value(found), expected)


def test_traced_weights_nan_and_slopes(rng):
    x, weights = rng.normal(size=(4, 21)), rng.integers(0, 3, (4, 21)) * 0.5
    x[0, 3] = x[2, 5:9] = np.nan
    weights[:, 0] = 1

    def f(x, weights, q):
        options = {"axis": 1, "weights": weights, "method": "inverted_cdf"}
        return np.quantile(x, q, **options), np.nanquantile(x, q, **options), np.nanpercentile(x, 7 * q, **options)

    q = np.array([0.0, 0.3, 1.0])
    for found, expected in zip(numhlo.jit(f)(x, weights, q), f(x, weights, q), strict=True):
        np.testing.assert_array_equal(value(found), expected)
    slope = value(numhlo.grad(lambda x: np.quantile(x, 0.3, weights=weights[1], method="inverted_cdf") * 2)(x[1]))
    chosen = np.flatnonzero(x[1] == np.quantile(x[1], 0.3, weights=weights[1], method="inverted_cdf"))
    np.testing.assert_array_equal(slope, np.where(np.arange(21) == chosen, 2.0, 0.0))
    for bad in (np.zeros(21), np.where(np.arange(21) == 4, -1.0, 1.0), np.full(21, np.inf), np.full(21, np.nan)):
        assert np.isnan(value(numhlo.jit(f)(x, np.stack([bad] * 4), q))).all()


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_weights_that_are_refused(name):
    x, q = np.arange(6.0).reshape(2, 3), 0.5

    def refused(weights, kind, message, x=x, method="inverted_cdf", axis=None):
        function = numhlo.jit(lambda x: getattr(np, name)(x, q, axis, weights=weights, method=method))
        with pytest.raises(kind, match=message):
            function(x)

    refused(x, ValueError, 'write quantile.*method="inverted_cdf"', method="linear")
    refused(-x, ValueError, "Weights must be non-negative")
    refused(np.eye(2, 3, 1)[::-1] * [[1], [0]], ValueError, "were all zero", axis=1)
    refused(np.ones(3), TypeError, "Axis must be specified")
    refused(np.ones(2), ValueError, "consistent with shape of a", axis=1)
    with pytest.raises(numhlo.errors.UnsupportedError, match="convert the result"):
        numhlo.jit(lambda x, w: getattr(np, name)(x, q, weights=w, method="inverted_cdf"))(x.astype(int), x)


def test_no_elements():
    """Nothing has no quantiles, but what is not NaN of nothing has NaN."""
    for options in ({}, {"weights": np.ones((2, 0)), "method": "inverted_cdf"}):
        for x, axis in ((np.ones((2, 0)), 1), (np.ones((2, 0)), None)):
            for function in (np.quantile, np.percentile):
                with pytest.raises(IndexError):
                    function(x, 0.5, axis, **options)
                with pytest.raises(IndexError, match="quantile of no elements"):
                    numhlo.jit(lambda x, f=function, a=axis, o=options: f(x, 0.5, a, **o))(x)
    assert np.isnan(value(numhlo.jit(lambda x: np.nanquantile(x, 0.5, 1))(np.ones((2, 0))))).all()
    assert numhlo.jit(lambda x: np.quantile(x, 0.5, 0))(np.ones((2, 0))).shape == (0,)
