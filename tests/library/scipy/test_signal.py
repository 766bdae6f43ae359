"""Convolutions and correlations of SciPy's: SciPy as the oracle, at once and traced."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal

import numhlo
from numhlo.compat.jax import scipy as seen_as_jax
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.scipy import signal
from tests.library.agreement import run_traced

EXTENTS = [
    ((7,), (3,)),
    ((3,), (8,)),
    ((6,), (4,)),
    ((5, 6), (2, 3)),
    ((5, 2), (2, 4)),
    ((3, 4, 5), (2, 2, 3)),
    ((), ()),
]
MODES = ("full", "same", "valid")


def arrays(extents, dtype):
    rng = np.random.default_rng(3)
    return [(rng.normal(size=n) * 5 + (1j if dtype == "c16" else 0)).astype(dtype) for n in extents]


def check(f, operands):
    wanted = f(scipy.signal, *operands)
    for found in (f(signal, *operands), run_traced(lambda *xs: f(signal, *xs), operands)[0]):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("extents", EXTENTS)
@pytest.mark.parametrize("dtype", ["f8", "i8", "c16"])
def test_of_any_rank(extents, dtype):
    for mode in MODES:
        if mode == "valid" and extents == ((5, 2), (2, 4)):
            continue
        check(lambda s, x, y, mode=mode: s.convolve(x, y, mode, "direct"), arrays(extents, dtype))
        check(lambda s, x, y, mode=mode: s.correlate(x, y, mode, "direct"), arrays(extents, dtype))
        if extents[0] and dtype != "i8":
            check(lambda s, x, y, mode=mode: s.fftconvolve(x, y, mode), arrays(extents, dtype))


@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
def test_of_matrices(boundary):
    for extents in EXTENTS[3:5]:
        for mode in MODES[:2]:
            for fill in (0, 2):
                options = (mode, boundary, fill)
                check(lambda s, x, y, options=options: s.convolve2d(x, y, *options), arrays(extents, "f8"))
                check(lambda s, x, y, options=options: s.correlate2d(x, y, *options), arrays(extents, "f8"))


def test_along_axes_by_transforms_and_in_lanes():
    x, y = arrays([(3, 8), (1, 4)], "f8")
    for mode in MODES:
        check(lambda s, x, y, mode=mode: s.fftconvolve(x, y, mode, axes=1), [x, y])
    check(lambda s, x, y: s.convolve(x, y, method="fft"), [x, y])
    lanes = numhlo.vmap(lambda row: signal.convolve(row, y[0]))(x)
    np.testing.assert_allclose(lanes, [np.convolve(row, y[0]) for row in x], rtol=1e-12)
    assert not seen_as_jax.signal.convolve(x, y).flags.writeable


def test_refusals():
    with pytest.raises(ShapeError, match="convolve of arrays of 1 and 2 dimensions"):
        signal.convolve(np.ones(3), np.ones((2, 2)))
    with pytest.raises(ShapeError, match="neither is at least as large as the other"):
        signal.convolve(np.ones((5, 2)), np.ones((2, 4)), "valid")
    with pytest.raises(ArgumentError, match=r"convolve\(mode='all'\)\n.*\n  use one of full, same, valid"):
        signal.convolve(np.ones(3), np.ones(3), "all")
    with pytest.raises(ArgumentError, match="use one of fill, wrap, symm"):
        signal.correlate2d(np.ones((3, 3)), np.ones((3, 3)), "same", "reflect")
    with pytest.raises(ShapeError, match="of an empty array"):
        signal.fftconvolve(np.ones(0), np.ones(3))
    with pytest.raises(AttributeError, match="use fftconvolve"):
        _ = signal.oaconvolve
