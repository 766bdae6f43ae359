"""Filters of images and values between their elements: SciPy and JAX as oracles, at once and traced."""

from __future__ import annotations

import jax
import jax.scipy.ndimage
import numpy as np
import pytest
import scipy.ndimage

import numhlo
from numhlo.compat.jax import scipy as seen_as_jax
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError
from numhlo.scipy import ndimage
from tests.library.scipy.oracle import check_module

jax.config.update("jax_enable_x64", True)
RNG = np.random.default_rng(4)
IMAGES = {
    "float64": RNG.normal(size=(6, 7)),
    "float32": RNG.normal(size=5).astype("f4"),
    "uint8": RNG.integers(0, 200, (6, 4)).astype("u1"),
    "int64": RNG.integers(-100, 100, (5, 4, 3)),
}
MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
FILTERS = {
    "gaussian": lambda s, x, **o: s.gaussian_filter(x, 1.2, **o),
    "its slope": lambda s, x, **o: s.gaussian_filter(x, 0.7, order=1, **o),
    "along one axis": lambda s, x, **o: s.gaussian_filter1d(x, 1.0, axis=0, order=3, radius=3, **o),
    "means": lambda s, x, **o: (s.uniform_filter(x, 3, **o), s.uniform_filter(x, 4, origin=1, **o)),
    "means along one axis": lambda s, x, **o: s.uniform_filter1d(x, 3, axis=0, **o),
    "edges": lambda s, x, **o: (s.sobel(x, axis=0, **o), s.prewitt(x, **o)),
    "laplace": lambda s, x, **o: (s.laplace(x, **o), s.gaussian_laplace(x, 1.0, **o)),
    "slopes": lambda s, x, **o: s.gaussian_gradient_magnitude(x, 1.0, **o),
}


def check(f, *operands):
    room = 1e-5 if operands[0].dtype == np.float32 else 1e-9
    check_module(scipy.ndimage, ndimage, f, *operands, rtol=room, atol=room)


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("dtype", IMAGES)
def test_filters(name, dtype):
    for mode in MODES if dtype == "float64" else MODES[:2]:
        check(lambda s, x, mode=mode: FILTERS[name](s, x, mode=mode, cval=1.5), IMAGES[dtype])


@pytest.mark.parametrize("dtype", IMAGES)
def test_weights(dtype):
    x = IMAGES[dtype]
    for line in ([1.0, 2.0, 3.0], [0.5, 0.25, 0.5, 1.0]):
        for origin in (0, -1):
            options = {"axis": 0, "mode": "mirror", "origin": origin}
            check(lambda s, x, w, o=options: (s.correlate1d(x, w, **o), s.convolve1d(x, w, **o)), x, np.array(line))
            check(lambda s, x, o=options, w=line: s.convolve1d(x, w, **o), x)
    window = RNG.normal(size=(3, 2, 3)[: x.ndim])
    check(lambda s, x, w: (s.correlate(x, w, mode="constant", cval=2.0), s.convolve(x, w)), x, window)


@pytest.mark.oracle("scipy>=1.15")
def test_options():
    x = IMAGES["float64"]
    check(lambda s, x: s.gaussian_filter(x, (0.5, 2.0), order=(0, 1), mode=("wrap", "nearest"), output="f4"), x)
    check(lambda s, x: (s.gaussian_filter(x, 1.0, axes=0), s.uniform_filter(x, (3, 1)), s.laplace(x, axes=(1,))), x)
    check(lambda s, x, w: (s.convolve(x, w, axes=(1,)), s.correlate(x, w, axes=0)), x, np.array([1.0, 3.0, 0.5]))
    check(lambda s, x: s.correlate1d(x, np.arange(80.0), mode="wrap"), RNG.normal(size=200))
    traced = numhlo.jit(lambda x: scipy.ndimage.gaussian_filter(x, 2.0))
    np.testing.assert_allclose(traced(x), scipy.ndimage.gaussian_filter(x, 2.0), rtol=1e-10)
    slope = numhlo.grad(lambda w: ndimage.correlate1d(x, w)[2, 3])(np.ones(3))
    np.testing.assert_allclose(slope, x[2, 2:5], rtol=1e-12)


@pytest.mark.oracle("scipy>=1.15")
def test_nothing_to_filter():
    check(lambda s, x: (s.laplace(x), s.gaussian_laplace(x, 1), s.gaussian_gradient_magnitude(x, 1)), np.float64(-3.0))
    check(lambda s, x: (s.laplace(x, axes=(), output="f4"), s.sobel(x)), IMAGES["float64"])


@pytest.mark.parametrize("dtype", ["float64", "uint8"])
def test_coordinates(dtype):
    x = IMAGES[dtype]
    places = RNG.uniform(-7, 9, (2, 3, 20))
    places[:, 0, :4] = [[0, 3, -1, 5], [0, 3, 2.5, 1]]
    places[:, 1] = np.round(places[:, 1]) + 0.5  # halves are rounded up behind the mirror
    for mode in ("constant", "grid-constant", "nearest", "mirror", "reflect", "grid-wrap"):
        for order in (0, 1):
            options = {"order": order, "mode": mode, "cval": 2.5}
            check(lambda s, x, places, o=options: s.map_coordinates(x, places, **o), x, places)
    for mode in MODES:
        wanted = jax.scipy.ndimage.map_coordinates(x, list(places), 1, mode, 3.0)
        found = seen_as_jax.ndimage.map_coordinates(x, list(places), 1, mode, 3.0)
        assert found.dtype == wanted.dtype and not found.flags.writeable
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_refusals():
    x = IMAGES["float64"]
    with pytest.raises(UnsupportedError, match="order=3"):
        ndimage.map_coordinates(x, [x, x])
    with pytest.raises(ShapeError, match="one array of coordinates for each dimension"):
        ndimage.map_coordinates(x, [x], order=1)
    with pytest.raises(ArgumentError, match="use one of reflect"):
        ndimage.sobel(x, mode="symmetric")
    with pytest.raises(ArgumentError, match="gaussian_filter with a traced sigma"):
        numhlo.jit(lambda x, s: ndimage.gaussian_filter(x, s))(x, 1.0)
    with pytest.raises(UnsupportedError, match="with an output array"):
        ndimage.laplace(x, output=x)
    with pytest.raises(ShapeError, match="2 dimensions with weights of 1"):
        ndimage.convolve(x, np.ones(3))
    with pytest.raises(ShapeError, match="give a line of weights"):
        ndimage.convolve1d(x, np.ones((2, 2)))
    with pytest.raises(ValueError, match="invalid origin"):
        ndimage.uniform_filter1d(x, 3, origin=2)
    with pytest.raises(AttributeError, match="sliding_window_view"):
        _ = ndimage.generic_filter


@pytest.mark.parametrize("axes", [(1,), (1, 0), (2, 0), (0, 2, 1), (2, 1, 0)])
@pytest.mark.parametrize("name", ["correlate", "convolve"])
@pytest.mark.oracle("scipy>=1.15")
def test_weights_have_the_axes_in_the_arrays_order(name, axes, rng):
    x, weights = rng.normal(size=(4, 5, 6)), rng.normal(size=(2, 3, 4)[: len(axes)])
    origin = [0, -1][: len(axes)] if len(axes) < 3 else 0
    wanted = getattr(scipy.ndimage, name)(x, weights, axes=axes, origin=origin)
    np.testing.assert_allclose(getattr(ndimage, name)(x, weights, axes=axes, origin=origin), wanted, rtol=1e-12)
