"""Cosine and sine transforms: SciPy as the oracle, at once and traced."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft

import numhlo
from numhlo.compat.jax import scipy as seen_as_jax
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.scipy import fft
from tests.library.scipy.oracle import check_module

LINES = ("dct", "dst", "idct", "idst")
BOXES = ("dctn", "dstn", "idctn", "idstn")


def check(f, *operands, **room):
    check_module(scipy.fft, fft, f, *operands, **room)


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("extent", [1, 2, 5, 6])
def test_types_and_norms(name, extent):
    x = np.random.default_rng(extent).normal(size=(2, extent))
    for kind in (1, 2, 3, 4):
        if kind == 1 and extent == 1 and "c" in name:
            continue
        for norm in (None, "ortho", "forward"):
            options = {"norm": norm, "orthogonalize": None if extent % 2 else norm is None}
            check(lambda s, x, kind=kind, options=options: getattr(s, name)(x, kind, **options), x)


@pytest.mark.parametrize("name", BOXES)
def test_along_several_axes(name):
    x = np.random.default_rng(0).normal(size=(4, 5))
    for options in (
        {},
        {"axes": 1},
        {"s": (3, 6)},
        {"s": 4},
        {"axes": (1, 0), "s": (3, 7), "norm": "ortho"},
        {"type": 3},
    ):
        check(lambda s, x, options=options: getattr(s, name)(x, **options), x)


def test_operands():
    x = np.random.default_rng(1).normal(size=(3, 4))
    check(lambda s, x: s.dct(x, n=3, axis=0), x + 1j * x[::-1])
    check(lambda s, x: s.dct(x, n=7), x)
    check(lambda s, x: s.dst(x), x.astype("f4"), rtol=1e-5, atol=1e-5)
    check(lambda s, x: s.dct(x), np.arange(5))
    lanes = numhlo.vmap(lambda row: fft.dct(row))(x)
    np.testing.assert_allclose(lanes, scipy.fft.dct(x), rtol=1e-12)
    slope = numhlo.jacobian(lambda row: fft.dct(row))(x[0])
    np.testing.assert_allclose(slope, scipy.fft.dct(np.eye(4), axis=0), rtol=1e-12, atol=1e-12)
    assert not seen_as_jax.fft.dct(x).flags.writeable


def test_refusals():
    with pytest.raises(ArgumentError, match=r"cosine transform\(type=5\)\n.*\n  use one of 1, 2, 3, 4"):
        fft.dct(np.ones(3), 5)
    with pytest.raises(ArgumentError, match=r"inverse sine transform\(norm='orto'\)"):
        fft.idstn(np.ones(3), norm="orto")
    with pytest.raises(ArgumentError, match="type 1 of one element"):
        fft.dct(np.ones(1), 1)
    with pytest.raises(ValueError, match="data points"):
        fft.dct(np.ones(3), n=0)
    with pytest.raises(ValueError, match="same length"):
        fft.dctn(np.ones((3, 3)), s=(3, 3), axes=1)
    with pytest.raises(AttributeError, match=r"use numhlo.numpy.fft.rfft$"):
        _ = fft.rfft
