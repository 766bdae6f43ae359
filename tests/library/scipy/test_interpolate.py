"""Functions known at the points of a grid: SciPy and JAX as oracles, at once and traced."""

from __future__ import annotations

import jax
import jax.scipy.interpolate
import numpy as np
import pytest
import scipy.interpolate

import numhlo
from numhlo.compat.jax import scipy as seen_as_jax
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError
from numhlo.scipy.interpolate import RegularGridInterpolator
from tests.library.agreement import run_traced

jax.config.update("jax_enable_x64", True)
RNG = np.random.default_rng(6)
GRID = np.array([0.0, 1.0, 3.0]), np.array([-1.0, 0.0, 0.5, 2.0])
VALUES = RNG.normal(size=(3, 4, 2))
PLACES = RNG.uniform(-1.5, 4, (5, 6, 2))
PLACES[0, :3] = [[3.0, 2.0], [0.0, -1.0], [1.0, 0.5]]


@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("fill", [np.nan, None, 7.0])
def test_values(method, fill):
    wanted = scipy.interpolate.RegularGridInterpolator(GRID, VALUES, method, False, fill)(PLACES)

    def f(values, places):
        return RegularGridInterpolator(GRID, values, method, fill_value=fill)(places)

    for found in (f(VALUES, PLACES), run_traced(f, [VALUES, PLACES])[0]):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12, strict=True)
    theirs = jax.scipy.interpolate.RegularGridInterpolator(GRID, VALUES, method, fill_value=fill)
    ours = seen_as_jax.interpolate.RegularGridInterpolator(GRID, VALUES, method, fill_value=fill)
    np.testing.assert_allclose(ours(PLACES), theirs(PLACES), rtol=1e-12, atol=1e-12)
    assert not ours(PLACES).flags.writeable


def test_points_are_given_as_in_scipy():
    theirs = scipy.interpolate.RegularGridInterpolator(GRID, VALUES[..., 0])
    ours = RegularGridInterpolator(GRID, VALUES[..., 0])
    x, y = np.array([0.5, 1.5, 2.5]), np.array([0.25, 1.5])
    for xi in (
        (1.0, 1.5),
        np.array([1.0, 1.5]),
        np.array([1.0, 0.5, 2.0, 0.25]),
        (x[:2], y),
        (x[:, None], y),
        ((x, 1.0),),
    ):
        for found in (ours(xi), numhlo.jit(ours)(xi)):
            np.testing.assert_allclose(found, theirs(xi), rtol=1e-12, strict=True)


def test_lines_and_derivatives():
    squares = RegularGridInterpolator((np.arange(3),), np.arange(3) ** 2)
    np.testing.assert_allclose(squares(np.array([0.5, 1.5])), [0.5, 2.5])
    assert squares([[1.4]], method="nearest").tolist() == [1.0]
    slope = numhlo.grad(lambda x: squares(x[None])[0])(np.array([1.5]))
    np.testing.assert_allclose(slope, [3.0])


def test_refusals():
    with pytest.raises(UnsupportedError, match="out of bounds is fill_value"):
        RegularGridInterpolator(GRID, VALUES, bounds_error=True)
    with pytest.raises(ArgumentError, match="use one of linear, nearest"):
        RegularGridInterpolator(GRID, VALUES, "cubic")
    with pytest.raises(ShapeError, match="a line of two or more points for each"):
        RegularGridInterpolator(GRID[::-1], VALUES)
    with pytest.raises(ShapeError, match="of 2 dimensions at points of shape"):
        RegularGridInterpolator(GRID, VALUES)(np.ones(3))
    with pytest.raises(AttributeError, match=r"use numhlo\.numpy\.interp,"):
        _ = numhlo.scipy.interpolate.interp1d
