"""Matrices of a pattern, and polar factors: SciPy as the oracle, at once and traced."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import numhlo
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.scipy import linalg
from tests.library.scipy.oracle import check_module

RNG = np.random.default_rng(5)
LINE, ROW = RNG.normal(size=5), RNG.normal(size=3)
TALL, WIDE = RNG.normal(size=(5, 3)), RNG.normal(size=(3, 4))
LINES = {"floats": LINE, "integers": np.arange(1, 5), "complex": LINE + 1j, "single": LINE.astype("f4")}


def check(f, *operands, room=1e-10):
    check_module(scipy.linalg, linalg, f, *operands, rtol=room, atol=room)


@pytest.mark.parametrize("name", LINES)
def test_of_elements(name):
    x = LINES[name]
    check(lambda s, x: (s.circulant(x), s.hankel(x), s.hankel(x, x[:3]), s.companion(x), s.fiedler(x)), x)
    for mode in ("full", "same", "valid"):
        check(lambda s, x, mode=mode: tuple(s.convolution_matrix(x, n, mode) for n in (2, 4, 7)), x)
    check(lambda s, x: s.leslie(x, x[1:] / 2), x)
    check(lambda s, x, y: s.khatri_rao(x[:, None] * y, np.ones((2, 3)) * y), x, ROW)


def test_of_a_size():
    check(lambda s, x: (x * s.dft(5), s.dft(4, "sqrtn") * x[0], s.hilbert(5) @ x, s.helmert(5) @ x), LINE)
    check(lambda s, x: (s.invhilbert(5) @ x, s.pascal(5) @ x, s.invpascal(5, kind="lower") @ x), LINE, room=1e-8)
    check(lambda s, x: s.hadamard(4) @ x[:4], LINE)


def test_polar_factors():
    for x in (TALL, WIDE, TALL[:3] + 1j * WIDE[:, :3]):
        check(lambda s, x: (*s.polar(x), *s.polar(x, side="left")), x)
    for y in (TALL[::-1], TALL[::-1] * (1 + 2j)):
        check(lambda s, x, y: s.orthogonal_procrustes(x, y), TALL, y)
    slope = numhlo.grad(lambda x: linalg.polar(x)[1][0, 1])(TALL)
    step = 1e-6 * np.eye(5, 3)
    wanted = (scipy.linalg.polar(TALL + step)[1] - scipy.linalg.polar(TALL - step)[1])[0, 1] / 2e-6
    np.testing.assert_allclose(np.trace(slope[:3]), wanted, rtol=1e-6)


def test_refusals():
    for call, error, text in [
        (lambda x: linalg.companion(x[:1]), ShapeError, "a line of 2 elements"),
        (lambda x: linalg.convolution_matrix(x, 2, "foo"), ArgumentError, "use one of full, same, valid"),
        (lambda x: linalg.convolution_matrix(x, 0), ValueError, "positive"),
        (lambda x: linalg.leslie(x, x), ShapeError, "one survival less"),
        (lambda x: linalg.khatri_rao(x, x), ShapeError, "as many columns"),
        (lambda x: linalg.polar(x[None], "up"), ArgumentError, "use one of right, left"),
        (lambda x: linalg.orthogonal_procrustes(x, x), ShapeError, "matrices of one shape"),
        (lambda x: linalg.circulant(x[0]), ShapeError, "give a line"),
    ]:
        with pytest.raises(error, match=text):
            numhlo.jit(call)(LINE)
